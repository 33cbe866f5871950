"""The pool of jailed workers of this process, which parse and render whatever a person typed, and the limits
that texts have met there.

`use` hands in another pool; a test does so instead of patching the modules that ask for one.
"""

import hashlib
import time
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register

from builder.errors import CoolingDown, JailError, LimitExceeded
from builder.jail import JailPool, landlock_supported, seccomp_supported
from studio.shell.sized_cache import SizedCache

REMEMBERED_SECONDS = 600
REMEMBERED_SECONDS_OF_TIME = 60
"""How long a text that met a limit is not tried again. The limit of time may have been met because the
machine was busy with other things."""

_pool: JailPool | None = None
_stops: SizedCache[tuple[float, LimitExceeded]] = SizedCache(10_000)


def pool() -> JailPool:
    """The pool of this process. Its workers start with the first job, and end with the process."""
    global _pool
    if _pool is None:
        _pool = JailPool()
    return _pool


def use(other: JailPool | None) -> JailPool | None:
    """Let the process use another pool from now on; gives the one before."""
    global _pool
    before, _pool = _pool, other
    return before


def stop_of(*job: object) -> LimitExceeded | None:
    """The limit that the same text met a short while ago, for whoever would try it again."""
    met = _stops.get(_digest(job))
    return met[1] if met and met[0] > time.monotonic() else None


def remember_stop(stop: LimitExceeded, *job: object) -> None:
    """Keep the limit that a text met, by its hash."""
    seconds = REMEMBERED_SECONDS_OF_TIME if stop.limit == "time" else REMEMBERED_SECONDS
    _stops.put(_digest(job), (time.monotonic() + seconds, stop), 1)


def _digest(job: tuple[object, ...]) -> bytes:
    return hashlib.sha256(repr(job).encode("utf-8", "surrogatepass")).digest()


def status_of(refusal: JailError | None) -> int:
    """The status of a page whose job the jail refused: 429 where its owner has to wait, else 503."""
    if refusal is None:
        return 200
    return 429 if isinstance(refusal, CoolingDown) else 503


@register(Tags.security)
def check_confinement(**kwargs: Any) -> list[CheckMessage]:
    """Say so where the workers have to do without their list of allowed system calls, or the readers of
    databases without a kernel that keeps other files from them."""
    found: list[CheckMessage] = []
    if not seccomp_supported():
        found.append(
            Warning(
                "On this system the workers that render templates run without a seccomp filter.",
                hint="Limits of memory, time and files still hold; Linux on x86-64 and aarch64 has it.",
                id="studio.W001",
            )
        )
    if not landlock_supported():
        found.append(
            Warning(
                "On this system nothing but DuckDB's own settings keeps the readers of databases from files.",
                hint="Limits of memory and time still hold; Linux 5.13 and later has Landlock.",
                id="studio.W002",
            )
        )
    return found
