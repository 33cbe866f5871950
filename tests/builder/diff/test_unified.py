"""A comparison as unified text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.diff.lines import compare
from builder.diff.unified import unified
from tests.builder.diff.test_diff import ANY_TEXT

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def patched(text: str, patch: str) -> str:
    """Apply a patch as strictly as can be: every number and every context line must be right."""
    source = re.findall(r"[^\n]*\n|[^\n]+", text)
    result: list[str] = []
    lines = patch.split("\n")
    assert lines.pop() == ""
    assert lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    at, place = 0, 2
    while place < len(lines):
        found = HUNK.fullmatch(lines[place])
        assert found, lines[place]
        old_start, old_size, new_start, new_size = (
            int(number) if number is not None else 1 for number in found.groups()
        )
        place += 1
        begin = old_start - 1 if old_size else old_start
        result += source[at:begin]
        at = begin
        assert len(result) == (new_start - 1 if new_size else new_start)
        while old_size or new_size or (place < len(lines) and lines[place].startswith("\\")):
            sign, line = lines[place][0], lines[place][1:] + "\n"
            place += 1
            if place < len(lines) and lines[place] == r"\ No newline at end of file":
                line = line[:-1]
                place += 1
            if sign in " -":
                assert source[at] == line
                at += 1
                old_size -= 1
            if sign in " +":
                result.append(line)
                new_size -= 1
    return "".join(result + source[at:])


@given(ANY_TEXT, ANY_TEXT, st.integers(0, 4))
def test_applied_to_the_left_it_gives_the_right(left: str, right: str, context: int) -> None:
    patch = unified(compare(left, right), "a", "b", context)
    assert (patch == "") == (left == right)
    if patch:
        assert patched(left, patch) == right


@pytest.mark.parametrize(
    ("left", "right", "hunks"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\nz", "b\nz", "@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n"),
        ("a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"),
        ("x1\nx2\n", "y1\ny2\n", "@@ -1,2 +1,2 @@\n-x1\n-x2\n+y1\n+y2\n"),
    ],
)
def test_hunks_are_written_as_diff_writes_them(left: str, right: str, hunks: str) -> None:
    assert unified(compare(left, right), "old.txt", "new.txt") == f"--- old.txt\n+++ new.txt\n{hunks}"


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    text = "".join(f"{number}\n" for number in range(1, 21))
    changed = text.replace("3\n", "three\n", 1).replace("18\n", "eighteen\n")
    assert HUNK.findall(unified(compare(text, changed), "a", "b")) == [
        ("1", "6", "1", "6"),
        ("15", "6", "15", "6"),
    ]


def test_changes_whose_context_meets_are_one_hunk() -> None:
    text = "".join(f"{number}\n" for number in range(1, 21))
    changed = text.replace("5\n", "five\n", 1).replace("12\n", "twelve\n")
    assert HUNK.findall(unified(compare(text, changed), "a", "b")) == [("2", "14", "2", "14")]


def test_ignored_whitespace_is_no_change_and_the_left_is_shown() -> None:
    diff = compare("a b\nold\n", "a  b\nnew\n", ignore_whitespace=True)
    assert unified(diff, "a", "b") == "--- a\n+++ b\n@@ -1,2 +1,2 @@\n a b\n-old\n+new\n"


def test_a_name_cannot_break_out_of_its_line() -> None:
    assert unified(compare("a\n", "b\n"), "x\n+++ y", "z").startswith("--- x +++ y\n+++ z\n@@")
