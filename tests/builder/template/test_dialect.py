"""Where the documents and the released MixSeek differ."""

from dataclasses import FrozenInstanceError, asdict

import pytest

from builder.template.dialect import (
    CONTRACT,
    DIALECTS,
    ENGLISH,
    MIXSEEK,
    MIXSEEK_A15,
    MIXSEEK_A18,
    MIXSEEK_A19,
    Dialect,
    dialect_named,
)
from builder.template.dialect_table import differences
from builder.template.formatters import (
    format_ranking_table,
    format_submission_history,
    generate_position_message,
)
from builder.template.models import RoundState

STATE = RoundState(
    round_number=1,
    submission_content="初回の分析結果",
    evaluation_score=75.5,
    score_details={"accuracy": 80.0},
    evaluation_feedback="根拠が弱い",
)
RANKING = [
    {"team_id": "team1", "team_name": "Alpha", "max_score": 85.5, "total_rounds": 3},
    {"team_id": "team2", "team_name": "Beta", "max_score": 80.0, "total_rounds": 2},
]


def test_a_format_is_found_by_its_name_and_the_newest_release_comes_first() -> None:
    assert list(DIALECTS) == [
        *("mixseek-0.1.0a19", "mixseek-0.1.0a18", "mixseek-0.1.0a15"),
        *("contract", "english"),
    ]
    assert all(dialect_named(name) is dialect for name, dialect in DIALECTS.items())
    assert dialect_named("mixseek") is MIXSEEK is MIXSEEK_A19
    assert dialect_named("mixseek-0.1.0a99") is None


def test_the_contract_trims_and_mixseek_does_not() -> None:
    assert (CONTRACT.trim_blocks, CONTRACT.lstrip_blocks) == (True, True)
    assert (ENGLISH.trim_blocks, ENGLISH.lstrip_blocks) == (True, True)
    assert (MIXSEEK.trim_blocks, MIXSEEK.lstrip_blocks) == (False, False)


def test_each_dialect_reads_its_own_family_of_environment_variables() -> None:
    assert CONTRACT.environment_prefix == ENGLISH.environment_prefix == "MIXSEEK_"
    assert MIXSEEK.environment_prefix == "MIXSEEK_PROMPT_BUILDER__"


def test_equal_scores_are_ordered_by_the_dialect() -> None:
    assert (CONTRACT.ranking_order, MIXSEEK.ranking_order) == ("latest_round", "team_id")


def test_only_the_words_of_english_differ_from_the_contract() -> None:
    contract, english = asdict(CONTRACT), asdict(ENGLISH)
    assert {name for name in contract if contract[name] != english[name]} == {"name", "sentences"}
    assert all(text.replace("🏆", "").isascii() for text in english["sentences"].values())


@pytest.mark.parametrize(
    ("dialect", "end"),
    [
        (MIXSEEK_A15, "### あなたの提出内容:\n初回の分析結果"),
        (MIXSEEK_A18, "<submission>\n初回の分析結果\n</submission>"),
        (MIXSEEK_A19, "<submission>\n初回の分析結果\n</submission>"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_mixseek_writes_a_round_with_headings(dialect: Dialect, end: str) -> None:
    assert format_submission_history([STATE], dialect) == (
        f'## ラウンド 1\n### スコア: 75.50/100\n### スコア詳細:\n{{\n  "accuracy": 80.0\n}}\n{end}'
    )


def test_the_table_has_a_row_for_all_that_differs() -> None:
    rows = {row.title.en: dict(zip(DIALECTS, row.cells, strict=True)) for row in differences()}
    submission = rows["Submission of a round"]
    assert submission["mixseek-0.1.0a15"].en == "### あなたの提出内容:\n{content}"
    assert submission["mixseek-0.1.0a18"] == submission["mixseek-0.1.0a19"]
    tags = rows["Tags in values"]
    assert tags["mixseek-0.1.0a18"].en == "stay as they are" != tags["mixseek-0.1.0a19"].en
    for name, dialect in DIALECTS.items():
        others = {key: row for key, row in DIALECTS.items() if key != name and row != dialect}
        assert all(any(row[name] != row[key] for row in rows.values()) for key in others)


def test_english_writes_a_round_in_english() -> None:
    assert format_submission_history([STATE], ENGLISH) == (
        '## Round 1\nScore: 75.50/100\nScore details:\n{\n  "accuracy": 80.0\n}\n'
        "Evaluation feedback: 根拠が弱い\nYour submission: 初回の分析結果"
    )


def test_english_ranks_in_english() -> None:
    assert format_ranking_table(RANKING, "team2", "Beta", ENGLISH) == (
        "#1 Alpha - Score: 85.50/100 (rounds: 3)\n**#2 Beta (your team) - Score: 80.00/100 (rounds: 2)**"
    )
    assert [generate_position_message(place, 5, ENGLISH) for place in (1, 3, 4)] == [
        "🏆 Your team is in 1st place! Keep it up.",
        "Your team is in place 3 of 5. Great work!",
        "Your team is in place 4 of 5.",
    ]


@pytest.mark.parametrize(
    ("dialect", "sentence"),
    [
        (CONTRACT, "現在はランキング情報がありません。"),
        (MIXSEEK, "まだランキング情報がありません。"),
        (ENGLISH, "There is no ranking yet."),
    ],
)
def test_an_empty_ranking_is_told_in_the_words_of_the_dialect(dialect: Dialect, sentence: str) -> None:
    assert format_ranking_table([], "team1", "Alpha", dialect) == sentence


def test_a_dialect_cannot_be_changed_by_accident() -> None:
    with pytest.raises(FrozenInstanceError):
        CONTRACT.trim_blocks = False  # type: ignore[misc]
