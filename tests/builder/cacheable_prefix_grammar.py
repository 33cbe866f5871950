"""Random templates whose names are bound again and again, to values that change more or less often."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from builder.template.variables import VARIABLES, PromptKind

NAMES = ("a", "b", "c")
TEXTS = ["text ", "見出し\n", "\n", "🏆 x\n\n", "  ", "# head\n", "a b\n", "\n  "]
LITERALS = ["''", "'a'", "'b c'", "'あ🏆'", "'\\n'", "'<b>'", "' '"]
FILTERS = [
    "upper", "trim", "title", "e", "indent(1, true)", "truncate(3, true, '')", "center(5)", "wordwrap(2)",
    "tojson", "list|join('-')", "reverse|join", "length|string", "default('d')", "striptags",
    "list|unique|sort|join", "wordcount|string", "first|default('')", "safe", "capitalize",
]  # fmt: skip
STRINGS = ["", "a", "b", "a b", "x\ny", "<b>", "あ", "🏆", "1", " ", "\n", "b c d", "A", "2025-11-19T12:34"]


@dataclass
class Known:
    """What surely has a value at a point."""

    values: set[str] = field(default_factory=set)
    macros: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    namespaces: set[str] = field(default_factory=set)

    def copy(self) -> "Known":
        return Known(set(self.values), dict(self.macros), set(self.namespaces))


class PrefixGrammar:
    """One random template. Every expression is a string, so that few renders fail."""

    def __init__(self, random: Random, kind: PromptKind) -> None:
        self.random = random
        self.texts = [each.name for each in VARIABLES[kind] if each.type == "string"]
        self.numbers = [each.name for each in VARIABLES[kind] if each.type == "int"]
        # Most templates use few variables, or every prefix would be short.
        self.favourites = random.sample(self.texts, random.randint(1, 2))
        self.known = Known()
        self.ever: set[str] = set()
        self.in_loop = 0
        self.in_macro = False
        self.fresh = 0
        self.budget = random.randint(8, 45)
        # A variable that is printed at once ends every prefix. In most templates few are used, and only
        # where nothing is printed; what they leave behind is printed in the end.
        self.concealing = random.random() < 0.8
        self.uses = random.randint(1, 3) if self.concealing else 1_000
        self.hidden = False

    def template(self) -> str:
        text = "".join(self.statement(3) for _ in range(self.random.randint(3, 9)))
        if self.concealing:
            text += self.probes()
        return self.random.choice(TEXTS) + text + self.random.choice(["", "\n", "\n\n", "end"])

    def probes(self) -> str:
        """Print whatever has a value, in any order."""
        self.uses = 0
        found = [self.printed(name) for name in sorted(self.known.values)]
        found += [self.printed(f"{name}.{part}") for name in sorted(self.known.namespaces) for part in "vw"]
        for name, (count, takes) in self.known.macros.items():
            given = f"{name}({', '.join(self.random.choice(LITERALS) for _ in range(count))})"
            body = self.printed("p") if takes else "x"
            header = "(p)" if takes else ""
            block = self.tag(f"call{header} {given}") + body + self.tag("endcall")
            found.append(self.printed(given) if takes is None else block)
        self.random.shuffle(found)
        return "|".join(found)

    @contextmanager
    def concealed(self) -> Iterator[None]:
        kept, self.hidden = self.hidden, True
        yield
        self.hidden = kept

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def tag(self, inside: str) -> str:
        left = self.random.choices(["", "-", "+"], [8, 1, 1])[0]
        right = self.random.choices(["", "-", "+"], [8, 1, 1])[0]
        return f"{{%{left} {inside} {right}%}}" + ("\n" if self.chance(0.3) else "")

    def printed(self, inside: str) -> str:
        left, right = self.random.choices(["", "-"], [9, 1])[0], self.random.choices(["", "-"], [9, 1])[0]
        return f"{{{{{left} {inside} {right}}}}}"

    # --- statements ----------------------------------------------------------------------

    def statement(self, depth: int) -> str:
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.output(1) if self.chance(0.6) else self.random.choice(TEXTS)
        kinds: list[Callable[[int], str]] = [
            self.text, self.text, self.output, self.output, self.output, self.set_, self.set_, self.set_block,
            self.if_, self.if_, self.for_, self.with_, self.filter_, self.macro, self.call, self.namespace,
            self.namespace_part, self.namespace_part,
        ]  # fmt: skip
        return self.random.choice(kinds)(depth)

    def body(self, depth: int) -> str:
        return "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 3)))

    def text(self, depth: int) -> str:
        special = ["{# {{ current_datetime }} #}", "{%- raw %}{{ a }}{% endraw -%}", "{#- note -#}"]
        return self.random.choice(special if self.chance(0.2) else TEXTS)

    def output(self, depth: int) -> str:
        return self.printed(self.expression(depth))

    def set_(self, depth: int) -> str:
        with self.concealed():
            value, other = self.expression(depth), self.expression(depth)
        if self.chance(0.15):
            return self.tag(f"set {self.bind()}, {self.bind()} = {value}, {other}")
        return self.tag(f"set {self.bind()} = {value}")

    def set_block(self, depth: int) -> str:
        with self.scope(), self.concealed():
            body = self.body(depth)
        applied = self.random.choice(["", "", "|upper", "|trim"])
        return self.tag(f"set {self.bind()}{applied}") + body + self.tag("endset")

    def if_(self, depth: int) -> str:
        parts, ends = [], []
        before = self.known.copy()
        for number in range(self.random.randint(1, 3)):
            self.known = before.copy()
            parts += [self.tag(("elif " if number else "if ") + self.condition(depth)), self.body(depth)]
            ends.append(self.known)
        self.known = before.copy()
        if self.chance(0.6):
            parts += [self.tag("else"), self.body(depth)]
        ends.append(self.known)
        self.known = Known(
            set.intersection(*(end.values for end in ends)),
            {n: s for n, s in ends[0].macros.items() if all(end.macros.get(n) == s for end in ends)},
            set.intersection(*(end.namespaces for end in ends)),
        )
        return "".join(parts) + self.tag("endif")

    def for_(self, depth: int) -> str:
        if self.in_loop >= 2:
            return self.output(depth)
        numbers = self.numbers if self.hidden or not self.concealing else []
        number = self.random.choice(["2", "3", *(f"{name} % 4" for name in numbers)])
        text = self.expression(1)
        source = self.random.choice([f"range({number})", f"({text}).split()", f"({text})|list", "['x', 'y']"])
        with self.scope():
            target = self.bind() if "range" not in source else "i"
            test = f" if {target} != 'a'" if self.chance(0.1) else ""
            self.in_loop += 1
            body = self.body(depth)
            if self.chance(0.4):
                extra = self.random.choice(["loop.index", "loop.length", "loop.cycle('x', 'y')", "loop.last"])
                body += self.printed(extra)
            self.in_loop -= 1
        otherwise = ""
        if self.chance(0.2):
            with self.scope():
                otherwise = self.tag("else") + self.body(depth)
        return self.tag(f"for {target} in {source}{test}") + body + otherwise + self.tag("endfor")

    def with_(self, depth: int) -> str:
        value = self.expression(depth)
        with self.scope():
            return self.tag(f"with {self.bind()} = {value}") + self.body(depth) + self.tag("endwith")

    def filter_(self, depth: int) -> str:
        applied = self.random.choice(
            ["upper", "trim", "indent(2)", f"replace('a', {self.expression(1)})", "wordwrap(3)"]
        )
        with self.scope():
            return self.tag(f"filter {applied}") + self.body(depth) + self.tag("endfilter")

    def macro(self, depth: int) -> str:
        if self.in_macro:
            return self.output(depth)
        self.fresh += 1
        name = f"m{self.random.randint(1, self.fresh)}" if self.chance(0.1) else f"m{self.fresh}"
        self.known.macros.pop(name, None)
        parameters = self.random.sample(NAMES, self.random.randint(0, 2))
        takes = self.random.choice([None, None, 0, 1])
        with self.concealed():
            default = f"={self.expression(1)}" if parameters and self.chance(0.3) else ""
        header = ", ".join(parameters) + default
        with self.scope(), self.concealed():
            for parameter in parameters:
                self.bind(parameter)
            self.in_macro = True
            loops, self.in_loop = self.in_loop, 0
            body = self.body(depth) + "".join(self.printed(each) for each in parameters)
            self.in_loop, self.in_macro = loops, False
            if takes is not None:
                given = self.expression(1) if takes else ""
                body += self.printed(f"caller({given})")
        self.known.macros[name] = len(parameters), takes
        return self.tag(f"macro {name}({header})") + body + self.tag("endmacro")

    def call(self, depth: int) -> str:
        able = [(name, takes) for name, (_, takes) in self.known.macros.items() if takes is not None]
        if not able or self.in_macro:
            return self.macro(depth)
        name, takes = self.random.choice(able)
        given = self.call_of(name)
        with self.scope():
            header = f"({self.bind()})" if takes else ""
            return self.tag(f"call{header} {given}") + self.body(depth) + self.tag("endcall")

    def namespace(self, depth: int) -> str:
        with self.concealed():
            value = self.expression(1)
        name = self.random.choice(("ns", "nt"))
        self.known.namespaces.add(name)
        return self.tag(f"set {name} = namespace(v={value}, w='w')")

    def namespace_part(self, depth: int) -> str:
        if not self.known.namespaces:
            return self.namespace(depth)
        name = self.random.choice(sorted(self.known.namespaces))
        with self.concealed():
            return self.tag(f"set {name}.{self.random.choice('vw')} = {self.expression(depth)}")

    @contextmanager
    def scope(self) -> Iterator[None]:
        kept = self.known.copy()
        yield
        self.known = kept

    def bind(self, name: str = "") -> str:
        name = name or self.random.choice(NAMES)
        self.known.values.add(name)
        self.ever.add(name)
        return name

    # --- expressions ---------------------------------------------------------------------

    def leaf(self) -> str:
        known = sorted(self.known.values)
        known += [f"{name}.{part}" for name in sorted(self.known.namespaces) for part in "vw"]
        share = self.random.random()
        if known and share < 0.55:
            return self.random.choice(known)
        if share < 0.85 and self.uses > 0 and (self.hidden or not self.concealing):
            self.uses -= 1
            if self.numbers and self.chance(0.2):
                return f"({self.numbers[0]} ~ '')"
            return self.random.choice(self.favourites if self.chance(0.8) else self.texts)
        return self.random.choice(LITERALS)

    def call_of(self, name: str) -> str:
        count = self.known.macros[name][0]
        return f"{name}({', '.join(self.expression(1) for _ in range(count))})"

    def expression(self, depth: int) -> str:
        self.budget -= 1
        if depth <= 0 or self.chance(0.4):
            return self.leaf()
        depth -= 1
        able = [name for name, (_, takes) in self.known.macros.items() if takes is None]
        if able and self.chance(0.35) and not self.in_macro:
            return self.call_of(self.random.choice(able))
        one, other = self.expression(depth), self.expression(depth)
        options = [
            f"({one} ~ {other})", f"({one})|{self.random.choice(FILTERS)}", f"({one}).upper()",
            f"({one}).replace('a', {other})", f"({one} if {self.condition(depth)} else {other})",
            f"({one})[:{self.random.randint(0, 3)}]", f"[{one}, {other}]|join({self.leaf()})",
            f"({one} or {other})", f"({one} and {other})", f"{{'k': {one}}}['k']",
            f"({one}).find('a')|string",
        ]  # fmt: skip
        if self.ever and self.chance(0.1):
            return f"({self.random.choice(sorted(self.ever))}|default({one}))"
        return self.random.choice(options)

    def condition(self, depth: int) -> str:
        one = self.expression(depth - 1)
        options = [
            f"{one} == {self.random.choice(LITERALS)}", one, f"'a' in {one}", f"({one})|length > 1",
            f"not {one}", "true", "false", f"{one} != {self.leaf()}",
        ]  # fmt: skip
        if self.hidden or not self.concealing:
            options += [f"{name} > {self.random.randint(0, 3)}" for name in self.numbers for _ in range(3)]
        if self.ever:
            options.append(f"{self.random.choice(sorted(self.ever))} is defined")
        return self.random.choice(options)


def values(random: Random, kind: PromptKind) -> dict[str, str | int]:
    """Values of very different shapes."""
    return {
        each.name: random.randint(0, 4) if each.type == "int" else random.choice(STRINGS)
        for each in VARIABLES[kind]
    }
