import pytest

from builder.errors import PromptFileError, PromptFileInvalid
from builder.files.toml_file import MAX_FILE_BYTES, TomlFile


@pytest.mark.parametrize(
    ("data", "line", "sentence"),
    [
        (b"a = 1\nb = \n", 2, "f.toml, line 2: not valid TOML: Invalid value"),
        (b'a = 1\nb = """\nx\n', 4, "f.toml, line 4: not valid TOML: Unterminated string"),
        (b"a = 1\n\na = 2\n", 3, "f.toml, line 3: not valid TOML: Cannot overwrite a value"),
        (
            b"a = 1\rb = 2\n",
            1,
            "f.toml, line 1: not valid TOML: Expected newline or end of document after a statement",
        ),
        (b'a = "\x00"', 1, "f.toml, line 1: not valid TOML: Illegal character '\\x00'"),
        (b"a = 1\nb = 2021-02-30\n", 2, "f.toml, line 2: not valid TOML: Invalid date or datetime"),
        (b"a = 1\nb = " + b"9" * 5000, 2, "f.toml, line 2: not valid TOML: Number too long"),
        (b"\n\n\xff = 1", 3, "f.toml, line 3: the file is not UTF-8"),
        ("a = 1\n# 日本".encode("shift-jis"), 2, "f.toml, line 2: the file is not UTF-8"),
        (
            b"\xef\xbb\xbfa = 1",
            1,
            "f.toml, line 1: the file begins with a byte order mark (BOM), which MixSeek cannot read",
        ),
        (
            "a = 1".encode("utf-16"),
            1,
            "f.toml, line 1: the file begins with a byte order mark (BOM), which MixSeek cannot read",
        ),
        (b"a = 1\nx = " + b"[" * 1000, 2, "f.toml, line 2: nested too deeply (more than 64 levels)"),
        (b"\n" + b"a." * 20_000 + b"a = 1", 2, "f.toml, line 2: nested too deeply (more than 64 levels)"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_line(data: bytes, line: int, sentence: str) -> None:
    with pytest.raises(PromptFileInvalid) as refused:
        TomlFile(data, "f.toml")
    assert (refused.value.line, str(refused.value)) == (line, sentence)
    assert isinstance(refused.value, PromptFileError) and isinstance(refused.value, ValueError)


def test_the_sentence_is_japanese_too() -> None:
    with pytest.raises(PromptFileInvalid) as refused:
        TomlFile(b"a =", "f.toml")
    assert refused.value.text("ja") == "f.toml の1行目：TOMLとして読めません：Invalid value"


def test_a_file_that_is_too_large_is_refused() -> None:
    TomlFile(b"#" * MAX_FILE_BYTES, "f.toml")
    with pytest.raises(PromptFileInvalid, match=r"f\.toml: larger than 2097152 bytes"):
        TomlFile(b"#" * (MAX_FILE_BYTES + 1), "f.toml")


def test_a_value_is_found_with_its_line() -> None:
    file = TomlFile(b'\n[a]\nb = 1\n\n[c]\nd.e = "x"\n', "f.toml")

    assert file.value_at("a", "b") == (1, 3)
    assert file.value_at("c", "d") == ({"e": "x"}, 6)
    assert file.value_at("a", "missing")[0] is None
    assert file.value_at("missing", "b")[0] is None


def test_a_table_that_is_none_is_refused_with_its_line() -> None:
    file = TomlFile(b"b = 1\n[[a]]\n", "f.toml")

    with pytest.raises(
        PromptFileInvalid, match=r"f\.toml, line 2: `a` must be a separate table, but is a TOML array"
    ):
        file.value_at("a", "x")
    with pytest.raises(
        PromptFileInvalid, match="line 1: `b` must be a separate table, but is a TOML integer"
    ):
        file.value_at("b", "x")
