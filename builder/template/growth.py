"""The growth of a template's texts and numbers: how large they can become, whatever its variables hold.

Used by the gate. MixSeek renders without limits: a text that doubles with every line of a task, or that is as
long as a task says, must be refused by the text of the template alone. Bounds are from above; a value
counts as ``CHARACTERS_OF_A_VALUE``.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from jinja2 import nodes

from builder.messages import message
from builder.problems import Problem
from builder.template.amount import ENDLESS, Amount
from builder.template.amounts import Amounts
from builder.template.bindings import Bindings
from builder.template.flow import Flow, Site
from builder.template.sizes import Sizes
from builder.template.syntax import descendants, error_at

LONGEST_TEXT = 20_000_000
_GROWING = (nodes.BinExpr, nodes.Concat, nodes.Filter, nodes.FilterBlock, nodes.Call, nodes.AssignBlock)
"""A template without any of these prints its values as they are."""

DOUBLES = message(
    "gate-doubles",
    "`{name}` is built from itself more than once per loop iteration: it doubles each time.",
    "`{name}` はループのたびに自分自身から2回以上作られるため、毎回倍以上に長くなります。",
    fix_en="Append what is new, once: `{% set {name} = {name} ~ line %}`; or cut the result:"
    " `({name} ~ {name})[:1000]`.",
    fix_ja="`{% set {name} = {name} ~ line %}` のように新しい部分を1回だけ追加するか、"
    "`({name} ~ {name})[:1000]` のように結果を切り詰めてください。",
)
LONG = message(
    "gate-long",
    "This could produce a text of more than {most} characters, or a number with thousands of digits.",
    "ここで作られる文字列は{most}文字を超えるか、数値が数千桁になる可能性があります。",
    fix_en="Cut the texts it is made from, as in `user_prompt[:1000]`, and give numbers that repeat or widen"
    " a text a limit: `[…, 100]|min`.",
    fix_ja="`user_prompt[:1000]` のように元の文字列を切り詰めてください。文字列の繰り返し回数や幅になる"
    "数値には `[…, 100]|min` のように上限を書いてください。",
)


def growth(tree: nodes.Template, bindings: Bindings, sizes: Sizes) -> list[Problem]:
    """What could become too large, each place once. No macro may call itself."""
    if not any(isinstance(part, _GROWING) for part in descendants(tree)):
        return []
    try:
        return list(_Growth(tree, bindings, sizes).problems())
    except RecursionError:
        return [error_at(1, LONG, most=f"{LONGEST_TEXT:,}")]


class _Growth:
    def __init__(self, tree: nodes.Template, bindings: Bindings, sizes: Sizes) -> None:
        self._bindings = bindings
        self._sizes = sizes
        self._flow = Flow(tree, bindings)
        self._amounts = Amounts(bindings, sizes, self._flow)
        self._known: dict[str, int] = {}
        self._runs: dict[tuple[str, str, bool], int] = {}

    def problems(self) -> Iterator[Problem]:
        lines: set[int | None] = set()
        for problem in self._found():
            if problem.line not in lines:
                lines.add(problem.line)
                yield problem

    def _found(self) -> Iterator[Problem]:
        amounts = {
            key: [self._amounts.of_site(site) for site in sites] for key, sites in self._flow.sites.items()
        }
        made_from = {key: {used for amount in of for used in amount.used()} for key, of in amounts.items()}
        for group in _groups(made_from):
            steps = [
                (key, site, amount)
                for key in group
                for site, amount in zip(self._flow.sites[key], amounts[key], strict=True)
            ]
            yield from self._bound(group, steps, made_from)
        for lineno, node in self._flow.roots:
            if not self._fits(self._amounts.of(node).value(self._known), self._bindings.is_number(node)):
                yield error_at(lineno, LONG, most=f"{LONGEST_TEXT:,}")

    def _bound(
        self,
        group: frozenset[str],
        steps: Sequence[tuple[str, Site, Amount]],
        made_from: dict[str, set[str]],
    ) -> Iterator[Problem]:
        """The most that the keys of a group can hold, which are made from each other."""
        is_ring = len(group) > 1 or any(key in made_from[key] for key in group)
        kept = [self._flow.namespaces[key] for key in group if key in self._flow.namespaces]
        nothing = dict.fromkeys(group, 0)
        total, factor, worst = 0, 1, steps[0]
        most_weight = 0
        for step in steps:
            _, site, amount = step
            weight = amount.weight(group, self._known)
            rest = amount.value({**self._known, **nothing})
            runs = self._runs_of(site, bool(kept), [scope.loops for scope in kept]) if is_ring else 1
            total = max(total, rest) if not is_ring else min(ENDLESS, total + runs * rest)
            if weight > 1:
                factor = min(ENDLESS, factor * _power(weight, runs))
            if weight > most_weight or (weight == most_weight <= 1 and rest > 0):
                most_weight, worst = weight, step
        value = min(ENDLESS, total * factor)
        key, site, _ = worst
        numbers = all(self._is_number(key) for key in group)
        if self._fits(value, numbers):
            self._known |= dict.fromkeys(group, value)
            return
        # What is made from it is not told as well.
        self._known |= dict.fromkeys(group, 1)
        if most_weight > 1 and is_ring:
            yield error_at(site.lineno, DOUBLES, name=self._flow.name_of(key))
        else:
            yield error_at(site.lineno, LONG, most=f"{LONGEST_TEXT:,}")

    def _is_number(self, key: str) -> bool:
        return self._flow.name_of(key) in self._bindings.numbers

    def _fits(self, value: int, is_number: bool) -> bool:
        return value < ENDLESS if is_number else value <= LONGEST_TEXT

    # --- how often a place is run ---------------------------------------------------------

    def _runs_of(self, site: Site, with_loops: bool, kept: Sequence[tuple[nodes.For, ...]] = ()) -> int:
        """Plain names begin anew in every turn of a loop, and a namespace in those around it."""
        same = min((_common(site.loops, loops) for loops in kept), default=0)
        runs = self._turns(site.loops, same) if with_loops else 1
        return min(ENDLESS, runs * self._calls(site.context, with_loops))

    def _turns(self, loops: tuple[nodes.For, ...], begin: int) -> int:
        turns = 1.0
        for number in range(begin, len(loops)):
            turns *= self._sizes.times(loops[number], loops[:number])
        return ENDLESS if math.isinf(turns) else max(1, math.ceil(turns))

    def _calls(self, context: str, with_loops: bool, within: str = "") -> int:
        """How often the body of a macro or call block is run; ``within``: in each run of that macro."""
        if context == within:
            return 1
        key = (context, within, with_loops)
        if key not in self._runs:
            self._runs[key] = ENDLESS  # while it is counted; no macro calls itself
            if context in self._flow.blocks:
                loops, where, macro = self._flow.blocks[context]
                calls = self._all([(loops, where)], with_loops, within)
                calls *= self._all(self._flow.callers[macro], with_loops, macro)
            else:
                calls = self._all(self._flow.calls[context], with_loops, within)
            self._runs[key] = min(ENDLESS, max(1, calls))
        return self._runs[key]

    def _all(self, places: Iterable[tuple[tuple[nodes.For, ...], str]], with_loops: bool, within: str) -> int:
        return sum(
            (self._turns(loops, 0) if with_loops else 1) * self._calls(where, with_loops, within)
            for loops, where in places
        )


def _common(one: Sequence[nodes.For], other: Sequence[nodes.For]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left is not right:
            break
        count += 1
    return count


def _power(base: int, exponent: int) -> int:
    if exponent > ENDLESS.bit_length() or exponent * (base.bit_length() - 1) > ENDLESS.bit_length():
        return ENDLESS
    return min(ENDLESS, int(base**exponent))


def _groups(graph: dict[str, set[str]]) -> Iterable[frozenset[str]]:
    """The keys that are made from each other, those that they are made from first (Tarjan's way)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    done: set[str] = set()
    for start in graph:
        if start in order:
            continue
        work: list[tuple[str, Iterator[str]]] = []

        def enter(key: str, work: list[tuple[str, Iterator[str]]] = work) -> None:
            order[key] = lowest[key] = len(order)
            stack.append(key)
            work.append((key, iter(graph[key] & graph.keys())))

        enter(start)
        while work:
            key, rest = work[-1]
            other = next(rest, None)
            if other is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[key])
                if lowest[key] == order[key]:
                    members = stack[stack.index(key) :]
                    del stack[-len(members) :]
                    done |= set(members)
                    yield frozenset(members)
            elif other not in order:
                enter(other)
            elif other not in done:
                lowest[key] = min(lowest[key], order[other])
