"""Random programs about names: who sets them, in which scope, and who reads them.

Every condition and every loop is steered by one digit of ``round_number``, so that rendering with
each number below ``ways`` takes every way through the template.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

VALUES = ("a", "b", "c", "d", "e", "f")


@dataclass(frozen=True)
class Function:
    """A macro, as its callers know it."""

    name: str
    parameters: tuple[str, ...]
    optional: int
    caller_takes: int | None
    """How many values it passes to its caller; None where it has none."""


@dataclass
class Known:
    """What has a value at a point, as far as the generator can tell."""

    values: set[str] = field(default_factory=set)
    functions: set[Function] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    def copy(self) -> "Known":
        return Known(set(self.values), set(self.functions), set(self.namespaces))


class ScopeGrammar:
    """One random program; afterwards ``ways`` says how many numbers steer it.

    Most programs make one slip or two, such as reading a name that is set elsewhere only.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.slips = random.choice((0, 0, 1, 1, 1))
        self.ways = 1
        self.sure, self.ever = Known(), Known()
        self.lost: set[str] = set()
        """Names that the last scope, or only some branches of the last condition, had set."""
        self.caller_takes: int | None = None
        self.in_loop = False
        self.statements = 0
        self.fresh = 0

    def template(self) -> str:
        return "".join(self.statement(3) for _ in range(self.random.randint(2, 6))) + "\n"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def slip(self) -> bool:
        if self.slips and self.chance(0.15):
            self.slips -= 1
            return True
        return False

    def digit(self, base: int) -> str:
        """An expression whose value is a digit of the round number that nothing else uses."""
        place, self.ways = self.ways, self.ways * base
        return f"(round_number // {place}) % {base}"

    # --- statements ----------------------------------------------------------------------

    def statement(self, depth: int) -> str:
        self.statements += 1
        simple = [self.output, self.output, self.set_, self.set_]
        if depth <= 0 or self.statements > 14 or self.ways > 16:
            return self.random.choice(simple)(depth)
        compound = [
            self.if_, self.if_, self.if_, self.for_, self.for_, self.with_, self.set_block, self.filter_block,
            self.macro, self.macro, self.call_block, self.call_block, self.namespace, self.namespace_part,
        ]  # fmt: skip
        self.lost = set()
        text = self.random.choice([*simple, *compound])(depth)
        lost = sorted(self.lost - self.sure.values)
        if lost and self.slip():
            text += "{{ " + self.random.choice(lost) + " }}"
        return text

    def body(self, depth: int) -> str:
        return "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 3)))

    def output(self, depth: int) -> str:
        return "{{ " + self.expression() + " }}"

    def set_(self, depth: int) -> str:
        value = self.expression()
        if self.chance(0.15):
            other = self.expression()
            return f"{{% set {self.bind()}, {self.bind()} = {value}, {other} %}}"
        return f"{{% set {self.bind()} = {value} %}}"

    def if_(self, depth: int) -> str:
        parts, ends = [], []
        before = self.sure.copy()
        for number in range(self.random.randint(1, 3)):
            self.sure = before.copy()
            test = self.digit(2)
            if self.chance(0.2):
                test = f"({test}) or {self.name()} is string"
            parts.append("{% " + ("elif " if number else "if ") + test + " %}" + self.body(depth))
            ends.append(self.sure)
        self.sure = before.copy()
        if self.chance(0.7):
            parts.append("{% else %}" + self.body(depth))
        ends.append(self.sure)
        self.sure = Known(
            set.intersection(*(end.values for end in ends)),
            set.intersection(*(end.functions for end in ends)),
            set.intersection(*(end.namespaces for end in ends)),
        )
        self.lost = set().union(*(end.values for end in ends))
        return "".join(parts) + "{% endif %}"

    def for_(self, depth: int) -> str:
        source = f"range({self.digit(3)})"
        with self.scope():
            target = self.bind()
            test = f" if {self.name()} is defined" if self.chance(0.1) else ""
            test = test or (f" if {self.name()} is string" if self.chance(0.1) else "")
            test = test or (" if loop.first" if self.slip() else "")
            outer, self.in_loop = self.in_loop, True
            body = self.body(depth)
            self.in_loop = outer
        otherwise = ""
        if self.chance(0.3):
            with self.scope():
                otherwise = "{% else %}" + self.body(depth)
        return f"{{% for {target} in {source}{test} %}}{body}{otherwise}{{% endfor %}}"

    def with_(self, depth: int) -> str:
        values = [self.expression() for _ in range(self.random.randint(1, 2))]
        with self.scope():
            targets = self.random.sample(VALUES, len(values))
            if len(values) == 2 and self.slip():
                values[1] = targets[0]
            pairs = ", ".join(
                f"{self.bind(name)} = {value}" for name, value in zip(targets, values, strict=True)
            )
            return f"{{% with {pairs} %}}{self.body(depth)}{{% endwith %}}"

    def set_block(self, depth: int) -> str:
        with self.scope():
            body = self.body(depth)
        return f"{{% set {self.bind()}{self.random.choice(['', '|upper'])} %}}{body}{{% endset %}}"

    def filter_block(self, depth: int) -> str:
        applied = self.random.choice(["upper", f"replace('q', {self.name()} ~ '')"])
        with self.scope():
            return f"{{% filter {applied} %}}{self.body(depth)}{{% endfilter %}}"

    def macro(self, depth: int) -> str:
        self.fresh += 1
        old = sorted(function.name for function in self.ever.functions)
        name = self.random.choice(old) if old and self.chance(0.1) else f"m{self.fresh}"
        takes = self.random.choice([None, 0, 1])
        header, names, optional, body = self.function(depth, self.random.randint(0, 2), takes)
        if takes is not None:
            body += "{{ " + self.caller_call(takes) + " }}"
        function = Function(name, tuple(names), optional, takes)
        self.sure.functions.add(function)
        self.ever.functions.add(function)
        text = f"{{% macro {name}({header}) %}}{body}{{% endmacro %}}"
        if self.chance(0.6):  # or it may never be called
            text += (
                self.block_of(function, depth) if takes is not None else f"{{{{ {self.call_of(function)} }}}}"
            )
        return text

    def call_block(self, depth: int) -> str:
        wanted = [
            function for function in self.functions() if function.caller_takes is not None or self.slip()
        ]
        if not wanted:
            return self.macro(depth)
        return self.block_of(self.random.choice(wanted), depth)

    def block_of(self, function: Function, depth: int) -> str:
        call = self.call_of(function)
        takes = function.caller_takes or 0
        count = 1 - takes if self.slip() else takes
        header, _, _, body = self.function(depth, count, None, defaults=False)
        if self.slip():
            body += "{{ caller() }}"
        return f"{{% call{f'({header})' if header else ''} {call} %}}{body}{{% endcall %}}"

    def function(
        self, depth: int, count: int, takes: int | None, defaults: bool = True
    ) -> tuple[str, list[str], int, str]:
        names = self.random.sample(VALUES, count)
        parts, optional = [], 0
        outer, self.caller_takes = self.caller_takes, takes
        with self.scope():
            self.sure.values -= set(names)
            for name in names:
                if defaults and (optional or self.chance(0.4)):
                    parts.append(f"{name}={name if self.slip() else self.name()}")
                    optional += 1
                else:
                    parts.append(name)
                self.bind(name)
            body = "".join("{{ " + name + " }}" for name in names) + self.body(depth)
        self.caller_takes = outer
        return ", ".join(parts), names, optional, body

    def namespace(self, depth: int) -> str:
        value = self.expression()
        name = self.random.choice(("ns", "nt"))
        self.sure.namespaces.add(name)
        self.ever.namespaces.add(name)
        return f"{{% set {name} = namespace(v={value}, w='w') %}}"

    def namespace_part(self, depth: int) -> str:
        name = self.namespace_name()
        return f"{{% set {name}.v = {self.expression()} %}}" if name else self.namespace(depth)

    @contextmanager
    def scope(self) -> Iterator[None]:
        kept = self.sure.copy()
        yield
        self.lost, self.sure = self.sure.values, kept

    def bind(self, name: str = "") -> str:
        name = name or self.random.choice(VALUES)
        self.sure.values.add(name)
        self.ever.values.add(name)
        return name

    # --- expressions ---------------------------------------------------------------------

    def name(self) -> str:
        lost = sorted(self.lost - self.sure.values) or sorted(self.ever.values - self.sure.values)
        if lost and self.slip():
            return self.random.choice(lost)
        return self.random.choice(sorted(self.sure.values) or ["user_prompt"])

    def functions(self) -> list[Function]:
        lost = sorted(self.ever.functions - self.sure.functions, key=repr)
        return lost if lost and self.slip() else sorted(self.sure.functions, key=repr)

    def namespace_name(self) -> str:
        lost = sorted(self.ever.namespaces - self.sure.namespaces)
        known = lost if lost and self.slip() else sorted(self.sure.namespaces)
        return self.random.choice(known) if known else ""

    def expression(self) -> str:
        chance = self.random.random()
        if chance < 0.25:
            return self.random.choice(["'x'", "user_prompt", "round_number"])
        if chance < 0.6:
            return self.name()
        if chance < 0.65:
            return f"({self.name()} ~ {self.name()})"
        if chance < 0.72 and (namespace := self.namespace_name()):
            return f"{namespace}.{self.random.choice('vw')}"
        if chance < 0.86:
            return self.call()
        if chance < 0.9 and (self.in_loop or self.slip()):
            return "loop.index"
        if chance < 0.94 and (self.caller_takes is not None or self.slip()):
            return self.caller_call(self.caller_takes or 0)
        if chance < 0.96 and self.ways <= 16:
            return f"({self.name()} if {self.digit(2)} else {self.name()})"
        read = self.random.choice(sorted(self.ever.values) or ["user_prompt"])
        return self.random.choice(["{}|default('d')", "({} is defined)"]).format(read)

    def caller_call(self, takes: int) -> str:
        return f"caller({', '.join(self.name() for _ in range(takes))})"

    def call(self) -> str:
        wanted = [function for function in self.functions() if function.caller_takes is None or self.slip()]
        return self.call_of(self.random.choice(wanted)) if wanted else "user_prompt.upper()"

    def call_of(self, function: Function) -> str:
        given = list(function.parameters)
        if function.optional and self.chance(0.5):
            given = given[: -function.optional]
        if given and self.slip():
            given.pop()
        named = self.chance(0.2)
        values = [f"{name}={self.name()}" if named else self.name() for name in given]
        return f"{function.name}({', '.join(values)})"
