"""Does it fit, and what does it cost? From the settings to the bar beside the text, matrix and version."""

import re

from playwright.sync_api import Page, expect

from tests.browser.audit import findings
from tests.browser.patience import eventually

SETTINGS = "/prompts/research-team/settings/"
EDIT = "/prompts/research-team/edit/?context=round-5-first&round=5"


def set_budget(page: Page, team: str, model: str) -> None:
    page.goto(SETTINGS)
    page.get_by_label("Model", exact=True).select_option(label=model)
    page.get_by_label("Team", exact=True).fill(team)
    page.get_by_role("button", name="Save budgets and model").click()
    expect(page.get_by_text("Budgets and model saved.")).to_be_visible()


def test_a_budget_is_shown_beside_the_text_and_follows_it(page: Page) -> None:
    set_budget(page, "700", "openai:gpt-4o")
    page.goto(EDIT)
    figures, budget = page.locator("#preview .figures"), page.locator("#budget")
    expect(figures).to_contain_text(re.compile(r"[\d,]+ / 700 tokens, over by [\d,]+\$0\.00"))
    expect(budget).to_be_hidden()
    page.locator(".drawer > summary").click()
    expect(budget).to_contain_text(re.compile(r"[\d,]+ of 700 tokens \(o200k_base, exact\)"))
    # Parts are drawn, not only told.
    expect(budget.locator("rect.share.history")).to_be_visible()
    expect(budget).to_contain_text("MixSeek does not shorten prompts")
    expect(budget).to_contain_text("With a cache the same")
    before = figures.inner_text()
    page.locator(".cm-content").first.press("Control+Home")
    page.keyboard.insert_text("結論から書いてください。\n" * 5)
    expect(figures).not_to_have_text(before)
    # What was open stays open, on the next visit too.
    expect(budget).to_be_visible()
    expect(budget).to_contain_text("With a cache the same")
    eventually(page, lambda: page.evaluate("document.documentElement.scrollHeight <= innerHeight"), True)
    assert findings(page) == []
    page.reload()
    expect(budget).to_be_visible()


def test_the_matrix_and_the_version_show_it_too(page: Page) -> None:
    set_budget(page, "700", "anthropic:claude-sonnet-4-5")
    page.goto("/prompts/research-team/matrix/?plain=on")
    expect(page.get_by_text("over the budget of 700 tokens")).to_be_visible()
    expect(page.locator("#row-4 .cell-bar.over").first).to_be_visible()
    assert findings(page) == []
    page.goto("/prompts/research-team/versions/4/")
    costs = page.get_by_role("region", name="Cost per round")
    expect(costs).to_contain_text("Prices as of")
    expect(costs).to_contain_text("One team, one round")
    assert findings(page) == []


def test_figures_of_a_model_are_corrected_and_come_back(page: Page) -> None:
    page.goto("/prompts/")
    page.locator("details.menu summary").click()
    page.get_by_role("link", name="Models").click()
    row = page.get_by_role("row", name=re.compile("openai:gpt-4o "))
    expect(row).to_contain_text("bundled")
    row.get_by_role("link", name="openai:gpt-4o").click()
    page.get_by_label("Input", exact=True).fill("2.75")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("$2.75")
    expect(row).not_to_contain_text("bundled")
    row.get_by_role("link", name="openai:gpt-4o").click()
    page.get_by_role("button", name="Restore bundled prices").click()
    expect(row).to_contain_text("$2.50")
