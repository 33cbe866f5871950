"""The history in a browser: search while typing, pick two versions, restore one, move a label."""

from playwright.sync_api import Page, expect

from tests.browser.readiness import press

SET = "/prompts/research-team/"


def test_the_history_is_searched_while_typing(page: Page, server: str) -> None:
    page.goto(SET)
    press(page, "/")
    page.keyboard.insert_text("誤字")  # as an input method does: one search, one step back
    expect(page.locator("#history tbody tr")).to_have_count(1)
    expect(page.locator("#history mark").first).to_have_text("誤字")
    expect(page).to_have_url(f"{server}{SET}?q=%E8%AA%A4%E5%AD%97")
    page.go_back()
    expect(page.locator("#history tbody tr")).to_have_count(5)


def test_two_versions_are_picked_by_keyboard_and_compared(page: Page, server: str) -> None:
    page.goto(SET)
    page.get_by_label("First: version 3").check()
    page.get_by_label("Second: version 5").focus()
    press(page, "Space")
    page.locator("h1").click()
    press(page, "c")
    expect(page).to_have_url(f"{server}{SET}compare/3...5")


def test_a_click_on_a_pick_does_not_open_the_row(page: Page, server: str) -> None:
    page.goto(SET)
    page.get_by_label("First: version 2").click()
    expect(page.get_by_label("First: version 2")).to_be_checked()
    expect(page).to_have_url(f"{server}{SET}")


def test_a_label_is_moved_from_the_versions_page(page: Page, server: str) -> None:
    page.goto(f"{SET}versions/2/")
    page.get_by_text("Move a label here").click()
    page.get_by_label("Label", exact=True).fill("tokyo-run")
    page.get_by_label("Note").fill("月曜の実行")
    page.get_by_role("button", name="Move to v2").click()
    expect(page.locator(".notice")).to_have_text("tokyo-run now points to v2.")
    # One that there is moves by one click.
    page.goto(f"{SET}versions/3/")
    page.get_by_text("Move a label here").click()
    panel = page.locator(".drop[open] .drop-panel").bounding_box()
    assert panel is not None and panel["x"] + panel["width"] <= 1280
    page.get_by_role("button", name="tokyo-run v2 → v3").click()
    expect(page.locator(".notice")).to_have_text("tokyo-run now points to v3.")
    page.locator(".page-facts").get_by_role("link", name="tokyo-run").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_text("Remove").first.click()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator(".page-facts")).to_have_text("Removed")


def test_sets_are_made_and_archived_without_scripts(plain: Page, server: str) -> None:
    plain.goto("/prompts/")
    plain.get_by_role("link", name="New set").click()
    plain.get_by_label("Name").fill("Without scripts")
    plain.get_by_label("Tags").fill("plain, 無地")
    plain.get_by_role("button", name="Create the set").click()
    expect(plain).to_have_url(f"{server}/prompts/without-scripts/edit/")
    plain.goto("/prompts/without-scripts/settings/")
    plain.get_by_role("button", name="Archive").click()
    expect(plain.locator(".set-facts")).to_contain_text("Archived")
    plain.goto("/prompts/?archived=1")
    expect(plain.get_by_role("rowheader")).to_contain_text("Without scripts")


def test_versions_are_restored_and_picked_without_scripts(plain: Page, server: str) -> None:
    plain.goto("/prompts/briefing-writers/versions/2/")
    plain.get_by_text("Restore", exact=True).click()
    plain.get_by_role("button", name="Restore as v6").click()
    expect(plain.locator(".notice")).to_have_text("v2 restored as v6.")
    plain.get_by_label("First: version 2").check()
    plain.get_by_role("button", name="Compare selected").click()
    expect(plain).to_have_url(f"{server}/prompts/briefing-writers/compare/2...6")
