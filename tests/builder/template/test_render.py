import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

from builder.errors import (
    BuilderError,
    LimitExceeded,
    TemplateFailure,
    TemplateSyntaxFailure,
    UndefinedFailure,
)
from builder.problems import errors_in
from builder.template import render as rendering
from builder.template.check import check
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import CONTRACT, ENGLISH, MIXSEEK, Dialect
from builder.template.render import render, render_capped
from builder.template.variables import sample_values

VALUES = sample_values("team")
ROOT = Path(__file__).parents[3]


def test_contract_and_english_trim_blocks_and_mixseek_does_not() -> None:
    template = "{% if true %}\n  {% set x = 1 %}\nx\n{% endif %}\n"
    assert render("team", template, VALUES, CONTRACT) == "x\n"
    assert render("team", template, VALUES, ENGLISH) == "x\n"
    assert render("team", template, VALUES, MIXSEEK) == "\n  \nx\n"


def test_nothing_is_escaped() -> None:
    assert render("team", "{{ user_prompt }}", {"user_prompt": "<a & b>"}) == "<a & b>"


@pytest.mark.parametrize("dialect", [CONTRACT, MIXSEEK])
def test_one_trailing_newline_is_dropped_and_crlf_becomes_lf(dialect: Dialect) -> None:
    assert render("team", "a\r\n\r\nb\r\n\r\n", VALUES, dialect) == "a\n\nb\n"


@pytest.mark.parametrize(
    "template", [*DEFAULT_TEMPLATES.values(), "{{ range(100001 - round_number)|length }}\n"]
)
def test_mixseek_renders_what_its_own_environment_does(template: str) -> None:
    own = jinja2.Environment(autoescape=False, undefined=jinja2.StrictUndefined)
    values = {**VALUES, **sample_values("evaluator")}
    assert render("team", template, values, MIXSEEK) == own.from_string(template).render(values)


def test_computed_range_is_as_long_as_in_mixseek() -> None:
    template = "{% for i in range(round_number * 1) %}x{% endfor %}\n"
    assert errors_in(check("team", template)) == []
    assert render("team", template, {"round_number": 150_000}, MIXSEEK) == "x" * 150_000


def test_syntax_error_names_its_line_in_the_contract_and_none_in_mixseek() -> None:
    template = "1\n2\n3\n4\n{{ user_prompt"
    with pytest.raises(TemplateSyntaxFailure) as failure:
        render("team", template, VALUES)
    assert str(failure.value) == (
        "Jinja2 template syntax error at line 5:"
        " unexpected end of template, expected 'end of print statement'."
    )
    assert failure.value.line == 5
    assert failure.value.text("ja") == (
        "Jinja2テンプレートの構文エラー（5行目）:"
        " unexpected end of template, expected 'end of print statement'."
    )
    with pytest.raises(TemplateSyntaxFailure) as failure:
        render("team", template, VALUES, MIXSEEK)
    assert str(failure.value) == (
        "Jinja2 template error: unexpected end of template, expected 'end of print statement'."
    )
    assert failure.value.line == 5


def test_undefined_variable_has_the_words_of_the_contract() -> None:
    for dialect in (CONTRACT, ENGLISH, MIXSEEK):
        with pytest.raises(UndefinedFailure) as failure:
            render("team", "\n\n{{ unknown_variable }}", VALUES, dialect)
        assert str(failure.value) == "Jinja2 template error: 'unknown_variable' is undefined"
        assert failure.value.line == 3


@pytest.mark.parametrize(
    ("template", "line", "message"),
    [
        ("a\n{{ 1 / 0 }}", 2, "Jinja2 template error: ZeroDivisionError: division by zero"),
        (
            "a\n\n{{ 'a' + round_number }}",
            3,
            'Jinja2 template error: TypeError: can only concatenate str (not "int") to str',
        ),
        ("{% macro m() %}\n{{ 1 // 0 }}\n{% endmacro %}\n{{ m() }}", 2, None),
        ("{% macro m() %}{{ m() }}{% endmacro %}\n{{ m() }}", 1, None),
        ("\n{{ 'a'.b }}", 2, "Jinja2 template error: 'str object' has no attribute 'b'"),
        ("\n{{ ''.__class__ }}", 2, None),
        ("\n{{ 1.5 * 10.0 ** 308 * 10 }}\n{{ (1e308 * 10)|int }}", 3, None),
        ("{{ user_prompt|nope }}", 1, None),
        ("{% for i in [1] %}" * 25 + "{% endfor %}" * 25, None, None),
        ("{{ " + "(" * 900 + ")" * 900 + "}}", None, None),
        ("{% macro m(a, a) %}{% endmacro %}", None, None),
    ],
)
def test_every_failure_is_one_family_with_its_line(
    template: str, line: int | None, message: str | None
) -> None:
    with pytest.raises(TemplateFailure) as failure:
        render("team", template, VALUES)
    assert isinstance(failure.value, BuilderError)
    assert isinstance(failure.value, jinja2.TemplateError)
    assert failure.value.line == line
    assert message is None or str(failure.value) == message


