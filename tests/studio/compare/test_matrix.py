"""The matrix: versions × contexts against a baseline, row by row, worked out once."""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.compare.matrix
import studio.compare.matrix_page
import studio.preview.rendering
from builder.cache.tokens import TokenCount
from builder.errors import JailUnavailable
from builder.jail import Examination, JailPool, Limits
from builder.jail.limits import BUSY
from builder.template.dialect import MIXSEEK
from studio.compare.matrix import Column, Group, MatrixCell, Table, columns_of, contexts_of
from studio.models import Draft, Label, PromptSet, SampleContext
from studio.shell.sized_cache import SizedCache
from tests.hanging import HANGS
from tests.studio.clock import NOW
from tests.studio.editing import TEAM, TEXTS, make_context, make_set, sent
from tests.studio.jail import UseJail
from tests.studio.markup import tight

MATRIX = "/prompts/set/matrix/"
LATE = TEAM.rstrip("\n") + "{% if round_number > 2 %}, the last one\nnew line{% endif %}\n"
FAILS_LATE = TEAM.rstrip("\n") + "{% if round_number > 1 %}{{ 1 // 0 }}{% endif %}\n"
SLOW = HANGS + "\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    """v1; v2 with a word changed; v3 that shows in round 3 only; v4 with v1's text again."""
    made = make_set(person)
    for text in (TEAM.replace("Task", "Duty of the team"), LATE, TEAM):
        save(made, person, text)
    make_context("third", rounds=3, prompt_set=made)
    make_context("start")
    return made


def save(prompt_set: PromptSet, person: User, team: str, **more: str) -> None:
    texts = replace(TEXTS, team_user_prompt=team, **more)
    number = prompt_set.revision
    prompt_set.save_version(texts, base=number, message=f"after {number}", author=person, at=NOW)


def get(client: Client, status: int = 200, **query: Any) -> str:
    answer = client.get(MATRIX, query)
    assert answer.status_code == status, answer.content.decode()[-3000:]
    return answer.content.decode()


