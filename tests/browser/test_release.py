"""Moving a set to a newer MixSeek release: what changes where, and the new defaults taken into the draft."""

from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from builder.template.defaults import default_templates
from builder.template.dialect import MIXSEEK_A15
from studio.models import PromptSet
from studio.prompts.texts import Templates

OLD, NEW = "mixseek-0.1.0a15", "mixseek-0.1.0a19"


def test_a_set_of_the_old_defaults_moves_to_the_newest_release(page: Page, server: str) -> None:
    old, now = default_templates(MIXSEEK_A15), timezone.now()
    made = PromptSet.objects.create(slug="old", name="Old", dialect=OLD, created_at=now, changed_at=now)
    texts = Templates(old["team"] + "\n結論から書くこと。\n", old["evaluator"], old["judgment"])
    made.save_version(texts, base=0, message="m", author=User.objects.first() or User(), at=now)

    page.goto("/prompts/old/")
    page.get_by_role("link", name=OLD, exact=True).click()
    expect(page.get_by_role("heading", name="Moving to another MixSeek release")).to_be_visible()
    expect(page.locator("#comparison")).to_contain_text("### あなたの提出内容:")
    # Another round of the same context is one click away, the history of a first one is empty.
    page.locator("#comparison").get_by_role("link", name="1", exact=True).click()
    expect(page.locator("#comparison")).to_contain_text("The prompt is the same in both releases.")
    page.get_by_role("row", name="Judgment").get_by_role("link").nth(1).click()
    expect(page.locator("#comparison").get_by_role("heading", name="Judgment")).to_be_visible()
    hints = page.locator(".release-hints")
    expect(hints).to_contain_text("This is the default template of 0.1.0a15; 0.1.0a19 has a new one.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.locator("#merge input[name=evaluator][value=theirs]").check()
    page.get_by_role("button", name="Apply to my draft").click()
    page.wait_for_url(f"{server}/prompts/old/edit/**")
    expect(page.locator("#preview .prompt")).to_contain_text("# 入力の読み方")
    expect(page.locator("#preview .prompt")).to_contain_text("結論から書くこと。")

    page.goto(f"/prompts/old/release/?old={OLD}&new={NEW}")
    page.get_by_role("button", name=f"Use {NEW} for the previews of this set").click()
    page.goto("/prompts/old/edit/")
    page.locator(".drawer summary").click()
    expect(page.locator(".drawer")).to_contain_text(f"Formatting: {NEW}")
