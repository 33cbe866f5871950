"""Contexts as JSON: what the studio and the builder hand out is taken back, all else named by its field."""

import json
from typing import Any

import pytest
from django.test import Client

from builder.template.formatters import format_submission_history
from studio.models import SampleContext
from tests.studio.contexts.context_forms import (
    JAPANESE,
    NEW_JSON,
    ROUND_2,
    error_beside,
    focused,
    text,
)


def test_a_context_is_made_by_pasting_json(signed_in: Client) -> None:
    pasted = ROUND_2 | {"submission": "More", "delivered_at": "2026-05-01", "store": {"a": 1}, "ranking": []}
    answer = signed_in.post(NEW_JSON, {"name": "Pasted", "json": json.dumps(pasted)})
    assert answer.status_code == 302
    made = SampleContext.objects.get()
    assert (made.slug, made.submission, made.round_context.ranking) == ("pasted", "More", [])
    assert "delivered_at" not in made.data and "store" not in made.data


@pytest.mark.slow
def test_what_the_builder_prints_can_be_pasted(demo: Any, signed_in: Client, capsysbinary: Any) -> None:
    from builder.__main__ import main
    from builder.leaderboard import AggregationStore
    from builder.template.dialect import MIXSEEK

    workspace = demo / "demo" / "research"
    with AggregationStore(workspace, dialect=MIXSEEK, cache_folder=demo / "copies") as store:
        execution = store.executions()[-1].execution_id
    assert main(["context", str(workspace), execution, "team-001", "2"]) == 0
    printed = capsysbinary.readouterr().out.decode()
    answer = signed_in.post(NEW_JSON, {"name": "Real", "json": printed}, follow=True)
    made = SampleContext.objects.get(slug="real")
    assert made.round_context.execution_id == execution
    # Nobody says there what the team hands in this time, so the page says what stands in for it.
    assert "that of round 1 is used" in text(answer)
    assert made.submission == made.round_context.round_history[-1].submission_content


def test_the_judgments_view_brings_the_submission_along(signed_in: Client) -> None:
    own = {"round_number": 2, "submission_content": "This time", "evaluation_score": 7}
    pasted = ROUND_2 | {"round_history": [*ROUND_2["round_history"], own]}
    signed_in.post(NEW_JSON, {"name": "Judged", "json": json.dumps(pasted)})
    assert SampleContext.objects.get().submission == "This time"


def test_a_first_round_without_a_submission_asks_for_one(signed_in: Client) -> None:
    pasted = json.dumps(ROUND_2 | {"round_number": 1, "round_history": []})
    answer = signed_in.post(NEW_JSON, {"name": "First", "json": pasted})
    page = text(answer)
    assert answer.status_code == 422
    assert "write it here" in error_beside(page, "handed_in") and focused(page) == ["handed_in"]
    signed_in.post(NEW_JSON, {"name": "First", "json": pasted, "handed_in": "Here\r\nit is"})
    assert SampleContext.objects.get().submission == "Here\nit is"


