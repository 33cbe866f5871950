"""The jobs that a worker does: the builder's own functions, with JSON for arguments and answers. Called
inside the jail; ``answers`` reads what they give."""

import base64
import dataclasses
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from jinja2 import nodes

from builder.cache.lints import analyse
from builder.diff.three_way import compare_three
from builder.errors import BuilderError, LimitExceeded, TemplateFailure
from builder.files import prompt_file
from builder.files.file_check import check_file
from builder.files.prompt_file import named_prompt_file
from builder.jail.limits import Limits, exceeded
from builder.orchestrators.tables import PARTS, read_table
from builder.problems import errors_in
from builder.system.front_matter import read_front_matters
from builder.system.table import read_system_table
from builder.template.branches import branches, take
from builder.template.check import read
from builder.template.coverage import coverage, unused
from builder.template.dialect import CONTRACT, DIALECTS, MIXSEEK, Dialect
from builder.template.landmarks import landmarks
from builder.template.render import render_capped
from builder.template.variables import PromptKind, sample_values

Args = dict[str, Any]

CHECKS_KEPT = 64
"""A preview often comes back with the same text and another context."""
LONGEST_KEPT = 65_536


@lru_cache(maxsize=16)
def _dialect(name: Any, trim: bool, lstrip: bool, name_line: bool) -> Dialect:
    return dataclasses.replace(
        DIALECTS[name], trim_blocks=trim, lstrip_blocks=lstrip, errors_name_line=name_line
    )


@dataclass(frozen=True)
class _Check:
    problems: list[dict[str, Any]]
    refused: bool


_kept: OrderedDict[tuple[PromptKind, str], _Check] = OrderedDict()


def _check(kind: PromptKind, text: str) -> tuple[_Check, nodes.Template | None]:
    """The check of a text; a new one with the tree that was read, which is large and good for one use."""
    if kept := _kept.get((kind, text)):
        _kept.move_to_end((kind, text))
        return kept, None
    reading = read(kind, text)
    check = _Check([problem.as_json() for problem in reading.problems], bool(errors_in(reading.problems)))
    # What is longer than a template may be is refused at once, and would only fill the memory.
    if len(text) <= LONGEST_KEPT:
        _kept[kind, text] = check
        if len(_kept) > CHECKS_KEPT:
            _kept.popitem(last=False)
    return check, reading.tree


def _most_output(args: Args) -> int:
    """What a prompt may have: the template's own output, and each of its inputs once."""
    inputs = sum(len(value) for value in args["variables"].values() if isinstance(value, str))
    return int(args["output"]) + inputs


def _render(args: Args, tree: nodes.Template | None = None) -> str:
    try:
        return render_capped(
            args["kind"],
            args["text"],
            args["variables"],
            _dialect(*args["dialect"]),
            _most_output(args),
            tree,
        )
    except TemplateFailure as failure:
        # How deep Python goes depends on the machine, so this is a limit and no property of the text.
        if isinstance(failure.__cause__, RecursionError):
            raise exceeded("depth", Limits()) from failure
        raise


def _examine(args: Args) -> Any:
    check, tree = _check(args["kind"], args["text"])
    if check.refused:
        return {"problems": check.problems}
    try:
        return {"problems": check.problems, "text": _render(args, tree)}
    except LimitExceeded:
        raise
    except BuilderError as error:
        return {"problems": check.problems, "failure": _error(error)}


def _match(args: Args) -> list[str | None]:
    """Of each text the digest of what it gives, where that is one of those asked for."""
    return [_matched(args | {"text": text}) for text in args["texts"]]


def _matched(args: Args) -> str | None:
    try:
        digest = hashlib.sha256(_render(args).encode()).hexdigest()
    except LimitExceeded:
        raise
    except BuilderError:
        return None
    return digest if digest in args["digests"] else None


def _coverage(args: Args) -> Any:
    if not _passes(args):
        return {"reached": [], "unreached": []}
    lines = coverage(args["text"], args["variables"], _dialect(*args["dialect"]))
    return {"reached": list(lines.reached), "unreached": list(lines.unreached)}


def _branches(args: Args) -> Any:
    return [branch.lines for branch in branches(args["text"], _dialect(*args["dialect"]))]


def _take_branch(args: Args) -> bool:
    dialect, text, values = _dialect(*args["dialect"]), args["text"], args["variables"]
    return take(text, args["branch"], values, dialect, _most_output(args))


def _unused(args: Args) -> list[str]:
    return sorted(unused(args["kind"], args["text"], _dialect(*args["dialect"]))) if _passes(args) else []


def _landmarks(args: Args) -> Any:
    return dataclasses.asdict(landmarks(args["text"], _dialect(*args["dialect"]))) if _passes(args) else None


def _cacheable_prefixes(args: Args) -> Any:
    if not _passes(args):
        return None
    kind, text, values, dialect = args["kind"], args["text"], args["variables"], _dialect(*args["dialect"])
    analysis = analyse(kind, text, values, dialect, _most_output(args), minimum=args.get("minimum", False))
    return dataclasses.asdict(analysis)


def _passes(args: Args) -> bool:
    return not _check(args["kind"], args["text"])[0].refused


