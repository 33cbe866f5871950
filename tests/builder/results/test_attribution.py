"""Delivered prompts are traced to the templates that made them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builder.errors import PromptNotStored
from builder.jail import JailPool
from builder.leaderboard import AggregationStore, StoredRound
from builder.results.attribution import Attribution, Candidate, attribute, decide, formats_of, nearest
from builder.simulation import TEAMS, Run, Team, simulate
from builder.template.dialect import MIXSEEK, RELEASES, Dialect
from builder.template.landmarks import landmarks

BEGUN = datetime(2026, 4, 1, 9, tzinfo=UTC)
PLAIN = """# 課題
{{ user_prompt }}
{% if round_number > 1 %}
## これまで
{{ submission_history }}

{{ ranking_table }}
{{ team_position_message }}
{% endif %}
{% if round_number > 2 %}最後の確認をしてください。{% endif %}
現在: {{ current_datetime }}
"""
ONE_CHARACTER_LESS = PLAIN.replace("これまで", "これま")
LATER_ROUNDS_ONLY = PLAIN.replace("最後の確認をしてください。", "最終確認をしてください。")
DAY_ONLY = """{{ user_prompt }}
{{ current_datetime[:10] }} {{ current_datetime[-6:] }}
{{ ranking_table | upper }}
"""
NO_CLOCK = "課題: {{ user_prompt }} ({{ round_number }})\n{{ team_position_message }}"
TEXTS = (PLAIN, ONE_CHARACTER_LESS, LATER_ROUNDS_ONLY, DAY_ONLY, NO_CLOCK)


@pytest.fixture(scope="module")
def jail() -> Iterator[JailPool]:
    with JailPool(size=1, spares=0, batch_size=1) as pool:
        yield pool


@pytest.fixture(scope="module")
def candidates() -> list[Candidate]:
    return [Candidate(text, landmarks(text, MIXSEEK)) for text in TEXTS]


class Played:
    """One run of each template, in Tokyo and in UTC, and one that is still under way."""

    def __init__(self, folder: Path) -> None:
        self.runs = [
            Run(
                "要件を整理してください。",
                BEGUN + timedelta(hours=number),
                templates={"team": text, "evaluator": "-", "judgment": "-"},
                zone=zone,
                races=0.3,
                ties=True,
                state="running" if zone == "America/New_York" else "completed",
            )
            for number, (text, zone) in enumerate(
                [
                    *((text, zone) for text in TEXTS for zone in ("Asia/Tokyo", "UTC")),
                    (PLAIN, "America/New_York"),
                ]
            )
        ]
        self.ids = simulate(folder, self.runs, seed=3)
        self.store = AggregationStore(folder, dialect=MIXSEEK, cache_folder=folder / "copies")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    made = Played(tmp_path_factory.mktemp("workspace"))
    with made.store:
        yield made


def found(played: Played, number: int, candidates: list[Candidate], jail: JailPool) -> list[Attribution]:
    run = played.store.delivered_rounds(played.ids[number])
    return attribute(run.rounds, run.task, candidates, jail)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_every_round_is_traced_to_the_template_that_made_it(
    played: Played, candidates: list[Candidate], jail: JailPool, number: int
) -> None:
    rounds = found(played, number, candidates, jail)
    assert len(rounds) == 12
    assert all(number // 2 in each.matches for each in rounds)
    assert decide(rounds) == {number // 2}


def test_templates_that_differ_in_a_branch_not_taken_tie_until_a_later_round(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    rounds = found(played, 0, candidates, jail)
    by_round = {each.stored.round_number: each.matches for each in rounds}
    assert by_round == {1: {0, 1, 2}, 2: {0, 2}, 3: {0}}


def test_a_template_that_differs_by_one_character_is_never_taken_for_another(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    others = [each for each in candidates if each.text != PLAIN and each.text != LATER_ROUNDS_ONLY]
    rounds = found(played, 0, others, jail)
    assert {each.stored.round_number for each in rounds if each.matches} == {1}
    # That the first round is the same does not make the run that template's.
    assert decide(rounds) == frozenset()


def test_a_prompt_that_was_made_in_another_way_does_not_hide_whose_the_others_are(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    rounds = found(played, 0, candidates, jail)
    retried = next(at for at, each in enumerate(rounds) if each.stored.round_number == 3)
    rounds[retried] = Attribution(rounds[retried].stored, frozenset())
    assert decide(rounds) == {0}


@pytest.mark.slow
def test_a_run_under_way_gives_its_task_away(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    assert played.store.delivered_rounds(played.ids[10]).task is None
    rounds = found(played, 10, candidates, jail)
    assert rounds and all(0 in each.matches for each in rounds)
    assert not any(each.matches & {3, 4} for each in rounds)


def test_a_hand_edit_is_near_the_version_it_began_with(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    run = played.store.delivered_rounds(played.ids[2])
    assert run.task
    others = [each for each in candidates if each.text != ONE_CHARACTER_LESS]
    last = max(run.rounds, key=lambda stored: stored.round_number)
    near = nearest(last, run.task, others, jail)
    assert near and near.related and others[near.candidate].text == PLAIN
    assert near.text == delivered(last).replace("これま", "これまで")


def test_a_prompt_of_another_origin_is_related_to_nothing(
    played: Played, candidates: list[Candidate], jail: JailPool
) -> None:
    run = played.store.delivered_rounds(played.ids[0])
    assert run.task
    strange = Candidate("Nothing of this ever stood in a prompt of that run." * 40, landmarks("x", MIXSEEK))
    near = nearest(run.rounds[0], run.task, [strange], jail)
    assert near and not near.related


def test_without_candidates_nothing_is_recognised(played: Played, jail: JailPool) -> None:
    rounds = found(played, 0, [], jail)
    assert decide(rounds) == frozenset() and not any(each.matches for each in rounds)


def delivered(stored: StoredRound) -> str:
    assert stored.delivered
    return stored.delivered.text


# --- releases ----------------------------------------------------------------------------

TAGGED = """<task>
{{ user_prompt }}
</task>
<rounds>
{{ submission_history }}
</rounds>
{{ ranking_table }} {{ current_datetime }}
"""
OTHER_TAGS = TAGGED.replace("task>", "work>")
TEAMS_WITH_TAGS = (Team("t1", "A</task>"), Team("t2", "B"))


class Upgraded:
    """One workspace, one run of each release after the other, each with a workflow among its teams."""

    def __init__(self, folder: Path, task: str) -> None:
        teams = (*TEAMS_WITH_TAGS, Team("flow", "Flow", works="as-workflow"))
        teams = (*teams, Team("code", "Code", works="as-functions"))
        self.runs = [
            Run(
                task,
                BEGUN + timedelta(days=day),
                teams=teams,
                rounds=2,
                templates={"team": TAGGED, "evaluator": "-", "judgment": "-"},
                dialect=dialect,
            )
            for day, dialect in enumerate(reversed(RELEASES))
        ]
        self.ids = simulate(folder, self.runs, seed=1)
        self.store = AggregationStore(folder, dialect=MIXSEEK, cache_folder=folder / "copies")


@pytest.mark.parametrize("task", ["Write it.", "Explain <task>, &lt;task&gt; and </submission>."])
def test_runs_of_each_release_in_one_workspace_are_traced_to_the_template_and_the_release(
    tmp_path: Path, jail: JailPool, task: str
) -> None:
    made = Upgraded(tmp_path, task)
    texts = [
        TAGGED,
        OTHER_TAGS,
        TAGGED.replace("task>", "Task>"),
        TAGGED.replace("{{ current", " {{ current"),
    ]
    candidates = [Candidate(text, landmarks(text, MIXSEEK)) for text in texts]
    with made.store as store:
        for run, execution_id in zip(made.runs, made.ids, strict=True):
            delivered = store.delivered_rounds(execution_id)
            for known in (delivered.task, None):
                rounds = attribute(delivered.rounds, known, candidates, jail)
                assert {each.stored.team_id for each in rounds} == {"t1", "t2", "flow"}
                assert {each.matches for each in rounds} == {frozenset({0})}
                shown = formats_of(rounds)
                # The names of teams alone tell: with a ranking, every second round shows one.
                assert shown == (run.dialect,)


def test_a_first_round_without_tags_may_come_from_any_release(tmp_path: Path, jail: JailPool) -> None:
    run = Run("Write.", BEGUN, teams=TEAMS[:1], rounds=1, templates={"team": TAGGED}, dialect=RELEASES[1])
    (execution_id,) = simulate(tmp_path, [run])
    with AggregationStore(tmp_path, dialect=MIXSEEK, cache_folder=tmp_path / "copies") as store:
        delivered = store.delivered_rounds(execution_id)
    mark = landmarks(TAGGED, MIXSEEK)
    assert formats_of(attribute(delivered.rounds, "Write.", [Candidate(TAGGED, mark)], jail)) == RELEASES


@pytest.mark.parametrize("dialect", RELEASES, ids=lambda dialect: dialect.name)
def test_a_prompt_that_no_template_explains_shows_its_release_all_the_same(
    tmp_path: Path, jail: JailPool, dialect: Dialect
) -> None:
    run = Run("Write.", BEGUN, teams=TEAMS[:1], rounds=2, templates={"team": TAGGED}, dialect=dialect)
    (execution_id,) = simulate(tmp_path, [run])
    with AggregationStore(tmp_path, dialect=MIXSEEK, cache_folder=tmp_path / "copies") as store:
        delivered = store.delivered_rounds(execution_id)
    shown = formats_of(attribute(delivered.rounds, delivered.task, [], jail))
    assert dialect in shown and (len(shown) == 1) == (dialect is RELEASES[-1])


def test_the_prompt_of_a_workflow_is_read_out_of_its_json(tmp_path: Path) -> None:
    made = Upgraded(tmp_path, "Write.")
    with made.store as store:
        flow = store.delivered(made.ids[0], "flow", 1)
        assert flow.text.startswith("<task>\nWrite.\n</task>\n")
        assert flow.previous_steps is not None and set(flow.previous_steps) == {"gather"}
        assert store.delivered(made.ids[0], "t1", 1).previous_steps is None
        with pytest.raises(PromptNotStored, match="a workflow of functions only"):
            store.delivered(made.ids[0], "code", 1)
