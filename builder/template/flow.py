"""The flow of values through a template: which places give which name its value, and how often they run.

Used by the bounds on growth. A name is told apart by the scope that it is given in; which branch is taken
is not asked.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jinja2 import nodes

from builder.template.bindings import Bindings, is_call_of
from builder.template.syntax import descendants

_MADE = " is a namespace"


@dataclass(eq=False)
class Scope:
    """Where names live: the template, a loop's body, a macro, a block."""

    number: int
    parent: "Scope | None" = None
    loops: tuple[nodes.For, ...] = ()
    context: str = ""
    macro: str = ""
    branches: int = 0
    names: dict[str, int] = field(default_factory=dict)
    """When each of them is first given a value here, as places are counted."""
    sure: dict[str, int] = field(default_factory=dict)
    """When it is so in no branch: from there on the scopes around are not asked."""


@dataclass(frozen=True)
class Item:
    """One of what a loop goes through."""

    loop: nodes.For


@dataclass(frozen=True)
class Printed:
    """What a body prints, through a filter where there is one."""

    body: Sequence[nodes.Node]
    filter: nodes.Filter | None = None


@dataclass(frozen=True)
class Site:
    """A place that gives a key its value."""

    lineno: int
    value: nodes.Node | Item | Printed | None
    loops: tuple[nodes.For, ...] = ()
    context: str = ""
    """The macro or call block that it stands in."""