def text(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def cells(page: str, row: str) -> list[str]:
    """What the cells of a row show, by their words for who cannot see them."""
    found = page.partition(f'id="row-{row}"')[2].partition("</tr>")[0]
    return [text(each).strip() for each in re.findall(r"<td.*?</td>", found, re.DOTALL)]


def row_names(page: str) -> list[str]:
    return re.findall(r'<tr id="row-(\w+)"', page)


# --- the table ---------------------------------------------------------------------------


def test_the_page_comes_at_once_with_rows_to_be_asked_for(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in)
    assert row_names(page) == ["4", "3", "2", "1"]
    assert page.count("data-pending") == 4 and "0 of 4 rows" in text(page)
    assert re.search(r'hx-get="/prompts/set/matrix/\?baseline=4&amp;row=3&amp;of=[0-9a-f]{12}"', page)
    assert "after 2" in page and "Third" in page and "Start" in page


def test_a_row_says_what_changed_by_how_much_and_where(prompt_set: PromptSet, signed_in: Client) -> None:
    changed = get(signed_in, baseline="v1", row="2")
    assert changed.lstrip().startswith("<tr")
    assert [each.split(" changed")[0] for each in cells(changed, "2")] == ["≠ +1 −1", "≠ +1 −1"]
    assert "changed, 1 line added, 1 line removed, +3 tokens" in text(changed)
    late = get(signed_in, baseline="v1", row="3")
    assert re.match(r"≠ \+2 −1 .* \+\d+ 1/3 in 1 of 3 rounds", cells(late, "3")[0])
    assert cells(late, "3")[1] == "= unchanged"
    assert 'href="/prompts/set/compare/1...3?rendered=on&amp;context=third&amp;round=3#team"' in late


def test_rounds_unfold_into_columns(prompt_set: PromptSet, signed_in: Client) -> None:
    row = get(signed_in, baseline="1", row="3", open="third")
    assert [each[0] for each in cells(row, "3")] == ["=", "=", "≠", "="]
    assert 'compare/1...3?rendered=on&amp;context=third&amp;round=2#team"' in row
    page = get(signed_in, open="third")
    assert 'colspan="3"' in page and "Combine rounds" in page
    assert [each[0] for each in cells(get(signed_in, baseline="1", row="3", all="on"), "3")] == list("==≠=")


def test_the_baseline_row_has_its_tokens(prompt_set: PromptSet, signed_in: Client) -> None:
    row = get(signed_in, baseline="1", row="1")
    several, one = cells(row, "1")
    assert "Baseline" in row and re.fullmatch(r"\d+ tokens", one)
    assert re.fullmatch(r"\d+ tokens Σ (\d+) all rounds together: \1 tokens", several)


def test_an_equal_template_is_said_to_be_one(prompt_set: PromptSet, signed_in: Client) -> None:
    row = get(signed_in, baseline="1", row="4")
    assert "same template" in row and cells(row, "4") == ["= unchanged", "= unchanged"]


def test_an_error_says_which_and_counts_as_the_worst_round(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    save(prompt_set, person, FAILS_LATE)
    row = get(signed_in, baseline="1", row="5")
    assert cells(row, "5")[0].startswith("! can’t render: line 3: ") and "division" in cells(row, "5")[0]
    assert "in 2 of 3 rounds" in cells(row, "5")[0]
    assert text(row).count("division") == 2  # once beside the version, whatever the number of cells
    assert cells(row, "5")[1] == "= unchanged"
    mended = get(signed_in, baseline="5", row="1", open="third")
    assert [each[0] for each in cells(mended, "1")] == ["=", "✓", "✓", "="]


def test_a_draft_with_a_mistake_has_the_error_of_the_check(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    Draft.objects.keep(prompt_set, person, sent(TEAM + "{% if false %}{{ nobody }}{% endif %}\n"), at=NOW)
    assert row_names(get(signed_in))[:2] == ["4", "draft"]
    found = cells(get(signed_in, row="draft"), "draft")
    assert all(each.startswith("! can’t render: line 4: ") and "nobody" in each for each in found)
    assert cells(get(signed_in, baseline="draft", row="1"), "1")[0].startswith("✓")


def test_each_template_has_its_own_table(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, TEAM, judgment_user_prompt="Stop?\n{{ submission_history }}\n")
    assert "≠" not in get(signed_in, baseline="1", row="5", kind="evaluator")
    row = get(signed_in, baseline="1", row="5", kind="judgment")
    assert cells(row, "5")[0].startswith("≠ +1 −1") and "#judgment" in row


def test_without_contexts_there_are_the_sample_values(person: User, signed_in: Client) -> None:
    made = make_set(person)
    save(made, person, TEAM + "more\n")
    page = get(signed_in)
    assert "every variable has its sample value" in page
    row = get(signed_in, row="1")
    assert cells(row, "1")[0].startswith("≠ −1") and 'compare/2...1?rendered=on#team"' in row


# --- which versions ----------------------------------------------------------------------


def test_the_baseline_is_what_production_points_at(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    Label.objects.move("production", prompt_set.versions.get(number=2), by=person, at=NOW)
    page = get(signed_in)
    assert row_names(page) == ["2", "4", "3", "1"] and 'value="production"' in page
    # Rows name the version itself: a label that moves meanwhile must not mix two tables.
    assert "?baseline=2&amp;row=4" in page
    assert row_names(get(signed_in, baseline="v3"))[0] == "3"
    Label.objects.move("staging", prompt_set.versions.get(number=1), by=person, at=NOW)
    assert row_names(get(signed_in, baseline="staging")) == ["1", "4", "3", "2"]


def test_without_a_choice_the_newest_and_the_labelled_are_shown(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    for number in range(12):
        save(prompt_set, person, f"{TEAM}{number}\n")
    Label.objects.move("staging", prompt_set.versions.get(number=2), by=person, at=NOW)
    assert row_names(get(signed_in)) == ["16", "15", "14", "13", "12", "11", "10", "9", "2"]


def test_versions_are_picked_by_number_span_label_and_draft(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    Label.objects.move("staging", prompt_set.versions.get(number=4), by=person, at=NOW)
    page = get(signed_in, baseline="1", versions=["v2", "3-2, staging", ""])
    assert row_names(page) == ["1", "4", "3", "2"]
    page = get(signed_in, baseline="1", versions=["2", "99, nobody draft"])
    assert row_names(page) == ["1", "2"] and "Not found: v99, nobody, your draft." in text(page)
    Draft.objects.keep(prompt_set, person, sent(TEAM + "x\n"), at=NOW)
    assert row_names(get(signed_in, baseline="1", versions="draft")) == ["1", "draft"]


def test_so_many_versions_and_no_more(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.matrix_page, "MOST_VERSIONS", 2)
    page = get(signed_in, baseline="1", versions="1-999999999")
    assert row_names(page) == ["1", "4", "3"] and "Only the newest 2 of these" in text(page)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"baseline": "9"}, 404, "This set has no v9."),
        ({"baseline": "nobody"}, 404, "This set has no label “nobody”."),
        ({"baseline": "draft"}, 404, "You have no unsaved draft"),
        ({"row": "9"}, 404, "This set has no v9."),
        ({"row": "draft"}, 404, "You have no unsaved draft"),
        ({"baseline": "a b"}, 400, "Baseline: "),
        ({"versions": "{{"}, 400, "neither a version nor a label"),
        ({"versions": " ".join(map(str, range(1, 300)))}, 400, "Too many versions"),
        ({"kind": "nobody"}, 400, "Template: "),
        ({"open": "a b"}, 400, "no such context"),
        ({"row": "0"}, 400, "Version: "),
        ({"after": "-1"}, 400, "Rows: "),
    ],
)
def test_an_address_that_leads_nowhere_says_why(
    prompt_set: PromptSet, signed_in: Client, query: dict[str, str], status: int, words: str
) -> None:
    assert words in text(get(signed_in, status, **query))


def test_a_set_without_versions_says_what_to_do(person: User, signed_in: Client) -> None:
    made = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    assert "No versions yet" in get(signed_in)
    Draft.objects.keep(made, person, sent(base=0), at=NOW)
    page = get(signed_in)
    assert row_names(page) == ["draft"] and "There is no other version" in page


# --- worked out once ---------------------------------------------------------------------


class Counted(JailPool):
    """A jail that counts what it is asked to render."""

    rendered = 0
    refuses = False

    def examine_in_each(
        self, kind: Any, text: str, situations: Any, dialect: Any = None
    ) -> Iterator[Examination]:
        if self.refuses:
            raise JailUnavailable(BUSY, line=None, seconds="60.0")
        for examined in super().examine_in_each(kind, text, situations, dialect):
            self.rendered += 1
            yield examined


@pytest.fixture(scope="module")
def one_jail() -> Iterator[Counted]:
    with Counted(size=1, spares=0, batch_size=1) as jail:
        yield jail


@pytest.fixture
def jail(one_jail: Counted, use_jail: UseJail) -> Counted:
    use_jail(one_jail)
    one_jail.rendered, one_jail.refuses = 0, False
    return one_jail


@pytest.mark.slow
def test_what_was_worked_out_once_stands_in_the_page(
    prompt_set: PromptSet, person: User, signed_in: Client, jail: Counted
) -> None:
    first = get(signed_in, baseline="1", row="3")
    assert jail.rendered == 8
    page = get(signed_in, baseline="1", versions="2 3 4")
    # v3 is there, and so are the baseline and v4 with the same text? The baseline was never a row yet.
    assert cells(page, "3") == cells(first, "3") and page.count("data-pending") == 3
    get(signed_in, baseline="1", row="4")
    assert jail.rendered == 8
    assert get(signed_in, baseline="1", versions="2 3 4").count("data-pending") == 1
    get(signed_in, baseline="3", row="1")
    assert jail.rendered == 8
    # A context that changed is another one.
    changed = SampleContext.objects.get(slug="start")
    SampleContext.objects.filter(pk=changed.pk).update(data=changed.data | {"user_prompt": "else"})
    get(signed_in, baseline="1", row="3")
    assert jail.rendered == 10


@pytest.mark.slow
def test_a_row_that_fails_says_so_and_can_be_asked_again(
    prompt_set: PromptSet, signed_in: Client, jail: Counted
) -> None:
    jail.refuses = True
    row = get(signed_in, 503, baseline="1", row="3", open="third")
    assert row.lstrip().startswith("<tr") and "data-failed" in row and "Retry" in row and 'colspan="4"' in row
    assert 'hx-get="/prompts/set/matrix/?baseline=1&amp;open=third&amp;row=3&amp;of=' in row
    jail.refuses = False
    assert cells(get(signed_in, baseline="1", row="3"), "3")[1] == "= unchanged"


def test_too_many_rows_at_once_are_asked_to_come_again(
    prompt_set: PromptSet, signed_in: Client, jail: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.matrix, "WAIT_SECONDS", 0.01)
    for _ in range(studio.compare.matrix.ROWS_AT_ONCE):
        assert studio.compare.matrix._turns.acquire(blocking=False)
    try:
        assert "Retry" in get(signed_in, 503, row="3") and jail.rendered == 0
    finally:
        for _ in range(studio.compare.matrix.ROWS_AT_ONCE):
            studio.compare.matrix._turns.release()
    get(signed_in, row="3")


def test_a_row_without_time_goes_on_the_next_time(
    prompt_set: PromptSet, signed_in: Client, jail: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurry:
        hurry.setattr(studio.compare.matrix, "ROW_SECONDS", -1.0)
        row = get(signed_in, baseline="1", row="3")
    assert cells(row, "3")[0].startswith("? not checked") and "Continue" in row
    assert cells(get(signed_in, baseline="1", row="3"), "3")[1] == "= unchanged"


@pytest.mark.slow
def test_a_template_without_end_is_not_tried_in_every_situation(
    prompt_set: PromptSet, person: User, signed_in: Client, use_jail: UseJail
) -> None:
    save(prompt_set, person, SLOW)
    with Counted(size=1, spares=0, batch_size=1, limits=Limits(time=0.5)) as jail:
        use_jail(jail)
        row = get(signed_in, baseline="1", row="5", all="on")
        assert jail.rendered < 8
    found = cells(row, "5")
    assert "time limit" in found[0] and found[-1] == "? not checked"
    # Another time the machine may be less busy: it is tried again.
    assert get(signed_in, baseline="1", versions="5").count("data-pending") == 2


def test_many_situations_go_to_the_lane_for_batches(prompt_set: PromptSet, jail: Counted) -> None:
    each_values = [{"user_prompt": "a", "round_number": number} for number in (1, 2)]
    found = list(jail.examine_in_each("team", FAILS_LATE, each_values, MIXSEEK))
    assert [isinstance(each, Examination) for each in found] == [True, True]
    assert found[0].text == "# Task\na\nRound 1" and found[1].failure is not None
    assert jail.stats().lanes["batch"].size == 1 and jail.stats().lanes["preview"].busy == 0


def test_contexts_that_have_no_room_are_counted(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.matrix, "MOST_COLUMNS", 3)
    columns, left_out = columns_of(contexts_of(prompt_set))
    # The set's own come first.
    assert [each.slug for each in columns] == ["third"] and left_out == 1
    assert "1 more context does not fit" in get(signed_in)


def test_long_prompts_are_only_said_to_differ(monkeypatch: pytest.MonkeyPatch, prompt_set: PromptSet) -> None:
    monkeypatch.setattr(studio.preview.rendering, "MOST_COMPARED", 10)
    columns, _ = columns_of(contexts_of(prompt_set))
    worst = Table("team", MIXSEEK, columns, TEAM).row(TEAM + "one more\n")[0].worst
    assert (worst.state, worst.added, worst.removed, worst.tokens_more) == ("changed", None, None, 3)


def counted(tokens: int) -> TokenCount:
    return TokenCount(tokens, "", exact=True, margin=0.0)


def test_the_worst_round_stands_for_its_context() -> None:
    column = Column(None, ())
    small = MatrixCell(1, "changed", 1, 0, counted(10), 9)
    large = MatrixCell(2, "changed", 4, 4, counted(10), 9)
    error = MatrixCell(3, "error")
    same = MatrixCell(4, "same", 0, 0, counted(9), 9)
    assert Group(column, (same, small, large)).worst == large
    assert Group(column, (same, small, large)).alike == 2
    assert Group(column, (large, error, same)).worst == error
    assert Group(column, (same, same)).is_uniform


def test_what_is_kept_is_bounded() -> None:
    kept: SizedCache[str] = SizedCache(100)
    kept.put("large", "x", 11)
    assert kept.get("large") is None
    for number in range(20):
        kept.put(number, str(number), 10)
        kept.get(0)
    assert [number for number in range(20) if kept.get(number)] == [0, *range(11, 20)]
    kept.clear()
    assert kept.get(0) is None


# --- without scripts, and as a file ------------------------------------------------------


def test_without_scripts_rows_come_some_at_a_time(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.compare.matrix_page, "PLAIN_ROWS", 2)
    assert 'content="0; url=/prompts/set/matrix/?plain=on"' in get(signed_in)
    page = get(signed_in, plain="on")
    assert row_names(page) == ["4", "3", "2"] and "data-pending" not in page
    assert cells(page, "3")[1] == "= unchanged"
    assert "?plain=on&amp;after=2" in page and "http-equiv" not in page
    page = get(signed_in, plain="on", after="2")
    assert row_names(page) == ["4", "1"] and "Next rows" not in page and "First rows" in page
    # What the plain page worked out, any page has.
    assert "data-pending" not in get(signed_in)


def test_every_cell_as_a_file(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    save(prompt_set, person, FAILS_LATE)
    answer = signed_in.get(MATRIX, {"baseline": "1", "versions": "3 5", "format": "csv"})
    assert 'filename="set-matrix-team.csv"' in answer["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    assert len(rows) == 3 * 4
    last = next(
        each for each in rows if (each["version"], each["context"], each["round"]) == ("v3", "third", "3")
    )
    assert (last["state"], last["lines_added"], last["lines_removed"]) == ("changed", "2", "1")
    assert int(last["tokens_difference"]) > 0 and last["baseline"] == "v1"
    answer = signed_in.get(MATRIX, {"baseline": "1", "versions": "5", "format": "json"})
    found = json.loads(answer.getvalue())
    states = [(each["context"], each["round"], each["state"]) for each in found if each["version"] == "v5"]
    assert states == [
        ("third", 1, "same"),
        ("third", 2, "error"),
        ("third", 3, "error"),
        ("start", 1, "same"),
    ]


def test_a_file_says_where_the_jail_was_away(prompt_set: PromptSet, signed_in: Client, jail: Counted) -> None:
    jail.refuses = True
    answer = signed_in.get(MATRIX, {"versions": "3", "format": "json"})
    found = json.loads(answer.getvalue())
    assert [each["state"] for each in found] == ["unknown"] * 2 and found[0]["error"]


def test_pages_around_it_lead_there(prompt_set: PromptSet, person: User, signed_in: Client) -> None:
    for address in ("/prompts/set/", "/prompts/set/edit/", "/prompts/set/compare/1...3"):
        assert 'href="/prompts/set/matrix/' in signed_in.get(address).content.decode(), address


def test_another_baseline_keeps_the_one_before_as_a_row(prompt_set: PromptSet, signed_in: Client) -> None:
    row = get(signed_in, baseline="1", row="3")
    assert 'href="/prompts/set/matrix/?baseline=3"' in row
    page = get(signed_in, baseline="1", versions="3")
    assert 'href="/prompts/set/matrix/?baseline=3&amp;versions=3&amp;versions=1"' in page
    assert re.findall(r'value="(\d)" checked', tight(page)) == ["3", "1"]


def test_a_row_of_other_columns_begins_the_page_anew(prompt_set: PromptSet, signed_in: Client) -> None:
    page = get(signed_in)
    row = html.unescape(re.findall(r'hx-get="([^"]+)"', page)[0])
    assert signed_in.get(row).content.lstrip().startswith(b"<tr")
    make_context("another")
    answer = signed_in.get(row)
    assert answer["HX-Refresh"] == "true" and answer.content == b""


def test_contexts_are_chosen_and_rows_are_theirs(prompt_set: PromptSet, signed_in: Client) -> None:
    make_context("more")
    page = get(signed_in, contexts=["start", "third"])
    assert re.findall(r'class="matrix-context', page) == ['class="matrix-context'] * 2
    assert re.findall(r'name="contexts" value="(\w+)" checked', tight(page)) == ["third", "start"]
    row = html.unescape(re.findall(r'hx-get="([^"]+)"', page)[-1])
    assert "contexts=start&contexts=third" in row
    assert signed_in.get(row).content.decode().count("<td") == 2
    answer = signed_in.get(MATRIX, {"contexts": "start", "format": "json", "table": "matrix"})
    assert {each["context"] for each in json.loads(answer.getvalue())} == {"start"}


def test_contexts_that_are_not_there_are_told_and_the_others_shown(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    page = get(signed_in, contexts=["gone", "start"])
    assert "Not found: gone." in page and page.count('class="matrix-context') == 1
    page = get(signed_in, contexts="gone")
    assert "Not found: gone." in page and page.count('class="matrix-context') == 2
    get(signed_in, 400, contexts="a b")


def test_fifty_versions_are_a_few_questions_to_the_database(
    prompt_set: PromptSet, person: User, signed_in: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(46):
        save(prompt_set, person, f"{TEAM}{number}\n")
    with django_assert_max_num_queries(14):
        assert len(row_names(get(signed_in, versions="1-50"))) == 50
    with django_assert_max_num_queries(9):
        get(signed_in, row="7")
