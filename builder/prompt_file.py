"""``prompt_builder.toml``: read it, and put new templates into it without touching anything else."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from builder.errors import PromptFileInvalid
from builder.file_help import new_file, new_table
from builder.messages import message
from builder.toml_source import MAX_KEY_PARTS, Statement, Unscannable, line_of, scan, write_value
from builder.variables import FIELDS

TABLE = "prompt_builder"
MAX_FILE_BYTES = 2 * 1024 * 1024
"""Three templates of 64 Ki characters fit, even when every character has to be escaped."""

BROKEN = message(
    "file-broken",
    "{file}, line {line}: not valid TOML: {reason}",
    "{file} の{line}行目: TOMLとして読めません: {reason}",
)
TOO_DEEP = message(
    "file-too-deep",
    "{file}, line {line}: nested too deeply (more than {limit} levels)",
    "{file} の{line}行目: 入れ子が深すぎます（{limit}段まで）",
)
BOM = message(
    "file-bom",
    "{file}, line 1: the file begins with a byte order mark (BOM), which MixSeek cannot read",
    "{file} の1行目: ファイルの先頭にBOM（バイト順マーク）があり、MixSeekは読み込めません",
    fix_en="Save the file as UTF-8 without BOM.",
    fix_ja="BOMなしのUTF-8で保存してください。",
)
NOT_UTF8 = message(
    "file-not-utf8",
    "{file}, line {line}: the file is not UTF-8",
    "{file} の{line}行目: UTF-8ではありません",
    fix_en="Save the file as UTF-8 without BOM.",
    fix_ja="BOMなしのUTF-8で保存してください。",
)
TOO_LARGE = message(
    "file-too-large",
    "{file}: larger than {limit} bytes",
    "{file}: {limit}バイトを超えています",
)
NOT_A_TABLE = message(
    "file-not-a-table",
    "{file}, line {line}: `{table}` must be a table of its own, not {found}",
    "{file} の{line}行目: `{table}` は独立したテーブルでなければなりません（現在: {found}）",
    fix_en="Write `[{table}]` on a line of its own and its keys below it.",
    fix_ja="`[{table}]` を独立した行に書き、その下にキーを置いてください。",
)
NOT_A_STRING = message(
    "file-not-a-string",
    "{file}, line {line}: {field} must be a string, not {found}",
    "{file} の{line}行目: {field} は文字列でなければなりません（現在: {found}）",
    fix_en='Write the template between `"""` and `"""`.',
    fix_ja='テンプレートを `"""` と `"""` の間に書いてください。',
)
UNKNOWN_FIELD = message(
    "file-unknown-field",
    "{field} is not a template of this file",
    "{field} はこのファイルのテンプレートではありません",
)
SURROGATE = message(
    "file-surrogate",
    "{field}: the text holds a lone surrogate (character {position}), which UTF-8 cannot carry",
    "{field}: {position}文字目に、UTF-8で表せない孤立サロゲートがあります",
)
UNSAFE_EDIT = message(
    "file-unsafe-edit",
    "{file}: the templates cannot be put into this file without changing other parts of it",
    "{file}: 他の部分を変えずにテンプレートを書き込むことができません",
    fix_en="Move the templates into a plain `[prompt_builder]` table by hand, then try again.",
    fix_ja="テンプレートを通常の `[prompt_builder]` テーブルに手で移してから、もう一度お試しください。",
)


@dataclass(frozen=True)
class Place:
    """Where a key stands: its line and column, and the text of its value as it is written."""

    line: int
    column: int
    value_start: int = 0
    value_end: int = 0


@dataclass(frozen=True)
class UnknownKey:
    """A key that no template belongs to."""

    name: str
    line: int


@dataclass(frozen=True)
class PromptFile:
    """What a prompt file says. ``values`` has the templates that are there, by field name."""

    name: str
    values: Mapping[str, str]
    unknown: tuple[UnknownKey, ...]
    places: Mapping[str, Place]
    table_line: int
    """The line of ``[prompt_builder]``; 1 where there is none."""
    source: str = field(repr=False)


# --- reading -----------------------------------------------------------------------------


def read(data: bytes, name: str) -> PromptFile:
    """Read a file's bytes; ``name`` is what errors call it."""
    source = _Source(data, name)
    values = source.templates()
    places = {
        statement.path[1]: source.place(statement)
        for statement in source.statements
        if len(statement.path) == 2 and statement.path[1] in values and statement.path[0] == TABLE
    }
    return PromptFile(name, values, tuple(source.unknown()), places, source.table_line(), source.text)


