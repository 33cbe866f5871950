"""What changed? From the history to the word that changed, and to the rounds that it shows in."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect

from studio.models import PromptSet
from studio.prompts.texts import Templates
from tests.browser.conftest import Watch
from tests.browser.readiness import press

PAIR = "/prompts/research-team/compare/4...5"


def change(page: Page, number: int) -> None:
    """The change with that number is where the reader is."""
    row = page.locator("[data-change][aria-current]")
    expect(row).to_have_count(1)
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    expect(page.locator("[data-changes] output")).to_contain_text(f"Change {number} of ")


def test_what_changed_by_keys_alone(page: Page, server: str) -> None:
    page.goto("/prompts/research-team/")
    press(page, "c")
    expect(page).to_have_url(server + PAIR)
    press(page, "n")
    change(page, 1)
    row = page.locator("[data-change][aria-current]")
    expect(row.locator("del")).to_have_text("履暦")
    expect(row.locator("ins")).to_have_text("履歴")
    expect(page).to_have_url(f"{server}{PAIR}#team-1")

    press(page, "r")
    expect(page.get_by_text("Rounds 3, 4, 5 change.")).to_be_visible()
    expect(page.locator("#team .panel-head")).to_contain_text("round 3")
    expect(page.locator("#team ins")).to_have_text("履歴")
    context = page.get_by_label("Sample context", exact=True)
    context.focus()
    page.keyboard.type("Round 3")
    expect(context).to_have_value("no-ranking")
    press(page, "Tab")
    press(page, "Enter")
    expect(page.get_by_text("Only round 3 changes.")).to_be_visible()
    cells = page.locator(".overview tbody tr").first.locator("td")
    same, changed = re.compile(r"=\s+same"), re.compile(r"\+1\s+−1")
    expect(cells).to_have_text([same, same, changed])

    press(page, "2")
    expect(page.get_by_text("The template changed, but not this prompt.")).to_be_visible()
    press(page, "3")
    expect(page.locator("#team .panel-head")).to_contain_text("Round 3 without ranking, round 3")
    press(page, "n")
    change(page, 1)


def test_keys_lead_through_all_changes_and_stay_at_the_ends(page: Page) -> None:
    page.goto("/prompts/research-team/compare/1...4")
    total = int(page.locator("[data-changes]").get_attribute("data-total") or 0)
    assert total > 3
    for number in range(1, total + 1):
        press(page, "n")
        change(page, number)
    press(page, "n")
    change(page, total)
    expect(page.locator("[data-change][aria-current]")).to_have_attribute("id", re.compile("^judgment-"))
    press(page, "k")
    change(page, total - 1)
    press(page, "j")
    change(page, total)
    page.get_by_role("button", name="Previous change").click()
    change(page, total - 1)


def test_a_link_to_a_change_goes_on_from_there(page: Page) -> None:
    page.goto("/prompts/research-team/compare/1...4#judgment-2")
    press(page, "n")
    expect(page.locator("[data-change][aria-current]")).to_have_attribute("id", "judgment-3")


def test_folds_open_in_place(page: Page, server: str) -> None:
    page.goto(PAIR)
    fold = page.locator("#team .held a").first
    lines = page.locator("#team tr.equal")
    before = lines.count()
    fold.focus()
    press(page, "Enter")
    expect(page.locator("#team-rows-0")).to_have_count(0)
    expect(lines).not_to_have_count(before)
    expect(page).to_have_url(server + PAIR)
    press(page, "u")
    expect(page.locator(".held")).to_have_count(0)
    press(page, "u")
    expect(page.locator(".held").first).to_be_visible()


def test_keys_swap_the_sides_and_ignore_whitespace(page: Page, server: str) -> None:
    page.goto(PAIR)
    press(page, "s")
    expect(page).to_have_url(f"{server}/prompts/research-team/compare/5...4")
    press(page, "w")
    expect(page).to_have_url(f"{server}/prompts/research-team/compare/5...4?w=on")
    press(page, "w")
    expect(page).to_have_url(f"{server}/prompts/research-team/compare/5...4")


def test_other_versions_are_chosen_by_a_form(page: Page, server: str) -> None:
    page.goto(PAIR)
    page.get_by_label("First version").select_option("2")
    expect(page.get_by_label("Second version")).to_contain_text("v4 (production) · ")
    page.get_by_label("Second version").select_option("3")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(f"{server}/prompts/research-team/compare/2...3")


def test_a_version_that_is_not_there_keeps_the_page(page: Page, server: str, watch: Watch) -> None:
    page.goto(f"{PAIR}?new=9")
    expect(page).to_have_url(server + PAIR)
    expect(page.locator(".notices")).to_have_text("This set has no v9. Its versions are v1 to v5.")
    expect(page.locator("ins")).to_have_text("履歴")
    watch.expect(404)
    page.goto("/prompts/research-team/compare/4...9")
    expect(page.get_by_role("status")).to_contain_text("This set has no v9.")
    page.get_by_label("Second version").select_option("5")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(server + PAIR)


COLOURED = """name => [...CSS.highlights.get(`jinja-${name}`) ?? []]
  .map(({startContainer, startOffset, endOffset}) => startContainer.data.slice(startOffset, endOffset))"""


def coloured(page: Page, name: str) -> list[str]:
    """The words in that colour."""
    page.locator("html[data-coloured]").wait_for()
    words: list[str] = page.evaluate(COLOURED, name)
    return words


@pytest.mark.parametrize(
    "path",
    ["versions/4/", "compare/3...4", "export/"],
)
def test_templates_have_the_colours_of_the_editor(page: Page, path: str) -> None:
    page.goto(f"/prompts/research-team/{path}")
    assert set(coloured(page, "keyword")) >= {"if", "endif"} or "else" in coloured(page, "keyword")
    assert "submission_history" in coloured(page, "name")
    assert "{%-" in coloured(page, "sign")


def test_rows_that_come_later_are_coloured_too_and_prompts_are_not(page: Page) -> None:
    page.goto(PAIR)
    before = len(coloured(page, "name"))
    page.locator("#team .held a").first.click()
    page.wait_for_function("before => CSS.highlights.get('jinja-name').size > before", arg=before)
    # Words that changed keep their marks.
    expect(page.locator("ins")).to_have_text("履歴")
    page.goto(f"{PAIR}?rendered=on")
    assert page.locator("[data-jinja]").count() == 0


def test_a_comment_that_begins_in_folded_rows_is_coloured_below_them(page: Page, server: str) -> None:
    author, now = User.objects.order_by("pk")[0], timezone.now()
    made = PromptSet.objects.create(slug="noted", name="Noted", created_at=now, changed_at=now)
    for number, word in enumerate(("one", "other")):
        text = "{# why\n" + "kept as it is\n" * 30 + f"last words #}}\nthen {word} {{{{ user_prompt }}}}\n"
        made.save_version(Templates(text, "a\n", "b\n"), base=number, message=word, author=author, at=now)
    page.goto("/prompts/noted/compare/1...2")
    assert any("last words #}" in words for words in coloured(page, "comment"))
    assert not any("then" in words for words in coloured(page, "comment"))
    assert "user_prompt" in coloured(page, "name")


@pytest.fixture
def long_set(server: str) -> str:
    """A set whose second version changed every second line of thousands."""
    author, now = User.objects.order_by("pk")[0], timezone.now()
    made, _new = PromptSet.objects.get_or_create(
        slug="long", defaults={"name": "Long", "created_at": now, "changed_at": now}
    )
    for number in range(made.revision, 2):
        words = ("one", "other")[number]
        text = "".join(f"a line {n} with {words if n % 2 else 'no'} change\n" for n in range(1500))
        texts = Templates(text, text, "Go on?\n")
        made.save_version(texts, base=number, message=words, author=author, at=now)
    return "/prompts/long/compare/1...2"


def test_changes_that_were_held_back_are_fetched_on_the_way(page: Page, long_set: str) -> None:
    page.goto(f"{long_set}#team-500")
    expect(page.locator("#team-500")).to_be_in_viewport()
    expect(page.locator("#team-501")).to_have_count(0)
    press(page, "n")
    expect(page.locator("#team-501")).to_be_focused()
    press(page, "n")
    change(page, 502)


def test_without_javascript_it_is_links_and_forms(plain: Page, server: str, long_set: str) -> None:
    plain.goto("/prompts/research-team/")
    plain.get_by_label("First: version 4").check()
    plain.get_by_label("Second: version 5").check()
    plain.get_by_role("button", name="Compare selected").click()
    expect(plain).to_have_url(server + PAIR)
    expect(plain.locator("del")).to_have_text("履暦")
    expect(plain.get_by_role("button", name="Next change")).to_have_count(0)

    plain.locator("#team .held a").first.click()
    expect(plain.locator("#team-rows-0")).to_have_count(0)
    plain.get_by_role("link", name="Rendered prompts").click()
    plain.get_by_label("Sample context", exact=True).select_option("no-ranking")
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_text("Only round 3 changes.")).to_be_visible()
    expect(plain.locator("#team .panel-head")).to_contain_text("round 3")
    plain.get_by_role("link", name="Round 1").click()
    expect(plain.get_by_text("The template changed, but not this prompt.")).to_be_visible()
    plain.get_by_role("link", name="Swap sides").click()
    expect(plain.locator("h2").first).to_have_text(re.compile(r"v5\s*→\s*v4"))

    plain.goto(long_set)
    plain.locator("#team [data-more]").click()
    expect(plain.locator("#team-750")).to_be_attached()


def test_on_paper_there_are_no_controls_and_nothing_is_cut_off(page: Page) -> None:
    page.goto(PAIR)
    page.emulate_media(media="print")
    expect(page.locator("del")).to_be_visible()
    for control in (".compare-pick", ".compare-modes", "[data-step]", ".side"):
        expect(page.locator(control).first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
