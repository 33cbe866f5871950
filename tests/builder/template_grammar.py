"""Random templates for the fuzzers: programs that mostly work, with attacks sprinkled in."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Type = Literal["text", "number", "list", "dict"]
TYPES: tuple[Type, ...] = ("text", "number", "list", "dict")

TEXTS = [
    "''", "'a'", "'b c'", "'あいう'", "'%s'", "'%r|%s'", "'<b>x</b>'", "'a,b,c'", "'x\\ny'", "'{0.upper}'",
    "'__class__'", "'upper'", "'items'", "'_'", "'12'", "'name'", "'{}'", "'__init__'", "'count'", "'real'",
]  # fmt: skip
KEYS = ["name", "rank", "note", "あ", "kind"]
ATTRIBUTES = [
    "__class__", "__init__", "__globals__", "__mro__", "_x", "upper", "format", "format_map", "items", "keys",
    "values", "append", "mro", "gi_frame", "real", "imag", "name", "title", "index", "start", "encode",
    "join", "split", "count", "numerator", "fromkeys", "copy", "get", "pop", "arguments", "caller", "cycle",
    "changed", "striptags", "unescape", "environment",
]  # fmt: skip
GLOBALS = ["cycler", "joiner", "lipsum", "dict", "self", "super", "varargs", "kwargs", "config", "request"]


class TemplateGrammar:
    """One random template per seed. ``hostility`` is the share of expressions that try an attack."""

    def __init__(self, seed: int, hostility: float) -> None:
        self.random = random.Random(seed)
        self.hostility = hostility
        self.names: dict[str, Type] = {
            "user_prompt": "text",
            "submission_history": "text",
            "ranking_table": "text",
            "round_number": "number",
        }
        self.macros: dict[str, int] = {}
        self.block_macros: list[str] = []
        self.namespaces: dict[str, dict[str, Type]] = {}
        self.loops = 0
        self.fresh = 0
        self.budget = self.random.randint(5, 60)

    def template(self) -> str:
        return "".join(self.statement(3) for _ in range(self.random.randint(1, 5))) + "\n"

    # --- statements ----------------------------------------------------------------------

    def body(self, depth: int) -> str:
        return "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))

    def statement(self, depth: int) -> str:
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.output(1)
        choices: list[Callable[[int], str]] = [
            self.output, self.output, self.output, self.text, self.if_, self.for_, self.set_, self.set_,
            self.set_block, self.with_, self.macro, self.namespace, self.set_in_namespace, self.filter_block,
            self.block_macro,
        ]  # fmt: skip
        return self.random.choice(choices)(depth)

    def text(self, depth: int) -> str:
        return self.random.choice(["text ", "見出し\n", "{# note #}", "{% raw %}{{ x }}{% endraw %}", "\n"])

    def output(self, depth: int) -> str:
        return "{{ " + self.any(depth) + " }}"

    def if_(self, depth: int) -> str:
        parts = ["{% if " + self.condition(depth) + " %}"]
        with self.scope():
            parts.append(self.body(depth))
        if self.random.random() < 0.3:
            with self.scope():
                parts += ["{% elif " + self.condition(depth) + " %}", self.body(depth)]
        if self.random.random() < 0.6:
            with self.scope():
                parts += ["{% else %}", self.body(depth)]
        return "".join(parts) + "{% endif %}"

    def for_(self, depth: int) -> str:
        if self.loops >= 3:
            return self.output(depth)
        name = self.new("v")
        kind: Type = self.random.choice(("text", "number"))
        if kind == "number":
            source = f"range({self.random.randint(0, 4)})"
        else:
            inner = self.expression("list", depth - 1)
            source = f"({inner})" + self.random.choice(["", "|unique", "|reverse", "|list", "|sort"])
        test = f" if {self.random.choice(['not ', ''])}{name}" if self.random.random() < 0.2 else ""
        with self.scope():
            self.names[name] = kind
            self.loops += 1
            body = self.body(depth)
            self.loops -= 1
        with self.scope():
            otherwise = "{% else %}" + self.body(depth) if self.random.random() < 0.2 else ""
        return f"{{% for {name} in {source}{test} %}}{body}{otherwise}{{% endfor %}}"

    def set_(self, depth: int) -> str:
        kind = self.random.choice(TYPES)
        value = self.expression(kind, depth)
        name = self.new("x")
        self.names[name] = kind
        return f"{{% set {name} = {value} %}}"

    def set_block(self, depth: int) -> str:
        with self.scope():
            body = self.body(depth)
        name = self.new("b")
        self.names[name] = "text"
        applied = self.random.choice(["", "|upper", "|replace('a', 'b')", "|indent(2)", "|safe", "|trim"])
        return f"{{% set {name}{applied} %}}{body}{{% endset %}}"

    def with_(self, depth: int) -> str:
        kind = self.random.choice(TYPES)
        value = self.expression(kind, depth)
        name = self.new("w")
        with self.scope():
            self.names[name] = kind
            return f"{{% with {name} = {value} %}}{self.body(depth)}{{% endwith %}}"

    def macro(self, depth: int) -> str:
        name = self.new("m")
        parameters = [self.new("p") for _ in range(self.random.randint(0, 2))]
        with self.scope():
            self.names.update(dict.fromkeys(parameters, "text"))
            body = self.body(depth)
        self.macros[name] = len(parameters)
        return f"{{% macro {name}({', '.join(parameters)}) %}}{body}{{% endmacro %}}"

    def block_macro(self, depth: int) -> str:
        if self.block_macros and self.random.random() < 0.6:
            with self.scope():
                body = self.body(depth)
            return f"{{% call {self.random.choice(self.block_macros)}() %}}{body}{{% endcall %}}"
        name = self.new("c")
        with self.scope():
            body = self.body(depth)
        self.block_macros.append(name)
        return f"{{% macro {name}() %}}{body}{{{{ caller() }}}}{{% endmacro %}}"

    def namespace(self, depth: int) -> str:
        values = {
            key: self.random.choice(TYPES) for key in self.random.sample(["n", "count", "items", "t"], 2)
        }
        given = ", ".join(f"{key}={self.expression(kind, 1)}" for key, kind in values.items())
        name = self.new("ns")
        self.namespaces[name] = values
        return f"{{% set {name} = namespace({given}) %}}"

    def set_in_namespace(self, depth: int) -> str:
        if not self.namespaces:
            return self.output(depth)
        name = self.random.choice(list(self.namespaces))
        key = self.random.choice(list(self.namespaces[name]))
        return f"{{% set {name}.{key} = {self.expression(self.namespaces[name][key], depth)} %}}"

    def filter_block(self, depth: int) -> str:
        with self.scope():
            body = self.body(depth)
        applied = self.random.choice(["upper", "replace('a', user_prompt)", "indent(1, true)", "wordwrap(9)"])
        return f"{{% filter {applied} %}}{body}{{% endfilter %}}"

    @contextmanager
    def scope(self) -> Iterator[None]:
        kept = dict(self.names), dict(self.macros), list(self.block_macros), dict(self.namespaces)
        yield
        self.names, self.macros, self.block_macros, self.namespaces = kept

    def new(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # --- expressions ---------------------------------------------------------------------

    def condition(self, depth: int) -> str:
        a, b = self.expression("number", depth - 1), self.expression("number", depth - 1)
        text = self.expression("text", depth - 1)
        return self.random.choice(
            [
                f"({a}) > ({b})",
                f"({text}) == {self.random.choice(TEXTS)}",
                f"({text}) is string and not ({a}) is even",
                f"'a' in ({text})",
                f"({text})",
                f"({a}) is divisibleby(2)",
                f"({self.expression('list', depth - 1)}) is iterable",
                "true",
                "round_number > 1",
            ]
        )

    def any(self, depth: int) -> str:
        return self.expression(self.random.choice(("text", "text", *TYPES)), depth)

    def expression(self, kind: Type, depth: int) -> str:
        self.budget -= 1
        if self.random.random() < self.hostility:
            return self.attack(kind, depth)
        if depth <= 0 or self.budget <= 0:
            return self.leaf(kind)
        return {"text": self.text_of, "number": self.number, "list": self.list_of, "dict": self.dict_of}[
            kind
        ](depth)

    def leaf(self, kind: Type) -> str:
        known = [name for name, other in self.names.items() if other == kind]
        for name, values in self.namespaces.items():
            known += [f"{name}.{key}" for key, other in values.items() if other == kind]
        if self.loops and kind == "number":
            known += ["loop.index", "loop.index0", "loop.revindex", "loop.length", "loop.depth"]
        if known and self.random.random() < 0.6:
            return self.random.choice(known)
        if kind == "text":
            return self.random.choice(TEXTS)
        if kind == "number":
            return self.random.choice(["0", "1", "2", "7", "3.5", "true"])
        return "['a', 'b', 'a']" if kind == "list" else "{'name': 'x', 'rank': 1}"

    def text_of(self, depth: int) -> str:
        depth -= 1
        text, other = self.expression("text", depth), self.expression("text", depth)
        number, many = self.expression("number", depth), self.expression("list", depth)
        method = self.random.choice(
            ["upper()", "lower()", "title()", "capitalize()", "strip()", f"replace('a', {other})"]
        )
        chosen = self.random.choice(
            ["upper", "lower", "trim", "title", "e", "safe", "striptags", "urlencode", "string", "indent",
             "capitalize", "forceescape", "truncate(5)", "center(9)", "wordwrap(4)", "tojson", "reverse|join",
             f"replace({other}, 'z')", f"default({other})", "d('x', true)", "list|join('-')",
             "truncate(3, true)"]
        )  # fmt: skip
        options = [
            f"({text}).{method}", f"({text})|{chosen}", f"({text}) ~ ({self.any(depth)})",
            f"({text}) + ({other})",
            f"({many})|join({other})", f"({text})[{number}|int]", f"({text})[:{number}]",
            f"'%s' % ({number})",
            f"({text}) if {self.condition(depth)} else ({other})", f"({self.any(depth)})|tojson",
            f"({self.any(depth)})|string", f"({many})|first", f"({many})|last", f"({other}).join({many})",
            f"({number})|filesizeformat", f"({self.expression('dict', depth)})['{self.random.choice(KEYS)}']",
            f"({self.expression('dict', depth)}).{self.random.choice(KEYS)}",
            f"'%s:%s' % ({text}, {number})", f"({text}) * 2", f"({many})|max",
        ]  # fmt: skip
        if self.macros:
            name = self.random.choice(list(self.macros))
            given = ", ".join(self.any(depth) for _ in range(self.macros[name]))
            options += [f"{name}({given})"] * 3
        if self.loops:
            options += [
                f"loop.cycle({text}, {other})",
                f"loop.previtem|default({other})",
                "loop.nextitem|d('')",
            ]
        return self.random.choice(options)

    def number(self, depth: int) -> str:
        depth -= 1
        number, other = self.expression("number", depth), self.expression("number", depth)
        text, many = self.expression("text", depth), self.expression("list", depth)
        options = [
            f"({number}) {self.random.choice('+-*/%')} ({other})", f"({number}) // ({other})", f"-({number})",
            f"({text})|length", f"({many})|count", f"({text})|int", f"({text})|float", f"({text})|wordcount",
            f"({text}).count('a')", f"({text}).find('b')", f"({number})|abs", f"({number})|round(1)",
            f"[{number}, {other}]|sum", f"[{number}, {other}]|min", f"({text})|int({other})",
            f"not ({self.condition(depth)})", f"[{number}, 1, 2][{other}|int]",
        ]  # fmt: skip
        if self.loops:
            options += ["loop.index", "loop.first", f"loop.changed({text})"]
        return self.random.choice(options)

    def list_of(self, depth: int) -> str:
        depth -= 1
        many, text = self.expression("list", depth), self.expression("text", depth)
        number = self.expression("number", depth)
        return self.random.choice(
            [
                f"[{text}, {self.any(depth)}]", f"({text}, {text})", f"({text}).split()",
                f"({text}).splitlines()",
                f"range({self.random.randint(0, 5)})|list", f"range(({number})|int % 7)|list",
                f"({many})|sort",
                f"({many})|unique|list", f"({many})|batch(2)|list", f"({many})|slice(2)|list",
                f"({many})[1:]",
                f"({self.expression('dict', depth)})|dictsort", f"({many})|reverse|list",
                f"({many}) + [{text}]",
                f"({self.expression('dict', depth)})|items|list", f"({text})|list",
                f"({many})|batch(2)|first",
                f"({many}) * 2", f"({text}).split({self.random.choice(TEXTS)})", f"({many})|unique|sort",
            ]
        )  # fmt: skip

    def dict_of(self, depth: int) -> str:
        key = self.random.choice(KEYS)
        return (
            f"{{'{key}': {self.any(depth - 1)}, 'name': {self.any(depth - 1)}, {self.leaf('number')}: 'n'}}"
        )

    def attack(self, kind: Type, depth: int) -> str:
        """Something that should be refused, or that comes close to it."""
        depth -= 1
        value, text = self.expression(kind, depth), self.expression("text", depth)
        many, attribute = self.expression("list", depth), self.random.choice(ATTRIBUTES)
        names = [*self.macros, *self.namespaces, *self.block_macros, "loop", "caller", "range", "namespace"]
        name = self.random.choice(names + GLOBALS)
        return self.random.choice(
            [
                f"({value}).{attribute}", f"({value}).{attribute}()", f"({value}).{attribute}({text})",
                f"({value})['{attribute}']", f"({value})[{text}]", f"({value})[({text})|int({text})]",
                f"({value})[({text})|int(default={text})]", f"({value})[({text})|float({text})]", name,
                f"{name}.{attribute}", f"{name}['{attribute}']", f"{name}[{text}]", f"{name}()", f"[{name}]",
                f"({name})|string", f"{name} ~ ''", f"{name}.{attribute}()", f"({value})|attr('{attribute}')",
                f"({many})|map('{attribute}')|list", f"({many})|map(attribute='{attribute}')|list",
                f"({many})|sort(attribute='{attribute}')", f"({many})|sort(false, false, '{attribute}')",
                f"({many})|join(',', '{attribute}')", f"({many})|join(attribute='{attribute}')",
                f"({many})|sum('{attribute}')", f"({many})|sum(start={text})", f"({many})|unique",
                f"({many})|batch(2)", f"({many})|slice(2)", f"({many})|reverse", f"[({many})|unique]",
                f"({many})|unique|string", f"({many})|max(attribute='{attribute}')",
                f"({many})|groupby('{attribute}')",
                f"({many})|min(false, '{attribute}')", f"({many})|batch(2, ({many})|reverse)|list",
                f"({value})|default(({many})|unique)", f"({text}).format({value})",
                f"({text})|format({value})",
                f"({text}).join(({many})|reverse)", f"({value})|pprint", f"({many})|random",
                f"2 ** ({value})",
                f"({value}) is callable", f"({value}) is sameas({value})", f"({value}) is filter",
                f"({value})[{name}]", f"({value})[loop.previtem]", f"namespace(a={value})",
                f"namespace({value})",
                f"range({value})", f"range(*{many})", f"({text})|replace(*{many})", f"({value})({text})",
                f"'%s' % ({many})|reverse", f"(({many})|first)['{attribute}']", f"({{'a': {many}|items}})",
                f"({text} if {text})",
                f"({value})|{self.random.choice(['upper', 'list', 'tojson', 'items', 'sum'])}",
                f"({value})|tojson({text})", f"({value})[({text})|round]", f"loop.cycle(({many})|reverse)",
                f"({value})[{text}:{value}]", f"({value})[1, {text}]", f"({text})|string.upper",
                "loop.changed",
                f"({many})|first(1)", f"({value})[{text}|length]", f"({many})|slice(2, {value})|join",
                f"loop({many})", f"({value})[true]", f"({value})[none]", f"({value}).0", f"({value})[-1]",
            ]
        )  # fmt: skip
