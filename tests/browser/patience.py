"""Several browsers, servers and jails share the cores; what is right is right a moment later, too."""

import time
from collections.abc import Callable

from playwright.sync_api import Page

PATIENCE = 15_000  # milliseconds


def eventually(page: Page, read: Callable[[], object], wanted: object, patience: int = PATIENCE) -> None:
    """For what `expect` has no words for: a place on the page, a held request, a row of the database."""
    deadline = time.monotonic() + patience / 1000
    while (seen := read()) != wanted:
        if time.monotonic() > deadline:
            raise AssertionError(f"still {seen!r}, not {wanted!r}")
        page.wait_for_timeout(50)