def test_members_inherit_the_type_that_the_contract_names() -> None:
    with pytest.raises(jinja2.TemplateSyntaxError):
        render("team", "{% if", VALUES)
    with pytest.raises(jinja2.UndefinedError):
        render("team", "{{ nope }}", VALUES)
    with pytest.raises(jinja2.TemplateError):
        render("team", "{{ 1 / 0 }}", VALUES)


def test_failure_tells_no_memory_address_and_is_short() -> None:
    with pytest.raises(TemplateFailure) as failure:
        render("team", "{{ ('a' * 5000)|int(base=10) + 'b' }}{{ {}[[1]|batch(2)] }}", VALUES)
    assert not re.search("0x[0-9a-f]{6}", str(failure.value))
    with pytest.raises(TemplateFailure) as failure:
        render("team", "{{ {('a' * 5000): 1}[('b' * 5000)] }}", VALUES)
    assert len(str(failure.value)) < 600


def test_sandbox_keeps_attributes_away_even_from_what_the_gate_never_saw() -> None:
    with pytest.raises(TemplateFailure):
        render("team", "{{ cycler.__init__.__globals__ }}", VALUES)


def test_template_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    environment = rendering.environment_for(CONTRACT)
    original = environment.from_string

    def counting(text: str) -> jinja2.Template:
        compiled.append(text)
        return original(text)

    monkeypatch.setattr(environment, "from_string", counting)
    template = "compiled once {{ round_number }}"
    outputs = [render("team", template, {"round_number": n}, ENGLISH) for n in (1, 2)]
    assert outputs == ["compiled once 1", "compiled once 2"]
    assert compiled == [template]


@pytest.mark.slow
def test_cache_stays_small() -> None:
    for number in range(rendering.CACHED_TEMPLATES + 20):
        render("team", f"{number}", {})
    cache = rendering._COMPILED[True, True]
    assert len(cache._templates) == rendering.CACHED_TEMPLATES
    big = rendering.CACHED_CHARACTERS // 4
    for number in range(6):
        render("team", f"{number}" + "x" * big, {})
    assert sum(map(len, cache._templates)) == cache._characters <= rendering.CACHED_CHARACTERS


def test_cache_serves_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "CACHED_TEMPLATES", 3)
    wrong: list[str] = []

    def work(offset: int) -> None:
        for step in range(60):
            number = (offset + step) % 9
            output = render("team", f"thread {number} {{{{ round_number }}}}", {"round_number": offset})
            if output != f"thread {number} {offset}":
                wrong.append(output)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_capped_render_equals_the_plain_one() -> None:
    template = DEFAULT_TEMPLATES["team"]
    assert render_capped("team", template, VALUES) == render("team", template, VALUES)


def test_capped_render_stops_at_its_limit() -> None:
    template = "{% for i in range(1000000) %}{{ user_prompt }}{% endfor %}"
    with pytest.raises(LimitExceeded) as failure:
        render_capped("team", template, {"user_prompt": "x" * 100}, max_chars=10_000)
    assert failure.value.limit == "output"
    assert str(failure.value) == "Stopped: the text is longer than 10000 characters."


@pytest.mark.parametrize("rendering_function", [render, render_capped])
def test_output_that_utf8_cannot_carry_is_refused(rendering_function: Callable[..., str]) -> None:
    with pytest.raises(TemplateFailure, match="a character that UTF-8 cannot carry"):
        rendering_function("team", "{{ '%c' % 55296 }}", VALUES)


def test_capped_render_names_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory() -> str:
        raise MemoryError

    monkeypatch.setitem(rendering.environment_for(CONTRACT).globals, "out_of_memory", out_of_memory)
    with pytest.raises(LimitExceeded) as failure:
        render_capped("team", "{{ out_of_memory() }}", VALUES)
    assert failure.value.limit == "memory"


@pytest.mark.slow
def test_nothing_is_imported_or_opened_once_the_module_is_there() -> None:
    """A worker that has locked itself up could not do it any more."""
    program = """
import sys
from builder.template.allowed import FILTERS
from builder.template.check import check
from builder.errors import BuilderError
from builder.template.render import render_capped

events = []
sys.addaudithook(lambda event, arguments: event in ("import", "open") and events.append(arguments[0]))
odd = ["{% if", "{{ 1 / 0 }}", "{{ '\\\\N{SNOWMAN} \\\\x41' }}", "{{ 1.5 }}", "{{ user_promt }}"]
for template in [*odd, *("{{ '<b>a &amp; b</b>'|" + name + " }}" for name in FILTERS)]:
    check("team", template)
    try:
        render_capped("team", template, {})
    except BuilderError as error:
        str(error)
print(events)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
