"""Walking over a tree: shorter ways than jinja2's own, which must find the same."""

import jinja2
import pytest
from jinja2 import nodes

from builder.template.syntax import children, descendants
from tests.builder.template_grammar import TemplateGrammar

EVERY_TAG = """\
{% extends "a" %}{% import "b" as b with context %}{% from "c" import d as e, f without context %}
{% block g scoped %}{{ super() }}{% endblock %}{% include ["h", "i"] ignore missing %}
{% for x, (y, z) in range(9)[1:2:3] if x is divisibleby 3 recursive %}{{ loop(x) }}{% else %}-{% endfor %}
{% macro j(k, l=1) %}{{ caller(k, *l, **m) }}{% endmacro %}{% call(n) j(1, l=2) %}{{ n }}{% endcall %}
{% set o = namespace(p=1) %}{% set o.p = 2 %}{% set q | upper %}r{% endset %}{% filter trim | replace("a", b="c") %}
{% with s = {"t": [1, (2.5, none)], 3: true} %}{{ -s.t[0] ** +2 }}{% endwith %}{% endfilter %}
{% if not u == 1 < 2 and v in w or "a" ~ 1 %}{{ a if b else c if d }}{% elif f %}{# g #}{% else %}{{ 7 // 2 % 3 }}{% endif %}
{% autoescape true %}{{ h.i["j"](k) is not defined }}{% endautoescape %}{% raw %}{{ l }}{% endraw %}
"""  # noqa: E501


def assert_same_walk(text: str) -> None:
    tree = jinja2.Environment().parse(text)
    assert descendants(tree) == list(tree.find_all(nodes.Node))
    for node in [tree, *tree.find_all(nodes.Node)]:
        assert list(children(node)) == list(node.iter_child_nodes())


def test_children_and_descendants_are_those_that_jinja_finds() -> None:
    assert_same_walk(EVERY_TAG)
    for seed in range(20):
        assert_same_walk(TemplateGrammar(seed, hostility=0.3).template())


@pytest.mark.parametrize("leaf", [nodes.Name("a", "load"), nodes.Const("a"), nodes.TemplateData("a")])
def test_a_leaf_has_no_children(leaf: nodes.Node) -> None:
    assert list(children(leaf)) == descendants(leaf) == []
