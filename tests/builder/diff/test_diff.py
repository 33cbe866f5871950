"""Two texts side by side: rows, pairs, folds, counts."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from builder.diff.alignment import MAX_CHARS, MAX_LINES
from builder.diff.lines import Counts, Diff, Line, Row, compare, with_line_end
from builder.errors import DiffTooLarge
from tests.fuzzing import share_of

LINE = st.sampled_from(
    [
        "",
        "a",
        "b",
        "c",
        "# 順位",
        "提出内容を改善",
        "提出内容を修正",
        "  a",
        "a ",
        "x\r",
        "\u2028",
        "\x0b\x85",
    ]
)
TEXT = st.tuples(st.lists(LINE, max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] and made[0] else "")
)
ANY_TEXT = TEXT | st.text(max_size=40) | st.text(st.sampled_from("ab\n \r"), max_size=40)


def side(rows: tuple[Row, ...], name: str) -> str:
    lines: list[Line | None] = [getattr(row, name) for row in rows]
    return "".join(ended(line) for line in lines if line is not None)


def kinds(diff: Diff) -> list[str]:
    return [row.kind for row in diff.rows]


def shown(diff: Diff) -> list[tuple[str, str | None, str | None]]:
    return [(row.kind, row.left and row.left.text, row.right and row.right.text) for row in diff.rows]


def longest_common(left: list[str], right: list[str]) -> int:
    """The textbook table: slow, and surely right."""
    above = [0] * (len(right) + 1)
    for one in left:
        row = [0]
        for place, other in enumerate(right):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


def with_ends(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def ended(line: Line) -> str:
    return line.text + "\n" * line.newline


@given(ANY_TEXT, ANY_TEXT, st.booleans())
def test_the_rows_hold_both_texts_exactly(left: str, right: str, ignore: bool) -> None:
    rows = compare(left, right, ignore_whitespace=ignore).rows
    assert side(rows, "left") == left
    assert side(rows, "right") == right
    for row in rows:
        for line in (row.left, row.right):
            assert line is None or "".join(segment.text for segment in line.segments) == line.text


@given(ANY_TEXT, ANY_TEXT)
def test_lines_are_numbered_from_one_and_none_is_skipped(left: str, right: str) -> None:
    rows = compare(left, right).rows
    for numbers in (
        [row.left.number for row in rows if row.left],
        [row.right.number for row in rows if row.right],
    ):
        assert numbers == list(range(1, len(numbers) + 1))


@given(ANY_TEXT, ANY_TEXT)
def test_no_comparison_could_keep_more_lines(left: str, right: str) -> None:
    assert compare(left, right).counts.equal == longest_common(with_ends(left), with_ends(right))


@pytest.mark.slow
@settings(max_examples=share_of(3_000), deadline=None)
@given(TEXT, TEXT)
def test_no_comparison_could_keep_more_lines_in_many_texts(left: str, right: str) -> None:
    assert compare(left, right).counts.equal == longest_common(with_ends(left), with_ends(right))


@given(ANY_TEXT, ANY_TEXT, st.booleans())
@example("a\nb\na\n", "b\na\nb\n", False)
def test_the_other_way_round_shows_the_same_change(left: str, right: str, ignore: bool) -> None:
    there = compare(left, right, ignore_whitespace=ignore)
    back = compare(right, left, ignore_whitespace=ignore)
    turned = {"added": "removed", "removed": "added"}
    key = [(turned.get(row.kind, row.kind), row.right, row.left) for row in back.rows]
    # Inside one change the removed lines come first, whichever way it is read.
    assert sorted(map(repr, key)) == sorted(repr(tuple(row)) for row in there.rows)
    assert there.changes == back.changes


@given(ANY_TEXT)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    diff = compare(text, text)
    assert diff.is_same
    assert diff.counts == Counts(equal=len(with_ends(text)))
    assert not diff.changes


@given(ANY_TEXT, ANY_TEXT, st.booleans())
def test_rows_say_truly_what_they_are(left: str, right: str, ignore: bool) -> None:
    diff = compare(left, right, ignore_whitespace=ignore)
    for row in diff.rows:
        if row.kind == "added":
            assert row.left is None and row.right is not None
        elif row.kind == "removed":
            assert row.right is None and row.left is not None
        else:
            assert row.left is not None and row.right is not None
            old, new = ended(row.left), ended(row.right)
            if ignore:
                old, new = "".join(old.split()), "".join(new.split())
            assert (old == new) == (row.kind == "equal")
    counted = Counts(**{kind: kinds(diff).count(kind) for kind in ("equal", "changed", "added", "removed")})
    assert diff.counts == counted
    assert diff.is_same == (counted.equal == len(diff))


@given(ANY_TEXT, ANY_TEXT, st.integers(0, 4), st.integers(1, 5))
def test_sections_hold_every_row_once_and_fold_only_what_is_equal(
    left: str, right: str, context: int, least: int
) -> None:
    diff = compare(left, right)
    sections = diff.sections(context, least=least)
    assert tuple(row for section in sections for row in section.rows) == diff.rows
    changed = [row for change in diff.changes for row in change]
    for section in sections:
        assert len(section) == len(section.rows) > 0
        first = section.rows[0]
        assert first.left is None or first.left.number == section.left_start
        assert first.right is None or first.right.number == section.right_start
        if section.folded:
            assert len(section) >= least
            assert {row.kind for row in section.rows} == {"equal"}
            assert all(row < section.start - context or row >= section.stop + context for row in changed)


def test_unchanged_stretches_are_folded_around_a_change() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 31))
    sections = compare(text, text.replace("line 15\n", "line fifteen\n")).sections(context=3)
    assert [(section.folded, section.left_start, len(section)) for section in sections] == [
        (True, 1, 11),
        (False, 12, 7),
        (True, 19, 12),
    ]


def test_a_stretch_too_short_to_be_worth_a_fold_is_shown() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 10))
    diff = compare("x\n" + text + "y\n", "p\n" + text + "q\n")
    assert [section.folded for section in diff.sections(context=3)] == [False, True, False]
    assert [section.folded for section in diff.sections(context=4)] == [False]


def test_texts_without_a_change_are_one_fold() -> None:
    assert [section.folded for section in compare("a\nb\nc\n", "a\nb\nc\n").sections()] == [True]
    assert compare("", "").sections() == ()


def test_changes_that_touch_are_one_step_of_the_next_key() -> None:
    diff = compare("a\nb\nc\nd\ne\n", "a\nb2\nnew one\nc\nd\n")
    assert kinds(diff) == ["equal", "changed", "added", "equal", "equal", "removed"]
    assert diff.changes == (range(1, 3), range(5, 6))


def test_a_changed_word_is_marked_in_its_line() -> None:
    (row,) = compare("提出内容を改善する\n", "提出内容を修正する\n").rows
    assert row.left is not None and row.right is not None
    assert [tuple(segment) for segment in row.left.segments] == [
        ("提出内容を", False),
        ("改善", True),
        ("する", False),
    ]
    assert [tuple(segment) for segment in row.right.segments] == [
        ("提出内容を", False),
        ("修正", True),
        ("する", False),
    ]


def test_lines_of_a_replaced_block_are_paired_by_likeness_not_by_place() -> None:
    left = "スコアを確認する\n順位を確認する\n提出内容を改善する\n"
    right = "まず概要を読む\nスコアを必ず確認する\n提出内容をさらに改善する\n"
    assert shown(compare(left, right)) == [
        ("added", None, "まず概要を読む"),
        ("changed", "スコアを確認する", "スコアを必ず確認する"),
        ("removed", "順位を確認する", None),
        ("changed", "提出内容を改善する", "提出内容をさらに改善する"),
    ]


def test_a_line_alone_in_its_place_is_that_line_rewritten() -> None:
    assert kinds(compare("a\nold\nz\n", "a\n全く新しい\nz\n")) == ["equal", "changed", "equal"]
    assert kinds(compare("a\n\nz\n", "a\ntext\nz\n")) == ["equal", "removed", "added", "equal"]


def test_a_large_rewritten_block_is_still_paired_by_likeness() -> None:
    left = "".join(f"{number}. 提出{chr(0x4E00 + number * 7)}を確認する\n" for number in range(300))
    right = "新しい見出し\n" + left.replace(". ", ") ")
    counts = compare(left, right).counts
    assert (counts.changed, counts.added, counts.removed) == (300, 1, 0)


def test_an_added_section_begins_with_its_heading() -> None:
    left = "# 一\n本文\n\n# 三\n本文\n"
    right = "# 一\n本文\n\n# 二\n本文\n\n# 三\n本文\n"
    assert [text for kind, _, text in shown(compare(left, right)) if kind == "added"] == ["# 二", "本文", ""]


@pytest.mark.parametrize("after", ["z\n", "\nz\n", ""])
@pytest.mark.parametrize("before", ["", "\n"])
def test_an_added_block_does_not_begin_with_the_end_of_another(before: str, after: str) -> None:
    one, other = f"{{% if a %}}\nA\n{before}{{% endif %}}\n", f"{{% if b %}}\nB\n{before}{{% endif %}}\n"
    added = [text for kind, _, text in shown(compare(one + after, one + other + after)) if kind == "added"]
    assert added == other.splitlines()


def test_added_lines_that_can_stand_together_do() -> None:
    left = "A\n\nend\n\nz\n"
    right = "A\n\nend\nB\nC\n\nend\n\nz\n"
    assert [len(change) for change in compare(left, right).changes] == [4]


def test_only_a_line_feed_ends_a_line() -> None:
    text = "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\rh\n"
    assert [row.left and row.left.text for row in compare(text, text).rows] == [text[:-1]]


def test_a_lost_carriage_return_shows() -> None:
    (row,) = compare("a\r\n", "a\n").rows
    assert row.kind == "changed"
    assert row.left is not None and [tuple(segment) for segment in row.left.segments] == [
        ("a", False),
        ("\r", True),
    ]


def test_a_missing_last_newline_is_a_change() -> None:
    (row,) = compare("a", "a\n").rows
    assert row == Row("changed", Line(1, "a", newline=False), Line(1, "a"))


def test_ignoring_whitespace_keeps_both_sides_as_they_are() -> None:
    diff = compare("a b\n\tc", "ab  \r\n  c\n", ignore_whitespace=True)
    assert diff.is_same
    assert shown(diff) == [("equal", "a b", "ab  \r"), ("equal", "\tc", "  c")]


def test_ignoring_whitespace_still_shows_an_added_blank_line() -> None:
    assert kinds(compare("a\nb\n", "a\n  \nb\n", ignore_whitespace=True)) == ["equal", "added", "equal"]


def test_an_empty_text_has_no_lines() -> None:
    assert len(compare("", "")) == 0
    assert kinds(compare("", "a\n")) == ["added"]
    assert kinds(compare("a", "")) == ["removed"]


def test_too_many_lines_are_refused_with_their_number() -> None:
    with pytest.raises(DiffTooLarge) as refused:
        compare("", "\n" * (MAX_LINES + 1))
    assert str(refused.value) == "A text of 25001 lines is too long to compare: the limit is 25000 lines."
    assert refused.value.text("ja") == "25001行のテキストは長すぎて比較できません。上限は25000行です。"


def test_too_many_characters_are_refused_with_their_number() -> None:
    with pytest.raises(DiffTooLarge) as refused:
        compare("a" * (MAX_CHARS + 1), "")
    assert str(refused.value).startswith("A text of 2000001 characters is too long to compare")


def test_the_largest_texts_allowed_are_compared() -> None:
    text = "順位\n" * MAX_LINES
    assert compare(text, text[3:] + "点数\n").counts == Counts(equal=24_999, changed=1)


def test_a_changed_line_counts_as_added_and_as_removed() -> None:
    diff = compare("a\nscore 1\nc\n", "a\nscore 2\nc\nd\n")
    assert (diff.added, diff.removed) == (2, 1)


def test_a_prompt_that_goes_on_has_its_last_line_still() -> None:
    assert compare(with_line_end("a\nb"), with_line_end("a\nb\nc")).removed == 0
    assert compare("a\nb", "a\nb\nc").removed == 1
