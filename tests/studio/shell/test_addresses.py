"""Any text that a database holds can be part of an address and comes back unchanged."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.shell.addresses import StoredNameConverter

CONVERTER = StoredNameConverter()
PART = re.compile(CONVERTER.regex)


@given(st.text())
def test_every_name_comes_back_unchanged(name: str) -> None:
    part = CONVERTER.to_url(name)
    assert PART.fullmatch(part)
    assert CONVERTER.to_python(part) == name


@given(st.text(), st.text())
def test_two_names_with_dots_between_are_told_apart(old: str, new: str) -> None:
    pair = re.compile(rf"(?P<old>{CONVERTER.regex})\.\.\.(?P<new>{CONVERTER.regex})")
    found = pair.fullmatch(f"{CONVERTER.to_url(old)}...{CONVERTER.to_url(new)}")
    assert found
    assert (CONVERTER.to_python(found["old"]), CONVERTER.to_python(found["new"])) == (old, new)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("team-a", "team-a"),
        ("チーム 甲", "チーム 甲"),
        ("v1.2", "v1.2"),
        ("a/b", "a~2Fb"),
        ("..", "~2E~2E"),
        ("a...b", "a~2E~2E~2Eb"),
        ("~", "~7E"),
        ("", "~"),
        ("compare", "~63ompare"),
    ],
)
def test_usual_names_stay_readable(name: str, part: str) -> None:
    assert CONVERTER.to_url(name) == part


@pytest.mark.parametrize("part", ["a~", "~2f", "~ZZ", "~FF", "~ED~A0~80"])
def test_an_address_nobody_made_is_none(part: str) -> None:
    with pytest.raises(ValueError):
        CONVERTER.to_python(part)


def test_slashes_controls_and_folding_dots_are_no_part() -> None:
    assert not any(PART.fullmatch(part) for part in ("", "a/b", ".", "..", "a..b", "a\n", "\x00"))
