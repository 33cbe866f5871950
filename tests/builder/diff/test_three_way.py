"""Two changes to one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.diff.alignment import MAX_LINES
from builder.diff.three_way import Region, compare_three
from builder.errors import DiffTooLarge
from tests.builder.diff.test_diff import ANY_TEXT

BASE = "# 目標\n提出内容を改善する\n\n# 注意\n順位を確認する\n"


def kinds(base: str, mine: str, theirs: str) -> list[str]:
    return [region.kind for region in compare_three(base, mine, theirs).regions]


def test_changes_of_different_lines_go_together() -> None:
    mine = BASE.replace("改善", "修正")
    theirs = BASE.replace("順位", "得点")
    merged = compare_three(BASE, mine, theirs)
    assert [region.kind for region in merged.regions] == ["unchanged", "mine", "unchanged", "theirs"]
    assert merged.merged == "# 目標\n提出内容を修正する\n\n# 注意\n得点を確認する\n"


def test_one_line_changed_by_both_keeps_both_texts() -> None:
    mine, theirs = BASE.replace("改善", "修正"), BASE.replace("改善", "確認")
    merged = compare_three(BASE, mine, theirs)
    assert merged.merged is None
    assert merged.conflicts == (
        Region("conflict", "提出内容を改善する\n", "提出内容を修正する\n", "提出内容を確認する\n"),
    )
    assert merged.resolved(["mine"]) == mine
    assert merged.resolved(["theirs"]) == theirs
    assert merged.resolved(["base"]) == BASE
    assert "修正する\n提出内容を確認する\n" in merged.resolved(["mine then theirs"])
    assert "確認する\n提出内容を修正する\n" in merged.resolved(["theirs then mine"])


def test_the_same_change_by_both_is_no_conflict() -> None:
    mine = BASE.replace("改善", "修正")
    assert kinds(BASE, mine, mine) == ["unchanged", "both", "unchanged"]
    assert compare_three(BASE, mine, mine).merged == mine


def test_changes_that_touch_are_a_conflict() -> None:
    assert kinds("a\nb\n", "A\nb\n", "a\nB\n") == ["conflict"]


def test_a_conflict_holds_only_what_is_in_dispute() -> None:
    merged = compare_three("x\n", "same\nmine\nend\n", "same\ntheirs\nend\n")
    assert merged.regions == (
        Region("both", "", "same\n", "same\n"),
        Region("conflict", "x\n", "mine\n", "theirs\n"),
        Region("both", "", "end\n", "end\n"),
    )


def test_a_line_removed_by_one_and_changed_by_the_other_is_a_conflict() -> None:
    assert kinds("a\nb\nc\n", "a\nc\n", "a\nB\nc\n") == ["unchanged", "conflict", "unchanged"]


def test_texts_without_a_last_newline_are_not_run_together() -> None:
    merged = compare_three("a", "mine", "theirs")
    assert merged.resolved(["mine then theirs"]) == "mine\ntheirs"


def test_every_conflict_needs_a_choice() -> None:
    with pytest.raises(ValueError, match="1 conflicts need as many choices, not 0"):
        compare_three("a\n", "b\n", "c\n").resolved([])


def test_texts_too_long_to_compare_are_refused() -> None:
    with pytest.raises(DiffTooLarge):
        compare_three("", "\n" * (MAX_LINES + 1), "")


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_the_regions_hold_all_three_texts(base: str, mine: str, theirs: str) -> None:
    regions = compare_three(base, mine, theirs).regions
    assert "".join(region.base for region in regions) == base
    assert "".join(region.mine for region in regions) == mine
    assert "".join(region.theirs for region in regions) == theirs
    for region in regions:
        expected = {
            "unchanged": region.base == region.mine == region.theirs,
            "mine": region.base == region.theirs != region.mine,
            "theirs": region.base == region.mine != region.theirs,
            "both": region.mine == region.theirs != region.base,
            "conflict": region.mine != region.theirs,
        }
        assert expected[region.kind]


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_it_does_not_matter_who_is_asked(base: str, mine: str, theirs: str) -> None:
    turned = {"mine": "theirs", "theirs": "mine"}
    here, there = compare_three(base, mine, theirs), compare_three(base, theirs, mine)
    assert [turned.get(region.kind, region.kind) for region in there.regions] == [
        region.kind for region in here.regions
    ]
    assert here.merged == there.merged


@given(ANY_TEXT, ANY_TEXT)
def test_a_change_by_one_alone_is_taken(base: str, changed: str) -> None:
    assert compare_three(base, changed, base).merged == changed
    assert compare_three(base, base, changed).merged == changed
    assert compare_three(base, changed, changed).merged == changed


@given(st.data())
def test_edits_with_an_untouched_line_between_are_both_in_the_result(data: st.DataObject) -> None:
    base = [f"line {number}\n" for number in range(data.draw(st.integers(3, 12)))]
    fixed = data.draw(st.integers(1, len(base) - 2))
    first = data.draw(st.integers(0, fixed - 1))
    second = data.draw(st.integers(fixed + 1, len(base) - 1))
    new_first = data.draw(st.lists(st.sampled_from(["new\n", "修正\n", "\n"]), max_size=3))
    new_second = data.draw(st.lists(st.sampled_from(["other\n", "修正\n", "\n"]), max_size=3))
    mine = [*base[:first], *new_first, *base[first + 1 :]]
    theirs = [*base[:second], *new_second, *base[second + 1 :]]
    both = [*base[:first], *new_first, *base[first + 1 : second], *new_second, *base[second + 1 :]]
    assert compare_three("".join(base), "".join(mine), "".join(theirs)).merged == "".join(both)
