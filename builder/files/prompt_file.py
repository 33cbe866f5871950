"""The prompt file, ``prompt_builder.toml``: read, and given new templates without touching anything else.

Used by ``builder.contract.settings`` and, through the jail, by the studio's imports and exports.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from builder.errors import PromptFileInvalid
from builder.files.new_prompt_file import new_file, new_table
from builder.files.toml_file import MAX_FILE_BYTES, TOO_LARGE, TomlFile, located, type_name
from builder.files.toml_source import Statement, write_value
from builder.messages import message
from builder.template.variables import FIELDS

TABLE = "prompt_builder"

MOST_UNKNOWN = 100
"""Keys that are named one by one; the file may hold a hundred thousand."""
_LONGEST_KEY = 200

NOT_A_STRING = located(
    "file-not-a-string",
    "{field} must be a string, but is a TOML {found}",
    "{field} は文字列でなければなりませんが、TOMLの {found} です",
    fix_en='Write the template between `"""` and `"""`.',
    fix_ja='テンプレートを `"""` と `"""` の間に書いてください。',
)
NAME_NOT_A_STRING = located(
    "settings-name-not-a-string",
    "prompt_builder_config must be a string, but is a TOML {found}",
    "prompt_builder_config は文字列でなければなりませんが、TOMLの {found} です",
)
UNKNOWN_FIELD = message(
    "file-unknown-field",
    "{field} is not a template of this file",
    "{field} はこのファイルのテンプレートではありません",
)
SURROGATE = message(
    "file-surrogate",
    "{field}: the text contains a lone surrogate (character {position}), which UTF-8 cannot encode",
    "{field}：{position}文字目に、UTF-8で表せない孤立サロゲートがあります",
)
UNSAFE_EDIT = message(
    "file-unsafe-edit",
    "{file}: the templates cannot be written to this file without changing other parts of it",
    "{file}：他の部分を変えずにテンプレートを書き込むことができません",
    fix_en="Move the templates into a plain `[prompt_builder]` table by hand, then try again.",
    fix_ja="テンプレートを通常の `[prompt_builder]` テーブルに手で移してから、もう一度お試しください。",
)


@dataclass(frozen=True)
class TemplatePlace:
    """Where a template stands: the line of its key, and where in the file its value is written.

    Without an offset where the value is part of a larger one (an inline table).
    """

    line: int
    value_start: int | None = None
    value_end: int | None = None


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
    places: Mapping[str, TemplatePlace]
    table_line: int
    """The line of ``[prompt_builder]``; 1 where there is none."""
    source: str = field(repr=False)
    more_unknown: int = 0
    """How many keys there are beside those in ``unknown``, the first ``MOST_UNKNOWN``."""


@dataclass(frozen=True)
class NamedFile:
    """The prompt file as ``prompt_builder_config`` writes it, and on which line."""

    name: str
    line: int


# --- reading -----------------------------------------------------------------------------


def read(data: bytes, name: str) -> PromptFile:
    """Read a file's bytes; ``name`` is what errors call it."""
    file = TomlFile(data, name)
    table = file.table(TABLE)
    for key in FIELDS:
        if key in table and not isinstance(table[key], str):
            raise _not_a_string(file, key)
    values = {key: table[key] for key in FIELDS if key in table}
    standing = _standing(file)
    places = {
        key: TemplatePlace(file.line_of((TABLE, key) if key in standing else (TABLE,))) for key in values
    }
    for key in values.keys() & standing.keys():
        places[key] = replace(
            places[key], value_start=standing[key].value_start, value_end=standing[key].value_end
        )
    unknown = _unknown(file)
    return PromptFile(
        name,
        values,
        tuple(UnknownKey(key[:_LONGEST_KEY], line) for line, key in unknown[:MOST_UNKNOWN]),
        places,
        _table_line(file),
        file.text,
        len(unknown[MOST_UNKNOWN:]),
    )


def _not_a_string(file: TomlFile, key: str) -> PromptFileInvalid:
    kind = type_name(file.table(TABLE)[key])
    return file.refuse(NOT_A_STRING, file.line_of((TABLE, key)), field=key, found=kind)


def _unknown(file: TomlFile) -> list[tuple[int, str]]:
    """What MixSeek ignores, by line: other keys of the table, and everything outside of it."""
    inside = {f"{TABLE}.{key}": (TABLE, key) for key in file.table(TABLE) if key not in FIELDS}
    outside = {key: (key,) for key in file.document if key != TABLE}
    return sorted((file.line_of(path), name) for name, path in {**outside, **inside}.items())


def _table_line(file: TomlFile) -> int:
    header = next(
        (
            statement
            for statement in file.statements
            if statement.kind == "table" and statement.path == (TABLE,)
        ),
        None,
    )
    return file.line_at(header.start) if header else file.line_of((TABLE,))


def _standing(file: TomlFile) -> dict[str, Statement]:
    """The statements that give a template its value."""
    return {
        statement.path[1]: statement
        for statement in file.statements
        if statement.kind == "value"
        and len(statement.path) == 2
        and statement.path[0] == TABLE
        and statement.path[1] in FIELDS
    }


def named_prompt_file(data: bytes, name: str) -> NamedFile | None:
    """The prompt file that ``configs/orchestrator.toml`` names; None where it leaves MixSeek to its usual
    place. ``name`` is what errors call it."""
    file = TomlFile(data, name)
    named, line = file.value_at("orchestrator", "prompt_builder_config")
    if named is not None and not isinstance(named, str):
        raise file.refuse(NAME_NOT_A_STRING, line, found=type_name(named))
    # MixSeek takes an empty name for none.
    return NamedFile(named, line) if named else None


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
    file = TomlFile(old, name)
    table = file.table(TABLE)
    if any(statement.kind == "value" and statement.path == (TABLE,) for statement in file.statements):
        raise file.not_a_table(TABLE, "inline table")
    wanted = {**file.document, TABLE: {**table, **values}}
    edits = _edits(file, {key: text for key, text in values.items() if table.get(key) != text})
    merged = file.text
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
        if surrogate := re.search("[\ud800-\udfff]", text):
            raise PromptFileInvalid(SURROGATE, field=key, position=surrogate.start() + 1)


def _edits(file: TomlFile, changed: Mapping[str, str]) -> list[_Edit]:
    newline = "\r\n" if file.text.count("\r\n") * 2 > file.text.count("\n") else "\n"
    standing = _standing(file)
    for key in changed:
        if key in file.table(TABLE) and key not in standing:
            raise _not_a_string(file, key)
    edits = [
        _Edit(standing[key].value_start, standing[key].value_end, write_value(text, newline))
        for key, text in changed.items()
        if key in standing
    ]
    missing = {key: changed[key] for key in FIELDS if key in changed and key not in standing}
    return [*edits, _insertion(file, missing, newline)] if missing else edits


def _insertion(file: TomlFile, missing: Mapping[str, str], newline: str) -> _Edit:
    """New keys go after the last key of the table, never past what belongs to the next one."""
    text, statements = file.text, file.statements
    dotted = [statement for statement in statements if not statement.table and statement.path[0] == TABLE]
    headers = [
        statement for statement in statements if statement.kind == "table" and statement.path == (TABLE,)
    ]
    if not dotted and not headers:
        lead = "" if text.endswith(("\n\n", "\r\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
        return _Edit(len(text), len(text), (lead + new_table(missing)).replace("\n", newline))
    if dotted:
        after, prefix, gap = dotted[-1].end, f"{TABLE}.", "\n"
    else:
        inside = [
            statement for statement in statements if statement.kind == "value" and statement.table == (TABLE,)
        ]
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
