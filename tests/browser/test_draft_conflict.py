"""Drafts are kept while somebody types: through reloads, other tabs and a server that is killed."""

import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from studio.models import DraftCopy, PromptSet
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.patience import eventually
from tests.browser.watch import Watch
from tests.studio_process import Studio


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    return EditorPage(page)


def test_the_state_line_tells_whether_the_text_is_safe(editor: EditorPage) -> None:
    expect(editor.state).to_have_text("No changes")
    editor.write("safe?")
    expect(editor.state).to_have_text("Draft saved")
    assert editor.stored() == "safe?"
    expect(editor.page.get_by_role("link", name="Discard the draft")).to_be_visible()


def test_a_reload_right_after_a_key_loses_nothing(editor: EditorPage) -> None:
    editor.write("one ")
    editor.page.keyboard.type("two")
    editor.page.reload()
    editor.wait_until_ready()
    expect(editor.content).to_have_text("one two")
    editor.expect_kept_text("one two")
    assert not DraftCopy.objects.exists()


def test_a_text_too_long_to_be_sent_on_leaving_comes_back(editor: EditorPage) -> None:
    text = "長い文章" * 15_000
    editor.write(text)
    editor.page.goto("/prompts/")
    editor = EditorPage(editor.page)
    expect(editor.page.locator("textarea[name=team_user_prompt]")).to_have_value(text)
    editor.expect_kept_text(text)


def test_a_text_over_the_limit_is_told_and_not_lost(editor: EditorPage, watch: Watch) -> None:
    watch.expect(413)
    editor.write("x" * 65_537)
    expect(editor.state).to_contain_text("the limit is 65536")


def test_a_message_is_part_of_the_draft(editor: EditorPage) -> None:
    editor.page.get_by_label("Message").fill("half a thought")
    editor.write("text")
    editor.expect_kept()
    editor.page.reload()
    expect(editor.page.get_by_label("Message")).to_have_value("half a thought")


def test_a_message_without_a_change_is_kept_too(editor: EditorPage) -> None:
    editor.save("what I am about to do")
    newest = PromptSet.objects.get(slug=SLUG).revision
    expect(editor.state).to_contain_text(f"Nothing changed since v{newest}")
    expect(editor.page.get_by_label("Message")).to_have_value("what I am about to do")
    editor.page.reload()
    expect(editor.page.get_by_label("Message")).to_have_value("what I am about to do")


def test_one_line_edited_in_two_tabs_keeps_both_texts(
    editor: EditorPage, context: BrowserContext, watch: Watch
) -> None:
    watch.expect(409)
    other = EditorPage(context.new_page())
    editor.write("the line, from the first tab\n")
    editor.expect_kept()
    other.write("the line, from the second tab\n")
    bar = other.page.get_by_role("alert")
    expect(bar).to_contain_text("Both texts are saved")
    expect(other.page.get_by_role("link", name="Discard the draft")).to_be_hidden()  # it is the first tab's
    assert editor.stored() == "the line, from the first tab\n"
    other.type_at_end("and more of it\n")
    expect(other.state).to_have_attribute("data-is", "conflict")
    bar.get_by_role("link").click()
    expect(other.page.get_by_role("heading", name="This draft was edited in two tabs")).to_be_visible()
    expect(other.page.locator(".three-way")).to_contain_text("the line, from the first tab")
    expect(other.page.locator(".three-way")).to_contain_text("and more of it")
    other.page.get_by_role("button", name="Use as my draft").click()
    other.wait_until_ready()
    other.expect_text("the line, from the second tab\nand more of it\nthe line, from the first tab\n")


def test_what_is_typed_while_a_save_is_under_way_survives_leaving(editor: EditorPage) -> None:
    held: list[Route] = []
    editor.page.route(re.compile("/save/$"), lambda route: held.append(route))
    editor.write("saved")
    editor.page.get_by_label("Message").fill("slow")
    editor.press("Control+s")
    expect(editor.state).to_have_text("Saving…")
    editor.type_at_end(", and more")
    editor.page.reload()
    editor.wait_until_ready()
    expect(editor.content).to_have_text("saved, and more")
    editor.expect_kept_text("saved, and more")


