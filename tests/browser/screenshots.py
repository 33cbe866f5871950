"""Pictures of the studio with its demo: `.venv/bin/python -m tests.browser.screenshots`.

Without a folder it makes the README's pictures anew; with one, each page there in light, dark and Japanese.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.chromium import ARGUMENTS, HOW_TO_GET_IT, find_chromium
from tests.studio_process import ROOT, Studio

README_PICTURES = ROOT / ".screenshots"
NAVIGATION = ("/prompts/", "/contexts/", "/workspaces/", "/runs/", "/shortcuts/")
Scheme = Literal["light", "dark"]


def main() -> None:
    """Start a studio on data of its own, sign in by its link, look around."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("folder", nargs="?", type=Path, help="where to put pictures of every page")
    folder: Path | None = parser.parse_args().folder
    chromium = find_chromium()
    if chromium is None:
        sys.exit(f"There is no Chromium: {HOW_TO_GET_IT}.")
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        studio = Studio(Path(data) / "data", "--port", "0", STUDIO_DEBUG="1" if folder else "0")
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        try:
            if folder:
                picture_every_page(browser, studio, folder)
            else:
                picture_for_readme(browser, studio)
        finally:
            browser.close()
            studio.end(signal.SIGINT)


def picture_for_readme(browser: Browser, studio: Studio) -> None:
    """The few that tell what the studio is."""
    README_PICTURES.mkdir(exist_ok=True)
    english = sign_in(browser, studio, "en", "light")
    prompt_set = first_link(english, "/prompts/")
    shoot(english, first_link(english, prompt_set), README_PICTURES / "version.png")
    japanese = sign_in(browser, studio, "ja", "dark")
    shoot(japanese, prompt_set, README_PICTURES / "history-ja-dark.png")


def picture_every_page(browser: Browser, studio: Studio, folder: Path) -> None:
    """Each page of the navigation, the first page below each, and the design page."""
    folder.mkdir(parents=True, exist_ok=True)
    looks: list[tuple[str, Scheme]] = [("en", "light"), ("en", "dark"), ("ja", "light")]
    for language, scheme in looks:
        page = sign_in(browser, studio, language, scheme)
        paths = [*NAVIGATION, "/design/", "/no-such-page/"]
        paths += [first_link(page, path) for path in NAVIGATION[:3]]
        for path in paths:
            name = path.strip("/").replace("/", "-")
            shoot(page, path, folder / f"{name}.{language}.{scheme}.png", whole=True)


def sign_in(browser: Browser, studio: Studio, language: str, scheme: Scheme) -> Page:
    """A page in a browser profile of its own, signed in."""
    context = browser.new_context(
        base_url=studio.base, locale=language, color_scheme=scheme, viewport={"width": 1280, "height": 800}
    )
    page = context.new_page()
    page.goto(studio.fresh_link())
    return page


def first_link(page: Page, listing: str) -> str:
    """The address of the first thing in a list."""
    page.goto(listing)
    address = page.locator(f"main a[href^='{listing}']:not([href='{listing}'])").first.get_attribute("href")
    assert address, f"{listing} lists nothing"
    return address


def shoot(page: Page, path: str, target: Path, whole: bool = False) -> None:
    """Take one picture."""
    page.goto(path)
    page.screenshot(path=target, full_page=whole)
    print(target)


if __name__ == "__main__":
    main()
