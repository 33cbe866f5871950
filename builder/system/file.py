"""``configs/system_prompt.toml``: read and checked, each finding with its line."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from builder.errors import PromptFileInvalid
from builder.files.toml_file import AT, located
from builder.messages import message
from builder.problems import Problem
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
    "`{field}` は次のいずれかにしてください: {expected}",
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
    "`{field}`: {value} というタイムゾーンはありません",
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
    "`{field}`: {value} はワークスペース内のパスではありません",
    fix_en="Write a path that begins in the workspace, such as `skills`.",
    fix_ja="`skills` のように、ワークスペースから始まるパスを書いてください。",
)
UNUSABLE = located("system-unusable", "`{field}` cannot be used", "`{field}` の値は使えません")
ELSEWHERE = message(
    "system-other-tables",
    "`{field}` stands outside of [system_prompt] and is ignored",
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


def read_system_file(data: bytes, name: str) -> SystemPromptConfig:
    """The settings of a file; the first thing that is wrong is raised with its line."""
    return config_of(read_system_table(data, name))


def check_system_file(data: bytes, name: str) -> list[Problem]:
    """Everything that is wrong with a file, by line; an empty list where it can be used as it is."""
    try:
        return problems_of(read_system_table(data, name))
    except PromptFileInvalid as error:
        return [unreadable(error)]


def config_of(table: SystemTable) -> SystemPromptConfig:
    """The settings that a table holds."""
    try:
        return SystemPromptConfig.model_validate(table.values)
    except ValidationError as error:
        first = _problems(error, table)[0]
        raise PromptFileInvalid(
            first.code + AT, line=first.line, **{**first.params, "file": table.name}
        ) from None


def problems_of(table: SystemTable) -> list[Problem]:
    """Everything that is wrong with a table, by line."""
    problems = [
        Problem("hint", ELSEWHERE, other.line, params={"field": other.path[0]}) for other in table.others
    ]
    try:
        SystemPromptConfig.model_validate(table.values)
    except ValidationError as error:
        problems += _problems(error, table)
    return sorted(problems, key=lambda problem: problem.line or 1)


def unreadable(error: PromptFileInvalid) -> Problem:
    """What keeps a file from being read at all, as one problem of it."""
    return Problem("error", error.code.removesuffix(AT), error.line or 1, params=error.params)


def _problems(error: ValidationError, table: SystemTable) -> list[Problem]:
    found = [_problem(each, table) for each in error.errors(include_url=False)]
    return sorted(found, key=lambda problem: problem.line or 1)


def _problem(found: ErrorDetails, table: SystemTable) -> Problem:
    kind, loc = found["type"], found["loc"]
    params: dict[str, str | int] = {"field": ".".join(map(str, loc))}
    for key, value in found.get("ctx", {}).items():
        params[key] = value if isinstance(value, int) else str(value)
    if kind == "extra_forbidden":
        meant = nearest(str(loc[-1]), _known_keys(loc[:-1]))
        code = UNKNOWN_LIKE if meant else UNKNOWN
        params |= {"meant": meant} if meant else {}
    elif kind in _TYPES:
        code = WRONG_TYPE
        params |= {"expected": _TYPES[kind], "found": toml_type(found["input"])}
    else:
        code = _BY_KIND.get(kind, UNUSABLE)
    if code == NO_CHOICE:
        params["expected"] = str(params["expected"]).replace(" or ", ", ")
    if code in (ZONE, OUTSIDE):
        params["value"] = str(found["input"])
    return Problem("error", code.removesuffix(AT), table.line_of(loc), params=params)


def _known_keys(path: Sequence[str | int]) -> set[str]:
    """What a table may hold, by the names that a file would use."""
    model: type[BaseModel] = SystemPromptConfig
    for part in path:
        inner = model.model_fields[part].annotation if part in model.model_fields else None
        options = [inner, *getattr(inner, "__args__", ())]
        known = [each for each in options if isinstance(each, type) and issubclass(each, BaseModel)]
        model = known[0] if known else model
    return {field.alias or name for name, field in model.model_fields.items()}