def _merge(args: Args) -> str:
    old = None if args["old"] is None else base64.b64decode(args["old"])
    merged = prompt_file.merge(old, args["values"], date.fromisoformat(args["today"]), args["name"])
    return base64.b64encode(merged).decode()


def _read(args: Args) -> Any:
    return dataclasses.asdict(prompt_file.read(base64.b64decode(args["data"]), args["name"]))


def _check_file(args: Args) -> Any:
    return [problem.as_json() for problem in check_file(base64.b64decode(args["data"]), args["name"])]


def _named_prompt_file(args: Args) -> Any:
    named = named_prompt_file(base64.b64decode(args["data"]), args["name"])
    return None if named is None else dataclasses.asdict(named)


def _config_table(args: Args) -> Any:
    return read_table(base64.b64decode(args["data"]), args["name"], args["part"])


def _system_table(args: Args) -> Any:
    return dataclasses.asdict(read_system_table(base64.b64decode(args["data"]), args["name"]))


def _front_matters(args: Args) -> Any:
    return [dataclasses.asdict(matter) for matter in read_front_matters(args["texts"])]


def _compare_three(args: Args) -> Any:
    compared = compare_three(args["base"], args["mine"], args["theirs"])
    return [dataclasses.asdict(region) for region in compared.regions]


JOBS: dict[str, Callable[[Args], Any]] = {
    "check": lambda args: _check(args["kind"], args["text"])[0].problems,
    "render": _render,
    "examine": _examine,
    "match": _match,
    "coverage": _coverage,
    "branches": _branches,
    "take_branch": _take_branch,
    "unused": _unused,
    "landmarks": _landmarks,
    "cacheable_prefixes": _cacheable_prefixes,
    "merge": _merge,
    "read": _read,
    "check_file": _check_file,
    "named_prompt_file": _named_prompt_file,
    "config_table": _config_table,
    "system_table": _system_table,
    "front_matters": _front_matters,
    "compare_three": _compare_three,
}


def answer(job: Callable[[Args], Any], args: Args) -> dict[str, Any]:
    """The answer to one job: its value, the builder's own error, or the limit that it met."""
    try:
        return {"value": job(args)}
    except LimitExceeded as stop:
        line = getattr(stop.__cause__, "line", None)
        # A process that ran out of memory once is no good place for the next template.
        retire = {"retire": True} if stop.limit == "memory" else {}
        return {"limit": stop.limit, "line": line, **retire}
    except BuilderError as error:
        return {"error": _error(error)}
    except MemoryError:
        raise
    except Exception as error:
        # A mistake of ours. It is told outside by name; the process goes, in case it is unwell.
        return {"fault": f"{type(error).__name__}: {error}"[:500], "retire": True}


def _error(error: BuilderError) -> dict[str, Any]:
    return {"type": type(error).__name__, "code": error.code, "line": error.line, "params": error.params}


# Touches what loads something on its first use.
_EXERCISE = """{% set ns = namespace(n=1) %}{% macro m(a) %}{{ a }}{{ caller() }}{% endmacro %}\
{% for x in range(2) %}{{ loop.index }}{{ x | string | upper | trim | length }}{% else %}-{% endfor %}\
{% call m("a") %}b{% endcall %}{% filter indent %}{{ user_prompt | wordwrap(9) | tojson }}{% endfilter %}\
{{ "\\N{BULLET}\\u3042" ~ 1.5 | round(1) ~ "a b".split() | join("、") ~ user_prompt | wordcount }}\
{{ user_prompt | title | truncate(9) | center(9) | replace("a", "b") | escape | striptags | urlencode }}"""


def warm_up() -> None:
    """Do each kind of job once, failures included."""
    for dialect in (CONTRACT, MIXSEEK):
        flags = [dialect.name, dialect.trim_blocks, dialect.lstrip_blocks, dialect.errors_name_line]
        for text in (_EXERCISE, "{{ nothing }}", "{% if %}", "{{ 1 // 0 }}", "{{ 'a' + 1 }}"):
            args = {
                "kind": "team",
                "text": text,
                "texts": [text],
                "variables": sample_values("team"),
                "dialect": flags,
                "output": 100_000,
                "digests": [],
            }
            for job in ("examine", "match", "coverage", "unused", "landmarks", "cacheable_prefixes"):
                answer(JOBS[job], args)
            answer(JOBS["take_branch"], args | {"branch": 0})
    made = answer(
        JOBS["merge"], {"old": None, "values": {"team_user_prompt": "a"}, "today": "2025-01-01", "name": "-"}
    )
    for data in (made["value"], base64.b64encode(b"[a\n").decode()):
        answer(JOBS["read"], {"data": data, "name": "-"})
        answer(JOBS["check_file"], {"data": data, "name": "-"})
        answer(JOBS["system_table"], {"data": data, "name": "-"})
        for part in PARTS:
            answer(JOBS["config_table"], {"data": data, "name": "-", "part": part})
    answer(JOBS["front_matters"], {"texts": ["---\na: b\n---", "---\na: b: c\n---"]})
    answer(JOBS["compare_three"], {"base": "a\nb\n", "mine": "a\nc\n", "theirs": "a\nd\n"})
