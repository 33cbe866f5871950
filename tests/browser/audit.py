"""What axe says about a page, and whether it scrolls sideways. Used by the tests of accessibility."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.browser.readiness import wait_until_ready

NARROW = 360
WIDTHS = (1280, 768, NARROW)
CONTRAST = "color-contrast"

# Nobody reads what passed, nor the path to an element; there is no sound that would have to be loaded first.
BRIEFLY = {"resultTypes": ["violations"], "selectors": False, "preload": False}
RUN = (
    "options => axe.run(options).then(seen => seen.violations.map(one => `${one.id}: ${one.nodes[0].html}`))"
)


def findings(page: Page) -> list[str]:
    """All that axe finds in the light theme, and what in the dark one has too little contrast.

    A theme is an attribute of the page and changes colours alone, so that one visit does for both.
    """
    _settle(page)
    with _theme(page, "light"):
        violations = _ask_axe(page)
    with _theme(page, "dark"):
        violations += _ask_axe(page, runOnly=[CONTRAST])
    return violations


def findings_when_narrow(page: Page) -> list[str]:
    """What a small screen leaves out must still have a name; its colours are those of a wide one."""
    _settle(page)
    with _width(page, NARROW):
        return _ask_axe(page, rules={CONTRAST: {"enabled": False}})


def sideways(page: Page) -> list[str]:
    """The widths, with the page's address, at which its content is wider than the window."""
    wide = []
    for width in WIDTHS:
        with _width(page, width):
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                wide.append(f"{page.url} at {width}")
    return wide


def _settle(page: Page) -> None:
    """The page has stopped changing by itself."""
    wait_until_ready(page)
    expect(page.locator(".htmx-request")).to_have_count(0)


def _ask_axe(page: Page, **options: Any) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    violations: list[str] = page.evaluate(RUN, {**BRIEFLY, **options})
    return [f"{page.url} {violation}" for violation in violations]


@contextmanager
def _theme(page: Page, theme: str) -> Iterator[None]:
    change = "theme => { const old = document.documentElement.dataset.theme;"
    change += " document.documentElement.dataset.theme = theme; return old }"
    before = page.evaluate(change, theme)
    yield
    page.evaluate(change, before)


@contextmanager
def _width(page: Page, width: int) -> Iterator[None]:
    before = page.viewport_size
    assert before
    page.set_viewport_size({**before, "width": width})
    yield
    page.set_viewport_size(before)
