"""The settings of ``configs/system_prompt.toml``: from the table that was read to checked values, and each
problem with its line. Used by the builder of system prompts and, after its job, by the jail's pool."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from builder.errors import PromptFileInvalid
from builder.files.reading import peek
from builder.files.toml_file import AT, located
from builder.invalid_input import SettingsError
from builder.messages import message
from builder.problems import MOST_PROBLEMS, Problem, cut, errors_in
from builder.system.config import NOT_INSIDE, SystemPromptConfig
from builder.system.input import NOT_A_TIMEZONE, NOT_ONE_LINE
from builder.system.table import SystemTable, read_system_table, toml_type
from builder.template.nearest import nearest

SYSTEM_PROMPT_FILE = Path("configs/system_prompt.toml")

UNKNOWN = located(
    "system-unknown-key", "`{field}` is no setting of a system prompt", "`{field}` という設定はありません"
)
UNKNOWN_LIKE = located(
    "system-unknown-key-like",
    "`{field}` is no setting of a system prompt",
    "`{field}` という設定はありません",
    fix_en="Did you mean `{meant}`?",
    fix_ja="`{meant}` ではありませんか？",
)
NO_CHOICE = located(
    "system-no-choice",
    "`{field}` must be one of {expected}",
    "`{field}` は次のいずれかにしてください：{expected}",
)
TOO_SMALL = located(
    "system-too-small", "`{field}` must be greater than {gt}", "`{field}` は{gt}より大きくしてください"
)
TOO_GREAT = located(
    "system-too-great", "`{field}` must be at most {le}", "`{field}` は{le}以下にしてください"
)
TOO_MANY = located(
    "system-too-many",
    "`{field}` holds more than {max_length} entries",
    "`{field}` は{max_length}個までです",
)
WRONG_TYPE = located(
    "system-wrong-type",
    "`{field}` must be a TOML {expected}, but is a TOML {found}",
    "`{field}` はTOMLの {expected} でなければなりませんが、{found} です",
)
ABSENT = located("system-key-absent", "`{field}` is missing", "`{field}` がありません")
ZONE = located(
    "system-timezone",
    "`{field}`: {value} is not a time zone",
    "`{field}`：{value} というタイムゾーンはありません",
    fix_en="Write for example `Asia/Tokyo` or `UTC`.",
    fix_ja="`Asia/Tokyo` や `UTC` のように書いてください。",
)
LINES = located(
    "system-not-one-line",
    "`{field}` must be one line of text",
    "`{field}` は1行の文字列にしてください",
)
OUTSIDE = located(
    "system-path-outside",
    "`{field}`: {value} is not a path inside the workspace",
    "`{field}`：{value} はワークスペース内のパスではありません",
    fix_en="Write a path that begins in the workspace, such as `skills`.",
    fix_ja="`skills` のように、ワークスペースから始まるパスを書いてください。",
)
UNUSABLE = located("system-unusable", "`{field}` cannot be used", "`{field}` の値は使えません")
INVALID = message("system-config-invalid", "{field}: {reason}", "{field}: {reason}")
ELSEWHERE = message(
    "system-other-tables",
    "`{field}` is outside of [system_prompt] and is ignored",
    "`{field}` は [system_prompt] の外にあるため無視されます",
)

_BY_KIND = {
    "literal_error": NO_CHOICE,
    "greater_than": TOO_SMALL,
    "less_than_equal": TOO_GREAT,
    "too_long": TOO_MANY,
    "missing": ABSENT,
    NOT_A_TIMEZONE: ZONE,
    NOT_ONE_LINE: LINES,
    NOT_INSIDE: OUTSIDE,
}
_TYPES = {
    "string_type": "string",
    "int_type": "integer",
    "bool_type": "boolean",
    "tuple_type": "array",
    "frozen_set_type": "array",
    "model_type": "table",
    "model_attributes_type": "table",
    "dict_type": "table",
}


@dataclass(frozen=True)
class SystemSettings:
    """What a table settles, and what is wrong with it by line; hints do not keep it from being used."""

    config: SystemPromptConfig | None
    """None where there is an error."""
    problems: tuple[Problem, ...]
    values: Mapping[str, Any]
    """As the table has them."""


def settings_of(table: SystemTable) -> SystemSettings:
    """The settings of a table that was read, here or in the jail."""
    problems = [
        Problem("hint", ELSEWHERE, other.line, params={"field": other.path[0]}) for other in table.others
    ]
    config = None
    try:
        config = SystemPromptConfig.model_validate(table.values)
    except ValidationError as error:
        details = error.errors(include_url=False)[: MOST_PROBLEMS + 1]
        problems += [_problem(detail, table) for detail in details]
    return SystemSettings(config, tuple(cut(problems)), table.values)


def read_system_file(data: bytes, name: str) -> SystemPromptConfig:
    """The settings of a file; the first thing that is wrong is raised with its line."""
    settings = settings_of(read_system_table(data, name))
    if settings.config is not None:
        return settings.config
    first = errors_in(settings.problems)[0]
    raise PromptFileInvalid(first.code + AT, line=first.line, **{**first.params, "file": name})


def load_system_config(workspace: Path) -> SystemPromptConfig:
    """What a workspace's file says; the defaults where it has none."""
    root = Path(os.path.realpath(workspace))
    # Its obstacles are those of writing: a protected file is read like any other.
    state, _ = peek(root / SYSTEM_PROMPT_FILE, root)
    if state.data is None:
        return SystemPromptConfig()
    return read_system_file(state.data, str(workspace / SYSTEM_PROMPT_FILE))


def system_config(given: SystemPromptConfig | Mapping[str, Any]) -> SystemPromptConfig:
    """Settings that a program hands in, checked."""
    if isinstance(given, SystemPromptConfig):
        return given
    try:
        return SystemPromptConfig.model_validate(given)
    except ValidationError as error:
        raise SettingsError.wrap(error, INVALID) from error


def unreadable(error: PromptFileInvalid) -> Problem:
    """What keeps a file from being read at all, as one problem of it."""
    return Problem("error", error.code.removesuffix(AT), error.line or 1, params=error.params)


def _problem(details: ErrorDetails, table: SystemTable) -> Problem:
    kind, loc = details["type"], details["loc"]
    params: dict[str, str | int] = {"field": ".".join(map(str, loc))}
    for key, value in details.get("ctx", {}).items():
        params[key] = value if isinstance(value, int) else str(value)
    if kind == "extra_forbidden":
        meant = nearest(str(loc[-1]), _known_keys(loc[:-1]))
        code = UNKNOWN_LIKE if meant else UNKNOWN
        params |= {"meant": meant} if meant else {}
    elif kind in _TYPES:
        code = WRONG_TYPE
        params |= {"expected": _TYPES[kind], "found": toml_type(details["input"])}
    else:
        code = _BY_KIND.get(kind, UNUSABLE)
    if code == NO_CHOICE:
        params["expected"] = str(params["expected"]).replace(" or ", ", ")
    if code in (ZONE, OUTSIDE):
        params["value"] = str(details["input"])
    return Problem("error", code.removesuffix(AT), table.line_of(loc), params=params)


def _known_keys(path: Sequence[str | int]) -> set[str]:
    """What a table may hold, by the names that a file would use."""
    model: type[BaseModel] = SystemPromptConfig
    for part in path:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        options = [inner, *getattr(inner, "__args__", ())]
        known = [option for option in options if isinstance(option, type) and issubclass(option, BaseModel)]
        model = known[0] if known else model
    return {field.alias or name for name, field in model.model_fields.items()}
