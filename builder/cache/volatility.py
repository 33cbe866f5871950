"""The volatility of what a template prints: how often each name and expression changes, from its tree alone.
Used by ``outline``."""

from collections.abc import Iterable, Mapping, Sequence

from jinja2 import nodes

from builder.template.allowed import FILTERS, FUNCTIONS
from builder.template.bindings import Bindings, names_in
from builder.template.syntax import children, descendants
from builder.template.variables import VARIABLES, Changes, PromptKind

LITERAL, TASK, ROUND, CALL = 0, 1, 2, 3
CLASSES: Mapping[Changes, int] = {"task": TASK, "round": ROUND, "call": CALL}

Env = dict[str, int]
"""The classes of the names that a template has bound so far, at one point of it."""

_SOMETIMES = FUNCTIONS | {"loop", "caller"}


class Volatility:
    """Follows a template from its beginning; every way that it may take counts.

    A macro sees the names around it as they are when it is called: for those, the highest class that
    they ever have is taken. What a macro or a call block changes in a namespace may depend on anything.
    """

    def __init__(
        self,
        kind: PromptKind,
        tree: nodes.Template,
        bindings: Bindings,
        others: Mapping[str, int] | None = None,
    ) -> None:
        self.declared = {variable.name: CLASSES[variable.changes] for variable in VARIABLES[kind]} | dict(
            others or {}
        )
        self.bindings = bindings
        self._ever: Env = {}
        self._macros = dict.fromkeys(bindings.macros, LITERAL)
        self._late: Env = {}
        self._in_macro = False
        if bindings.macros:
            self._settle(tree)

    # --- expressions ---------------------------------------------------------------------

    def of_name(self, name: str, env: Env) -> int:
        if name in self._late:
            return self._late[name]
        if name in self._macros:
            return max(self._macros[name], self._own(name, env))
        if name in env:
            return env[name]
        if name in self.declared:
            return self.declared[name]
        if name in self.bindings or name in _SOMETIMES:
            return self._own(name, env)
        return CALL

    def _own(self, name: str, env: Env) -> int:
        """One of the template's own names: not bound yet, it has no value in any render."""
        return env.get(name, self._ever.get(name, LITERAL) if self._in_macro else LITERAL)

    def read(self, node: nodes.Node | None, env: Env) -> int:
        """The class of an expression: the highest in it."""
        if isinstance(node, nodes.Name):
            return self.of_name(node.name, env) if node.ctx == "load" else LITERAL
        if node is None or isinstance(node, nodes.TemplateData | nodes.Const):
            return LITERAL
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            return CALL  # `random` and its like
        return max([self.read(child, env) for child in children(node)], default=LITERAL)

    def culprits(self, node: nodes.Node, level: int, env: Env) -> list[str]:
        """The names in it that are above the level, in their order; of filters, those that are random."""
        names = []
        for part in [node, *descendants(node)]:
            if isinstance(part, nodes.Name) and part.ctx == "load":
                if self.of_name(part.name, env) > level:
                    names.append(part.name)
            elif isinstance(part, nodes.Filter) and part.name not in FILTERS:
                names.append(part.name)
        return names

    # --- statements ----------------------------------------------------------------------

    def run(self, body: Iterable[nodes.Node], env: Env, control: int = LITERAL) -> int:
        """The highest class of anything in a body. Its bindings go into ``env``; ``control`` is the
        class of what decides whether it runs."""
        return max([self._statement(node, env, control) for node in body], default=LITERAL)

    def _statement(self, node: nodes.Node, env: Env, control: int) -> int:
        match node:
            case nodes.Output():
                return self.read(node, env)
            case nodes.Assign():
                highest = self.read(node.node, env)
                self._bind(node.target, max(highest, control), env)
                return highest
            case nodes.AssignBlock():
                highest = max(self.read(node.filter, env), self._inside(node.body, env, {}, control))
                self._bind(node.target, max(highest, control), env)
                return highest
            case nodes.If():
                return self._if(node, env, control)
            case nodes.For():
                return self._for(node, env, control)
            case nodes.With():
                inner: Env = {}
                values = [self.read(value, env) for value in node.values]
                for target, highest in zip(node.targets, values, strict=True):
                    self._bind(target, max(highest, control), inner)
                return max(*values, self._inside(node.body, env, inner, control), LITERAL, LITERAL)
            case nodes.FilterBlock():
                return max(self.read(node.filter, env), self._inside(node.body, env, {}, control))
            case nodes.Macro():
                self._keep(node.name, control, env)
                return LITERAL
            case nodes.CallBlock():
                # What it is given by `caller(…)`, the macro has from its own values or from the call's.
                given = self.read(node.call, env)
                inner = self._parameters(node, env, given)
                return max(given, self._inside(node.body, env, inner, max(control, given)))
            case _:
                return CALL  # include, import, extends and the like

    def _if(self, node: nodes.If, env: Env, control: int) -> int:
        highest = LITERAL
        ends: list[Env] = []
        for test, body in [(node.test, node.body), *((other.test, other.body) for other in node.elif_)]:
            highest = max(highest, self.read(test, env))
            ends.append(end := dict(env))
            control = max(control, highest)
            highest = max(highest, self.run(body, end, control))
        ends.append(end := dict(env))
        highest = max(highest, self.run(node.else_, end, control))
        self.join(env, ends)
        return highest

    def join(self, env: Env, ends: Sequence[Env]) -> None:
        """Where branches meet again, a name that one of them binds has the highest class of all."""
        for name in set().union(*ends):
            self._keep(name, max(self.of_name(name, end) for end in ends), env)

    def _for(self, node: nodes.For, env: Env, control: int) -> int:
        highest = self.read(node.iter, env)
        start = dict(env)
        while True:
            inner = dict(start)
            self._bind(node.target, max(highest, control), inner)
            if node.test is not None:
                highest = max(highest, self.read(node.test, inner))
            decides = max(control, highest)
            self._bind(node.target, decides, inner)
            self._keep("loop", decides, inner)
            body = self.run(node.body, inner, decides)
            # What one turn leaves behind, the next one finds.
            later = {name: max(inner[name], old) for name, old in start.items()}
            if later == start:
                break
            start = later
        self._leave(inner, env)
        return max(highest, body, self._inside(node.else_, env, {}, max(control, highest)))

    def _inside(self, body: Iterable[nodes.Node], env: Env, bound: Env, control: int) -> int:
        """A body whose bindings end with it, but for what it puts into namespaces."""
        inner = env | bound
        highest = self.run(body, inner, control)
        self._leave(inner, env)
        return highest

    def _leave(self, inner: Env, env: Env) -> None:
        for name in self.bindings.namespaces:
            if name in inner:
                self._keep(name, max(inner[name], env.get(name, LITERAL)), env)

    def _bind(self, target: nodes.Node, highest: int, env: Env) -> None:
        for part in [target, *descendants(target)]:
            if isinstance(part, nodes.NSRef):
                self._keep(part.name, max(highest, self._own(part.name, env)), env)
        for name in names_in(target):
            self._keep(name.name, highest, env)

    def _keep(self, name: str, highest: int, env: Env) -> None:
        env[name] = highest
        self._ever[name] = max(highest, self._ever.get(name, LITERAL))

    def _parameters(self, node: nodes.Macro | nodes.CallBlock, env: Env, given: int) -> Env:
        bound: Env = {}
        required = len(node.args) - len(node.defaults)
        for index, argument in enumerate(node.args):
            default = (
                self.read(node.defaults[index - required], env | bound) if index >= required else LITERAL
            )
            self._keep(argument.name, max(given, default), bound)
        return bound

    # --- macros --------------------------------------------------------------------------

    def _settle(self, tree: nodes.Template) -> None:
        parts = descendants(tree)
        changed = {
            reference.name
            for node in parts
            if isinstance(node, nodes.Macro | nodes.CallBlock)
            for reference in node.find_all(nodes.NSRef)
        }
        if changed:
            late = max(
                [self.read(node, {}) for node in parts if isinstance(node, nodes.Name | nodes.Filter)],
                default=LITERAL,
            )
            self._late = dict.fromkeys(changed, late)
        before = None
        while before != (self._ever, self._macros):
            before = dict(self._ever), dict(self._macros)
            self.run(tree.body, {})
            self._in_macro = True
            for name, definitions in self.bindings.macros.items():
                for macro in definitions:
                    # Arguments count where it is called.
                    highest = self.run(macro.body, self._parameters(macro, {}, LITERAL))
                    defaults = [self.read(default, {}) for default in macro.defaults]
                    self._macros[name] = max(self._macros[name], highest, *defaults, LITERAL)
            self._in_macro = False
