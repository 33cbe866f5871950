"""The rules for macros: how they are called, with which values, and never by themselves.

Used by the gate and the check of names.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import nodes

from builder.messages import message
from builder.problems import Problem
from builder.template.syntax import error_at

Macros = Mapping[str, Sequence[nodes.Macro]]
"""All macros of a template by name; a name may be defined more than once."""

RING = message(
    "gate-ring",
    "The macro `{name}` calls itself, directly or through another macro.",
    "マクロ `{name}` が、直接または別のマクロを通して自分自身を呼んでいます。",
    fix_en="Use a loop instead.",
    fix_ja="代わりにループを使ってください。",
)
ARGUMENT_MISSING = message(
    "scope-argument-missing",
    "The call of `{name}` gives no value for `{argument}`.",
    "`{name}` の呼び出しで `{argument}` の値が渡されていません。",
    fix_en="Pass it, or give the parameter a default: `{argument}=''`.",
    fix_ja="値を渡すか、`{argument}=''` のように既定値を付けてください。",
)
ARGUMENT_EXTRA = message(
    "scope-argument-extra",
    "The call of `{name}` passes too many arguments.",
    "`{name}` の呼び出しに余分な引数があります。",
    fix_en="It takes: {known}.",
    fix_ja="受け取る引数：{known}",
)
CALLER_MISSING = message(
    "scope-caller-missing",
    "`{name}` uses `caller()`, so it can only be called by {% call %}.",
    "`{name}` は `caller()` を使うので、{% call %} でしか呼べません。",
    fix_en="Write `{% call {name}() %}…{% endcall %}`, or guard it: `{% if caller is defined %}`.",
    fix_ja="`{% call {name}() %}…{% endcall %}` と書くか、`{% if caller is defined %}` で確かめてください。",
)
CALLER_UNUSED = message(
    "scope-caller-unused",
    "`{name}` never uses `caller()`, so {% call %} cannot call it.",
    "`{name}` は `caller()` を使わないので、{% call %} では呼べません。",
    fix_en="Write `{{ {name}() }}`, or put `{{ caller() }}` into the macro.",
    fix_ja="`{{ {name}() }}` と書くか、マクロの中に `{{ caller() }}` を入れてください。",
)


def rings(macros: Macros) -> Iterator[nodes.Macro]:
    """Macros that reach themselves and so would never end."""
    calls = {
        name: {
            call.node.name
            for macro in definitions
            for call in macro.find_all(nodes.Call)
            if isinstance(call.node, nodes.Name) and call.node.name in macros
        }
        for name, definitions in macros.items()
    }
    for name, definitions in macros.items():
        reached: set[str] = set()
        waiting = set(calls[name])
        while waiting:
            step = waiting.pop()
            reached.add(step)
            waiting |= calls[step] - reached
        if name in reached:
            yield definitions[0]


def argument_problems(
    function: nodes.Macro | nodes.CallBlock, call: nodes.Call, name: str, lineno: int
) -> Iterator[Problem]:
    """What a call gives too much of, or leaves out."""
    parameters = [argument.name for argument in function.args]
    required = parameters[: len(parameters) - len(function.defaults)]
    given = set(parameters[: len(call.args)])
    keywords = {keyword.key for keyword in call.kwargs}
    if len(call.args) > len(parameters) or keywords - set(parameters) or keywords & given:
        known = ", ".join(parameters) or "–"
        yield error_at(lineno, ARGUMENT_EXTRA, name=name, known=known)
    for parameter in required:
        if parameter not in given | keywords:
            yield error_at(lineno, ARGUMENT_MISSING, name=name, argument=parameter)


@dataclass
class CallerUses:
    """How a macro uses the block that {% call %} gives it."""

    calls: list[nodes.Call]
    unguarded: bool = False
    """It would fail where there is no such block."""
    any: bool = False


def caller_uses(macros: Macros) -> Mapping[str, CallerUses]:
    uses: dict[str, CallerUses] = defaultdict(lambda: CallerUses([]))

    def look(node: nodes.Node, use: CallerUses, guarded: bool) -> None:
        # A nested macro and the body of a call block have callers of their own.
        if isinstance(node, nodes.Macro):
            return
        if isinstance(node, nodes.CallBlock):
            look(node.call, use, guarded)
            return
        if isinstance(node, nodes.Name) and node.name == "caller":
            use.any = True
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "caller":
            use.calls.append(node)
            use.unguarded |= not guarded
        if isinstance(node, nodes.If | nodes.CondExpr) and _asks_for_caller(node.test):
            look(node.test, use, guarded)
            then: Sequence[nodes.Node] = node.body if isinstance(node, nodes.If) else [node.expr1]
            for child in then:
                look(child, use, True)
            for child in node.iter_child_nodes(exclude=("test", "body", "expr1")):
                look(child, use, guarded)
            return
        for child in node.iter_child_nodes():
            look(child, use, guarded)

    for name, definitions in macros.items():
        for macro in definitions:
            for child in (*macro.defaults, *macro.body):
                look(child, uses[name], False)
    return uses


def _asks_for_caller(test: nodes.Node) -> bool:
    return (
        isinstance(test, nodes.Test)
        and test.name == "defined"
        and isinstance(test.node, nodes.Name)
        and test.node.name == "caller"
    )
