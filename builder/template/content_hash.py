"""The hash of a version's three templates. The studio stores it with each version; the client compares it
with what stands in a workspace's file."""

import hashlib
from collections.abc import Iterable


def content_hash(texts: Iterable[str]) -> str:
    """SHA-256 over the texts in MixSeek's order; lengths keep their borders apart."""
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()
