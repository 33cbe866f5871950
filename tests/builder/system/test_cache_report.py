"""How much of a prompt survives in a provider's cache."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder.cache.cacheable_prefix import common_prefix
from builder.system.built_prompt import BuiltPrompt
from builder.system.cache_report import CACHE_MINIMUMS, CacheMinimum, CacheReport
from builder.system.input import BootstrapFile, Runtime, SystemPromptInput
from builder.system.prompt import render_system_prompt


def built(*files: str, mode: Any = "full", model: str = "gpt-4o", **more: Any) -> BuiltPrompt:
    return render_system_prompt(
        SystemPromptInput(
            mode=mode,
            workspace_dir="/w",
            bootstrap=tuple(BootstrapFile(name=f"{n}.md", content=text) for n, text in enumerate(files)),
            runtime=Runtime(model=model),
            **more,
        )
    )


def test_the_common_beginning_ends_where_the_edit_begins() -> None:
    report = CacheReport(built("同じ", "前の文"), built("同じ", "後の文"))
    assert report.common_text.endswith("## 0.md\n\n同じ\n\n## 1.md\n\n")
    assert report.common_bytes == len(report.common_text.encode())
    assert report.common_tokens.tokens > 0
    assert 0 < report.ratio < 1
    assert report.ratio == report.common_bytes / report.next.bytes
    difference = report.difference
    assert difference is not None and difference.previous.id == difference.next.id == "project_context"
    assert "前の文\n\n# Runtime" in difference.previous_text and "後の文\n\n# Runtime" in difference.next_text
    assert len(difference.previous_text) == 80
    # 前 and 後 begin with the byte E5: the bytes have more in common than the characters.
    assert report.common_text.encode().decode() == report.common_text


def test_bytes_in_common_within_a_character_do_not_count() -> None:
    report = CacheReport(built("日"), built("旦"))
    assert "日".encode()[:2] == "旦".encode()[:2]
    assert report.common_text.endswith("## 0.md\n\n")


def test_equal_builds_differ_nowhere() -> None:
    report = CacheReport(built("x"), built("x"))
    assert (report.is_same, report.ratio, report.difference) == (True, 1.0, None)
    assert report.common_tokens == report.next.tokens


def test_a_section_that_goes_is_the_difference() -> None:
    report = CacheReport(built("x", reply_tags=True), built("x"))
    assert report.difference is not None
    assert (report.difference.previous.id, report.difference.next.status) == ("reply_tags", "omitted")
    other_mode = CacheReport(built("x"), built("x", mode="none"))
    assert other_mode.ratio == 1.0 and not other_mode.is_same and other_mode.difference is not None


@pytest.mark.parametrize(
    ("minimum", "outcome", "cached"), [(-1, "cached", True), (0, "cached", True), (1, "too_short", False)]
)
def test_a_provider_keeps_what_reaches_its_minimum(minimum: int, outcome: str, cached: bool) -> None:
    one = built("word " * 500)
    tokens = one.tokens.tokens
    table = [CacheMinimum("P", "m", tokens + minimum), CacheMinimum("Q", "m", tokens + minimum, step=128)]
    plain, stepped = CacheReport(one, one, table).verdicts
    assert plain.outcome == stepped.outcome == outcome
    assert plain.cached_tokens == (tokens if cached else 0)
    assert stepped.cached_tokens == (tokens // 128 * 128 if cached else 0)
    assert str(tokens) in plain.text() and str(minimum + tokens) in plain.text("ja")


def test_an_estimate_near_the_minimum_decides_nothing() -> None:
    one = built("word " * 500, model="claude-sonnet-4-5")
    tokens = one.tokens.tokens
    assert not one.tokens.exact
    (near,) = CacheReport(one, one, [CacheMinimum("P", "m", tokens + 5)]).verdicts
    (far,) = CacheReport(one, one, [CacheMinimum("P", "m", tokens * 3)]).verdicts
    assert (near.outcome, far.outcome) == ("uncertain", "too_short")
    assert near.text() == f"About {tokens} tokens are the same and {tokens + 5} are needed: too close to tell"


def test_the_table_is_dated_and_within_what_vendors_ask() -> None:
    assert all(1_024 <= each.tokens <= 4_096 and each.as_of.year >= 2026 for each in CACHE_MINIMUMS)


@settings(max_examples=100, deadline=None)
@given(st.text("ab日", max_size=30), st.text("ab日", max_size=30))
def test_common_prefix_is_the_longest(one: str, other: str) -> None:
    length = common_prefix(one, other)
    assert one[:length] == other[:length]
    assert one[length : length + 1] != other[length : length + 1] or length == len(one) == len(other)
