"""Pictures of the studio with its demo: `.venv/bin/python -m tests.browser.screenshots`.

Without a folder it makes the README's pictures anew; with one, each page there in light, dark and Japanese.
"""

import argparse
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.test_accessibility import PAGES
from tests.chromium import ARGUMENTS, HOW_TO_GET_IT, find_chromium
from tests.studio_process import ROOT, Studio

README_PICTURES = ROOT / ".screenshots"
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
        studio = Studio(
            Path(data) / "prompt-studio" / "data", "--port", "0", STUDIO_DEBUG="1" if folder else "0"
        )
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
    english.goto("/prompts/research-team/edit/?context=round-5-first&round=2")
    english.locator(".cm-content").first.press("Control+Home")
    english.keyboard.insert_text("結論から書いてください。\n")
    english.locator("output[data-is=saved]").wait_for()
    english.locator("#preview", has_text="結論から書いてください。").wait_for()
    english.get_by_text("All lines covered by samples").wait_for()
    take(english, README_PICTURES / "editor.png")
    english.goto("/")
    english.get_by_role("table", name="Last score change of each set").get_by_text("v5").wait_for()
    take(english, README_PICTURES / "home.png")
    shoot(english, "/workspaces/", README_PICTURES / "workspaces.png")
    shoot(english, "/prompts/research-team/export/", README_PICTURES / "export.png")
    english.goto("/workspaces/research/runs/?state=completed")
    english.locator("a.row-link").first.click()
    # From the ranking on: the chart belongs to it.
    english.locator("#run-ranking").evaluate("each => each.scrollIntoView()")
    take(english, README_PICTURES / "run.png")
    japanese = sign_in(browser, studio, "ja", "dark")
    shoot(
        japanese, "/prompts/research-team/compare/3...5?rendered=on", README_PICTURES / "compare-ja-dark.png"
    )


def picture_every_page(browser: Browser, studio: Studio, folder: Path) -> None:
    """Each page that the accessibility tests look at, and the design page."""
    folder.mkdir(parents=True, exist_ok=True)
    looks: list[tuple[str, Scheme]] = [("en", "light"), ("en", "dark"), ("ja", "light")]
    for language, scheme in looks:
        page = sign_in(browser, studio, language, scheme)
        for path in [*PAGES, "/design/"]:
            name = re.sub(r"\W+", "-", path).strip("-")
            shoot(page, path, folder / f"{name}.{language}.{scheme}.png", whole=True)


def sign_in(browser: Browser, studio: Studio, language: str, scheme: Scheme) -> Page:
    """A page in a browser profile of its own, signed in."""
    context = browser.new_context(
        base_url=studio.base, locale=language, color_scheme=scheme, viewport={"width": 1280, "height": 800}
    )
    page = context.new_page()
    page.goto(studio.fresh_link())
    return page


def shoot(page: Page, path: str, target: Path, whole: bool = False) -> None:
    """Go there and take one picture."""
    page.goto(path)
    take(page, target, whole)


def take(page: Page, target: Path, whole: bool = False) -> None:
    """Take one picture of what is shown."""
    page.screenshot(path=target, full_page=whole)
    print(target)


if __name__ == "__main__":
    main()
