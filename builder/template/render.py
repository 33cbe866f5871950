"""The rendering of templates, in the only Jinja2 environments there are.

Called by the contract's classes and the commands; for the studio only inside the jail.
"""

# Filters, string escapes and syntax errors import these on first use, which a locked-down worker
# cannot do any more.
import encodings.unicode_escape  # noqa: F401
import html  # noqa: F401
import re
import textwrap  # noqa: F401
import threading
import unicodedata  # noqa: F401
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress

import jinja2
import jinja2.debug
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from builder.errors import (
    SYNTAX,
    TEMPLATE,
    LimitExceeded,
    TemplateFailure,
    TemplateSyntaxFailure,
    UndefinedFailure,
)
from builder.messages import message
from builder.template.dialect import CONTRACT, MIXSEEK, Dialect
from builder.template.round_filters import setup_jinja2_environment
from builder.template.variables import PromptKind

CACHED_TEMPLATES = 256
CACHED_CHARACTERS = 2 * 1024 * 1024
"""The cache holds no more than this many templates, nor more than this much of their text."""

REASON_LENGTH = 500
"""Python's own messages may quote a value whole; nobody reads a megabyte of it."""

OUTPUT_LIMIT = message(
    "render-output-limit",
    "Stopped: the text is longer than {most} characters.",
    "出力が{most}文字を超えたため、中止しました。",
    fix_en="Print less: shorten a loop or a repetition.",
    fix_ja="ループや繰り返しを減らして、出力を短くしてください。",
)
MEMORY_LIMIT = message(
    "render-memory-limit",
    "Stopped: the template exceeded the memory limit.",
    "テンプレートが使えるメモリの上限を超えたため、中止しました。",
    fix_en="Build smaller texts and lists.",
    fix_ja="作る文字列やリストを小さくしてください。",
)
NOT_TEXT = "the output holds a character that UTF-8 cannot carry"

_ADDRESS = re.compile(r"\s*\bat 0x[0-9a-fA-F]+|0x[0-9a-fA-F]{6,}")


class _Compiled:
    """Templates of one set of whitespace flags, the least recently used dropped first."""

    def __init__(self, trim_blocks: bool, lstrip_blocks: bool) -> None:
        self.environment = ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            trim_blocks=trim_blocks,
            lstrip_blocks=lstrip_blocks,
        )
        # The sandbox's own range stops at 100,000 and would render less than MixSeek does. Long
        # work is bounded by the workers, and literal ranges beyond that are refused by the gate.
        self.environment.globals["range"] = range
        self._templates: OrderedDict[str, jinja2.Template] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def get(self, text: str, tree: nodes.Template | None = None) -> jinja2.Template:
        template = self._templates.get(text)
        if template is None:
            return self._compile(text, tree)
        with suppress(KeyError):  # another thread may have dropped it just now
            self._templates.move_to_end(text)
        return template

    def _compile(self, text: str, tree: nodes.Template | None) -> jinja2.Template:
        # Where other flags trim the text between the tags, the tree is another one.
        fits = tree is not None and tree.environment is self.environment
        template = self.environment.from_string(tree if tree is not None and fits else text)
        with self._lock:
            if text not in self._templates:
                self._templates[text] = template
                self._characters += len(text)
            while len(self._templates) > CACHED_TEMPLATES or self._characters > CACHED_CHARACTERS:
                dropped, _ = self._templates.popitem(last=False)
                self._characters -= len(dropped)
        return template


_COMPILED = {(trim, strip): _Compiled(trim, strip) for trim in (False, True) for strip in (False, True)}

# Apart from the others: MixSeek knows no such filters in the three user prompts.
_ROUND_TEMPLATES = _Compiled(trim_blocks=True, lstrip_blocks=True)
setup_jinja2_environment(_ROUND_TEMPLATES.environment)

PARSING_ENVIRONMENT = _COMPILED[MIXSEEK.trim_blocks, MIXSEEK.lstrip_blocks].environment
"""What a check parses in. It keeps what MixSeek keeps, so that a tree that passed is compiled as it is."""


def environment_for(dialect: Dialect) -> jinja2.Environment:
    """The environment that this dialect's templates are compiled in."""
    return _COMPILED[dialect.trim_blocks, dialect.lstrip_blocks].environment


def render(
    kind: PromptKind, text: str, variables: Mapping[str, str | int], dialect: Dialect = CONTRACT
) -> str:
    """The prompt that a template of this kind gives with these values.

    Raises ``TemplateSyntaxFailure``, ``UndefinedFailure`` or their base ``TemplateFailure``.
    The sandbox keeps a template from doing harm but does not bound its work: text from a
    stranger is rendered in the jail.
    """
    template = _template(text, dialect)
    try:
        # What Template.render does, without its rewriting of the traceback.
        parts = template.root_render_func(template.new_context(dict(variables)))
        output = "".join(parts)
    except Exception as error:
        raise _failure(error, template) from error
    return _carriable(output)


