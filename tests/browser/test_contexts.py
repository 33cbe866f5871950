"""Sample contexts in a browser: rows that come and go, problems with the focus, two people on one context."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from studio.models import SampleContext
from tests.browser.audit import findings, findings_when_narrow, sideways
from tests.browser.readiness import press
from tests.browser.watch import Watch


def field(page: Page, name: str) -> Locator:
    return page.locator(f"[name='{name}']")


def fill_in_round_five(page: Page, name: str) -> None:
    """Four rounds and three teams, by what the page offers and nothing else."""
    page.goto("/contexts/")
    page.get_by_role("link", name="New context").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Task", exact=True).fill("Count the stars")
    page.get_by_label("Submission of this round", exact=True).fill("Five thousand")
    field(page, "round_number").fill("5")
    for index, score in enumerate(("61.5", "70", "68.25", "80")):
        page.get_by_role("button", name="Add a round").click()
        # The new row has the focus and its number.
        expect(field(page, f"round_history.{index}.evaluation_score")).to_be_focused()
        expect(field(page, f"round_history.{index}.round_number")).to_have_value(str(index + 1))
        field(page, f"round_history.{index}.evaluation_score").fill(score)
        field(page, f"round_history.{index}.submission_content").fill(f"Attempt {index + 1}")
        field(page, f"round_history.{index}.score_details").fill(f"Accuracy: {score}\nCoverage: 70")
        field(page, f"round_history.{index}.evaluation_feedback").fill("Look longer")
    for index, (team, score) in enumerate((("Alpha", "80"), ("Beta", "91"), ("Gamma", "85.5"))):
        page.get_by_role("button", name="Add a team").click()
        expect(field(page, f"ranking.{index}.team_name")).to_be_focused()
        field(page, f"ranking.{index}.team_name").fill(team)
        if index:
            field(page, f"ranking.{index}.team_id").fill(team.lower())
        field(page, f"ranking.{index}.max_score").fill(score)
        field(page, f"ranking.{index}.total_rounds").fill("4")
    page.get_by_role("button", name="Sort by best score").click()
    expect(field(page, "ranking.0.team_name")).to_have_value("Beta")


def expect_round_five(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    made = SampleContext.objects.get(name=name).round_context
    assert [state.evaluation_score for state in made.round_history] == [61.5, 70, 68.25, 80]
    assert made.round_history[3].score_details == {"Accuracy": 80, "Coverage": 70}
    assert [entry.team_name for entry in made.ranking or []] == ["Beta", "Gamma", "Alpha"]
    assert (made.ranking or [])[2].team_id == made.team_id


def test_round_five_is_made_by_form_and_shown_in_the_editor(page: Page) -> None:
    fill_in_round_five(page, "Third of four")
    page.locator("main").get_by_role("button", name="Save the context").last.click()
    expect_round_five(page, "Third of four")
    page.get_by_role("link", name="Round 5").first.click()
    expect(page).to_have_url(re.compile(r"/edit/\?.*round=5"))
    expect(page.locator("#preview")).to_contain_text("Count the stars")


def test_round_five_is_made_without_javascript_too(plain: Page) -> None:
    fill_in_round_five(plain, "Without a script")
    plain.locator("main").get_by_role("button", name="Save the context").last.click()
    expect_round_five(plain, "Without a script")


def test_enter_in_a_field_saves_and_removes_no_row(page: Page) -> None:
    page.goto("/contexts/round-2/duplicate/")
    page.get_by_label("Name", exact=True).fill("Saved by Enter")
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Saved by Enter")
    assert len(SampleContext.objects.get(name="Saved by Enter").round_context.round_history) == 1


def test_a_row_is_removed_by_keyboard_and_the_rest_stays(page: Page) -> None:
    page.goto("/contexts/round-5-first/edit/")
    page.get_by_label("Task", exact=True).fill("typed, not saved")
    page.get_by_role("button", name="Remove no. 2 of the rounds").focus()
    press(page, "Enter")
    expect(page.locator("[name='round_history']")).to_have_count(3)
    expect(page.get_by_role("button", name="Add a round")).to_be_focused()
    expect(page.get_by_label("Task", exact=True)).to_have_value("typed, not saved")


def test_a_problem_has_the_focus_and_nothing_typed_is_lost(page: Page, watch: Watch, server: str) -> None:
    watch.expect(422)
    page.context.add_cookies([{"name": "studio-language", "value": "ja", "url": server}])
    page.goto("/contexts/round-2/edit/")
    field(page, "user_prompt").fill("星を数える")
    field(page, "round_history.0.evaluation_score").fill("良い")
    page.locator("button.primary").click()
    score = field(page, "round_history.0.evaluation_score")
    expect(score).to_be_focused()
    expect(score).to_have_value("良い")
    expect(score).to_have_accessible_description("数値を指定してください")
    expect(field(page, "user_prompt")).to_have_value("星を数える")
    expect(page.get_by_role("alert")).to_contain_text("これまでのラウンドの1件目：スコア")


def test_leaving_with_something_unsaved_is_asked_about(page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("/contexts/new/")
    page.goto("/contexts/new/")
    assert asked == []
    page.get_by_role("button", name="Add a round").click()
    expect(page.locator("[name='round_history']")).to_have_count(1)
    page.get_by_label("Name", exact=True).press_sequentially("typed")
    page.goto("/contexts/")
    assert asked == ["beforeunload"]
    page.goto("/contexts/round-1/duplicate/")
    page.get_by_label("Name", exact=True).fill("Left by saving")
    page.locator("button.primary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Left by saving")
    assert asked == ["beforeunload"]


def test_json_is_pasted_and_its_problem_named(page: Page, watch: Watch) -> None:
    watch.expect(422)
    page.goto("/contexts/new/")
    page.get_by_role("link", name="Paste JSON instead").click()
    told = SampleContext.objects.get(slug="round-5-last").data
    page.get_by_label("Name", exact=True).fill("Pasted")
    page.get_by_label("JSON", exact=True).fill(json.dumps({**told, "round_number": "five"}))
    page.get_by_role("button", name="Save the context").click()
    expect(page.get_by_label("JSON", exact=True)).to_be_focused()
    expect(page.locator(".field-error")).to_have_text("round_number: Input should be a valid integer")
    page.get_by_label("JSON", exact=True).fill(json.dumps(told))
    page.get_by_role("button", name="Save the context").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pasted")
    assert SampleContext.objects.get(name="Pasted").data == told


def test_of_two_tabs_neither_overwrites_the_other(page: Page, watch: Watch) -> None:
    watch.expect(409)
    page.goto("/contexts/no-ranking/edit/")
    other = page.context.new_page()
    other.goto("/contexts/no-ranking/edit/")
    other.get_by_label("Task", exact=True).fill("written in the other tab")
    other.locator("button.primary").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Round 3 without ranking")
    page.get_by_label("Task", exact=True).fill("written in this tab")
    page.locator("button.primary").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("written in the other tab")
    expect(alert).to_contain_text("written in this tab")
    expect(page.get_by_label("Task", exact=True)).to_have_value("written in this tab")
    page.get_by_role("button", name="Overwrite with mine").click()
    expect(page.locator("main")).to_contain_text("written in this tab")


def test_the_list_is_narrowed_to_what_a_set_uses(page: Page) -> None:
    page.goto("/contexts/round-1/duplicate/")
    page.get_by_label("Name", exact=True).fill("Only for research")
    page.get_by_label("Used by").select_option(index=1)
    chosen = page.get_by_label("Used by").locator("option:checked").inner_text()
    page.locator("button.primary").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Only for research")
    page.goto("/contexts/")
    page.get_by_label("Used by").select_option("shared")
    expect(page.get_by_role("link", name="Only for research")).to_have_count(0)
    page.get_by_label("Used by").select_option(chosen)
    expect(page.get_by_role("link", name="Only for research")).to_have_count(1)
    page.get_by_role("link", name="Only for research").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete the context").click()
    expect(page.get_by_text("“Only for research” deleted.")).to_be_visible()


@pytest.mark.parametrize(("language", "audit"), [("en", findings), ("ja", findings_when_narrow)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    page: Page, watch: Watch, server: str, language: str, audit: Callable[[Page], list[str]]
) -> None:
    watch.expect(409, 422)
    page.context.add_cookies([{"name": "studio-language", "value": language, "url": server}])
    found: list[str] = []
    for path in (
        "new/",
        "new/json/",
        "round-5-last/edit/",
        "round-2/edit/json/",
        "round-1/delete/",
        "?set=shared",
    ):
        page.goto(f"/contexts/{path}")
        found += audit(page) + sideways(page)
    page.goto("/contexts/round-5-first/edit/")
    field(page, "round_number").fill("x")
    field(page, "round_history.2.evaluation_score").fill("x")
    page.locator("button.primary").click()
    expect(page.get_by_role("alert")).to_be_visible()
    found += audit(page)
    page.goto("/contexts/round-5-first/edit/")
    page.evaluate("document.querySelector('[name=revision]').value = '999'")
    field(page, "user_prompt").fill("mine")
    page.locator("button.primary").click()
    expect(page.get_by_role("alert")).to_be_visible()
    found += audit(page)
    assert found == []
