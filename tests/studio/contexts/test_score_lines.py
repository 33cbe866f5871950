"""Score details as text: what is written is read back, whatever the names are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.contexts.pasted_json import Unreadable, read_details, write_details

numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
values = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(names, numbers, max_size=5) | st.dictionaries(names, values, max_size=4))
def test_what_is_written_is_read_back(details: dict[str, Any]) -> None:
    assert repr(read_details(write_details(details))) == repr(details)


def test_scores_by_name_are_lines() -> None:
    assert write_details({"Accuracy": 82.5, "網羅性": 70}) == "Accuracy: 82.5\n網羅性: 70"


def test_anything_else_is_json() -> None:
    assert write_details({"metrics": [1]}) == '{\n  "metrics": [\n    1\n  ]\n}'
    assert write_details({}) == "{}"
    assert write_details(None) == ""


@pytest.mark.parametrize(
    ("text", "details"),
    [
        ("", None),
        (" \n\t\n", None),
        ("Accuracy: 82.5", {"Accuracy": 82.5}),
        ("  網羅性　：　70  \n\n出典: -1e2", {"網羅性": 70, "出典": -100.0}),
        ("a: b: 3", {"a: b": 3}),
        (' {"a": {"b": [1, null]}}', {"a": {"b": [1, None]}}),
    ],
)
def test_lines_and_json_are_read(text: str, details: dict[str, Any] | None) -> None:
    assert read_details(text) == details


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb", "Line 2: write a name"),
        (": 1", "Line 1: write a name"),
        ("a: x", "Line 1: write a name"),
        ("a: 0x10", "Line 1: write a name"),
        ("a: " + "9" * 5000, "Line 1: write a name"),
        ("a: 1\na: 2", "Line 2: “a” occurs twice."),
        ('{"a": 1', "Line 1, column 8"),
        ('{"a": 1}{', "Line 1, column 9"),
    ],
)
def test_what_cannot_be_read_says_in_which_line(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match="^" + problem.replace("(", r"\(")):
        read_details(text)
