"""The list of what a template may use: nodes, filters, tests, methods and reserved names.

Read by the gate, by the check of names, and by the editor's completions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import StrictUndefined, nodes
from jinja2.utils import Namespace
from markupsafe import Markup

MOST_LOOPS = 3
LARGEST_NUMBER = 1_000_000
LONGEST_RANGE = 100_000


NODES = frozenset(
    {
        nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign,
        nodes.AssignBlock, nodes.With, nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.Name,
        nodes.NSRef, nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword,
        nodes.CondExpr, nodes.Filter, nodes.Test, nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Slice,
        nodes.Concat, nodes.Compare, nodes.Operand, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Add,
        nodes.Sub, nodes.Mod, nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos,
    }
)  # fmt: skip
"""What a template may be made of."""

TAGS: Mapping[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "from … import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.Scope: "autoescape",
    nodes.ScopedEvalContextModifier: "autoescape",
}
"""How people know the rest."""

STATEMENTS = (
    "if", "elif", "else", "endif", "for", "endfor", "set", "endset", "with", "endwith", "raw", "endraw",
    "macro", "endmacro", "call", "endcall", "filter", "endfilter",
)  # fmt: skip
"""What may come first inside ``{% %}``, the most frequent first."""


@dataclass(frozen=True)
class Signature:
    """How a filter may be called. What is left out would look up attributes by name."""

    positional: int = 0
    keywords: frozenset[str] = frozenset()
    lazy: bool = False
    """It gives an iterator, which would print its memory address."""


def _takes(*names: str, lazy: bool = False) -> Signature:
    return Signature(len(names), frozenset(names), lazy)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOTHING = _takes()

FILTERS: Mapping[str, Signature] = {
    "abs": _NOTHING,
    "batch": _takes("linecount", "fill_with", lazy=True),
    "capitalize": _NOTHING,
    "center": _takes("width"),
    "count": _NOTHING,
    "d": _takes("default_value", "boolean"),
    "default": _takes("default_value", "boolean"),
    "dictsort": _takes("case_sensitive", "by", "reverse"),
    "e": _NOTHING,
    "escape": _NOTHING,
    "filesizeformat": _takes("binary"),
    "first": _NOTHING,
    "float": _takes("default"),
    "forceescape": _NOTHING,
    "indent": _takes("width", "first", "blank"),
    "int": _takes("default", "base"),
    "items": Signature(lazy=True),
    "join": _takes("d"),
    "last": _NOTHING,
    "length": _NOTHING,
    "list": _NOTHING,
    "lower": _NOTHING,
    "max": _takes("case_sensitive"),
    "min": _takes("case_sensitive"),
    "replace": _takes("old", "new", "count"),
    "reverse": Signature(lazy=True),
    "round": _takes("precision", "method"),
    "safe": _NOTHING,
    "slice": _takes("slices", "fill_with", lazy=True),
    "sort": _takes("reverse", "case_sensitive"),
    "string": _NOTHING,
    "striptags": _NOTHING,
    "sum": Signature(0, frozenset({"start"})),
    "title": _NOTHING,
    "tojson": _takes("indent"),
    "trim": _takes("chars"),
    "truncate": _takes("length", "killwords", "end", "leeway"),
    "unique": _takes("case_sensitive", lazy=True),
    "upper": _NOTHING,
    "urlencode": _NOTHING,
    "wordcount": _NOTHING,
    "wordwrap": _takes("width", "break_long_words", "wrapstring", "break_on_hyphens"),
}

CONSUMERS = frozenset({"batch", "first", "join", "list", "max", "min", "slice", "sort", "sum", "unique"})
"""Filters that use an iterator up instead of passing it on."""

TESTS = _words(
    "boolean defined divisibleby eq equalto escaped even false float ge greaterthan gt in integer iterable"
    " le lessthan lower lt mapping ne none number odd sequence string true undefined upper"
    " == != > >= < <="
)

METHODS = _words(
    "capitalize count endswith find join lower replace split splitlines startswith strip title upper"
)
"""Methods of strings, to be called on the spot."""

LOOP_VALUES = _words("depth depth0 first index index0 last length nextitem previtem revindex revindex0")
LOOP_NUMBERS = LOOP_VALUES - {"nextitem", "previtem"}
LOOP_CALLS = frozenset({"changed", "cycle"})

FUNCTIONS = frozenset({"range", "namespace"})
ELSEWHERE = _words("cycler dict joiner kwargs lipsum self super varargs")
"""Names that jinja2 gives a meaning of its own; some open a way into Python."""

RESERVED = FUNCTIONS | ELSEWHERE | {"loop", "caller"}
"""Names that a template cannot give to something else."""

_VALUES = (str, Markup, int, float, bool, list, tuple, dict, range, type(None), Namespace, StrictUndefined)
PYTHON_ATTRIBUTES = frozenset(
    name for value in _VALUES for name in dir(value) if not name.startswith("_")
) | {"is_integer"}  # int has it from Python 3.12 on, where MixSeek may run
"""What ``value.name`` or ``value['name']`` could reach apart from a dictionary's own keys."""
