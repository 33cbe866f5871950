"""The one table of what each template may use."""

import pytest

from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.formatters import (
    format_ranking_table,
    format_submission_history,
    generate_position_message,
)
from builder.template.models import RankingEntry, RoundState
from builder.template.render import render
from builder.template.variables import FIELDS, KINDS, VARIABLES, PromptKind, field_name, names, sample_values

ROUND = {
    "user_prompt",
    "round_number",
    "submission_history",
    "ranking_table",
    "team_position_message",
    "current_datetime",
}


def test_each_template_has_its_own_variables() -> None:
    assert names("team") == names("judgment") == ROUND
    assert names("evaluator") == {"user_prompt", "submission", "current_datetime"}


def test_the_fields_of_the_prompt_file_are_named_by_their_kind() -> None:
    assert FIELDS == ("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")
    assert tuple(field_name(kind) for kind in KINDS) == FIELDS


@pytest.mark.parametrize("kind", KINDS)
def test_every_variable_is_described_in_both_languages(kind: PromptKind) -> None:
    for variable in VARIABLES[kind]:
        assert variable.description.en.isascii()
        assert not variable.description.ja.isascii()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_has_the_type_that_the_table_says(kind: PromptKind) -> None:
    samples = sample_values(kind)
    assert samples.keys() == names(kind)
    for variable in VARIABLES[kind]:
        assert type(samples[variable.name]) is {"string": str, "int": int}[variable.type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_default_template_renders_with_the_samples(kind: PromptKind) -> None:
    text = render(kind, DEFAULT_TEMPLATES[kind], sample_values(kind))
    for name, value in sample_values(kind).items():
        assert name == "round_number" or str(value) in text


def test_how_often_a_value_changes() -> None:
    changes = {variable.name: variable.changes for kind in KINDS for variable in VARIABLES[kind]}
    assert changes.pop("user_prompt") == "task"
    assert changes.pop("current_datetime") == "call"
    assert set(changes.values()) == {"round"}


def test_the_samples_are_what_the_formatters_write() -> None:
    samples = sample_values("team")
    details = {"accuracy": 80.0, "completeness": 70.0}
    state = RoundState(
        round_number=1, submission_content="初回の分析結果", evaluation_score=75.5, score_details=details
    )
    ranking = [
        RankingEntry(team_id="team1", team_name="Alpha", max_score=85.5, total_rounds=3),
        RankingEntry(team_id="team2", team_name="Beta", max_score=80.0, total_rounds=2),
    ]
    assert samples["submission_history"] == format_submission_history([state])
    assert samples["ranking_table"] == format_ranking_table(ranking, "team1", "Alpha")
    assert samples["team_position_message"] == generate_position_message(1, 2)
