"""The pool of jailed workers of this process, which parse and render whatever a person typed.

`use` hands in another pool; a test does so instead of patching the modules that ask for one.
"""

from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register

from builder.errors import CoolingDown, JailError
from builder.jail import JailPool, seccomp_supported

_pool: JailPool | None = None


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


def status_of(refusal: JailError | None) -> int:
    """The status of a page whose job the jail refused: 429 where its owner has to wait, else 503."""
    if refusal is None:
        return 200
    return 429 if isinstance(refusal, CoolingDown) else 503


@register(Tags.security)
def check_seccomp(**kwargs: Any) -> list[CheckMessage]:
    """Say so where the workers have to do without their list of allowed system calls."""
    if seccomp_supported():
        return []
    return [
        Warning(
            "On this system the workers that render templates run without a seccomp filter.",
            hint="Limits of memory, time and files still hold; Linux on x86-64 or aarch64 has the filter.",
            id="studio.W001",
        )
    ]
