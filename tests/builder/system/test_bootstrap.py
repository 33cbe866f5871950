import pytest

from builder.system.bootstrap import Limits, inject, truncate
from builder.system.input import BootstrapFile

TEXTS = ["abcdefghij", "日本語の文章です。長", "😀👩‍👩‍👧🇯🇵é名"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_limit_itself_is_let_through_and_one_more_is_cut(text: str) -> None:
    length = len(text)
    assert truncate(text, length + 1) == text
    assert truncate(text, length) == text
    assert truncate(text, length - 1) == text[:-1] + "\n[... truncated ...]"


@pytest.mark.parametrize("text", TEXTS)
def test_head_and_tail_keep_seven_and_two_tenths(text: str) -> None:
    assert truncate(text * 3, 10, "head_tail") == (
        (text * 3)[:7] + "\n[... truncated ...]\n" + (text * 3)[-2:]
    )
    assert truncate("abcdef", 4, "head_tail") == "ab\n[... truncated ...]\n"


def test_blocks_are_name_blank_line_content() -> None:
    found = inject(
        [BootstrapFile(name="A.md", content="eins"), BootstrapFile(name="B.md", content=None)], Limits(3)
    )
    assert found.blocks == ("## A.md\n\nein\n[... truncated ...]", "## B.md\n\n[File not found]")
    assert [(use.status, use.size, use.chars) for use in found.uses] == [
        ("truncated", 4, 4),
        ("missing", None, None),
    ]
    assert [each.text() for each in found.diagnostics] == [
        "A.md is longer than the limit allows; the prompt holds 3 of its characters",
        "B.md does not exist; the prompt says so in its place",
    ]


def test_all_files_together_stay_within_the_total() -> None:
    files = [BootstrapFile(name=f"{name}.md", content="x" * 8) for name in "abc"]
    found = inject(files, Limits(10, total=12))
    assert [use.injected for use in found.uses] == [
        "x" * 8,
        "xxxx\n[... truncated ...]",
        "\n[... truncated ...]",
    ]
    assert [use.status for use in found.uses] == ["whole", "truncated", "truncated"]


def test_an_empty_file_is_not_a_missing_one() -> None:
    found = inject([BootstrapFile(name="A.md", content="")], Limits(3))
    assert (found.blocks, found.uses[0].status, found.diagnostics) == (("## A.md\n\n",), "whole", ())
