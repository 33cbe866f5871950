"""Comparing: two versions or a version with the draft, as they are written and as they are rendered."""

import html
import re
from dataclasses import replace
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.compare.page
import studio.compare.rendered
from builder.jail import JailPool, Limits
from studio.models import Draft, Label, PromptSet, SampleContext
from studio.prompts.texts import Templates
from tests.hanging import HANGS
from tests.studio.clock import NOW
from tests.studio.editing import TEAM, TEXTS, make_context, make_set, sent
from tests.studio.jail import UseJail

COMPARE = "/prompts/set/compare/"
LATE = "# Task\n{{ user_prompt }}\nRound {{ round_number }}{% if round_number > 2 %}, the last{% endif %}\n"
SLOW = HANGS + "\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    """v1; v2 with one word changed and a line added; v3 that shows in round 3 only."""
    made = make_set(person)
    save(made, person, replace(TEXTS, team_user_prompt=TEAM.replace("Task", "Duty") + "one more\n"))
    save(made, person, replace(TEXTS, team_user_prompt=LATE))
    make_context("third", rounds=3, prompt_set=made)
    return made


def save(prompt_set: PromptSet, person: User, texts: Templates) -> None:
    number = prompt_set.revision
    prompt_set.save_version(texts, base=number, message=f"after {number}", author=person, at=NOW)


def get(client: Client, pair: str, status: int = 200, **query: str) -> str:
    answer = client.get(COMPARE + pair, query)
    assert answer.status_code == status, answer.content.decode()[-3000:]
    return answer.content.decode()


def text(page: str) -> str:
    """What a person reads of it."""
    main = page.partition('<main id="main"')[2]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main)))


def rows(page: str, kind: str = "team") -> list[tuple[str, str, str]]:
    """Kind, left and right of each row, with the marks as HTML."""
    panel = page.partition(f'id="{kind}"')[2].partition("</section>")[0]
    found = re.findall(
        r'<tr class="(\w+)"[^>]*>\s*<td class="n">\d*</td>\s*<td class="\w+">(.*?)</td>'
        r'\s*<td class="n">\d*</td>\s*<td class="\w+">(.*?)</td>\s*</tr>',
        re.sub(r"<span\s+", "<span ", panel),
        re.DOTALL,
    )
    return [(kind, left, right) for kind, left, right in found]


MINUS = '<span class="sign" aria-hidden="true">−</span><span class="visually-hidden">removed: </span>'
PLUS = '<span class="sign" aria-hidden="true">+</span><span class="visually-hidden">added: </span>'


# --- the templates -----------------------------------------------------------------------


def test_lines_stand_side_by_side_with_signs_and_marked_words(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    assert rows(get(signed_in, "1...2")) == [
        ("changed", f"{MINUS}# <del>Task</del>", f"{PLUS}# <ins>Duty</ins>"),
        ("equal", "{{ user_prompt }}", "{{ user_prompt }}"),
        ("equal", "Round {{ round_number }}", "Round {{ round_number }}"),
        ("added", "", f"{PLUS}one more"),
    ]


def test_each_template_has_its_counts(prompt_set: PromptSet, signed_in: Client) -> None:
    page = text(get(signed_in, "1...2"))
    assert "Team +2 −1 Evaluator unchanged Judgment unchanged" in page and "2 changes" in page


def test_both_sides_are_named(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...3")
    assert "<title>Set: v1 → v3" in page
    assert "v1 yuki" in text(page) and "v3 yuki" in text(page)


def test_the_picker_offers_versions_with_messages_and_labels_and_the_draft(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    def offered() -> list[str]:
        picker = get(signed_in, "1...3").partition('name="new"')[2].partition("</select>")[0]
        return re.findall(r"<option[^>]*>\s*(.*?)\s*</option>", picker)

    first = prompt_set.versions.get(number=1)
    for name in ("staging", "production"):
        Label.objects.move(name, first, by=person, at=NOW)
    versions = ["v3 · after 2", "v2 · after 1", "v1 (production, staging) · first"]
    assert offered() == versions
    Draft.objects.keep(prompt_set, person, sent("other\n", base=3), at=NOW)
    assert offered() == ["Draft", *versions]


def test_of_many_versions_the_newest_the_labelled_and_the_shown_are_offered(
    prompt_set: PromptSet, person: User, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.page, "VERSIONS_OFFERED", 1)
    assert re.findall(r'<option value="(\d)"', get(signed_in, "3...3")) == ["3", "3"]
    Label.objects.move("staging", prompt_set.versions.get(number=1), by=person, at=NOW)
    assert re.findall(r'<option value="(\d)"', get(signed_in, "3...2")) == ["3", "2", "1"] * 2


def test_sides_can_be_swapped(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...2", w="on")
    assert 'href="/prompts/set/compare/2...1?w=on"' in page
    assert rows(get(signed_in, "2...1"))[0] == (
        "changed", f"{MINUS}# <del>Duty</del>", f"{PLUS}# <ins>Task</ins>",
    )  # fmt: skip


def test_what_is_the_same_is_folded_and_a_link_unfolds_it(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    long = "".join(f"line {number}\n" for number in range(40))
    save(prompt_set, person, replace(TEXTS, team_user_prompt=long))
    save(prompt_set, person, replace(TEXTS, team_user_prompt=long.replace("line 20\n", "line twenty\n")))
    page = get(signed_in, "4...5")
    assert len(rows(page)) == 7 and "17 unchanged lines" in text(page) and "16 unchanged lines" in text(page)
    opened = re.search(r'href="[^"?]*(\?open=team\.0-17)#team-rows-0"', page)
    assert opened
    assert len(rows(get(signed_in, "4...5" + opened[1]))) == 24
    assert len(rows(get(signed_in, "4...5", all="on"))) == 40


def test_a_page_that_is_open_gets_the_rows_alone(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    long = "".join(f"line {number}\n" for number in range(40))
    save(prompt_set, person, replace(TEXTS, judgment_user_prompt=long))
    save(prompt_set, person, replace(TEXTS, judgment_user_prompt=long + "end\n"))
    page = get(signed_in, "4...5")
    found = re.search(r'hx-get="([^"]*)"', page.partition('id="judgment"')[2])
    assert found
    part = signed_in.get(html.unescape(found[1])).content.decode()
    assert part.count("<tr") == 37 and "<html" not in part and "line 36" in part and "line 37" not in part


@pytest.mark.slow
def test_very_many_changed_lines_come_in_pieces(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    for word in ("old", "new"):
        texts = "".join(f"the {word} line of number {number}\n" for number in range(3000))
        save(prompt_set, person, replace(TEXTS, team_user_prompt=texts))
    page = get(signed_in, "4...5")
    assert len(rows(page)) == 1000 and "2000 more lines" in text(page).replace(",", "")
    more = re.search(r'hx-get="([^"]*)"[^>]* data-more', page)
    assert more
    part = signed_in.get(html.unescape(more[1])).content.decode()
    assert part.count('<tr class="changed"') == 1000 and "number 1999<" in part and "data-more" in part


def test_whitespace_can_be_ignored(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt=LATE.replace("# Task", "#  Task ")))
    assert "Team +1 −1" in text(get(signed_in, "3...4"))
    page = text(get(signed_in, "3...4", w="on"))
    assert "Team only whitespace" in page and "Only whitespace differs (ignored)" in page


def test_a_lost_line_end_and_a_carriage_return_are_seen(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt=LATE.removesuffix("\n")))
    assert "no newline at end" in rows(get(signed_in, "3...4"))[0][2] + rows(get(signed_in, "3...4"))[-1][2]
    save(prompt_set, person, replace(TEXTS, team_user_prompt=LATE.replace("Task\n", "Task\r\n")))
    assert rows(get(signed_in, "3...5"))[0][2] == f"{PLUS}# Task<ins>␍</ins>"


def test_what_is_compared_is_text_on_the_page(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt="<script>alert(1)</script>\n<b>x</b>\n"))
    page = get(signed_in, "3...4", all="on")
    assert "<script>alert" not in page and "<b>x" not in page and "&lt;b&gt;x&lt;/b&gt;" in page


def test_a_version_with_itself_says_so(prompt_set: PromptSet, signed_in: Client) -> None:
    assert "Both sides are the same version" in get(signed_in, "2...2")


def test_a_restored_text_is_the_same(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, TEXTS)
    assert "Both sides have the same text." in get(signed_in, "1...4")


def test_texts_too_long_to_compare_say_so(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt="x\n" * 26_000))
    page = get(signed_in, "3...4")
    assert "A text of 26000 lines is too long to compare" in page and "Evaluator" in page
    assert "too long to compare" in get(signed_in, "3...4.diff", status=413)


def test_a_comparison_reads_and_stores_nothing(
    prompt_set: PromptSet, signed_in: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12) as queries:
        get(signed_in, "1...3", rendered="on")
    assert not [each for each in queries.captured_queries if not each["sql"].startswith("SELECT")]


# --- addresses ---------------------------------------------------------------------------


def test_the_form_leads_to_the_address_of_another_pair(prompt_set: PromptSet, signed_in: Client) -> None:
    answer = signed_in.get(COMPARE + "1...2", {"old": "v3", "new": "1", "w": "on", "open": "team.0-9"})
    assert answer["Location"] == COMPARE + "3...1?w=on"
    assert signed_in.get(COMPARE + "1...2", {"new": "draft"})["Location"] == COMPARE + "1...draft"


def test_a_version_that_is_not_there_keeps_the_page_with_a_message(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    answer = signed_in.get(COMPARE + "1...2", {"new": "9", "w": "on"}, follow=True)
    assert answer.redirect_chain == [(f"{COMPARE}1...2?w=on", 302)]
    page = answer.content.decode()
    assert "This set has no v9. Its versions are v1 to v3." in text(page) and len(rows(page)) == 4


def test_the_pick_of_the_history_arrives_here(prompt_set: PromptSet, signed_in: Client) -> None:
    answer = signed_in.get(COMPARE, {"old": "3", "new": "1"})
    assert answer["Location"] == COMPARE + "1...3"
    assert signed_in.get(COMPARE, {"old": "3", "new": "draft"})["Location"] == COMPARE + "3...draft"


def test_a_slash_at_the_end_does_no_harm(prompt_set: PromptSet, signed_in: Client) -> None:
    assert signed_in.get(COMPARE + "1...2/?w=on")["Location"] == COMPARE + "1...2?w=on"


def test_an_unknown_version_is_named(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...9", status=404)
    assert "This set has no v9. Its versions are v1 to v3." in text(page)
    assert '<option value="1" selected>' in page and 'name="new"' in page
    made = PromptSet.objects.create(slug="new", name="New", created_at=NOW, changed_at=NOW)
    assert "No versions yet" in signed_in.get(f"/prompts/{made.slug}/compare/1...1").content.decode()
    assert signed_in.get("/prompts/nothing/compare/1...2").status_code == 404


@pytest.mark.parametrize(
    "query",
    ["context=%00", "round=0", "round=99999999999999999999", "open=team.9", "open=x.0-1", "rows=team.a-b",
     "rows=team.0-", "old=nothing", "new=0", "open=" + "9" * 400],
)  # fmt: skip
def test_an_address_that_no_link_has_is_refused(prompt_set: PromptSet, signed_in: Client, query: str) -> None:
    assert signed_in.get(f"{COMPARE}1...2?{query}").status_code == 400


@pytest.mark.parametrize(
    "pair", ["0...1", "1...", "1..2", "1...2...3", "01...2", "1...DRAFT", "1234567890...1"]
)
def test_an_address_that_is_none_is_not_found(prompt_set: PromptSet, signed_in: Client, pair: str) -> None:
    assert signed_in.get(COMPARE + pair).status_code == 404


@pytest.mark.parametrize("requests", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_whatever_the_query_is_the_answer_is_no_server_error(
    prompt_set: PromptSet, person: User, signed_in: Client, requests: int
) -> None:
    Draft.objects.keep(prompt_set, person, sent("{% if %}", base=3), at=NOW)
    rng = Random(20261116)
    names = ("rendered", "context", "round", "w", "all", "open", "rows", "old", "new", "page", "")
    words = (
        "on", "", "third", "start", "1", "0", "-1", "3", "draft", "v2", "9" * 30, "1e5", "\0", "\ud800",
        "順位", "../..", "team.0-9", "team.9-0", "judgment.0-999999999", "evaluator.1-2", "x" * 3000,
    )  # fmt: skip
    for _ in range(requests):
        pair = rng.choice(
            ("1...2", "1...3", "3...draft", "draft...1", "draft...draft", "2...9", "1...2.diff")
        )
        query = "&".join(
            f"{rng.choice(names)}={quote(rng.choice(words), errors='surrogatepass')}"
            for _ in range(rng.randrange(5))
        )
        answer = signed_in.get(f"{COMPARE}{pair}?{query}")
        assert answer.status_code in (200, 302, 400, 404, 422), f"{answer.status_code}: {pair}?{query}"


def test_rows_that_are_not_there_are_no_rows(prompt_set: PromptSet, signed_in: Client) -> None:
    assert "<tr" not in get(signed_in, "1...2", rows="team.500-900")
    assert "<tr" not in get(signed_in, "1...2", rows="team.9-3")
    assert "one more" in get(signed_in, "1...2", open="team.500-900")


def test_a_stranger_signs_in_first(prompt_set: PromptSet, client: Client) -> None:
    assert client.get(COMPARE + "1...2").status_code == 302


def test_the_page_speaks_japanese(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.cookies["studio-language"] = "ja"
    page = get(signed_in, "1...2")
    assert "左右を入れ替える" in page and "2件の変更" in page


# --- the draft ---------------------------------------------------------------------------


def test_a_version_is_compared_with_the_readers_draft(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    Draft.objects.keep(prompt_set, person, sent(LATE.replace("Task", "Errand"), base=3), at=NOW)
    page = get(signed_in, "3...draft")
    assert "<del>Task</del>" in page and "<ins>Errand</ins>" in page and "Your draft" in page
    assert "<ins>Task</ins>" in get(signed_in, "draft...3")


def test_without_a_draft_of_ones_own_there_is_nothing_to_compare(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    page = get(signed_in, "3...draft", status=404)
    assert "You have no unsaved draft" in page and f'href="{COMPARE}2...3"' in page
    other = User.objects.create_user("ken")
    Draft.objects.keep(prompt_set, other, sent("secret\n", base=3), at=NOW)
    assert "secret" not in get(signed_in, "3...draft", status=404)
    Draft.objects.keep(prompt_set, person, sent(LATE, base=3), at=NOW)
    get(signed_in, "3...draft", status=404)
    assert "You have no unsaved draft" in get(signed_in, "1...draft.diff", status=404)
    assert "You have no unsaved draft" in get(signed_in, "1...draft", status=404, rows="team.0-1")


@pytest.mark.parametrize(("asked", "shown"), [("1...draft", "1...3"), ("draft...2", "3...2")])
def test_in_place_of_a_draft_that_was_saved_stands_the_newest_version(
    prompt_set: PromptSet, signed_in: Client, asked: str, shown: str
) -> None:
    answer = signed_in.get(COMPARE + asked, {"rendered": "on"}, follow=True)
    assert answer.redirect_chain == [(f"{COMPARE}{shown}?rendered=on", 302)]
    assert "no unsaved draft of this set. Shown instead: v3, the newest version." in answer.content.decode()


def test_a_set_without_versions_has_nothing_to_compare_with_a_draft(signed_in: Client) -> None:
    PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    assert "No versions yet" in get(signed_in, "draft...draft", status=404)


# --- the rendered prompts ----------------------------------------------------------------


def overview(page: str, kind: str = "Team") -> list[str]:
    table = page.partition('<table class="overview"')[2].partition("</table>")[0]
    row = next(row for row in table.split("<tr>") if f'scope="row">{kind}' in row.replace("\n", ""))
    return [text(f'<main id="main"{cell}').partition("> ")[2].strip() for cell in row.split("<td")[1:]]


def test_the_rendered_prompts_are_compared_at_a_round(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...3", rendered="on", context="third", round="3")
    assert rows(page)[-1] == ("changed", f"{MINUS}Round 3", f"{PLUS}Round 3<ins>, the last</ins>")
    assert "Third, round 3" in page


def test_only_the_round_that_changes_is_named(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...3", rendered="on", context="third")
    assert "Only round 3 changes." in page
    assert overview(page) == ["= same", "= same", "≠ +1 −1"]
    assert '/1...3?rendered=on&amp;context=third&amp;round=2#team"' in page


def test_without_a_round_it_opens_at_the_first_that_changes(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt=LATE.replace("> 2", "== 2")))
    page = get(signed_in, "1...4", rendered="on")
    assert "Third, round 2" in page
    assert rows(page)[-1] == ("changed", f"{MINUS}Round 2", f"{PLUS}Round 2<ins>, the last</ins>")
    # Whatever else the page leads to is of the same round.
    assert 'compare/1...4.diff?rendered=on&amp;round=2"' in page
    assert "context=third&amp;round=2&amp;changed=on" in page
    assert "+Round 2, the last" in signed_in.get(COMPARE + "1...4.diff", {"rendered": "on"}).content.decode()
    assert "Third, round 3" in get(signed_in, "1...4", rendered="on", round="3")


def test_rows_unfold_at_the_round_that_is_shown(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    loop = "{% for n in range(30) %}line {{ n }} of {{ round_number }}\n{% endfor %}"
    save(prompt_set, person, replace(TEXTS, team_user_prompt=loop))
    late = "{% if round_number > 1 %}end{% endif %}"
    save(prompt_set, person, replace(TEXTS, team_user_prompt=loop + late))
    page = get(signed_in, "4...5", rendered="on")
    found = re.search(r'hx-get="([^"]*rows=[^"]*)"', page)
    assert found and "line 29 of 2" in page
    assert "line 3 of 2<" in signed_in.get(html.unescape(found[1])).content.decode()


def test_a_long_prompt_of_the_first_changed_round_is_compared_whole(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.rendered, "MOST_COUNTED", 1)
    page = get(signed_in, "1...2", rendered="on")
    assert "Third, round 1" in page and overview(page)[0] == "≠ changed"
    assert rows(page)[-1] == ("added", "", f"{PLUS}one more")


def test_a_changed_template_with_the_same_prompt_says_so(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in, "1...3", rendered="on", context="third", round="1")
    assert "The template changed, but not this prompt." in page
    assert "Same template on both sides." in page


def test_every_and_no_round(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    assert "Every round changes." in get(signed_in, "1...2", rendered="on")
    save(prompt_set, person, replace(TEXTS, team_user_prompt="{# a note #}" + LATE))
    assert "No prompt changes in any round" in get(signed_in, "3...4", rendered="on")
    changed = TEAM.replace("# Task", "# Task{% if round_number > 1 %}, still{% endif %}")
    save(prompt_set, person, replace(TEXTS, team_user_prompt=changed))
    assert "Rounds 2, 3 change." in get(signed_in, "1...5", rendered="on")


def test_whitespace_is_ignored_in_prompts_too(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, replace(TEXTS, team_user_prompt=LATE.replace("# Task", "#  Task")))
    page = get(signed_in, "3...4", rendered="on", w="on")
    assert "No prompt changes in any round" in page and "only whitespace" in page


def test_rows_of_a_prompt_can_be_unfolded(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    loop = "{% for n in range(30) %}line {{ n }}\n{% endfor %}"
    save(prompt_set, person, replace(TEXTS, team_user_prompt=loop))
    save(prompt_set, person, replace(TEXTS, team_user_prompt=loop + "end {{ round_number }}"))
    page = get(signed_in, "4...5", rendered="on", context="third", round="2")
    found = re.search(r'hx-get="([^"]*rows=[^"]*)"', page)
    assert found
    assert "line 3<" in signed_in.get(html.unescape(found[1])).content.decode()


def test_problems_of_a_draft_stand_in_place_of_its_prompt(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    Draft.objects.keep(prompt_set, person, sent("# Task\n{{ submision }}\n", base=3), at=NOW)
    page = text(get(signed_in, "3...draft", rendered="on"))
    assert "Draft can’t be rendered here Line 2 Error" in page and page.count("! can’t render") == 3
    assert "Not all prompts could be rendered." in page
    assert "submision" in get(signed_in, "3...draft")


@pytest.mark.slow
def test_a_limit_is_named_and_ends_the_row(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    Draft.objects.keep(prompt_set, person, sent("a\n" + SLOW, base=3), at=NOW)
    page = text(get(signed_in, "3...draft", rendered="on"))
    assert "Stopped at the time limit: this took longer than 1 s" in page
    assert page.count("? not checked") == 2 and "Not all rounds could be checked." in page
    get(signed_in, "1...3", rendered="on")


def test_without_contexts_the_variables_have_sample_values(prompt_set: PromptSet, signed_in: Client) -> None:
    SampleContext.objects.all().delete()
    page = get(signed_in, "1...2", rendered="on")
    assert "No sample context yet" in page and "データ分析タスク" in page
    assert '<table class="overview"' not in page


def test_the_context_of_another_set_is_not_found(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    make_context("foreign", prompt_set=make_set(person, "other"))
    page = get(signed_in, "1...2", status=404, rendered="on", context="foreign")
    assert "This set no longer has this sample context." in page


def test_a_round_that_the_context_does_not_have_is_its_last(prompt_set: PromptSet, signed_in: Client) -> None:
    assert "Third, round 3" in get(signed_in, "1...3", rendered="on", round="77")


# --- when the jail does not take it ------------------------------------------------------


def test_with_the_jail_stopped_the_templates_are_shown(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    page = get(signed_in, "1...2", status=503, rendered="on")
    assert "The workers that render templates are stopped" in page
    assert rows(page)[0] == ("changed", f"{MINUS}# <del>Task</del>", f"{PLUS}# <ins>Duty</ins>")
    assert len(rows(get(signed_in, "1...2"))) == 4
    get(signed_in, "1...2.diff", status=503, rendered="on")
    get(signed_in, "1...2", status=503, rendered="on", rows="team.0-2")


@pytest.mark.slow
def test_who_was_stopped_twice_waits_but_sees_the_templates(
    prompt_set: PromptSet, person: User, signed_in: Client, use_jail: UseJail
) -> None:
    texts = Templates(*(f"{text}{SLOW}" for text in vars(TEXTS).values()))
    Draft.objects.keep(prompt_set, person, sent(base=3, templates=texts), at=NOW)
    with JailPool(size=1, spares=1, limits=Limits(time=0.2, cool_down=30.0)) as pool:
        use_jail(pool)
        page = get(signed_in, "3...draft", status=429, rendered="on")
    assert "Stopped at the time limit" in page and "30 s" in page and "judgment_user_prompt" in page


def test_rounds_beyond_the_time_for_all_are_left_out(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.rendered, "OVERVIEW_SECONDS", -1.0)
    page = get(signed_in, "1...3", rendered="on", context="third")
    assert overview(page) == ["? not checked", "? not checked", "≠ +1 −1"]


# --- unified text ------------------------------------------------------------------------


def test_the_comparison_can_be_had_as_unified_text(prompt_set: PromptSet, signed_in: Client) -> None:
    answer = signed_in.get(COMPARE + "1...2.diff")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="set-v1...v2.diff"'
    assert answer.content.decode() == (
        "--- set/v1/team_user_prompt\n+++ set/v2/team_user_prompt\n@@ -1,3 +1,4 @@\n"
        "-# Task\n+# Duty\n {{ user_prompt }}\n Round {{ round_number }}\n+one more\n"
    )
    assert signed_in.get(COMPARE + "1...1.diff").content == b""


def test_rendered_prompts_as_unified_text(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    query = {"rendered": "on", "context": "third", "round": "3"}
    answer = signed_in.get(COMPARE + "1...3.diff", query).content.decode()
    assert "+++ set/v3/team_user_prompt (Third, round 3)" in answer and "+Round 3, the last\n" in answer
    Draft.objects.keep(prompt_set, person, sent("{{ nothing }}\n", base=3), at=NOW)
    assert "Draft, team_user_prompt" in get(signed_in, "3...draft.diff", status=422, rendered="on")
