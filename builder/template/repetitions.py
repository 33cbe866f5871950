"""The repetitions of a template: how often its loops can run at most, whatever its variables hold.

Used by the gate. MixSeek renders without limits, so a loop that no sample context reaches must be bounded by
the text alone.
"""

import math
from collections.abc import Iterable

from jinja2 import nodes

from builder.messages import message
from builder.problems import Problem
from builder.template.bindings import Bindings
from builder.template.macros import Macros
from builder.template.sizes import CHARACTERS_OF_A_VALUE, OF_A_VALUE, Sizes
from builder.template.syntax import children, descendants, error_at
from builder.template.work import Work

MOST_REPETITIONS, MOST_WORK = 1_000_000, 2_000_000

RANGE_OPEN = message(
    "gate-range-open",
    "The length of this `range` depends on a value that has no limit.",
    "この `range` が作る数の個数は値によって決まり、上限がわかりません。",
    fix_en="Loop over the value itself: `{% for line in user_prompt.splitlines() %}`; or set a limit:"
    " `range([…, 100]|min)`.",
    fix_ja="`{% for line in user_prompt.splitlines() %}` のように値そのものを繰り返すか、"
    "`range([…, 100]|min)` のように上限を書いてください。",
)
REPETITIONS = message(
    "gate-repetitions",
    "The loops of this template could repeat something {times} times; {most} are allowed.",
    "このテンプレートのループでは、繰り返しが{times}回に達する可能性があります。上限は{most}回です。",
    fix_en="Write shorter ranges, or do not put one loop into another. A loop over a value's lines counts"
    " as {value} times, over its characters as {characters}; with `[:20]` behind the value as 20.",
    fix_ja="`range` を短くするか、ループの中にループを置かないでください。値を行ごとに繰り返すループは"
    "{value}回、文字ごとに繰り返すループは{characters}回と数えます。値の後に"
    " `[:20]` を付けると20回になります。",
)
WORK = message(
    "gate-work",
    "The loops of this template could go through too much text or too many items: as much work as {times}"
    " repetitions; {most} are allowed.",
    "このテンプレートのループで処理する文字や項目の量が多すぎます。繰り返し{times}回分に相当し、"
    "上限は{most}回です。",
    fix_en="Work it out once before the loop, as in `{% set words = user_prompt.split()|sort %}`; or shorten"
    " what is gone through: `user_prompt[:1000]`.",
    fix_ja="`{% set words = user_prompt.split()|sort %}` のようにループの前で1回だけ計算するか、"
    "`user_prompt[:1000]` のように処理する範囲を短くしてください。",
)

_CHARACTERS = 100
"""Of repeated text, so many cost as much as one turn of a loop."""
_WIDENING = frozenset({"center", "indent"})
_MOST_CALLS = 10_000


def repetitions(tree: nodes.Template, bindings: Bindings, sizes: Sizes) -> list[Problem]:
    """Loops that run too often. No macro may call itself."""
    excess = _Count(sizes, bindings.macros).excess_of(tree)
    if excess is None:
        return []
    most, value, characters = map(_number, (MOST_REPETITIONS, OF_A_VALUE, CHARACTERS_OF_A_VALUE))
    said = {"times": _number(excess[1]), "most": most, "value": value, "characters": characters}
    return [error_at(excess[0], REPETITIONS, **said)]


def work(tree: nodes.Template, bindings: Bindings, sizes: Sizes) -> list[Problem]:
    """Loops that end soon and do too much in each turn."""
    excess = _Count(sizes, bindings.macros, Work(sizes, bindings)).excess_of(tree)
    if excess is None:
        return []
    return [error_at(excess[0], WORK, times=_number(excess[1]), most=_number(MOST_WORK))]


def _number(times: float) -> str:
    return f"{times:,.0f}" if times < 1e12 else f"{1e12:,.0f}+"


class _Count:
    """How often the loops of a template run in all; macros count where they are called. With ``work``, what
    each step costs counts, too."""

    def __init__(self, sizes: Sizes, macros: Macros, work: Work | None = None) -> None:
        self._sizes = sizes
        self._work = work
        self._macros = macros
        self._most = MOST_WORK if work else MOST_REPETITIONS
        self._calls: dict[tuple[str, float], float] = {}
        self._excess: tuple[int, float] | None = None

    def excess_of(self, tree: nodes.Template) -> tuple[int, float] | None:
        """The line of the first tag that has more than are allowed, and how many."""
        try:
            # In the order in which they are defined, so that no call goes deep.
            for name in self._macros:
                self._macro(name, 0)
            total = self._all(tree.body, (), 0)
        except RecursionError:
            total = math.inf
        if total > self._most:
            loops = [node for node in descendants(tree) if isinstance(node, nodes.For | nodes.Call)]
            self._exceed(loops[-1].lineno if loops else 1, total)
        return self._excess

    def _exceed(self, lineno: int, total: float) -> float:
        if total > self._most and self._excess is None:
            self._excess = (lineno, total)
        return total

    def _all(self, some: Iterable[nodes.Node], around: tuple[nodes.For, ...], caller: float) -> float:
        return sum(self._one(node, around, caller) for node in some)

    def _one(self, node: nodes.Node, around: tuple[nodes.For, ...], caller: float) -> float:
        own = self._work.of(node) if self._work else 0
        return own + self._parts(node, around, caller)

    def _parts(self, node: nodes.Node, around: tuple[nodes.For, ...], caller: float) -> float:
        match node:
            case nodes.For():
                times = self._sizes.times(node, around)
                inside = self._all([*node.body, *([node.test] if node.test else [])], (*around, node), caller)
                beside = self._all([node.iter, *node.else_], around, caller)
                return self._exceed(node.lineno, times * max(1, inside) + beside)
            case nodes.FilterBlock() if self._work:
                inside = max(1, self._all(node.body, around, caller))
                return self._exceed(node.lineno, inside * self._work.expansion(node))
            case nodes.Macro():
                return self._all(node.defaults, around, caller)
            case nodes.CallBlock(call=nodes.Call(node=nodes.Name() as callee)):
                block = self._all(node.body, around, caller)
                given = self._all(node.call.args, around, caller)
                return self._exceed(node.lineno, self._macro(callee.name, block) + given)
            case nodes.Call(node=nodes.Name() as callee):
                given = self._all([*node.args, *node.kwargs], around, caller)
                called = caller if callee.name == "caller" else self._macro(callee.name, 0)
                return self._exceed(callee.lineno, called + given)
            case nodes.Mul():
                long = self._sizes.repeated(node, CHARACTERS_OF_A_VALUE)
                return self._text(long) + self._all(children(node), around, caller)
            case nodes.Filter() if node.name in _WIDENING and node.args:
                width = self._sizes.number(node.args[0])[1]
                return self._text(width) + self._all(children(node), around, caller)
        return self._all(children(node), around, caller)

    def _text(self, characters: float) -> float:
        return min(characters, CHARACTERS_OF_A_VALUE if math.isinf(characters) else characters) / _CHARACTERS

    def _macro(self, name: str, caller: float) -> float:
        """A call of a macro, of the longest where there are several; none calls itself."""
        key = (name, caller)
        if len(self._calls) > _MOST_CALLS:
            return math.inf
        if name in self._macros and key not in self._calls:
            bodies = (self._all(macro.body, (), caller) for macro in self._macros[name])
            self._calls[key] = 1 + max(bodies)
        return self._calls.get(key, 0)
