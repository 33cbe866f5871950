"""Pictures of the studio with its demo: `.venv/bin/python -m tests.browser.screenshots`.

Without a folder it makes the pictures of the README and of the help pages anew; with one, each page there
in light, dark and Japanese.
"""

import argparse
import base64
import re
import signal
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.command_pictures import OtherMachine, show_commands
from tests.browser.test_accessibility import PAGES
from tests.chromium import ARGUMENTS, HOW_TO_GET_IT, find_chromium
from tests.studio_process import ROOT, Studio

README_PICTURES = ROOT / ".screenshots"
HELP_PICTURES = ROOT / "static" / "src" / "help" / "pictures"
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
                picture_for_help(browser, studio)
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
    changes = english.get_by_role("table", name="Last score change of each set")
    while not changes.get_by_text("v5").is_visible():  # until the runs of the demo are examined
        english.wait_for_timeout(2000)
        english.reload()
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


def picture_for_help(browser: Browser, studio: Studio) -> None:
    """One picture of each journey in each language: what its page tells about."""
    HELP_PICTURES.mkdir(exist_ok=True)
    for language, demo, workspace in (
        ("en", "briefing-writers", "briefing"),
        ("ja", "research-team", "research"),
    ):
        page = sign_in(browser, studio, language, "light")
        page.set_viewport_size({"width": 1100, "height": 690})

        def shoot_help(slug: str, page: Page = page, language: str = language) -> None:
            take_webp(page, HELP_PICTURES / f"{slug}.{language}.webp")

        page.goto(f"/prompts/{demo}/edit/?context=round-5-first&round=2")
        page.locator("#preview .prompt").wait_for()
        shoot_help("first-minute")
        page.locator(".cm-content").first.press("Control+Home")
        page.keyboard.insert_text("{{ submision_history }}\n")
        page.locator("#preview .finding").first.wait_for()
        page.locator("output[data-is=saved]").wait_for()
        shoot_help("typo")
        page.goto(f"/prompts/{demo}/discard/")
        page.locator("main form button").click()
        page.goto(f"/prompts/{demo}/compare/3...5?rendered=on")
        shoot_help("what-changed")
        page.goto(f"/prompts/{demo}/export/")
        page.locator(".export-edited").first.evaluate("each => each.scrollIntoView({block: 'center'})")
        shoot_help("ship-it")
        page.goto("/runs/?state=running")
        page.locator("a.row-link").first.click()
        page.locator("#run-progress h2").wait_for()
        shoot_help("watch-a-run")
        page.goto(f"/prompts/{demo}/scores/")
        shoot_help("did-it-help")
        page.goto(f"/workspaces/{workspace}/runs/?state=completed")
        page.locator("a.row-link").first.click()
        page.locator("#run-why").evaluate("each => each.scrollIntoView()")
        shoot_help("why-it-won")
        page.goto("/everything/")
        shoot_help("everything")
        other = OtherMachine(studio, studio.data.parent / f"gpu-{language}", demo)
        other.show_agent(page)
        shoot_help("agent")
        for slug, commands in (
            ("pipeline", other.in_a_pipeline),
            ("client", other.by_the_client),
            ("pinned-runs", other.a_pinned_run),
        ):
            show_commands(page, commands())
            shoot_help(slug)


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


def take_webp(page: Page, target: Path) -> None:
    """Take one picture in a format that is a quarter as large; Playwright itself knows only PNG and JPEG."""
    browser = page.context.new_cdp_session(page)
    answer = browser.send("Page.captureScreenshot", {"format": "webp", "quality": 75})
    target.write_bytes(base64.b64decode(answer["data"]))
    print(target)


if __name__ == "__main__":
    main()