def render_capped(
    kind: PromptKind,
    text: str,
    variables: Mapping[str, str | int],
    dialect: Dialect = CONTRACT,
    max_chars: int = 1_000_000,
    tree: nodes.Template | None = None,
) -> str:
    """``render``, stopped with ``LimitExceeded`` once the output passes ``max_chars``.

    ``tree`` is what a check read of the same text. Compiling folds its constants: it is used up.
    """
    return _capped(lambda: _template(text, dialect, tree), variables, max_chars)


def render_round_template(text: str, values: Mapping[str, object], max_chars: int = 1_000_000) -> str:
    """A round prompt from a template of its own, which knows the filters of ``setup_jinja2_environment``."""
    return _capped(lambda: _compiled(_ROUND_TEMPLATES, text, SYNTAX), values, max_chars)


def render_prepared(template: jinja2.Template, values: Mapping[str, object], max_chars: int) -> str:
    """``render_capped`` for a template that somebody changed and compiled."""
    return _capped(lambda: template, values, max_chars)


_MARK = "_mark"
"""No template has such a name: the gate refuses the underscore."""


def mark(number: int, dialect: Dialect) -> nodes.Output:
    """A node that prints nothing, to be put into a tree for ``render_marked``."""
    call = nodes.Call(nodes.Name(_MARK, "load"), [nodes.Const(number)], [], None, None)
    made = nodes.Output([call])
    made.set_environment(environment_for(dialect))
    return made


def render_marked(
    tree: nodes.Template,
    variables: Mapping[str, str | int],
    dialect: Dialect = CONTRACT,
    max_chars: int = 1_000_000,
) -> tuple[str, dict[int, int]]:
    """The prompt of a tree, and how many characters stood before each of its marks that was met.

    Marks stand outside of macros, loops and the like, whose output is gathered before it is printed.
    """
    parts: list[str] = []
    met: dict[int, int] = {}

    def meet(number: int) -> str:
        met.setdefault(number, sum(map(len, parts)))
        return ""

    def compile_() -> jinja2.Template:
        environment = environment_for(dialect)
        try:
            return environment.from_string(tree)
        except Exception as error:
            raise TemplateFailure(TEMPLATE, reason=reason_of(error)) from error

    return _capped(compile_, {**variables, _MARK: meet}, max_chars, parts), met


def _capped(
    get: Callable[[], jinja2.Template],
    values: Mapping[str, object],
    max_chars: int,
    parts: list[str] | None = None,
) -> str:
    parts = [] if parts is None else parts
    try:
        template = get()
        length = 0
        try:
            for part in template.root_render_func(template.new_context(dict(values))):
                length += len(part)
                if length > max_chars:
                    raise LimitExceeded(OUTPUT_LIMIT, limit="output", most=max_chars)
                parts.append(part)
        except LimitExceeded:
            raise
        except Exception as error:
            raise _failure(error, template) from error
    except TemplateFailure as failure:
        if isinstance(failure.__cause__, MemoryError):
            raise LimitExceeded(MEMORY_LIMIT, limit="memory") from failure
        raise
    return _carriable("".join(parts))


def _carriable(output: str) -> str:
    """The output, unless a template made half a character: no model, file or pipe takes one."""
    try:
        output.encode("utf-16")  # refuses what UTF-8 does, in half the time, and needs no codec loaded
    except UnicodeEncodeError as error:  # '%c' % 55296
        raise TemplateFailure(TEMPLATE, reason=NOT_TEXT) from error
    return output


def _template(text: str, dialect: Dialect, tree: nodes.Template | None = None) -> jinja2.Template:
    compiled = _COMPILED[dialect.trim_blocks, dialect.lstrip_blocks]
    return _compiled(compiled, text, SYNTAX if dialect.errors_name_line else TEMPLATE, tree)


def _compiled(
    templates: _Compiled, text: str, code: str, tree: nodes.Template | None = None
) -> jinja2.Template:
    try:
        return templates.get(text, tree)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateSyntaxFailure(code, line=error.lineno, reason=reason_of(error)) from error
    except Exception as error:  # RecursionError, Python's own SyntaxError, an oversized number …
        raise TemplateFailure(TEMPLATE, reason=reason_of(error)) from error


def _failure(error: Exception, template: jinja2.Template) -> TemplateFailure:
    """Whatever a template raises while it renders, as one family with the template's line."""
    kind = UndefinedFailure if isinstance(error, jinja2.UndefinedError) else TemplateFailure
    return kind(TEMPLATE, line=_line(error, template), reason=reason_of(error))


def _line(error: Exception, template: jinja2.Template) -> int | None:
    line = None
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__jinja_template__") is template:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def reason_of(error: Exception) -> str:
    """What an exception says, fit for a person: bounded, and without memory addresses."""
    said = (error.message or "") if isinstance(error, jinja2.TemplateError) else str(error)
    said = _ADDRESS.sub("", said)[:REASON_LENGTH]
    if isinstance(error, jinja2.TemplateError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
