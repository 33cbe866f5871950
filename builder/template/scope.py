"""The check of names: every name that a template reads must have a value in every branch.

Used by the check of templates and of round templates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from jinja2 import nodes

from builder.messages import message
from builder.problems import MOST_PROBLEMS, Problem
from builder.template.allowed import ELSEWHERE, FUNCTIONS
from builder.template.bindings import Bindings, names_in
from builder.template.macros import CALLER_MISSING, CALLER_UNUSED, CallerUses, argument_problems, caller_uses
from builder.template.nearest import nearest
from builder.template.syntax import children, error_at, misspelt
from builder.template.variables import KINDS, names

UNKNOWN = message(
    "scope-unknown",
    "`{name}` is not a variable of this template.",
    "`{name}` はこのテンプレートの変数ではありません。",
    fix_en="It has: {known}.",
    fix_ja="使える変数：{known}",
)
MISSPELT = message(
    "scope-misspelt",
    "`{name}` is not a variable of this template. Did you mean `{meant}`?",
    "`{name}` はこのテンプレートの変数ではありません。`{meant}` のことですか？",
    fix_en="Write `{meant}`.",
    fix_ja="`{meant}` と書いてください。",
)
OTHER_KIND = message(
    "scope-other-kind",
    "`{name}` is a variable of the {kind} template, not of this one.",
    "`{name}` は {kind} テンプレートの変数で、このテンプレートでは使えません。",
    fix_en="This template has: {known}.",
    fix_ja="このテンプレートで使える変数：{known}",
)
MAYBE = message(
    "scope-maybe",
    "`{name}` may be undefined here: it is not set in every branch above.",
    "`{name}` はここでは未定義の場合があります。上の分岐のすべてで設定されてはいません。",
    fix_en="Set it in every branch, or before the {% if %}; or write `{name}|default('')`.",
    fix_ja="すべての分岐で、または {% if %} の前で設定するか、`{name}|default('')` と書いてください。",
)
NOT_HERE = message(
    "scope-not-here",
    "`{name}` has no value here: it is set in line {line}, later or inside another block.",
    "`{name}` はここでは値を持ちません。{line}行目の、これより後または別のブロックの中で設定されています。",
    fix_en="Set it before, outside of the block; to count in a loop use `namespace`.",
    fix_ja="ブロックの外で、先に設定してください。ループの中で数えるには `namespace` を使います。",
)
NO_LOOP = message(
    "scope-no-loop",
    "`loop` exists only inside a {% for %} loop.",
    "`loop` は {% for %} ループの中でだけ使えます。",
    fix_en="Move it into the body of the loop.",
    fix_ja="ループの本体の中に移してください。",
)
NO_CALLER = message(
    "scope-no-caller",
    "`caller` exists only inside a {% macro %}.",
    "`caller` は {% macro %} の中でだけ使えます。",
    fix_en="Move it into the macro that {% call %} calls.",
    fix_ja="{% call %} で呼ぶマクロの中に移してください。",
)
NO_MACRO = message(
    "scope-no-macro",
    "There is no macro `{name}` at this point.",
    "マクロ `{name}` はここでは定義されていません。",
    fix_en="Define it before its first use: `{% macro {name}() %}…{% endmacro %}`.",
    fix_ja="使う前に `{% macro {name}() %}…{% endmacro %}` で定義してください。",
)

NO_FUNCTION = message(
    "scope-no-function",
    "There is no function `{name}`.",
    "`{name}` という関数はありません。",
    fix_en="Write it as a filter: `…|{filter}`.",
    fix_ja="`…|{filter}` のように、フィルターとして書いてください。",
)

_AS_FILTERS = {"len": "length", "str": "string", "sorted": "sort", "reversed": "reverse"} | {
    name: name for name in ("abs", "float", "int", "list", "max", "min", "round", "sum")
}
"""Python's functions that people write out of habit."""
_MOST_SUGGESTIONS = 50


def check_names(tree: nodes.Template, bindings: Bindings) -> list[Problem]:
    """Every name that has no value somewhere it is read. The tree must have been measured."""
    walk = _Walk(bindings, caller_uses(bindings.macros))
    walk.run(tree.body, _Scope(set(), set()))
    return walk.problems


