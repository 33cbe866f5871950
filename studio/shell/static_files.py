"""Static files whose address changes with their content, so that browsers may keep them for long."""

import hashlib
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


class VersionedStaticFiles(StaticFilesStorage):
    """Adds `?v=…`, a digest of the file, to the address of each static file."""

    def url(self, name: str | None) -> str:
        """`/static/studio.css?v=1f0c2b7a`; a file that is nowhere keeps its plain address."""
        address = super().url(name)
        # Outside debug the files are what they were at the start; a page full of icons asks often.
        version = _version(name or "") if settings.DEBUG else _kept_version(name or "")
        return f"{address}?v={version}" if version else address


def _version(name: str) -> str:
    path = finders.find(name) if name else None
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8] if path else ""


_kept_version = cache(_version)
