"""Every sentence for a person, in both languages."""

import importlib
import pkgutil
import re

import pytest

import builder
from builder.messages import MESSAGES, Wording, advise, message, say

for module in pkgutil.walk_packages(builder.__path__, "builder."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

CODES = sorted(MESSAGES)
PLACEHOLDER = re.compile(r"\{(\w+)\}")
JAPANESE = re.compile("[ぁ-ヿ一-鿿]")


def wordings(code: str) -> list[Wording]:
    found = MESSAGES[code]
    return [found.text, *([found.suggestion] if found.suggestion else [])]


@pytest.mark.parametrize("code", CODES)
def test_both_languages_say_the_same_values(code: str) -> None:
    for wording in wordings(code):
        # A value may bring a Japanese form of its own.
        japanese = {name.removesuffix("_ja") for name in PLACEHOLDER.findall(wording.ja)}
        assert set(PLACEHOLDER.findall(wording.en)) == japanese


@pytest.mark.parametrize("code", CODES)
def test_there_is_japanese_wherever_there_is_english(code: str) -> None:
    for wording in wordings(code):
        assert not JAPANESE.search(wording.en)
        has_words = re.search("[A-Za-z]", PLACEHOLDER.sub("", wording.en))
        assert bool(JAPANESE.search(wording.ja)) == bool(has_words), wording


def test_a_value_that_looks_like_a_placeholder_is_left_alone() -> None:
    assert say("template-syntax", {"line": "{reason}", "reason": "{line}"}) == (
        "Jinja2 template syntax error at line {reason}: {line}"
    )


def test_braces_that_mark_no_value_stay() -> None:
    assert Wording("{{ user_prompt }} is {what}, not {other}", "").fill("en", {"what": "{0}"}) == (
        "{{ user_prompt }} is {0}, not {other}"
    )


def test_a_code_cannot_be_given_twice() -> None:
    with pytest.raises(ValueError, match="registered twice"):
        message("template-syntax", "again", "もう一度")


def test_advice_is_empty_where_there_is_nothing_to_do() -> None:
    assert advise("position-invalid", {}) == ""
    assert advise("workspace-missing", {"path": "/w"}, "ja").startswith("パスを確認するか")
