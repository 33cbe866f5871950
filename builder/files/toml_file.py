"""A TOML file of a workspace: what it means, where it says so, and errors that name file and line.

Used for the prompt file, ``orchestrator.toml`` and ``system_prompt.toml``.
"""

import re
import tomllib
from bisect import bisect_left
from functools import cached_property
from typing import Any

from builder.errors import PromptFileInvalid
from builder.files.toml_source import MAX_DEPTH, Statement, Unscannable, scan
from builder.messages import message

MAX_FILE_BYTES = 2 * 1024 * 1024
"""Three templates of 64 Ki characters fit, even when every character has to be escaped."""

AT = "-at"


def located(code: str, en: str, ja: str, *, fix_en: str = "", fix_ja: str = "") -> str:
    """Register a sentence twice: for lists that show file and line beside it, and, as the code
    that is returned, with file and line in front, for an error that stands alone."""
    message(code, en, ja, fix_en=fix_en, fix_ja=fix_ja)
    return message(
        code + AT, "{file}, line {line}: " + en, "{file} の{line}行目：" + ja, fix_en=fix_en, fix_ja=fix_ja
    )


BROKEN = located("file-broken", "not valid TOML: {reason}", "TOMLとして読めません：{reason}")
TOO_DEEP = located(
    "file-too-deep", "nested too deeply (more than {limit} levels)", "入れ子が深すぎます（{limit}段まで）"
)
BOM = located(
    "file-bom",
    "the file begins with a byte order mark (BOM), which MixSeek cannot read",
    "ファイルの先頭にBOM（バイト順マーク）があり、MixSeekは読み込めません",
    fix_en="Save the file as UTF-8 without BOM.",
    fix_ja="BOMなしのUTF-8で保存してください。",
)
NOT_UTF8 = located(
    "file-not-utf8",
    "the file is not UTF-8",
    "UTF-8ではありません",
    fix_en="Save the file as UTF-8 without BOM.",
    fix_ja="BOMなしのUTF-8で保存してください。",
)
NOT_A_TABLE = located(
    "file-not-a-table",
    "`{table}` must be a separate table, but is a TOML {found}",
    "`{table}` は独立したテーブルでなければなりませんが、TOMLの {found} です",
    fix_en="Write `[{table}]` on a line of its own and its keys below it.",
    fix_ja="`[{table}]` を独立した行に書き、その下にキーを置いてください。",
)
TOO_LARGE = message(
    "file-too-large", "{file}: larger than {limit} bytes", "{file}：{limit}バイトを超えています"
)

_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")


class TomlFile:
    """A file that is valid TOML; anything else is refused with its line.

    ``name`` is what errors call it.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.text = self._decode(data)
        self.statements: list[Statement] = []
        try:
            # First, because it takes linear time whatever the text is, which tomllib does not.
            self.statements = scan(self.text)
        except Unscannable as stop:
            line = self.line_at(stop.offset)
            if stop.too_deep:
                raise self.refuse(TOO_DEEP, line, limit=MAX_DEPTH) from None
            self._parse()
            raise self.refuse(BROKEN, line, reason="unreadable from here on") from None
        self.document = self._parse()

    def refuse(self, code: str, line: int, **params: str | int) -> PromptFileInvalid:
        """The error to raise for something on a line of this file."""
        return PromptFileInvalid(code, line=line, file=self.name, **params)

    def line_at(self, offset: int) -> int:
        return bisect_left(self._newlines, offset) + 1

    def line_of(self, path: tuple[str, ...]) -> int:
        """The line where a key or a table of at most two names is first mentioned."""
        return self.line_at(self._first_mentions.get(path, 0))

    def value_at(self, table: str, key: str) -> tuple[Any, int]:
        """What stands under a key of a table, and on which line; None where nothing does."""
        return self.table(table).get(key), self.line_of((table, key))

    def table(self, name: str) -> dict[str, Any]:
        """A table of the document; empty where there is none."""
        value = self.document.get(name, {})
        if not isinstance(value, dict):
            raise self.not_a_table(name, type_name(value))
        return value

    def not_a_table(self, name: str, kind: str) -> PromptFileInvalid:
        return self.refuse(NOT_A_TABLE, self.line_of((name,)), table=name, found=kind)

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
            position = _POSITION.search(str(error))
            line = int(position[1]) if position and position[1] else len(self._newlines) + 1
            reason = str(error)[: position.start()] if position else str(error)
            raise self.refuse(BROKEN, line, reason=reason) from None
        except ValueError:
            # Python's own limit on the digits of a number comes through without a position.
            number = _LONG_NUMBER.search(self.text)
            line = self.line_at(number.start()) if number else 1
            raise self.refuse(BROKEN, line, reason="Number too long") from None

    @cached_property
    def _newlines(self) -> list[int]:
        return [newline.start() for newline in re.finditer("\n", self.text)]

    @cached_property
    def _first_mentions(self) -> dict[tuple[str, ...], int]:
        first: dict[tuple[str, ...], int] = {}
        for statement in self.statements:
            first.setdefault(statement.path[:1], statement.start)
            first.setdefault(statement.path[:2], statement.start)
        return first


def type_name(value: object) -> str:
    """What TOML calls the type of a value."""
    names = {bool: "boolean", int: "integer", float: "float", str: "string", dict: "table", list: "array"}
    return names.get(type(value), "date or time")
