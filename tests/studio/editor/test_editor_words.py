"""What the editor completes is what the check lets pass, and its words are in the reader's language."""

import json
import re
from pathlib import Path

import pytest
from django.utils.translation import override

from builder.problems import errors_in
from builder.template.check import check
from studio.editor.words import editor_words

EVERY_TAG = (
    "{% macro m(a) %}{{ caller() }}{{ a }}{% endmacro %}{% call m('x') %}y{% endcall %}\n"
    "{% if round_number > 1 %}a{% elif round_number > 2 %}b{% else %}c{% endif %}\n"
    "{% for n in range(3) %}{{ n }}{% endfor %}{% with x = 1 %}{{ x }}{% endwith %}\n"
    "{% set y %}z{% endset %}{{ y }}{% filter upper %}u{% endfilter %}{% raw %}{{ {% endraw %}\n"
)
PACKAGES = Path(__file__).resolve().parents[3] / "static" / "node_modules" / "@codemirror"


def test_every_tag_that_is_offered_passes_the_check() -> None:
    offered = json.loads(editor_words())["completion"]["tags"]
    assert sorted(set(re.findall(r"{%\s*(\w+)", EVERY_TAG))) == sorted(offered)
    assert errors_in(check("team", EVERY_TAG)) == []


def test_the_parts_of_the_editor_speak_japanese() -> None:
    with override("ja"):
        words = json.loads(editor_words())
    assert words["phrases"]["replace all"] == "すべて置換"
    assert "%s" in words["apply"]


@pytest.mark.parametrize("package", ["search", "autocomplete", "commands"])
def test_no_phrase_of_codemirror_is_left_in_english(package: str) -> None:
    source = (PACKAGES / package / "dist" / "index.js").read_text(encoding="utf-8")
    used = set(re.findall(r"""phrase\((?:view, )?"([^"]+)\"""", source))
    assert used and used <= set(json.loads(editor_words())["phrases"])
