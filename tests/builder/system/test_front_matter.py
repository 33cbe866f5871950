"""SKILL.md as people write it: YAML, nearly YAML, and none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.system.front_matter import MAX_CHARS, FrontMatter, fenced, read_front_matter


def read(block: str) -> tuple[str | None, str | None, int | None]:
    found = read_front_matter(f"---\n{block}\n---\n# Body\nname: not this\n")
    return found.name, found.description, found.broken_line


@pytest.mark.parametrize(
    ("block", "description"),
    [
        ("description: plain & simple", "plain & simple"),
        ("description: 'quoted: it''s'", "quoted: it's"),
        ('description: "\\u65e5\\u672c"', "日本"),
        ("description: |\n  one\n  two", "one\ntwo\n"),
        ("description: >-\n  one\n  two", "one two"),
        ("description: one\n  two", "one two"),
        ("metadata:\n  description: inner\n  tags: [a, {b: c}]\ndescription: outer", "outer"),
        ("metadata: {a: {b: c}}\ndescription: outer", "outer"),
        ("? [a, b]\n: odd\ndescription: outer", "outer"),
        ("x: &x shared\ndescription: *x", "shared"),
        ("description: 2026-01-01", "2026-01-01"),
        ("description: first\ndescription: second", "second"),
    ],
)
def test_yaml_is_read_as_yaml(block: str, description: str) -> None:
    assert read(f"name: pdf\n{block}") == ("pdf", description, None)


@pytest.mark.parametrize("nothing", ["", "~", "null", "[a, b]", "{a: b}", "''"])
def test_a_description_that_is_none(nothing: str) -> None:
    assert read(f"name: pdf\ndescription: {nothing}")[1] in (None, "")


@pytest.mark.parametrize(
    ("block", "description", "line"),
    [
        ("name: pdf\ndescription: Use when: asked", "Use when: asked", 3),
        ("name: pdf\ndescription: Use\n  it when: asked\nother: [", "Use it when: asked", 4),
        ("name: pdf\ndescription: |\n  One\n  two\nbad: : :", "One two", 6),
        ("name: pdf\ndescription: 'It: \"all\"'\nbad: a: b", 'It: "all"', 4),
        ("name: pdf\n\tdescription: tab\ndescription: after", "after", 3),
    ],
)
def test_what_is_nearly_yaml_is_read_by_lines_and_says_where(block: str, description: str, line: int) -> None:
    assert read(block)[1:] == (description, line)


def test_windows_line_ends_and_dots_at_the_end() -> None:
    assert read_front_matter("---\r\nname: a\r\ndescription: b\r\n---\r\nx").description == "b"
    assert read_front_matter("---\nname: a\ndescription: b\n...\nx").description == "b"


def test_without_front_matter_or_without_its_end() -> None:
    assert read_front_matter("# Only a body\n---\nname: x\n---\n") == FrontMatter(found=False)
    assert read_front_matter("---\nname: x\n") == FrontMatter(closed=False)
    assert read_front_matter("---\n" + "a: b\n" * MAX_CHARS + "---\n") == FrontMatter(closed=False)
    assert read_front_matter("---\n---\n") == FrontMatter()


def test_a_file_is_cut_to_its_front_matter_and_reads_the_same() -> None:
    text = "---\nname: a\ndescription: b\n---\n# Body\n---\n"
    assert fenced(text) == ("---\nname: a\ndescription: b\n---", False)
    assert fenced("---\nname: a\n" + "x" * 99) == ("---\n", True)
    assert fenced("# Body\nmore") == ("# Body", False)
    assert fenced("x" * 5_000) == ("x" * 100, False)
    for each in (text, "---\nname: a\n", "# Body\nmore", "", "---"):
        assert read_front_matter(fenced(each).text) == read_front_matter(each)


BOMBS = {
    "brackets": "[" * 16_000,
    "braces": "{a: " * 4_000,
    "dashes": "- " * 8_000,
    "keys": "a:\n" * 5_000,
    "aliases": "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(500)),
    "laughs": "l0: &l0 [lol]\n"
    + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "quotes": '"' * 16_000,
    "object": "name: !!python/object/apply:os.system [exit 3]",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_meant_to_break_a_parser_does_not(bomb: str) -> None:
    found = read_front_matter(f"---\n{BOMBS[bomb]}\ndescription: safe\n---\n")
    assert found.found and found.closed and found.name is None


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("abn:-#|>&*!?{}[]'\"\n\t ,%@`~\\u日\r\x85"), max_size=60))
def test_no_text_breaks_it(block: str) -> None:
    found = read_front_matter(f"---\n{block}\n---\n")
    assert found.found
