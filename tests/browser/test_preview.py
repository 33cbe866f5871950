"""The preview moves with the text, the context and the round, and never stands in the way of typing."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, Request, Response, Route, expect

from studio.models import SampleContext
from tests.browser.editor_page import EDIT, EditorPage, forget_drafts
from tests.browser.patience import eventually
from tests.browser.readiness import press
from tests.browser.watch import Watch
from tests.hanging import HANGS

# It passes the gate and runs until a limit ends it.
SLOW = HANGS
# Who had templates stopped twice has to wait; a third stop begins that anew.
AFTER_STOPS = 40_000  # milliseconds


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    return EditorPage(page)


def previews(page: Page) -> list[str]:
    """The texts that are sent from now on."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.url.endswith("/preview/"):
            sent.append(request.post_data or "")

    page.on("request", note)
    return sent


class Gutter:
    """It asks about the same text as the preview, a little later: a slow one is stopped there once more."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.last = ""
        page.on("response", self._note)

    def _note(self, response: Response) -> None:
        if response.url.endswith("/coverage/") and response.status == 200:
            self.last = response.request.post_data or ""

    def expect_answer(self, words: str) -> None:
        """Then nothing slow is under way, and the next test's person, the same one, waits for nothing."""
        eventually(self.page, lambda: words in self.last, True, patience=AFTER_STOPS)


def test_a_pause_shows_what_a_team_would_receive(editor: EditorPage) -> None:
    editor.write("Round {{ round_number }}: ")
    expect(editor.prompt).to_have_text("Round 2:")
    editor.page.keyboard.type("go on")
    expect(editor.prompt).to_have_text("Round 2: go on")
    expect(editor.page.locator("#preview .figures")).to_contain_text("tokens")
    expect(editor.page.locator("#budget")).to_contain_text("14 characters")
    expect(editor.page.locator("#changes summary")).to_contain_text("Since v5")


def test_one_click_and_one_key_go_to_the_next_round(editor: EditorPage) -> None:
    editor.write("Round {{ round_number }}")
    expect(editor.prompt).to_have_text("Round 2")
    editor.page.get_by_role("group", name="Round").get_by_role("button", name="3").click()
    expect(editor.prompt).to_have_text("Round 3")
    expect(editor.page).to_have_url(re.compile("round=3"))
    editor.content.click()
    editor.press("Alt+r")
    expect(editor.prompt).to_have_text("Round 4")
    expect(editor.content).to_be_focused()
    editor.expect_text("Round {{ round_number }}")


def test_another_context_shows_at_once_and_stays_in_the_address(editor: EditorPage) -> None:
    editor.write("{{ user_prompt }} {{ round_number }}")
    editor.page.get_by_label("Sample context").select_option("round-1")
    expect(editor.prompt).to_have_text(re.compile(r" 1$"))
    expect(editor.page).to_have_url(re.compile("context=round-1&round=1"))


def test_a_burst_of_keys_sends_one_preview_with_one_template(editor: EditorPage) -> None:
    editor.write("about ")
    expect(editor.prompt).to_have_text("about")
    sent = previews(editor.page)
    # However slow the machine: no time goes by between the keys.
    editor.page.clock.install()
    editor.page.clock.pause_at(datetime.now() + timedelta(minutes=1))
    editor.page.keyboard.type("twelve words")
    editor.page.clock.resume()
    expect(editor.prompt).to_have_text("about twelve words")
    assert len(sent) == 1
    assert "team_user_prompt=about%20twelve%20words" in sent[0] and "judgment_user_prompt" not in sent[0]


def test_a_key_asks_for_the_preview_now(editor: EditorPage) -> None:
    sent = previews(editor.page)
    editor.content.click()
    with editor.page.expect_response(re.compile("/preview/$")):
        editor.press("Control+Enter")
    assert len(sent) == 1
    assert "\n\n\n" not in editor.text()


def test_typing_goes_on_while_a_slow_preview_is_under_way(editor: EditorPage, watch: Watch) -> None:
    watch.expect(429)  # where the gutter asks about the slow text as well, it is stopped twice
    gutter = Gutter(editor.page)
    with editor.page.expect_request(re.compile("/preview/$")):
        editor.write(SLOW)
    editor.press("Control+a")
    editor.page.keyboard.type("Round {{ round_number }}, quickly")
    editor.expect_text("Round {{ round_number }}, quickly")
    expect(editor.prompt).to_have_text("Round 2, quickly", timeout=AFTER_STOPS)
    expect(editor.errors).to_have_count(0)
    gutter.expect_answer("quickly")


def test_the_newest_answer_wins_however_late_an_older_one_comes(editor: EditorPage) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.fallback()
        else:
            held.append(route)

    editor.page.route(re.compile("/preview/$"), hold_the_first)
    with editor.page.expect_request(re.compile("/preview/$")):
        editor.write("older")
    editor.press("Control+a")
    editor.page.keyboard.type("newer")
    expect(editor.prompt).to_have_text("newer")
    held[0].abort()
    editor.page.wait_for_timeout(200)
    expect(editor.prompt).to_have_text("newer")


def test_the_reader_keeps_their_place_in_a_long_prompt(editor: EditorPage) -> None:
    editor.write("line\n" * 200 + "nearly ")
    expect(editor.prompt).to_contain_text("nearly")
    editor.prompt.evaluate("each => each.scrollTop = 900")
    editor.type_at_end("the end")
    expect(editor.prompt).to_contain_text("the end")
    eventually(editor.page, lambda: editor.prompt.evaluate("each => each.scrollTop"), 900)


def test_a_context_deleted_meanwhile_ends_no_preview_and_no_save(page: Page, watch: Watch) -> None:
    watch.expect(404, 503)
    forget_drafts()
    doomed = SampleContext.objects.get(slug="round-1")
    doomed.pk, doomed.slug, doomed.name = None, "doomed", "Doomed"
    doomed.save(force_insert=True)
    editor = EditorPage(page, f"{EDIT}?context=doomed")
    doomed.delete()
    editor.write("Round {{ round_number }}")
    expect(page.locator("#preview")).to_contain_text("no longer exists")
    page.get_by_label("Sample context", exact=True).select_option("round-2")
    expect(editor.prompt).to_have_text("Round 2")
    # Nor does an error that has no preview in it.
    page.route("**/preview/", lambda route: route.fulfill(status=503, body="<h1>down</h1>"))
    press(page, "Alt+1")
    editor.type_at_end(" a")
    expect(page.locator("#preview[data-stale]")).to_be_attached()
    page.unroute("**/preview/")
    editor.type_at_end(" b")
    expect(editor.prompt).to_have_text("Round 2 a b")


def test_a_template_that_meets_a_limit_says_which(editor: EditorPage, watch: Watch) -> None:
    watch.expect(429)
    gutter = Gutter(editor.page)
    editor.write(SLOW)
    expect(editor.problems).to_contain_text(re.compile("second|limit"))
    expect(editor.page.locator("#preview .prompt-problems")).to_be_visible()
    editor.write("Round {{ round_number }}, mended")
    expect(editor.prompt).to_have_text("Round 2, mended", timeout=AFTER_STOPS)
    gutter.expect_answer("mended")
