"""JSON from a person is read or refused with a sentence; nothing else comes out of it."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from studio.contexts.pasted_json import DEEPEST, Unreadable, read_json, write_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abあ:\n"), inner, max_size=4),
    max_leaves=10,
)


@given(values)
def test_json_is_read_back(value: object) -> None:
    assert read_json(write_json(value)) == value


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert read_json("\ufeff{}") == {}


@given(st.text(st.sampled_from('{}[]",:0123456789eE+-.\\u d8naftrulsi\n\0\ud800')))
@example("[" * 200_000)
@example('{"a":' * 5000)
@example("-" + "9" * 5000)
@example("1e99999")
@example('"\\ud800"')
@example('"\\u0000"')
@example("\ud800")
@example('"\ud800"')
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = read_json(text)
    except Unreadable as problem:
        str(problem).encode()
    else:
        json.dumps(value).encode()


@pytest.mark.parametrize(("depth", "fine"), [(DEEPEST, True), (DEEPEST + 1, False)])
def test_nesting_has_an_end(depth: int, fine: bool) -> None:
    text = "[" * depth + "1" + "]" * depth
    if fine:
        assert read_json(text)
    else:
        with pytest.raises(Unreadable, match="levels deep"):
            read_json(text)
