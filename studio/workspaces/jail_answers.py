"""What the jail said about a file, asked once for the same bytes. Used for the files of workspaces."""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from builder.errors import LimitExceeded
from studio.shell.jail import remember_stop, stop_of
from studio.shell.sized_cache import SizedCache

Answer = TypeVar("Answer")

_MOST_KEPT = 24 * 1024 * 1024
"""Bytes of all files whose answers are kept."""
_answers: SizedCache[Any] = SizedCache(_MOST_KEPT)


def once_per_file(job: str, data: bytes, name: str, ask: Callable[[], Answer]) -> Answer:
    """The jail's answer about a file, which is asked once for the same bytes, also where it met a limit."""
    key = (job, name, hashlib.sha256(data).digest())
    if stop := stop_of(key):
        raise stop
    kept: tuple[Answer] | None = _answers.get(key)
    if kept is None:
        try:
            kept = (ask(),)
        except LimitExceeded as stop:
            remember_stop(stop, key)
            raise
        _answers.put(key, kept, 1_000 + len(data))
    return kept[0]
