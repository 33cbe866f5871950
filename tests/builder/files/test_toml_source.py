import tomllib

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings

from builder.files.toml_source import Unscannable, scan, write_value
from tests.builder.toml_documents import DOCUMENTS, TEXTS
from tests.fuzzing import share_of

LONG = settings(max_examples=share_of(10_000), deadline=None, suppress_health_check=list(HealthCheck))


def spans_hold_what_tomllib_reads(text: str) -> None:
    array_paths = [each.path for each in scan(text) if each.kind == "array"]
    for statement in scan(text):
        if statement.kind != "value" or any(statement.path[: len(p)] == p for p in array_paths):
            continue
        value = tomllib.loads(text)
        for part in statement.path:
            value = value[part]
        alone = tomllib.loads("value = " + text[statement.value_start : statement.value_end])
        assert repr(alone["value"]) == repr(value)


@given(DOCUMENTS)
def test_a_span_holds_the_value_that_tomllib_reads(text: str) -> None:
    spans_hold_what_tomllib_reads(text)


@pytest.mark.slow
@LONG
@given(DOCUMENTS)
def test_a_span_holds_the_value_that_tomllib_reads_in_many_documents(text: str) -> None:
    spans_hold_what_tomllib_reads(text)


def test_a_statement_ends_with_its_line() -> None:
    text = 'a = 1 # one\n[t] # two\nb = """\nx\n""" # three\nc = [\n 1, # four\n]\n'

    lines = [text[each.start : each.end] for each in scan(text)]

    assert lines == ["a = 1 # one\n", "[t] # two\n", 'b = """\nx\n""" # three\n', "c = [\n 1, # four\n]\n"]


@pytest.mark.parametrize(
    "value",
    [
        '"a # \\" b"',
        "'a # \\'",
        '"""\na\n"""',
        '"""a"""""',
        '""""""',
        '"""\\""" # [x]"""',
        "'''a\\'''''",
        "1979-05-27 07:32:00",
        '[ "]", # ]\n [1.5, {a.b = "}"}] ]',
        "{ a = [1, 2], b = '}' }",
    ],
)
def test_a_value_ends_where_it_ends(value: str) -> None:
    (statement, following) = scan(f"a = {value}  # c\nb = 1")

    assert f"a = {value}"[statement.value_start :] == value
    assert (statement.value_end, following.path) == (4 + len(value), ("b",))


def test_paths_are_absolute_and_unquoted() -> None:
    paths = [each.path for each in scan('a."b c" = 1\n[t."\\u0041"]\n\'l.x\' . y = 2\n[[u]]\nz = 3\n')]

    assert paths == [("a", "b c"), ("t", "A"), ("t", "A", "l.x", "y"), ("u",), ("u", "z")]


@pytest.mark.parametrize(
    "text", ["= 1", "a", "a =", "a = # c", 'a = "x', 'a = """x', "a = [1", "[", "[a.]", "a..b = 1"]
)
def test_what_is_no_toml_stops_the_scan(text: str) -> None:
    with pytest.raises(Unscannable) as stop:
        scan(text)
    assert not stop.value.too_deep


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 100_000) + " = 1",
        "[" + ".".join(["a"] * 100_000) + "]",
        "x = {" + ".".join(["a"] * 100_000) + " = 1}",
        "x = {" + ".".join(['"a"'] * 100_000) + " = 1}",
        "x = " + "[" * 100_000 + "]" * 100_000,
    ],
)
def test_nesting_is_bounded(text: str) -> None:
    with pytest.raises(Unscannable) as stop:
        scan(text)
    assert stop.value.too_deep


def test_a_text_is_written_as_a_readable_block() -> None:
    assert (
        write_value('# 見出し\n"引用" {{ user_prompt }}\n') == '"""\n# 見出し\n"引用" {{ user_prompt }}\n"""'
    )


def test_what_could_end_the_block_or_be_misread_is_escaped() -> None:
    assert write_value('a\\b\r""\x1b\x85\u2028\ufeff"') == (
        '"""\na\\\\b\\u000D\\""\\u001B\\u0085\\u2028\\uFEFF\\""""'
    )


@given(TEXTS)
def test_another_reader_of_toml_reads_the_same(text: str) -> None:
    assert tomlkit.parse(f"value = {write_value(text)}")["value"] == text


def text_survives(text: str) -> None:
    for newline in ("\n", "\r\n"):
        written = write_value(text, newline)
        assert tomllib.loads(f"value = {written}{newline}") == {"value": text}
        assert written.count("\n") == written.count(newline)


@given(TEXTS)
def test_every_text_survives(text: str) -> None:
    text_survives(text)


@pytest.mark.slow
@LONG
@given(TEXTS)
def test_every_text_of_many_survives(text: str) -> None:
    text_survives(text)
