"""A sample context seen at each of its rounds."""

import pytest

from builder.template.models import EvaluatorPromptContext, RankingEntry, RoundPromptContext, RoundState
from builder.template.rounds import MOST_ROUNDS, rounds_of, seen_at
from builder.template.variables import PromptKind


def state(number: int, score: float = 50.0) -> RoundState:
    return RoundState(round_number=number, submission_content=f"text {number}", evaluation_score=score)


def entry(team: str, score: float, rounds: int = 3) -> RankingEntry:
    return RankingEntry(team_id=team, team_name=team.upper(), max_score=score, total_rounds=rounds)


def context(number: int = 4, **more: object) -> RoundPromptContext:
    return RoundPromptContext.model_validate(
        {
            "user_prompt": "task",
            "round_number": number,
            "round_history": [state(1, 40.0), state(2, 90.0), state(3, 60.0)],
            "team_id": "a",
            "team_name": "A",
            "execution_id": "run",
            "ranking": [entry("a", 90.0), entry("b", 70.0), entry("c", 30.0)],
        }
        | more
    )


def round_context(kind: PromptKind, number: int, of: RoundPromptContext | None = None) -> RoundPromptContext:
    seen = seen_at(kind, of or context(), "own text", number)
    assert isinstance(seen, RoundPromptContext)
    return seen


def test_a_context_can_be_seen_at_every_round_up_to_its_own() -> None:
    assert rounds_of(context(1)) == [1]
    assert rounds_of(context(4)) == [1, 2, 3, 4]


def test_of_a_context_far_out_only_the_rounds_that_were_played_are_offered() -> None:
    assert rounds_of(context(2**63 - 1)) == [1, 2, 3, 2**63 - 1]
    long = context(2000, round_history=[state(number) for number in range(1, 2000)])
    assert rounds_of(long) == [1, *range(2000 - MOST_ROUNDS + 2, 2001)]
    assert len(rounds_of(long)) == MOST_ROUNDS


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_team_looks_back_at_the_rounds_before_and_the_judgment_at_this_one_too(number: int) -> None:
    team, judgment = round_context("team", number), round_context("judgment", number)
    assert team.round_number == judgment.round_number == number
    assert [each.round_number for each in team.round_history] == list(range(1, number))
    assert [each.round_number for each in judgment.round_history] == list(range(1, min(number, 3) + 1))


def test_the_evaluator_has_the_submission_of_the_round() -> None:
    found = [seen_at("evaluator", context(), "own text", number) for number in (1, 2, 3, 4)]
    assert [each.submission for each in found if isinstance(each, EvaluatorPromptContext)] == [
        "text 1",
        "text 2",
        "text 3",
        "own text",
    ]
    assert all(isinstance(each, EvaluatorPromptContext) and each.user_query == "task" for each in found)


def test_a_round_without_a_submission_shows_the_contexts_own() -> None:
    blank = state(1).model_copy(update={"submission_content": " \n"})
    for history in ([], [blank]):
        seen = seen_at("evaluator", context(round_history=history), "own text", 1)
        assert isinstance(seen, EvaluatorPromptContext) and seen.submission == "own text"


def test_its_own_round_shows_the_ranking_as_it_is() -> None:
    assert round_context("team", 4).ranking == context().ranking


def test_in_an_earlier_round_the_own_team_stands_where_its_scores_put_it() -> None:
    ranking = round_context("team", 2).ranking
    assert ranking == [entry("b", 70.0, 1), entry("a", 40.0, 1), entry("c", 30.0, 1)]
    judged = round_context("judgment", 2).ranking
    assert judged == [entry("a", 90.0, 2), entry("b", 70.0, 2), entry("c", 30.0, 2)]


def test_no_ranking_stays_none_and_an_empty_one_empty() -> None:
    assert round_context("team", 2, context(ranking=None)).ranking is None
    assert round_context("team", 2, context(ranking=[])).ranking == []


def test_the_context_itself_is_not_changed() -> None:
    whole = context()
    seen_at("team", whole, "own text", 1)
    assert whole == context()