def value_at(data: bytes, name: str, path: tuple[str, ...]) -> tuple[Any, int]:
    """What another TOML file of a workspace says under a key, and on which line; None: nothing."""
    source = _Source(data, name)
    value: Any = source.document
    for depth, part in enumerate(path):
        if not isinstance(value, dict):
            line = source.line_of_key(path[:depth])
            raise source.refuse(NOT_A_TABLE, line, table=path[depth - 1], found=_type_name(value))
        value = value.get(part)
        if value is None:
            return None, 1
    return value, source.line_of_key(path)


class _Source:
    """A document that is known to be valid, with what it means and where its statements stand."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.text = self._decode(data)
        self.statements: list[Statement] = []
        try:
            # First, because it takes linear time whatever the text is, which tomllib does not.
            self.statements = scan(self.text)
        except Unscannable as stop:
            if stop.too_deep:
                raise self._too_deep(line_of(self.text, stop.offset)) from None
            self._parse()
            raise self.refuse(BROKEN, line_of(self.text, stop.offset), reason="unreadable") from None
        self.document = self._parse()

    def _decode(self, data: bytes) -> str:
        if len(data) > MAX_FILE_BYTES:
            raise PromptFileInvalid(TOO_LARGE, file=self.name, limit=MAX_FILE_BYTES)
        if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
            raise self.refuse(BOM, 1)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise self.refuse(NOT_UTF8, data.count(b"\n", 0, error.start) + 1) from None

    def _parse(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
            line = int(found[1]) if found and found[1] else self.text.count("\n") + 1
            reason = str(error)[: found.start()] if found else str(error)
            raise self.refuse(BROKEN, line, reason=reason) from None
        except RecursionError:
            raise self._too_deep(1) from None
        except ValueError as error:
            # tomllib lets some of Python's own through: 5,000-digit integers, impossible dates.
            raise self.refuse(BROKEN, 1, reason=str(error)) from None

    def refuse(self, code: str, line: int, **params: str | int) -> PromptFileInvalid:
        return PromptFileInvalid(code, line=line, file=self.name, **params)

    def _too_deep(self, line: int) -> PromptFileInvalid:
        return self.refuse(TOO_DEEP, line, limit=MAX_KEY_PARTS)

    def table(self) -> dict[str, Any]:
        """``[prompt_builder]``; empty where there is none."""
        table = self.document.get(TABLE, {})
        inline = any(each.kind == "value" and each.path == (TABLE,) for each in self.statements)
        if inline or not isinstance(table, dict):
            raise self.refuse(NOT_A_TABLE, self.line_of_key((TABLE,)), table=TABLE, found=_type_name(table))
        return table

    def templates(self) -> dict[str, str]:
        table = self.table()
        for name in FIELDS:
            if name in table and not isinstance(table[name], str):
                line = self.line_of_key((TABLE, name))
                raise self.refuse(NOT_A_STRING, line, field=name, found=_type_name(table[name]))
        return {name: table[name] for name in FIELDS if name in table}

    def unknown(self) -> list[UnknownKey]:
        """What MixSeek would ignore: other keys of the table, and everything outside of it."""
        inside = [((TABLE, key), f"{TABLE}.{key}") for key in self.table() if key not in FIELDS]
        outside = [((key,), key) for key in self.document if key != TABLE]
        found = [UnknownKey(name, self.line_of_key(path)) for path, name in outside + inside]
        return sorted(found, key=lambda key: key.line)

    def line_of_key(self, path: tuple[str, ...]) -> int:
        """The line where a key is first mentioned."""
        for statement in self.statements:
            if statement.path[: len(path)] == path:
                return line_of(self.text, statement.start)
        return 1

    def table_line(self) -> int:
        headers = [each for each in self.statements if each.kind == "table" and each.path == (TABLE,)]
        return line_of(self.text, headers[0].start) if headers else self.line_of_key((TABLE,))

    def place(self, statement: Statement) -> Place:
        line = line_of(self.text, statement.start)
        column = statement.start - (self.text.rfind("\n", 0, statement.start) + 1) + 1
        return Place(line, column, statement.value_start, statement.value_end)


def _type_name(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    if isinstance(value, list):
        return "an array"
    return "a table" if isinstance(value, dict) else names.get(type(value), "a date or time")


# --- merging -----------------------------------------------------------------------------


def merge(
    old: bytes | None, values: Mapping[str, str], today: date, name: str = "prompt_builder.toml"
) -> bytes:
    """Put templates into a file and change nothing else; the same values give the same bytes.

    ``values`` has templates by field name; those it leaves out stay as they are.
    """
    _require_writable(values)
    if old is None or not old.strip(b" \t\r\n"):
        return _checked(new_file(values, today), {TABLE: dict(values)}, name)
    source = _Source(old, name)
    table = source.table()
    wanted = {**source.document, TABLE: {**table, **values}}
    edits = _edits(source, {key: text for key, text in values.items() if table.get(key) != text})
    merged = source.text
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        merged = merged[: edit.start] + edit.text + merged[edit.end :]
    return _checked(merged, wanted, name) if edits else old


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: str


def _require_writable(values: Mapping[str, str]) -> None:
    for key, text in values.items():
        if key not in FIELDS:
            raise PromptFileInvalid(UNKNOWN_FIELD, field=key)
        if found := re.search("[\ud800-\udfff]", text):
            raise PromptFileInvalid(SURROGATE, field=key, position=found.start() + 1)


def _edits(source: _Source, changed: Mapping[str, str]) -> list[_Edit]:
    newline = "\r\n" if source.text.count("\r\n") * 2 > source.text.count("\n") else "\n"
    standing = {each.path[1]: each for each in source.statements if _is_template(each)}
    for key in changed:
        if key in source.table() and key not in standing:
            line = source.line_of_key((TABLE, key))
            raise source.refuse(NOT_A_STRING, line, field=key, found=_type_name(source.table()[key]))
    edits = [
        _Edit(standing[key].value_start, standing[key].value_end, write_value(text, newline))
        for key, text in changed.items()
        if key in standing
    ]
    missing = {key: changed[key] for key in FIELDS if key in changed and key not in standing}
    return [*edits, _insertion(source, missing, newline)] if missing else edits


def _is_template(statement: Statement) -> bool:
    return statement.kind == "value" and len(statement.path) == 2 and statement.path[0] == TABLE


def _insertion(source: _Source, missing: Mapping[str, str], newline: str) -> _Edit:
    """New keys go after the last key of the table, never past what belongs to the next one."""
    text, statements = source.text, source.statements
    dotted = [each for each in statements if not each.table and each.path[0] == TABLE]
    headers = [each for each in statements if each.kind == "table" and each.path == (TABLE,)]
    if not dotted and not headers:
        lead = "" if text.endswith(("\n\n", "\r\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
        return _Edit(len(text), len(text), (lead + new_table(missing)).replace("\n", newline))
    if dotted:
        after, prefix, gap = dotted[-1].end, f"{TABLE}.", "\n"
    else:
        inside = [each for each in statements if each.kind == "value" and each.table == (TABLE,)]
        after = inside[-1].end if inside else _end_of_header(text, headers[0].end)
        prefix, gap = "", "\n" if inside else ""
    lead = "" if text.endswith("\n", 0, after) else "\n"
    keys = [f"{prefix}{key} = {write_value(value)}\n" for key, value in missing.items()]
    return _Edit(after, after, (lead + gap + "\n".join(keys)).replace("\n", newline))


def _end_of_header(text: str, after: int) -> int:
    """Past the comments right below a header, unless they stand right above the next one."""
    comments = re.compile(r"(?:[ \t]*#[^\n]*(?:\n|\Z))*").match(text, after)
    end = comments.end() if comments else after
    return after if re.compile(r"[ \t]*\[").match(text, end) else end


def _checked(merged: str, wanted: Mapping[str, Any], name: str) -> bytes:
    """The bytes, once tomllib has read from them exactly what was wanted."""
    data = merged.encode()
    if len(data) > MAX_FILE_BYTES:
        raise PromptFileInvalid(TOO_LARGE, file=name, limit=MAX_FILE_BYTES)
    try:
        exact = _same(tomllib.loads(merged), wanted)
    except tomllib.TOMLDecodeError:
        exact = False
    if not exact:
        raise PromptFileInvalid(UNSAFE_EDIT, file=name)
    return data


def _same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    # repr: nan equals itself, True is not 1, and a time keeps its zone.
    return type(one) is type(other) and repr(one) == repr(other)
