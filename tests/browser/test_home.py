"""The home page in a demo, a busy and an empty studio."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from builder.template.models import RoundPromptContext
from studio.contexts.models import ContextValues
from studio.home.attention import try_contexts
from studio.models import PromptSet, SampleContext, Workspace
from studio.prompts.texts import Templates
from studio.results.attribution import attribute_workspace
from tests.browser.audit import findings, findings_when_narrow, sideways
from tests.browser.readiness import press
from tests.studio.clock import NOW


@pytest.fixture(scope="module", autouse=True)
def examined(server: str) -> None:
    """As the studio does by itself a moment after its start."""
    for workspace in Workspace.objects.all():
        attribute_workspace(workspace, timezone.now())


def test_the_demo_leads_to_what_there_is_to_see_and_to_do(page: Page, server: str) -> None:
    page.goto("/contexts/")
    press(page, "g", "h")
    expect(page).to_have_url(f"{server}/")
    expect(page.get_by_role("link", name="Home", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("table", name="Running now")).to_contain_text("of 5")
    changes = page.get_by_role("table", name="Last score change of each set")
    expect(changes.locator("tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Export v5").click()
    expect(page).to_have_url(re.compile("/prompts/briefing-writers/export/"))
    expect(page.locator("input[name=workspace][value=briefing]")).to_be_checked()
    page.get_by_role("link", name="Prompt Studio").click()
    page.get_by_role("link", name="v3 did not help").click()
    expect(page).to_have_url(f"{server}/prompts/briefing-writers/versions/3/runs/")


def test_a_busy_studio_says_what_is_left_out_and_stays_readable(page: Page) -> None:
    author = User.objects.get(username="hana")
    told = RoundPromptContext(
        user_prompt="Do", round_number=3, team_id="t", team_name="T", execution_id="e", round_history=[]
    )
    SampleContext.objects.make(ContextValues("A third round", "", None, told, "done"), by=author, at=NOW)
    label = Workspace.objects.get(slug="briefing").label
    for number in range(8):
        Workspace.objects.create(
            slug=f"busy-{number}", name=f"調査部 第{number}班 " * 3, path=f"/nowhere/{number}", label=label,
            created_at=NOW,
        )  # fmt: skip
        made = PromptSet.objects.create(
            slug=f"busy-{number}", name=f"Busy {number}", created_at=NOW, changed_at=NOW
        )
        failing = "{{ user_prompt }}{% if round_number > 2 %}{{ 1 // (round_number - 3) }}{% endif %}"
        texts = Templates(failing, "{{ submission }}", "j")
        made.save_version(texts, base=0, message="A long message. " * 20, author=author, at=timezone.now())
    try_contexts(most=8)
    page.goto("/")
    attention = page.get_by_role("table", name="Needs attention")
    expect(attention.get_by_text("Can’t render")).to_have_count(5)
    expect(page.get_by_text("more are not listed here")).to_be_visible()
    expect(page.locator(".activity li")).to_have_count(12)
    assert findings(page) + sideways(page) + findings_when_narrow(page) == []
    attention.get_by_role("link", name="Edit", exact=True).first.click()
    expect(page).to_have_url(re.compile(r"/prompts/busy-\d/edit/"))
    expect(page.locator("#preview")).to_contain_text("division")


def test_the_demo_can_be_removed_and_leaves_an_empty_studio(page: Page, server: str) -> None:
    Workspace.objects.filter(slug__startswith="busy").delete()
    page.goto("/")
    page.get_by_role("link", name="Remove the demo data").click()
    expect(page.get_by_role("heading", name="Will be removed permanently")).to_be_visible()
    expect(page.locator("#main")).to_contain_text("調査チーム")
    page.get_by_role("button", name="Remove").click()
    expect(page).to_have_url(f"{server}/")
    expect(page.get_by_text("Demo data removed.")).to_be_visible()
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    expect(page.get_by_role("heading", name="This is demo data")).to_have_count(0)
    expect(page.get_by_role("table", name="Running now")).to_have_count(0)
    assert findings(page) + sideways(page) + findings_when_narrow(page) == []
    page.get_by_role("link", name="Register a workspace").click()
    expect(page).to_have_url(f"{server}/workspaces/new/")
