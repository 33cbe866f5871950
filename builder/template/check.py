"""The check of a template: its syntax, the gate, its names, and advice; nothing is run or compiled.

Used by ``python -m builder check`` and, through the jail, by everything in the studio that takes a template.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jinja2 import nodes

from builder.messages import message
from builder.problems import Problem, cut
from builder.template.allowed import FILTERS
from builder.template.bindings import collect
from builder.template.gate import inspect
from builder.template.scope import check_names
from builder.template.syntax import descendants, measure, parse, place_of
from builder.template.variables import PromptKind, field_name, types

EMPTY = message(
    "check-empty",
    "{field} cannot be empty",
    "{field} を空にすることはできません",
    fix_en="Write at least {{ user_prompt }}.",
    fix_ja="少なくとも {{ user_prompt }} を書いてください。",
)
NO_ELSE = message(
    "check-no-else",
    "This `… if …` has no `else`: if the condition is false it prints nothing, and using its value fails.",
    "この `… if …` には `else` がありません。条件が偽のときは何も表示されず、値として使うと失敗します。",
    fix_en="Add `else ''`.",
    fix_ja="`else ''` を付けてください。",
)
LOOP = message(
    "check-loop",
    "Loops are not recommended in a prompt template.",
    "プロンプトテンプレートでのforループは推奨されません。",
    fix_en="The variables are formatted already; print them as they are.",
    fix_ja="変数は整形済みです。そのまま表示してください。",
)
FILTER = message(
    "check-filter",
    "Filters such as `{name}` are not recommended in a prompt template.",
    "プロンプトテンプレートでのフィルター（`{name}`）の使用は推奨されません。",
    fix_en="The variables are formatted already; print them as they are.",
    fix_ja="変数は整形済みです。そのまま表示してください。",
)
ONE_LINE = message(
    "check-one-line",
    "The template is a single line; prompts are written as several lines between triple quotes.",
    "テンプレートが1行だけです。プロンプトはトリプルクォートで囲んだ複数行で書きます。",
    fix_en="Break it into lines: a heading, then the variables.",
    fix_ja="見出しと変数を分けるなど、複数行で書いてください。",
)


@dataclass(frozen=True)
class Reading:
    """What a check found, and the tree it read: for ``render_capped``, where no problem is an error."""

    problems: list[Problem]
    tree: nodes.Template | None = None


def check(kind: PromptKind, text: str) -> list[Problem]:
    """The problems of a template, by line and column; an empty list means that there is none.

    Nothing is compiled: folding constants would already run the template.
    """
    return read(kind, text).problems


def read(kind: PromptKind, text: str) -> Reading:
    """``check``, for whoever renders the template next and need not parse it again."""
    if not text.strip():
        return Reading([Problem("error", EMPTY, 1, params={"field": field_name(kind)})])
    problems = [] if "\n" in text or "\r" in text else [Problem("hint", ONE_LINE, 1)]
    tree = parse(text)
    if isinstance(tree, Problem):
        return Reading(cut([*problems, tree]))
    if too_large := measure(tree):
        return Reading(cut(problems + too_large))
    parts = descendants(tree)
    bindings = collect(parts, types(kind))
    problems += inspect(tree, bindings)
    problems += check_names(tree, bindings)
    problems += _advice(parts)
    return Reading(cut(problems), tree)


def _advice(parts: Iterable[nodes.Node]) -> Iterator[Problem]:
    for node in parts:
        if isinstance(node, nodes.For):
            yield Problem("hint", LOOP, *place_of(node.lineno))
        elif isinstance(node, nodes.Filter) and node.name in FILTERS:
            yield Problem("hint", FILTER, *place_of(node.lineno), {"name": node.name})
        elif isinstance(node, nodes.CondExpr) and node.expr2 is None:
            yield Problem("warning", NO_ELSE, *place_of(node.lineno))
