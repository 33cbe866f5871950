"""Bootstrap files under their limits, and the list of skills."""

from xml.etree import ElementTree

import pytest

from builder.system.input import BootstrapFile, Skill
from builder.system.sections import INSTRUCTION, Limits, inject, list_skills, truncate

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
        "A.md is over the limit; the prompt contains 3 of its characters",
        "B.md does not exist; the prompt contains a note instead",
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


def skills(count: int, description: str = "Does it well") -> list[Skill]:
    return [
        Skill(name=f"skill-{n:02}", description=description, location=f"/s/{n:02}/SKILL.md")
        for n in range(count)
    ]


def listing(text: str) -> str:
    return text[: text.index("</available_skills>") + len("</available_skills>")]


def test_what_is_special_in_xml_is_escaped_and_lines_become_one() -> None:
    text = list_skills(
        [Skill(name="a<b", description="x & y\n  z\x07", location="/p & q/SKILL.md")], 9_000
    ).text
    found = ElementTree.fromstring(listing(text))
    assert [node.text for node in found.iter() if node.text and node.text.strip()] == [
        "a<b",
        "x & y z\ufffd",
        "/p & q/SKILL.md",
    ]
    assert text.endswith("\n\n" + INSTRUCTION)


def test_over_the_limit_the_last_ones_lose_their_description_first() -> None:
    whole = list_skills(skills(10), 9_000)
    room = len(listing(whole.text))
    assert [use.status for use in list_skills(skills(10), room).uses] == ["listed"] * 10
    tight = list_skills(skills(10), room - 1)
    assert [use.status for use in tight.uses] == ["listed"] * 9 + ["without_description"]
    assert len(listing(tight.text)) < room
    # Caches live on the beginning: what fits stands as it stood.
    assert tight.text.startswith(whole.text[: whole.text.index("<name>skill-09")])


def test_then_skills_go_and_are_named() -> None:
    found = list_skills(skills(10), 400)
    gone = [use.name for use in found.uses if use.status == "left_out"]
    assert gone and not any(use.status == "listed" for use in found.uses)
    assert f"Skills left out of this list for lack of room ({len(gone)}): {', '.join(gone)}" in found.text
    assert len(listing(found.text)) <= 400


def test_every_skill_is_in_the_text_whatever_the_limit() -> None:
    for room in range(1, 1_500, 37):
        text = list_skills(skills(9), room).text
        assert all(skill.name in text for skill in skills(9))
