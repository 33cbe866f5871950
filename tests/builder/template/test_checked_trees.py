"""A tree that passed the check is compiled as it is: into exactly the code that its text gives."""

import jinja2
import pytest
from jinja2 import nodes

from builder.errors import TemplateFailure
from builder.problems import errors_in
from builder.template.check import Reading, read
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.dialect import DIALECTS, MIXSEEK, Dialect
from builder.template.render import environment_for, render_capped
from builder.template.variables import sample_values
from tests.builder.template_grammar import TemplateGrammar
from tests.fuzzing import share_of

VALUES = sample_values("team")
TEXTS = {
    "defaults": DEFAULT_TEMPLATES["team"],
    "line ends": "a\r\n{{ 'x\r\ny' }}\r{% if true %}\r\n\tb\n{% endif %}\n\n",
    "white space control": "a \n{%- if true -%} \n b {%+ set x = 1 +%}\n{{- x -}} {#- c -#} \n{% endif %} d",
    "raw": "{% raw %}{{ a }}\n{% b %}{% endraw %}{{ '{{' }}\n{# {{ user_prompt }} #}",
    "folded": "{{ 2 * 3 }}\n{{ 'a' ~ 1 ~ -2 }}{{ 'b'|upper }}{% if 1 > 2 %}{{ 7 }}{% endif %}{{ [1] }}",
    "numbers": "{{ 0x000000000000000000000000ff }}\n{{ 0b" + "0" * 5_000 + "1 }}{{ 1_000 + 0o17 }}{{ 1e3 }}",
    "escapes": "{{ '\\n\\t\\N{BULLET}\\u3042\\'\"' }}\n{{ \"\\\\\" }}",
}


def accepted(text: str) -> Reading:
    reading = read("team", text)
    assert errors_in(reading.problems) == []
    assert reading.tree is not None
    return reading


def code(source: str | nodes.Template | None) -> str:
    """The generated Python, with the lines of the template that its errors are told by."""
    assert source is not None
    try:
        return environment_for(MIXSEEK).compile(source, raw=True)
    except Exception as error:  # folding a constant fails where rendering it would
        return f"{type(error).__name__}: {error}"


def assert_same_code_from_grammar(first: int, count: int) -> None:
    compared = 0
    for seed in range(first, first + count):
        text = TemplateGrammar(seed, hostility=0.01).template()
        reading = read("team", text)
        if not errors_in(reading.problems):
            compared += 1
            assert code(reading.tree) == code(text), text
    assert compared > count / 2


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_checked_tree_gives_the_code_of_its_text(text: str) -> None:
    assert code(accepted(text).tree) == code(text)


@pytest.mark.slow
def test_checked_trees_of_many_templates_give_the_code_of_their_texts() -> None:
    assert_same_code_from_grammar(1_000, share_of(4_000))


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_dialect_that_trims_is_not_given_a_tree_that_does_not(dialect: Dialect) -> None:
    text = f"a\n  {{% if true %}}\n\tb\n{{% endif %}}\n{dialect.name}"
    own = jinja2.Environment(trim_blocks=dialect.trim_blocks, lstrip_blocks=dialect.lstrip_blocks)
    found = render_capped("team", text, VALUES, dialect, tree=accepted(text).tree)
    assert found == own.from_string(text).render(VALUES)


def test_what_fails_fails_in_the_same_line_with_the_same_words() -> None:
    def failure(text: str, with_tree: bool) -> tuple[int | None, str]:
        tree = accepted(text).tree if with_tree else None
        with pytest.raises(TemplateFailure) as failed:
            render_capped("team", text, VALUES, MIXSEEK, tree=tree)
        return failed.value.line, str(failed.value)

    for text in (
        "a\n\n{{ 1 // (round_number - round_number) }}\n",
        "{% if true %}\n{{ 'a' +\n 1 }}{% endif %}",
    ):
        # A space behind it: the two must not share what was compiled.
        assert failure(text, True) == failure(f"{text} ", False)
