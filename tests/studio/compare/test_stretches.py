"""Rows of a comparison: what is the same is folded, what is too much waits behind a link."""

from builder.diff.lines import Diff, compare
from studio.compare.versions import Stretch, stretches


def lines(numbers: range) -> str:
    return "".join(f"line {number}\n" for number in numbers)


def shape(found: list[Stretch]) -> list[tuple[int, int, str]]:
    return [(each.start, each.stop, each.show) for each in found]


def one_change(total: int, at: int) -> Diff:
    text = lines(range(total))
    return compare(text, text.replace(f"line {at}\n", "other\n"))


def test_what_is_far_from_a_change_is_folded() -> None:
    assert shape(stretches(one_change(100, 50))) == [(0, 47, "same"), (47, 54, "rows"), (54, 100, "same")]


def test_a_fold_that_was_opened_shows_its_rows() -> None:
    found = stretches(one_change(100, 50), [range(0, 47)])
    assert shape(found) == [(0, 47, "rows"), (47, 54, "rows"), (54, 100, "same")]
    assert [shown.row.left.text for shown in found[0].rows if shown.row.left][-1] == "line 46"


def test_everything_can_be_unfolded() -> None:
    assert shape(stretches(one_change(100, 50), unfold=True)) == [
        (0, 47, "rows"), (47, 54, "rows"), (54, 100, "rows"),
    ]  # fmt: skip


def test_a_long_fold_opens_piece_by_piece() -> None:
    diff = one_change(100, 99)
    assert shape(stretches(diff, [range(0, 96)], most=40)) == [
        (0, 40, "rows"), (40, 96, "same"), (96, 100, "rows"),
    ]  # fmt: skip
    assert shape(stretches(diff, [range(0, 96), range(40, 96)], most=40)) == [
        (0, 40, "rows"), (40, 80, "rows"), (80, 96, "same"), (96, 100, "rows"),
    ]  # fmt: skip


def test_more_changes_than_fit_wait_behind_one_link() -> None:
    diff = compare(lines(range(100)), lines(range(200, 300)))
    first = stretches(diff, most=30)
    assert shape(first) == [(0, 30, "rows"), (30, len(diff), "more")]
    assert shape(stretches(diff, [range(30, len(diff))], most=30))[:2] == [(0, 30, "rows"), (30, 60, "rows")]


def test_what_waits_tells_how_many_changes_begin_there() -> None:
    old = lines(range(100))
    new = old.replace("line 10\n", "a\n").replace("line 50\n", "b\n").replace("line 90\n", "c\n")
    (*_, held) = stretches(compare(old, new), most=10)
    assert (held.show, held.changes) == ("more", 2)


def test_changes_are_numbered_at_their_first_row() -> None:
    old = lines(range(40))
    diff = compare(old, old.replace("line 10\n", "a\nb\n").replace("line 30\n", ""))
    numbers = [shown.change for each in stretches(diff) if each.show == "rows" for shown in each.rows]
    assert [number for number in numbers if number] == [1, 2]


def test_equal_texts_are_one_fold_and_empty_ones_nothing() -> None:
    assert shape(stretches(compare("a\nb\nc\nd\n", "a\nb\nc\nd\n"))) == [(0, 4, "same")]
    assert stretches(compare("", "")) == []
