"""Writing a template: completion, problems, tabs, keys, and what a screen of its size holds."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import findings
from tests.browser.editor_page import EDIT, FIRST_PLACE, EditorPage, forget_drafts
from tests.browser.readiness import press


@pytest.fixture
def editor(page: Page) -> EditorPage:
    forget_drafts()
    return EditorPage(page)


def test_a_variable_is_completed_by_keyboard(editor: EditorPage) -> None:
    editor.write("Look at ")
    editor.page.keyboard.type("{{ sub")
    expect(editor.suggestions).to_have_text(["submission_historystring"])
    expect(editor.page.locator(".cm-completionInfo")).to_contain_text("The team's earlier submissions")
    editor.page.wait_for_timeout(100)  # a list that has just appeared takes no Enter, lest it be a slip
    editor.press("Enter")
    editor.page.keyboard.type(" first.")
    editor.expect_text("Look at {{ submission_history }} first.")


def test_just_the_variables_of_this_template_are_offered(editor: EditorPage) -> None:
    editor.page.get_by_role("tab", name="Evaluator").click()
    editor.write("")
    editor.page.keyboard.type("{{ ")
    expect(editor.suggestions).to_have_text(
        ["user_promptstring", "submissionstring", "current_datetimestring"]
    )


def test_tags_filters_and_tests_are_offered_where_they_may_stand(editor: EditorPage) -> None:
    for typed, offered in (
        ("{% en", "endif"),
        ("{{ user_prompt | trunc", "truncate"),
        ("{% if user_prompt is de", "defined"),
    ):
        editor.write("")
        editor.page.keyboard.type(typed)
        expect(editor.suggestions.filter(has_text=re.compile(f"^{offered}$"))).to_be_visible()
    editor.write("")
    editor.page.keyboard.type("user_prompt and submission")
    editor.page.wait_for_timeout(200)
    expect(editor.suggestions).to_have_count(0)


def test_what_is_typed_by_hand_stays_as_it_was_typed(editor: EditorPage) -> None:
    typed = (
        "It's {{ user_prompt }}, isn't (it)? "
        "{%- if round_number > 1 -%}[{{ user_prompt }}]{% endif %} {# } #} {x} }}"
    )
    editor.write("")
    editor.page.keyboard.type(typed)
    editor.expect_text(typed)


def test_a_typo_is_marked_on_its_line_and_mended_by_one_key(editor: EditorPage) -> None:
    editor.write("# History\n{{ submision_history }}\n")
    expect(editor.page.locator(".cm-lintRange-error")).to_have_text("submision_history")
    expect(editor.page.locator(".cm-lint-marker-error")).to_be_visible()
    expect(editor.problems).to_contain_text(
        "not a variable of this template. Did you mean submission_history?"
    )
    expect(editor.problems).to_contain_text("Line 2")
    editor.press("Control+.")
    editor.expect_text("# History\n{{ submission_history }}\n")
    expect(editor.problems).to_have_count(0)
    expect(editor.prompt).to_contain_text("# History")


def test_the_list_of_problems_leads_to_the_line_and_mends_too(editor: EditorPage) -> None:
    editor.write("a\n{{ user_promt }}\n")
    expect(editor.page.locator(".cm-lintRange-error")).to_have_text("user_promt")
    editor.problems.get_by_role("button", name="Replace with user_prompt").click()
    editor.expect_text("a\n{{ user_prompt }}\n")
    expect(editor.content).to_be_focused()


def test_keys_walk_the_problems_and_say_what_they_are(editor: EditorPage) -> None:
    editor.write("{{ user_promt }}\n\n{{ round_numbr }}\n")
    expect(editor.page.locator(".cm-lintRange-error")).to_have_count(2)
    bubble = editor.page.locator(".problem-bubble")
    for key, name in [
        ("F8", "user_promt"),
        ("F8", "round_numbr"),
        ("F8", "user_promt"),
        ("Shift+F8", "round_numbr"),
    ]:
        editor.press(key)
        expect(bubble).to_contain_text(f"{name} is not a variable")
    bubble.get_by_role("button", name="Replace with round_number").click()
    editor.expect_text("{{ user_promt }}\n\n{{ round_number }}\n")


def test_of_one_line_the_errors_come_first_and_names_stand_as_code(editor: EditorPage) -> None:
    editor.write("# Task\n{{ user_prompt|upper }} {{ round_numbr }}\n")
    expect(editor.problems.locator(".finding-severity")).to_have_text(["Error", "Hint"])
    expect(editor.errors.locator("code").first).to_have_text("round_numbr")
    bubble = editor.page.locator(".problem-bubble")
    for key, severity in [("F8", "error"), ("F8", "info"), ("F8", "error"), ("Shift+F8", "info")]:
        editor.press(key)
        expect(bubble).to_have_class(re.compile(severity))
    editor.press("F8")
    expect(bubble.locator("code").first).to_have_text("round_numbr")
    expect(bubble).not_to_contain_text("`")
    editor.page.locator(".cm-lint-marker-error").hover()
    expect(editor.page.locator(".cm-tooltip-lint .cm-diagnostic").first).to_have_class(re.compile("error"))
    expect(editor.page.locator(".cm-tooltip-lint code").first).to_have_text("round_numbr")
    # Off the mark, lest a new tooltip opens at the new one.
    editor.page.locator(".cm-tooltip-lint").hover()
    editor.press("Alt+r")  # the same problems again: what was hovered is not there any more
    expect(editor.page.locator("#preview [aria-current]")).to_contain_text("3")
    expect(editor.page.locator(".cm-tooltip-lint")).to_have_count(0)


def test_errors_of_another_template_stay_in_the_list_until_they_are_mended(editor: EditorPage) -> None:
    editor.page.get_by_role("tab", name="Evaluator").click()
    editor.write("Judge:\n{{ submision }}\n")
    expect(editor.problems).to_contain_text("Evaluator · Line 2")
    editor.expect_kept()
    editor.page.goto(FIRST_PLACE)
    editor.wait_until_ready()
    for _ in range(2):
        expect(editor.problems).to_contain_text("Evaluator · Line 2")
        expect(editor.page.get_by_role("tab", name="Evaluator")).to_contain_text("1")
        editor.write("Round {{ round_number }}\n")
        expect(editor.prompt).to_have_text("Round 2")
    editor.expect_kept()
    editor.page.goto(FIRST_PLACE)  # its editor was not shown yet
    editor.wait_until_ready()
    editor.problems.get_by_role("button", name="Replace with submission").click()
    expect(editor.problems).to_have_count(0)
    expect(editor.page.locator(".bench-problems")).to_be_hidden()
    editor.expect_text("Judge:\n{{ submission }}\n", "evaluator_user_prompt")


def test_keys_turn_to_a_template_and_reload_stays_there(editor: EditorPage) -> None:
    editor.press("Alt+3")
    expect(editor.page.get_by_role("tab", name="Judgment")).to_have_attribute("aria-selected", "true")
    expect(editor.content).to_be_focused()
    expect(editor.content).to_have_attribute("aria-label", "judgment_user_prompt")
    expect(editor.page).to_have_url(re.compile("kind=judgment.*context=round-5-first.*round=2"))
    editor.page.reload()
    editor.wait_until_ready()
    expect(editor.page.get_by_role("tab", name="Judgment")).to_have_attribute("aria-selected", "true")
    expect(editor.page.get_by_label("Sample context")).to_have_value("round-5-first")
    expect(editor.page.locator("#preview [aria-current]")).to_contain_text("2")
    # Arrow keys walk the tabs, round and round.
    editor.page.get_by_role("tab", name="Judgment").focus()
    editor.press("ArrowRight")
    expect(editor.page.get_by_role("tab", name="Team")).to_be_focused()
    expect(editor.page.locator("#panel-team")).to_be_visible()
    editor.press("ArrowLeft")
    expect(editor.page.get_by_role("tab", name="Judgment")).to_be_focused()
    expect(editor.page.locator("#panel-judgment")).to_be_visible()


def test_the_keyboard_leaves_the_editor(editor: EditorPage) -> None:
    editor.content.click()
    editor.press("Tab")
    expect(editor.content).to_be_focused()
    editor.press("Escape", "Tab")
    expect(editor.content).not_to_be_focused()
    help_id = editor.content.get_attribute("aria-describedby")
    assert "Escape, then Tab leaves" in (editor.page.locator(f"#{help_id}").text_content() or "")


def test_find_speaks_the_language_of_the_page(editor: EditorPage, server: str) -> None:
    for language, word in (("en", "Find"), ("ja", "検索")):
        editor.page.context.add_cookies([{"name": "studio-language", "value": language, "url": server}])
        editor.page.goto(EDIT)
        editor.wait_until_ready()
        editor.content.click()
        editor.press("Control+f")
        expect(editor.page.get_by_role("textbox", name=word, exact=True)).to_be_focused()


def test_nothing_is_sent_while_a_word_is_composed(editor: EditorPage) -> None:
    sent: list[str] = []
    editor.write("Answer in ")
    expect(editor.prompt).to_have_text("Answer in")
    editor.page.on("request", lambda request: sent.append(request.url))
    keyboard = editor.page.context.new_cdp_session(editor.page)
    keyboard.send("Input.imeSetComposition", {"text": "にほんご", "selectionStart": 4, "selectionEnd": 4})
    editor.page.wait_for_timeout(600)
    assert [url for url in sent if url.endswith("/preview/")] == []
    keyboard.send("Input.insertText", {"text": "日本語"})
    expect(editor.prompt).to_have_text("Answer in 日本語")
    editor.expect_text("Answer in 日本語")


def test_the_page_does_not_scroll_and_a_narrow_one_stacks(editor: EditorPage) -> None:
    editor.write("{{ one }} {{ two }} {{ three }}\n" * 60)
    expect(editor.page.locator(".cm-lintRange-error").first).to_be_attached()
    expect(editor.problems).not_to_have_count(0)
    over = "[root.scrollHeight - innerHeight, root.scrollWidth - innerWidth]"
    for width, height in ((1280, 800), (1600, 1000), (1024, 768)):
        editor.page.set_viewport_size({"width": width, "height": height})
        assert editor.page.evaluate(f"(root => {over})(document.documentElement)") == [0, 0]
    editor.write("Round {{ round_number }}")
    expect(editor.prompt).to_have_text("Round 2")
    editor.page.set_viewport_size({"width": 390, "height": 800})
    assert editor.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    top, below = editor.content.bounding_box(), editor.prompt.bounding_box()
    assert top and below and below["y"] > top["y"] + 100


@pytest.mark.parametrize("language", ["en", "ja"])
def test_axe_finds_nothing(page: Page, server: str, language: str) -> None:
    forget_drafts()
    page.context.add_cookies([{"name": "studio-language", "value": language, "url": server}])
    editor = EditorPage(page, FIRST_PLACE)
    found = findings(page)
    editor.write("{% if round_number > 1 %}{{ user_prompt | truncate(20, 'x') }}{% endif %} {# why #}\n")
    expect(page.locator("#changes")).to_be_visible()
    page.locator("#changes summary").click()
    found += findings(page)
    editor.type_at_end("{{ user_promt }} {{ ")
    expect(editor.problems).not_to_have_count(0)
    found += findings(page)
    press(page, "Escape")
    press(page, "F8")
    expect(page.locator(".problem-bubble")).to_be_visible()
    press(page, "Control+f")
    found += findings(page)
    assert found == []


def test_the_line_between_the_panes_moves_by_key_and_stays(editor: EditorPage) -> None:
    line = editor.page.get_by_role("separator", name="Width of the editor")
    before = editor.content.bounding_box()
    line.focus()
    for _ in range(5):
        editor.press("ArrowRight")
    expect(line).to_have_attribute("aria-valuenow", "60")
    after = editor.content.bounding_box()
    assert before and after and after["width"] > before["width"] + 50
    editor.page.reload()
    editor.wait_until_ready()
    expect(line).to_have_attribute("aria-valuenow", "60")