class Flow:
    """All places of a template by key; macros are keys too, for what they print."""

    def __init__(self, tree: nodes.Template, bindings: Bindings) -> None:
        self._bindings = bindings
        self._count = 0
        self._branches = 0
        self._scopes: dict[int, tuple[Scope, int]] = {}
        """The scope of each name that is read, and when."""
        self.parameters: dict[str, list[tuple[nodes.Macro | nodes.CallBlock, Scope]]] = defaultdict(list)
        self._call_blocks: dict[str, list[tuple[nodes.Macro | nodes.CallBlock, Scope]]] = defaultdict(list)
        self._given: list[tuple[nodes.Call, Scope]] = []
        self.sites: dict[str, list[Site]] = defaultdict(list)
        self.namespaces: dict[str, Scope] = {}
        """The keys that last from one turn of a loop to the next, and where their namespace is made."""
        self.roots: list[tuple[int, nodes.Node]] = []
        """Expressions that are given to no name."""
        self.calls: dict[str, list[tuple[tuple[nodes.For, ...], str]]] = defaultdict(list)
        """The places that call a macro: the loops around, and the macro or call block."""
        self.callers: dict[str, list[tuple[tuple[nodes.For, ...], str]]] = defaultdict(list)
        """The places in a macro that run the block that called it."""
        self.blocks: dict[str, tuple[tuple[nodes.For, ...], str, str]] = {}
        """Where a call block stands, and which macro it calls."""
        self.loops: list[nodes.For] = []
        self._body(tree.body, self._scope())
        self._pass_arguments()

    def name_of(self, key: str) -> str:
        return key.partition("@")[0]

    def keys(self, node: nodes.Node) -> list[str]:
        """The keys that a name or a namespace's attribute may stand for; none for a declared variable."""
        attribute = f".{node.attr}" if isinstance(node, nodes.Getattr) else ""
        if isinstance(node, nodes.Getattr):
            node = node.node
        if not isinstance(node, nodes.Name):
            return []
        if id(node) not in self._scopes:
            return []
        scope, now = self._scopes[id(node)]
        name = node.name + attribute
        # A macro is run later, and an attribute of a namespace lasts.
        later = bool(scope.macro or attribute)
        found = []
        place: Scope | None = scope
        while place:
            if name in place.names and (later or place.names[name] < now):
                found.append(f"{name}@{place.number}")
            if not attribute and place.sure.get(name, now) < now:
                break
            place = place.parent
        return found

    # --- the walk ------------------------------------------------------------------------

    def _scope(
        self,
        parent: Scope | None = None,
        loops: tuple[nodes.For, ...] | None = None,
        context: str | None = None,
        macro: str | None = None,
    ) -> Scope:
        self._count += 1
        if parent is None:
            return Scope(self._count)
        return Scope(
            self._count,
            parent,
            parent.loops if loops is None else loops,
            parent.context if context is None else context,
            parent.macro if macro is None else macro,
            self._branches,
        )

    def _body(self, body: Iterable[nodes.Node], scope: Scope) -> None:
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: nodes.Node, scope: Scope) -> None:
        match node:
            case nodes.Output():
                for part in node.nodes:
                    self._root(part, scope)
            case nodes.If():
                self._root(node.test, scope)
                self._branches += 1
                self._body([*node.body, *node.elif_, *node.else_], scope)
                self._branches -= 1
            case nodes.For():
                self._loop(node, scope)
            case nodes.Assign():
                self._read(node.node, scope)
                self._bind(node.target, node.node, scope)
            case nodes.AssignBlock():
                self._body(node.body, self._scope(scope))
                if node.filter:
                    self._read(node.filter, scope)
                self._bind(node.target, Printed(node.body, node.filter), scope)
            case nodes.With():
                inner = self._scope(scope)
                for target, value in zip(node.targets, node.values, strict=True):
                    self._read(value, scope)
                    self._bind(target, value, inner)
                self._body(node.body, inner)
            case nodes.FilterBlock():
                self._root(node.filter, scope)
                self._body(node.body, self._scope(scope))
            case nodes.Macro():
                self._macro(node, scope)
            case nodes.CallBlock():
                self._call_block(node, scope)

    def _loop(self, node: nodes.For, scope: Scope) -> None:
        self.loops.append(node)
        self._root(node.iter, scope)
        inner = self._scope(scope, (*scope.loops, node))
        self._bind(node.target, Item(node), inner)
        if node.test:
            self._root(node.test, inner)
        self._body(node.body, inner)
        self._body(node.else_, self._scope(scope))

    def _macro(self, node: nodes.Macro, scope: Scope) -> None:
        inner = self._scope(scope, (), node.name, node.name)
        self.parameters[node.name].append((node, inner))
        for default in node.defaults:
            self._read(default, scope)
        for argument, default in zip(node.args[::-1], node.defaults[::-1], strict=False):
            self._bind(argument, default, inner)
        self._body(node.body, inner)
        self._give(f"{node.name}()", Site(node.lineno, Printed(node.body), (), node.name))

    def _call_block(self, node: nodes.CallBlock, scope: Scope) -> None:
        self._root(node.call, scope)
        context = f"call {self._count}"
        inner = self._scope(scope, (), context)
        self._body(node.body, inner)
        if isinstance(node.call.node, nodes.Name):
            self.blocks[context] = (scope.loops, scope.context, node.call.node.name)
            self._call_blocks[node.call.node.name].append((node, inner))
            self._give(f"caller of {node.call.node.name}", Site(node.lineno, Printed(node.body), (), context))

    def _root(self, node: nodes.Node, scope: Scope) -> None:
        if not isinstance(node, nodes.TemplateData | nodes.Name | nodes.Const):
            self.roots.append((node.lineno, node))
        self._read(node, scope)

    def _read(self, node: nodes.Node, scope: Scope) -> None:
        self._count += 1
        for part in [node, *descendants(node)]:
            if isinstance(part, nodes.Name):
                self._scopes[id(part)] = (scope, self._count)
            elif isinstance(part, nodes.Call) and isinstance(part.node, nodes.Name):
                self._given.append((part, scope))

    def _bind(self, target: nodes.Node, value: nodes.Node | Item | Printed | None, scope: Scope) -> None:
        match target:
            case nodes.Name() if isinstance(value, nodes.Call) and is_call_of(value, "namespace"):
                scope.names[target.name + _MADE] = self._count
                for keyword in value.kwargs:
                    self._attribute(target.name, keyword.key, keyword.value, scope, keyword.lineno)
            case nodes.Name():
                self._count += 1
                scope.names.setdefault(target.name, self._count)
                if self._branches == scope.branches:
                    scope.sure.setdefault(target.name, self._count)
                site = Site(target.lineno, value, scope.loops, scope.context)
                self._give(f"{target.name}@{scope.number}", site)
            case nodes.NSRef():
                self._attribute(target.name, target.attr, value, scope, target.lineno)
            case nodes.Tuple() | nodes.List():
                for item in target.items:
                    self._bind(item, value, scope)

    def _attribute(
        self, name: str, attr: str, value: nodes.Node | Item | Printed | None, scope: Scope, lineno: int
    ) -> None:
        # Its namespace may be made further out: there the attribute lives.
        home = scope
        while name + _MADE not in home.names and home.parent:
            home = home.parent
        home.names.setdefault(f"{name}.{attr}", self._count)
        key = f"{name}.{attr}@{home.number}"
        self.namespaces[key] = home
        self._give(key, Site(lineno, value, scope.loops, scope.context))

    def _give(self, key: str, site: Site) -> None:
        self.sites[key].append(site)

    def _pass_arguments(self) -> None:
        for call, scope in self._given:
            assert isinstance(call.node, nodes.Name)
            name = call.node.name
            if name == "caller":
                self.callers[scope.macro].append((scope.loops, scope.context))
                bodies = self._call_blocks[scope.macro]
            else:
                self.calls[name].append((scope.loops, scope.context))
                bodies = self.parameters[name]
            for body, inner in bodies:
                for argument, value in zip(body.args, call.args, strict=False):
                    self._bind(argument, value, inner)
                for keyword in call.kwargs:
                    self._bind(nodes.Name(keyword.key, "param", lineno=call.lineno), keyword.value, inner)

    def printed(self, call: nodes.Call) -> str:
        """The key of what a macro or ``caller`` prints."""
        assert isinstance(call.node, nodes.Name)
        if call.node.name == "caller" and id(call.node) in self._scopes:
            return f"caller of {self._scopes[id(call.node)][0].macro}"
        return f"{call.node.name}()"
