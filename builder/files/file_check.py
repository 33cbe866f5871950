"""The check of a whole prompt file: its fields and its templates, each problem with its line in the file.

Used by ``python -m builder check`` and, through the jail, by the studio's workspaces and imports.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from rapidfuzz import process

from builder.errors import BuilderError, PromptFileInvalid
from builder.files.prompt_file import TABLE, PromptFile, TemplatePlace, read
from builder.files.toml_file import AT
from builder.messages import message
from builder.problems import Problem, in_order
from builder.template.check import check
from builder.template.variables import FIELDS, KINDS, PromptKind, field_name

MISSING_FIELD = message(
    "file-missing-field",
    "Missing required field: {field}",
    "必須フィールドがありません：{field}",
    fix_en="Add it to the [prompt_builder] table.",
    fix_ja="[prompt_builder] テーブルに追加してください。",
)
UNKNOWN_KEY = message(
    "file-unknown-key",
    "Unknown key: {key}; MixSeek ignores it",
    "不明なキーです：{key}（MixSeekは無視します）",
)
UNKNOWN_KEY_LIKE = message(
    "file-unknown-key-like",
    "Unknown key: {key}; MixSeek ignores it",
    "不明なキーです：{key}（MixSeekは無視します）",
    fix_en="Did you mean {meant}?",
    fix_ja="{meant} ではありませんか？",
)
MORE_UNKNOWN = message(
    "file-more-unknown",
    "{count} more unknown keys after this line; MixSeek ignores them",
    "この行より後に不明なキーがさらに{count}個あります（MixSeekは無視します）",
    fix_en="Is this the prompt file?",
    fix_ja="これはプロンプトファイルですか？",
)
NOT_MULTILINE = message(
    "file-not-multiline",
    "{field} has line breaks but is written as a string of one line",
    "{field} は改行を含みますが、1行の文字列として書かれています",
    fix_en='Write it between triple quotes ("""), each line on its own.',
    fix_ja='""" で囲み、改行はそのまま書いてください。',
)

Check = Callable[[PromptKind, str], list[Problem]]


def check_file(data: bytes, name: str, check: Check = check) -> list[Problem]:
    """Everything that is wrong with a file, by line; a file that cannot be read is one finding. Raises
    nothing."""
    try:
        return check_read(read(data, name), check)
    except PromptFileInvalid as error:
        return [unreadable(error, name)]


def unreadable(error: BuilderError, name: str) -> Problem:
    """A file that cannot be read, as a problem among the others."""
    return Problem("error", error.code.removesuffix(AT), error.line or 1, params=error.params, file=name)


def check_read(file: PromptFile, check: Check = check) -> list[Problem]:
    """The same for a file that is read already, with a check of the caller's choice (the jail's)."""
    problems = [*_unknown(file), *_missing(file)]
    for kind in KINDS:
        name = field_name(kind)
        if name in file.values:
            problems.extend(_not_multiline(file, name))
            problems.extend(_template(file, kind, name, check))
    return in_order(problems)


def _missing(file: PromptFile) -> Iterator[Problem]:
    for name in FIELDS:
        if name not in file.values:
            yield Problem("error", MISSING_FIELD, file.table_line, file=file.name, field=name)


def _unknown(file: PromptFile) -> Iterator[Problem]:
    missing = [name for name in FIELDS if name not in file.values]
    for key in file.unknown:
        params: dict[str, str | int] = {"key": key.name}
        code = UNKNOWN_KEY
        meant = process.extractOne(key.name.removeprefix(f"{TABLE}."), [*missing, TABLE], score_cutoff=70)
        if meant:
            code = UNKNOWN_KEY_LIKE
            params["meant"] = f"[{TABLE}]" if meant[0] == TABLE else f"{TABLE}.{meant[0]}"
        yield Problem("warning", code, key.line, 1, params, file=file.name)
    if file.more_unknown:
        last, count = file.unknown[-1], file.more_unknown
        yield Problem("warning", MORE_UNKNOWN, last.line, 1, {"count": count}, file=file.name)


def _not_multiline(file: PromptFile, name: str) -> Iterator[Problem]:
    """The documents' fourth rule: programs read ``\\n`` in quotes as well, people do not."""
    place = file.places[name]
    if place.value_start is None or "\n" not in file.values[name]:
        return
    if not file.source.startswith(('"""', "'" * 3), place.value_start):
        yield Problem("warning", NOT_MULTILINE, place.line, file=file.name, field=name)


def _template(file: PromptFile, kind: PromptKind, name: str, check: Check) -> Iterator[Problem]:
    text, place = file.values[name], file.places[name]
    problems = check(kind, text)
    if not problems:
        return
    offsets = _offsets(file.source, place)
    starts = [0, *(newline.end() for newline in _TEMPLATE_NEWLINE.finditer(text))]
    for problem in problems:
        own_line = problem.line or 1
        placed = replace(problem, file=file.name, field=name, template_line=own_line)
        index = starts[min(own_line, len(starts)) - 1] + (problem.column or 1) - 1
        if index > len(offsets) or own_line > len(starts) or not offsets:
            yield replace(placed, line=place.line, column=None, exact=False)
            continue
        offset = offsets[index]
        line = file.source.count("\n", 0, offset) + 1
        column = offset - file.source.rfind("\n", 0, offset) if problem.column else None
        yield replace(placed, line=line, column=column)


# Jinja2 counts a lone carriage return as the end of a line, too.
_TEMPLATE_NEWLINE = re.compile(r"\r\n|\r|\n")
_WRITTEN = re.compile(
    r"(?P<nothing>\\[ \t]*\r?\n[ \t\r\n]*)"  # a backslash at the end of a line: swallows what follows
    r"|(?P<one>\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\.|\r\n)"
    r"|(?P<plain>[^\\\r]+)"
)


def _offsets(source: str, place: TemplatePlace) -> list[int]:
    """For each character of a template, and its end, where in the file it is written."""
    if place.value_start is None or place.value_end is None:
        return []
    start, end = place.value_start, place.value_end
    width = 3 if source.startswith(('"""', "'" * 3), start) else 1
    literal = source[start] == "'"
    start, end = start + width, end - width
    if width == 3:
        # A newline right after the opening quotes is not part of the value.
        start += 2 if source.startswith("\r\n", start) else 1 if source.startswith("\n", start) else 0
    if literal:
        return [at for at in range(start, end + 1) if not source.startswith("\r\n", at)]
    offsets: list[int] = []
    for written in _WRITTEN.finditer(source, start, end):
        if written.lastgroup == "plain":
            offsets.extend(range(written.start(), written.end()))
        elif written.lastgroup == "one":
            offsets.append(written.start())
    return [*offsets, end]
