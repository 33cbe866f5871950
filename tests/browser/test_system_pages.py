"""A workspace's system prompt: three modes beside each other, a build kept, an edit held against it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from studio.models import SystemBuild, Workspace
from tests.browser.audit import findings
from tests.browser.readiness import wait_until_ready

URL = "/workspaces/research/system/"


def file(name: str) -> Path:
    return Workspace.objects.get(slug="research").folder / name


@pytest.fixture
def edited(server: str) -> Iterator[None]:
    """Whatever a test does to the agent's files is undone, and what was kept is forgotten."""
    names = ("HEARTBEAT.md", "configs/system_prompt.toml")
    before = {name: file(name).read_bytes() for name in names}
    yield
    for name, data in before.items():
        file(name).write_bytes(data)
    SystemBuild.objects.all().delete()


def test_three_modes_stand_side_by_side_and_a_section_is_one_click_away(page: Page, edited: None) -> None:
    page.goto("/workspaces/research/")
    page.get_by_role("link", name="System prompt").click()
    expect(page).to_have_url(re.compile(f"{URL}$"))
    wait_until_ready(page)
    columns = [page.locator(f"#mode-{mode}") for mode in ("full", "minimal", "none")]
    boxes = [column.bounding_box() for column in columns]
    assert all(boxes)
    assert len({round(box["y"]) for box in boxes if box}) == 1
    for mode in ("full", "minimal", "none"):
        text = page.request.get(f"{URL}{mode}.txt").text()
        assert page.locator(f"#{mode}-text").evaluate("each => each.textContent") == text
    page.get_by_role("link", name="Runtime", exact=True).click()
    expect(page.locator("#full-runtime")).to_be_in_viewport()
    page.get_by_role("navigation", name="Mode").get_by_role("link", name="none").click()
    expect(page.get_by_role("row", name=re.compile("Runtime"))).to_contain_text(
        "Not included in the mode none"
    )
    page.set_viewport_size({"width": 420, "height": 800})
    stacked = [column.bounding_box() for column in columns]
    assert len({round(box["x"]) for box in stacked if box}) == 1


def test_a_build_is_kept_and_an_edit_of_heartbeat_leaves_the_prefix_through_user(
    page: Page, edited: None
) -> None:
    page.goto(URL)
    page.get_by_label("Note", exact=True).fill("before the edit")
    page.get_by_role("button", name="Save this build").click()
    expect(page.get_by_text("Build saved.")).to_be_visible()
    expect(page.locator("#kept table")).to_contain_text("before the edit")
    file("HEARTBEAT.md").write_text("# Every hour\n\n- Look after the plants. 水をやる。\n")
    page.get_by_role("link", name="Compare two builds").click()
    expect(page.get_by_label("Earlier build").locator("option:checked")).to_contain_text("before the edit")
    expect(page.locator("#reaches")).to_have_text("USER.md")
    expect(page.get_by_role("heading", name="The first difference: Project Context")).to_be_visible()
    expect(page.locator(".system-around ins")).to_contain_text("Look after the plants.")
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("OpenAI"))).to_contain_text(
        "tokens are read from the cache"
    )
    diff = page.locator("#text")
    expect(diff.locator("tr.changed, tr.added").first).to_contain_text("Look after the plants.")
    diff.locator(".held a").first.click()
    expect(diff.locator("tr.equal", has_text="You are Shiori").first).to_be_visible()
    page.get_by_label("Later build", exact=True).select_option("now/none")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#reaches")).to_have_text("Identity")


def test_broken_settings_are_told_by_line_above_what_was_kept(page: Page, edited: None) -> None:
    page.goto(URL)
    file("configs/system_prompt.toml").write_text("[system_prompt]\nmode = 'ful'\n")
    page.reload()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Line 2: mode must be one of")
    expect(page.locator("#full-text")).to_contain_text("You are Shiori")
    assert findings(page) == []
    page.goto(f"{URL}compare/?from=now/full&to=now/minimal")
    expect(page.get_by_role("alert")).to_contain_text("Line 2")
    assert findings(page) == []