@dataclass
class _Scope:
    """Names that surely have a value at a point, and those that have one on some ways to it."""

    bound: set[str]
    maybe: set[str]
    loop: bool = False
    caller: bool = False

    def inner(self, **changes: bool) -> "_Scope":
        return replace(self, bound=set(self.bound), maybe=set(self.maybe), **changes)


class _Walk:
    def __init__(self, bindings: Bindings, caller_uses: Mapping[str, CallerUses]) -> None:
        self.declared = bindings.declared
        self.bindings = bindings
        self.caller_uses = caller_uses
        self.problems: list[Problem] = []
        self.suggestions = 0

    def report(self, code: str, lineno: int, **params: str | int) -> None:
        self.problems.append(error_at(lineno, code, **params))

    # --- statements ----------------------------------------------------------------------

    def run(self, statements: Iterable[nodes.Node], scope: _Scope) -> None:
        for statement in statements:
            self._statement(statement, scope)

    def _statement(self, node: nodes.Node, scope: _Scope) -> None:
        match node:
            case nodes.If():
                self._if(node, scope)
            case nodes.For():
                self._for(node, scope)
            case nodes.Assign():
                self._read(node.node, scope)
                self._bind(node.target, scope)
            case nodes.AssignBlock():
                if node.filter is not None:
                    self._read(node.filter, scope)
                self.run(node.body, scope.inner())
                self._bind(node.target, scope)
            case nodes.With():
                for value in node.values:
                    self._read(value, scope)
                inner = scope.inner()
                for target in node.targets:
                    self._bind(target, inner)
                self.run(node.body, inner)
            case nodes.FilterBlock():
                self._read(node.filter, scope)
                self.run(node.body, scope.inner())
            case nodes.Macro():
                # Its own name counts as known inside: the gate says that it may not be called there.
                scope.bound.add(node.name)
                self._function(node, scope.inner(caller=True))
            case nodes.CallBlock():
                self._call_block(node, scope)
            case _:
                for child in children(node):
                    self._read(child, scope)

    def _if(self, node: nodes.If, scope: _Scope) -> None:
        # Conditions run one after the other, and set nothing.
        self._read(node.test, scope)
        branches = [node.body]
        for other in node.elif_:
            self._read(other.test, scope)
            branches.append(other.body)
        branches.append(node.else_)
        ends = []
        for branch in branches:
            end = scope.inner()
            self.run(branch, end)
            ends.append(end)
        scope.bound = set.intersection(*(end.bound for end in ends))
        scope.maybe = set().union(*(end.bound | end.maybe for end in ends)) - scope.bound

    def _for(self, node: nodes.For, scope: _Scope) -> None:
        self._read(node.iter, scope)
        inner = scope.inner()
        self._bind(node.target, inner)
        if node.test is not None:
            self._read(node.test, inner)  # `loop` in there is that of the loop around
        inner.loop = True
        self.run(node.body, inner)
        self.run(node.else_, scope.inner())

    def _function(self, node: nodes.Macro | nodes.CallBlock, scope: _Scope) -> None:
        first_default = len(node.args) - len(node.defaults)
        parameters = [argument.name for argument in node.args]
        scope.bound -= set(parameters)
        for index, name in enumerate(parameters):
            if index >= first_default:
                self._read(node.defaults[index - first_default], scope)
            scope.bound.add(name)
        self.run(node.body, scope)

    def _call_block(self, node: nodes.CallBlock, scope: _Scope) -> None:
        self._read(node.call, scope, by_block=True)
        callee = node.call.node
        if isinstance(callee, nodes.Name) and callee.name in self.bindings.macros:
            use = self.caller_uses[callee.name]
            if not use.any:
                self.report(CALLER_UNUSED, node.lineno, name=callee.name)
            for call in use.calls:
                self._arguments(node, call, "caller", node.lineno)
        self._function(node, scope.inner(caller=False))

    def _bind(self, target: nodes.Node, scope: _Scope) -> None:
        for reference in [target, *target.find_all(nodes.NSRef)]:
            if isinstance(reference, nodes.NSRef):
                self._name(reference.name, reference.lineno, scope)
        for name in names_in(target):
            scope.bound.add(name.name)
            scope.maybe.discard(name.name)

    # --- expressions ---------------------------------------------------------------------

    def _read(self, node: nodes.Node, scope: _Scope, by_block: bool = False) -> None:
        if isinstance(node, nodes.Name):
            if node.ctx == "load":
                self._name(node.name, node.lineno, scope)
            return
        if isinstance(node, nodes.Test | nodes.Filter) and self._asks_first(node):
            for child in node.iter_child_nodes(exclude=("node",)):
                self._read(child, scope)
            return
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            self._call(node, node.node.name, scope, by_block)
            for child in node.iter_child_nodes(exclude=("node",)):
                self._read(child, scope)
            return
        for child in children(node):
            self._read(child, scope)

    def _asks_first(self, node: nodes.Test | nodes.Filter) -> bool:
        """`x is defined` and `x|default(…)` are there for names that may have no value."""
        asking = ("defined", "undefined") if isinstance(node, nodes.Test) else ("default", "d")
        return node.name in asking and isinstance(node.node, nodes.Name) and node.node.name in self.bindings

    def _call(self, node: nodes.Call, name: str, scope: _Scope, by_block: bool) -> None:
        known = name in scope.bound or name in self.bindings or name in self.declared
        if name in FUNCTIONS or name in ELSEWHERE or name in ("caller", "loop"):
            self._name(name, node.lineno, scope)
            return
        if not known:
            if name in _AS_FILTERS:
                self.report(NO_FUNCTION, node.node.lineno, name=name, filter=_AS_FILTERS[name])
            else:
                self.report(NO_MACRO, node.node.lineno, name=name)
            return
        self._name(name, node.node.lineno, scope)
        for macro in self.bindings.macros.get(name, []):
            self._arguments(macro, node, name, node.node.lineno)
        if not by_block and self.caller_uses[name].unguarded:
            self.report(CALLER_MISSING, node.node.lineno, name=name)

    def _arguments(
        self, function: nodes.Macro | nodes.CallBlock, call: nodes.Call, name: str, lineno: int
    ) -> None:
        # Parameters times calls: 30 of them and 900 calls would be 27,000 problems of one small text.
        room = MOST_PROBLEMS + 1 - len(self.problems)
        if room > 0:
            self.problems += islice(argument_problems(function, call, name, lineno), room)

    def _name(self, name: str, lineno: int, scope: _Scope) -> None:
        if name in self.declared or name in scope.bound or name in FUNCTIONS or name in ELSEWHERE:
            return  # what the gate has to say about the last two, it says
        if name.startswith("_"):
            return
        if name == "loop":
            if not scope.loop:
                self.report(NO_LOOP, lineno)
        elif name == "caller":
            if not scope.caller:
                self.report(NO_CALLER, lineno)
        elif name in scope.maybe:
            self.report(MAYBE, lineno, name=name)
        elif name in self.bindings:
            self.report(NOT_HERE, lineno, name=name, line=self._line_of(name))
        else:
            self._unknown(name, lineno, scope)

    def _line_of(self, name: str) -> int:
        bindings = self.bindings
        places = [
            node.lineno
            for table in (bindings.values, bindings.namespaces, bindings.macros)
            for node in table.get(name, [])
        ]
        return int(min(places))

    def _unknown(self, name: str, lineno: int, scope: _Scope) -> None:
        known = ", ".join(sorted(self.declared))
        owners = [kind for kind in KINDS if name in names(kind)]
        if owners:
            self.report(OTHER_KIND, lineno, name=name, kind=owners[0], known=known)
            return
        # Looking for neighbours is slow; nobody needs more than a page of them.
        self.suggestions += 1
        meant = nearest(name, self.declared | scope.bound) if self.suggestions <= _MOST_SUGGESTIONS else None
        if meant is None:
            self.report(UNKNOWN, lineno, name=name, known=known)
        else:
            self.problems.append(misspelt(lineno, MISSPELT, name, meant))