@pytest.mark.parametrize(
    ("pasted", "english", "japanese"),
    [
        ("", "Empty.", "入力がありません。"),
        ("{", "Line 1, column 2: invalid JSON.", "1行目2文字目"),
        ('{\n "a": 1,\n}', "Line 3, column 1", "3行目1文字目"),
        ("[]", "A context is a JSON object", "JSONオブジェクト"),
        ("null", "A context is a JSON object", "JSONオブジェクト"),
        ("[" * 100_000, "levels deep", "入れ子"),
        ('{"a":' * 40 + "1" + "}" * 40, "levels deep", "入れ子"),
        ('{"round_number": ' + "9" * 5000 + "}", "A number has 5000 digits.", "5000桁"),
        ('{"a": NaN}', "NaN is not a JSON number", "NaN"),
        ('{"a": 1, "a": 2}', "“a” occurs twice", "「a」が2回"),
        ('{"team_id": "\\ud83c"}', "lone surrogate (\\ud83c)", "孤立サロゲート"),
        ('{"\\ud83c": 1, "\\ud83c": 1}', "“?” occurs twice", "2回"),
        ('{"team_id": "\\u0000"}', "NUL", "NUL"),
        (json.dumps({**ROUND_2, "round_number": "x"}), "round_number: Input should be", "round_number: 整数"),
        (json.dumps({**ROUND_2, "round_number": 2**64}), "round_number: Input should be", "round_number: "),
        (
            json.dumps({**ROUND_2, "round_history": [{"round_number": 1}]}),
            "round_history.0.submission_content: Field required",
            "round_history.0.submission_content: この項目は必須です",
        ),
        (json.dumps({**ROUND_2, "ranking": 3}), "ranking: Input should be a valid list", "ranking: リスト"),
        (json.dumps({**ROUND_2, "submission": None}), "submission: Input should be", "submission: 文字列"),
        (json.dumps({**ROUND_2, "submission": " "}), "submission: Submission of this", "提出内容は空に"),
    ],
    ids=lambda value: value[:30],
)  # fmt: skip
def test_json_that_will_not_do_says_where_and_why(
    signed_in: Client, pasted: str, english: str, japanese: str
) -> None:
    for words, headers in ((english, {}), (japanese, JAPANESE)):
        answer = signed_in.post(NEW_JSON, {"name": "Pasted", "json": pasted}, headers=headers)
        page = text(answer)
        assert answer.status_code == 422
        assert words in error_beside(page, "json")
        assert focused(page) == ["json"]
        if pasted.isascii() and '"' not in pasted:
            assert pasted in page
    assert not SampleContext.objects.exists()


def test_many_problems_are_counted_instead_of_listed(signed_in: Client) -> None:
    pasted = ROUND_2 | {"round_history": [{}] * 30}
    page = text(signed_in.post(NEW_JSON, {"name": "Pasted", "json": json.dumps(pasted)}))
    assert page.count("Field required") < 15 and "And 80 more problems" in page


def test_json_that_is_too_long_is_refused(signed_in: Client) -> None:
    answer = signed_in.post(NEW_JSON, {"name": "Pasted", "json": '"' + "x" * 1_000_000 + '"'})
    assert answer.status_code == 422 and "the limit is 1000000" in text(answer)


def test_a_context_has_an_author_and_a_limit(signed_in: Client) -> None:
    signed_in.post(NEW_JSON, {"name": "Pasted", "json": json.dumps(ROUND_2)})
    made = SampleContext.objects.get()
    assert made.author is not None and made.author.username == "yuki"
    assert "Created by yuki" in signed_in.get(made.get_absolute_url()).content.decode()
    pasted = ROUND_2 | {"user_prompt": "x" * 500_000}
    answer = signed_in.post(NEW_JSON, {"name": "Huge", "json": json.dumps(pasted)})
    assert answer.status_code == 422 and "the limit is 500000" in text(answer)
    assert SampleContext.objects.count() == 1


def test_a_name_in_the_json_does(signed_in: Client) -> None:
    pasted = json.dumps(ROUND_2 | {"name": "  From\nthe file ", "description": "Kept"})
    signed_in.post(NEW_JSON, {"json": pasted})
    made = SampleContext.objects.get()
    assert (made.name, made.description) == ("From the file", "Kept")
    answer = signed_in.post(NEW_JSON, {"json": json.dumps(ROUND_2)})
    assert answer.status_code == 422 and error_beside(text(answer), "name")


def test_keys_keep_their_order(signed_in: Client) -> None:
    """Score details reach the prompt as JSON text, so their order is part of it."""
    details = {"zeta": 1, "a": 2, "longer": {"y": 1, "b": 2}, "": 0}
    state = ROUND_2["round_history"][0] | {"score_details": details}
    signed_in.post(NEW_JSON, {"name": "Ordered", "json": json.dumps(ROUND_2 | {"round_history": [state]})})
    stored = SampleContext.objects.get().round_context.round_history
    assert json.dumps(details, ensure_ascii=False, indent=2) in format_submission_history(stored)