def test_what_is_typed_while_a_save_meets_a_newer_version_is_kept(editor: EditorPage, watch: Watch) -> None:
    watch.expect(409)
    held: list[Route] = []
    editor.page.route(re.compile("/save/$"), lambda route: held.append(route))
    editor.write("mine")
    editor.page.get_by_label("Message").fill("slow")
    editor.press("Control+s")
    expect(editor.state).to_have_text("Saving…")
    prompt_set = PromptSet.objects.get(slug=SLUG)
    newest = prompt_set.latest
    assert newest is not None
    newer = replace(newest.templates, team_user_prompt="theirs")
    prompt_set.save_version(
        newer, base=newest.number, message="meanwhile", author=newest.author, at=newest.created_at
    )
    editor.type_at_end(", and more")
    eventually(editor.page, lambda: len(held), 1)
    held[0].continue_()
    expect(editor.page.locator(".three-way").first).to_be_visible()
    expect(editor.page.locator(".three-way").first).to_contain_text("mine, and more")


def test_a_server_in_trouble_is_not_taken_for_a_sign_out(editor: EditorPage, watch: Watch) -> None:
    watch.expect(502)
    editor.page.route(re.compile("/save/$"), lambda route: route.fulfill(status=502, body="Bad gateway"))
    editor.write("text")
    editor.page.get_by_label("Message").fill("saved?")
    editor.press("Control+s")
    expect(editor.state).to_have_attribute("data-is", "offline")
    assert editor.stored() == "text"


def test_a_duplicated_tab_from_the_cache_is_another_tab(
    editor: EditorPage, context: BrowserContext, watch: Watch
) -> None:
    watch.expect(409)
    cached = editor.page.request.get(EDIT).body()
    context.route(
        re.compile("/edit/"),
        lambda route: route.fulfill(body=cached, content_type="text/html; charset=utf-8"),
    )
    first, second = EditorPage(context.new_page()), EditorPage(context.new_page())
    first.write("from the first")
    first.expect_kept()
    # As often as it takes to have sent more than the first.
    for word in ("from", "the", "second", "tab"):
        second.type_at_end(word)
        expect(second.state).to_have_attribute("data-is", "conflict")
    assert first.stored() == "from the first"


def test_a_page_that_the_browser_kept_whole_looks_again(editor: EditorPage, context: BrowserContext) -> None:
    other = EditorPage(context.new_page())
    other.write("written meanwhile")
    other.expect_kept()
    editor.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect(editor.content).to_have_text("written meanwhile")


class KilledStudio:
    """A studio of its own, whose process can be killed and started again at the same address."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.studio = Studio(data, "--port", "0")
        self.port = self.studio.base.rpartition(":")[2]

    def kill(self) -> None:
        self.studio.process.kill()
        self.studio.process.wait()

    def start(self) -> None:
        self.studio = Studio(self.data, "--port", self.port)


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[KilledStudio]:
    studio = KilledStudio(tmp_path / "data")
    yield studio
    studio.studio.end(signal.SIGINT)


def test_a_killed_server_costs_nothing_that_was_typed(browser: Browser, killed: KilledStudio) -> None:
    context = browser.new_context(base_url=killed.studio.base, locale="en-US")
    page = context.new_page()
    page.goto(killed.studio.link)
    editor = EditorPage(page)
    editor.write("kept before")
    editor.expect_kept()
    killed.kill()
    editor.type_at_end(", typed while it was away")
    expect(editor.state).to_contain_text("saved in this browser")
    page.goto("about:blank")
    killed.start()
    page = context.new_page()
    editor = EditorPage(page)
    expect(editor.content).to_have_text("kept before, typed while it was away")
    expect(page.get_by_text("They were restored from this browser")).to_be_visible()
    editor.expect_kept()
    killed.kill()
    editor.type_at_end(", and again")
    expect(editor.state).to_contain_text("saved in this browser")
    killed.start()
    expect(editor.state).to_have_text("Draft saved", timeout=15_000)
    expect(editor.prompt).to_have_text("kept before, typed while it was away, and again")
    page.reload()
    expect(editor.content).to_have_text(re.compile("and again$"))
    context.close()
