"""The studio's one pool of locked-down workers: whatever a person typed is read only there."""

from functools import cache
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register

from builder.jail import JailPool, seccomp_supported


@cache
def pool() -> JailPool:
    """The pool of this process. Its workers start with the first job, and end with the process."""
    return JailPool()


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
