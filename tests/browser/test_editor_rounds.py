"""Many rounds in a small space; rounds that fail or change, marked before anything is saved."""

import re

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from studio.models import PromptSet, PromptVersion, SampleContext
from tests.browser.audit import findings
from tests.browser.conftest import Watch
from tests.browser.editor_page import EDIT, SLUG, EditorPage, forget_drafts
from tests.browser.patience import eventually
from tests.studio.editing import make_context

LATE = "{{ user_prompt }}\nRound {{ round_number }}\n{{ user_prompt + 1 if round_number == 4 }}\n"


@pytest.fixture
def sixty(page: Page) -> EditorPage:
    forget_drafts()
    if not SampleContext.objects.filter(slug="sixty").exists():
        make_context("sixty", rounds=60, prompt_set=PromptSet.objects.get(slug=SLUG))
    return EditorPage(page, f"{EDIT}?context=sixty")


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    return EditorPage(page)


def rounds(editor: EditorPage) -> Locator:
    return editor.page.get_by_role("group", name="Round")


@pytest.mark.parametrize(("width", "least"), [(1400, 480), (1100, 350), (420, 340)])
def test_sixty_rounds_leave_the_prompt_its_place(sixty: EditorPage, width: int, least: int) -> None:
    page = sixty.page
    page.set_viewport_size({"width": width, "height": 800})
    box, control = sixty.prompt.bounding_box(), rounds(sixty).bounding_box()
    assert box and control
    assert box["width"] >= least and box["height"] >= 250
    assert control["height"] <= 50, "the rounds stand on one line"
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    if width > 960:
        assert box["y"] + box["height"] <= 800, "seen without a scroll"
        assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    # Every round is there, and each way leads to it.
    number = rounds(sixty).get_by_role("combobox", name="Round")
    assert number.locator("option").all_text_contents() == [str(round) for round in range(1, 61)]
    sixty.write("Round {{ round_number }}!")
    expect(sixty.prompt).to_have_text("Round 60!")
    number.select_option("7")
    expect(sixty.prompt).to_have_text("Round 7!")
    expect(page).to_have_url(re.compile("round=7"))
    rounds(sixty).get_by_role("button", name="Next round").click()
    expect(sixty.prompt).to_have_text("Round 8!")
    rounds(sixty).get_by_role("button", name="Previous round").click()
    expect(sixty.prompt).to_have_text("Round 7!")
    sixty.content.click()
    sixty.press("Alt+r")
    expect(sixty.prompt).to_have_text("Round 8!")


def test_the_screen_of_a_laptop_needs_no_scroll(sixty: EditorPage) -> None:
    sixty.page.set_viewport_size({"width": 1280, "height": 800})
    sixty.open_drawer()
    sixty.write("{{ one }}\n" * 30)
    expect(sixty.errors.first).to_be_visible()
    assert sixty.page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    box = sixty.prompt.bounding_box()
    assert box and box["height"] > 60


def test_a_round_that_fails_is_marked_before_saving_and_a_click_leads_there(
    editor: EditorPage, watch: Watch
) -> None:
    watch.expect(422)
    editor.write(LATE)
    expect(editor.prompt).to_contain_text("Round 2")
    fourth = rounds(editor).get_by_role("button", name="4")
    expect(fourth).to_have_attribute("title", "fails")
    expect(rounds(editor).get_by_role("button", name="3")).to_have_attribute("title", "changes")
    chosen = editor.page.get_by_label("Sample context")
    expect(chosen.locator("option:checked")).to_contain_text("✕ fails")
    expect(chosen.locator("option[value='round-1']")).to_contain_text("● changes")
    expect(editor.errors).to_have_count(1)
    expect(editor.errors).to_contain_text(
        re.compile(r"Round 5, first place, round 4 and \d+ more rounds?:\s+Jinja2")
    )
    assert findings(editor.page) == []
    # A refused save says the same once, and the round that is shown has its prompt still.
    editor.save("Late")
    expect(editor.page.locator("main > .notices")).to_contain_text("Not saved: fix the problems below.")
    expect(editor.prompt).to_contain_text("Round 2")
    expect(editor.page.locator("#preview")).to_have_attribute("data-state", "text")
    expect(editor.errors).to_have_count(1)
    assert not PromptVersion.objects.filter(message="Late").exists()
    editor.errors.click()
    expect(editor.page.locator("#preview")).to_contain_text("Can't render")
    expect(editor.page).to_have_url(re.compile("round=4"))
    # There it stands above the prompt, and not below as well.
    expect(editor.errors).to_have_count(1)
    editor.write("Round {{ round_number }}\n")
    expect(editor.prompt).to_have_text("Round 4")
    expect(fourth).to_have_attribute("title", "changes")
    expect(editor.errors).to_have_count(0)
    expect(editor.page.locator("main > .notices")).to_have_count(0)


def test_new_typing_ends_what_was_asked_about_the_text_before(editor: EditorPage) -> None:
    ended: list[Request] = []
    editor.page.on("requestfailed", lambda request: ended.append(request))
    editor.page.route("**/rounds/", lambda route: None if not ended else route.fallback())
    with editor.page.expect_request("**/rounds/"):
        editor.write(LATE)
    editor.type_at_end("more")
    eventually(
        editor.page,
        lambda: [request.url.rpartition("/prompts/")[2] for request in ended],
        [f"{SLUG}/rounds/"],
    )
    expect(rounds(editor).get_by_role("button", name="4")).to_have_attribute("title", "fails")


def test_the_last_good_prompt_stays_while_a_text_has_errors(editor: EditorPage) -> None:
    editor.write("Round {{ round_number }}, good")
    expect(editor.prompt).to_have_text("Round 2, good")
    editor.type_at_end(" {{ nobody }}")
    expect(editor.errors).to_have_count(1)
    expect(editor.prompt).to_have_class("prompt last-good")
    expect(editor.prompt).to_have_text("Round 2, good")
    above = editor.page.locator("#preview .prompt-problems")
    expect(above).to_contain_text("Last prompt that rendered:")
    top, below = above.bounding_box(), editor.prompt.bounding_box()
    assert top and below and top["y"] + top["height"] <= below["y"] + 1
    assert findings(editor.page) == []
    # Another round has no good prompt of this text: the saved version's stands in.
    rounds(editor).get_by_role("button", name="3").click()
    expect(above).to_contain_text("Prompt of v")
    expect(editor.prompt).to_contain_text("ラウンド 3")
    editor.press("Control+z")
    editor.write("Round {{ round_number }}, better")
    expect(editor.prompt).to_have_text("Round 3, better")
    expect(editor.prompt).to_have_class("prompt")
