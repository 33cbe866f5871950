"""A stored round, rebuilt and rendered again, is to the byte what was delivered."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from builder.errors import MissingColumn, TaskUnknown, UnknownRound
from builder.leaderboard import AggregationStore
from builder.leaderboard.rebuild import Renderer, StoredRound, rank, rebuild, recover_task, team_values
from builder.leaderboard.records import DeliveredPrompt
from builder.leaderboard.rows import BoardRow, offset_of
from builder.template.dialect import MIXSEEK, RELEASES, Dialect
from builder.template.models import context_json, read_context
from builder.template.render import render
from tests.builder.leaderboard.conftest import CLOCKLESS, RUNS, Played
from tests.builder.leaderboard.test_store import _write

Open = Callable[..., AggregationStore]
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _renderer(template: str) -> Renderer:
    return lambda rebuilt, dialect: render("team", template, team_values(rebuilt, dialect, template), dialect)


@pytest.mark.slow
def test_every_stored_round_renders_to_what_was_delivered(played: Played, open_store: Open) -> None:
    store = open_store(played.path, dialect=MIXSEEK)
    ways: Counter[str] = Counter()
    for run, execution_id in zip(RUNS, played.ids, strict=True):
        if run.state == "failed":
            continue
        for record in store.rounds(execution_id):
            rebuilt = store.rebuild(
                execution_id,
                record.team_id,
                record.round_number,
                task=run.task if run.state == "running" else None,
            )
            delivered = store.delivered(execution_id, record.team_id, record.round_number)
            # By way of JSON, as a context goes from one command to the next.
            context = read_context("team", context_json(rebuilt.context))
            assert (
                _renderer(run.templates["team"])(replace(rebuilt, context=context), MIXSEEK) == delivered.text
            )
            ways[rebuilt.cutoff] += 1
    assert ways["confirmed"] > 10
    assert ways["neighbour"] > 0, "the simulation must contain rows committed between clock and look"


@pytest.mark.slow
def test_all_rounds_of_an_execution_come_from_one_pass(played: Played, open_store: Open) -> None:
    store = open_store(played.path, dialect=MIXSEEK)
    run = store.delivered_rounds(played.ids[1])
    assert run.task == RUNS[1].task
    assert [rebuild(stored, "team", run.task) for stored in run.rounds] == [
        store.rebuild(played.ids[1], stored.team_id, stored.round_number) for stored in run.rounds
    ]
    assert len(run.rounds) == 16


@pytest.mark.slow
def test_the_clock_comes_from_the_text_in_its_zone_or_else_from_the_message(
    played: Played, open_store: Open
) -> None:
    store = open_store(played.path, dialect=MIXSEEK)
    printed = store.rebuild(played.ids[2], "team-001", 1)
    assert printed.clock_source == "text"
    assert printed.delivered_at.utcoffset() == timedelta(hours=-4)
    assert printed.delivered is not None
    assert f"現在日時: {printed.delivered_at.isoformat()}" in printed.delivered.text
    clockless = store.rebuild(played.ids[1], "team-001", 2)
    assert clockless.clock_source == "message"
    assert clockless.delivered is not None
    assert clockless.delivered_at == clockless.delivered.timestamp
    assert clockless.zone_offset == timedelta(hours=9)


@pytest.mark.slow
def test_a_team_saw_the_earlier_rounds_and_the_judgment_this_one_too(
    played: Played, open_store: Open
) -> None:
    store = open_store(played.path, dialect=MIXSEEK)
    team = store.rebuild(played.ids[0], "team-002", 2)
    judgment = store.rebuild(played.ids[0], "team-002", 2, "judgment")
    assert [state.round_number for state in team.context.round_history] == [1]
    assert [state.round_number for state in judgment.context.round_history] == [1, 2]
    record = store.rounds(played.ids[0], "team-002")[1]
    assert record.ended_at is not None
    assert timedelta(0) <= judgment.delivered_at - record.ended_at < timedelta(seconds=5)
    own = [entry for entry in judgment.context.ranking or [] if entry.team_id == "team-002"]
    assert own[0].total_rounds == 2


def test_history_has_the_evaluators_own_number(played: Played, open_store: Open) -> None:
    store = open_store(played.path, dialect=MIXSEEK)
    for state in store.rebuild(played.ids[0], "team-002", 3).context.round_history:
        assert state.score_details is not None
        assert state.evaluation_score == state.score_details["overall_score"]


def test_round_one_has_no_ranking(original: Played, kept: AggregationStore) -> None:
    rebuilt = kept.rebuild(original.ids[0], "team-001", 1)
    assert (rebuilt.context.ranking, rebuilt.cutoff) == ([], "first-round")


@pytest.mark.slow
def test_a_round_that_was_sent_and_not_finished_has_no_judgment(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    _write(played, f"DELETE FROM leader_board WHERE execution_id = '{played.ids[0]}' AND round_number = 3")
    assert store.rebuild(played.ids[0], "team-001", 3).context.round_number == 3
    with pytest.raises(UnknownRound):
        store.rebuild(played.ids[0], "team-001", 3, "judgment")


def test_without_scores_there_is_no_context_and_the_column_is_named(played: Played, open_store: Open) -> None:
    _write(
        played,
        "CREATE TABLE kept AS SELECT * EXCLUDE (score) FROM leader_board",
        "DROP TABLE leader_board",
        "ALTER TABLE kept RENAME TO leader_board",
    )
    with pytest.raises(MissingColumn):
        open_store(played.path).rebuild(played.ids[0], "team-001", 2)


@pytest.mark.slow
def test_without_conversations_the_rounds_own_times_serve(played: Played, open_store: Open) -> None:
    _write(played, "DROP TABLE round_history")
    store = open_store(played.path, dialect=MIXSEEK)
    rebuilt = store.rebuild(played.ids[0], "team-001", 2)
    record = store.rounds(played.ids[0], "team-001")[1]
    assert (rebuilt.clock_source, rebuilt.cutoff) == ("status", "unconfirmed")
    assert rebuilt.delivered_at == record.started_at


# --- the task of a run that is not over ------------------------------------------------------


def test_the_task_of_a_running_execution_is_unknown(original: Played, kept: AggregationStore) -> None:
    with pytest.raises(TaskUnknown, match="is not stored: it has not finished") as caught:
        kept.rebuild(original.ids[4], "team-001", 1)
    assert caught.value.advice("ja").startswith("終了を待つか")


def test_the_task_is_read_out_of_the_prompt_when_the_template_is_known(
    original: Played, kept: AggregationStore
) -> None:
    template = RUNS[4].templates["team"]
    for number in (1, 2):
        rebuilt = kept.rebuild(original.ids[4], "team-001", number, renderer=_renderer(template))
        assert rebuilt.context.user_prompt == RUNS[4].task


def test_another_template_gives_no_task_rather_than_a_wrong_one(
    original: Played, kept: AggregationStore
) -> None:
    with pytest.raises(TaskUnknown):
        kept.rebuild(original.ids[4], "team-001", 1, renderer=_renderer(CLOCKLESS["team"]))


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{ user_prompt }}", True),
        ("{{ user_prompt }} / {{ user_prompt }}!", True),
        ("nothing of it", False),
        ("{{ user_prompt|upper }}", False),
    ],
)
def test_the_task_is_believed_only_if_it_renders_to_the_stored_text(template: str, found: bool) -> None:
    task = "Write a haiku.\nTwice."
    text = render("team", template, {"user_prompt": task}, MIXSEEK)
    stored = StoredRound("e", "t", "T", 1, (), (), timedelta(0), DeliveredPrompt(text, NOON, 0))
    assert recover_task(stored, _renderer(template)) == (task if found else None)


@pytest.mark.parametrize("task", ["Explain <submission>.", "Explain &lt;b&gt;.", "Explain <b>."])
@pytest.mark.parametrize("dialect", RELEASES, ids=lambda dialect: dialect.name)
def test_the_task_is_read_as_it_was_before_tags_were_neutralised(task: str, dialect: Dialect) -> None:
    template = "Task: {{ user_prompt }}!"
    empty = StoredRound("e", "t", "T", 1, (), (), timedelta(0), DeliveredPrompt("", NOON, 0))
    text = _renderer(template)(rebuild(empty, "team", task), dialect)
    stored = replace(empty, delivered=DeliveredPrompt(text, NOON, 0))
    assert recover_task(stored, _renderer(template)) == task


# --- which rows were seen ----------------------------------------------------------------------


def _row(team: str, number: int, score: float, seconds: float) -> BoardRow:
    return BoardRow(
        team, number, team.upper(), score, (NOON + timedelta(seconds=seconds)).replace(tzinfo=None)
    )


def _stored(board: list[BoardRow], text: str, clock: datetime = NOON) -> StoredRound:
    ordered = sorted(board, key=lambda row: row.created_at or datetime.min)
    delivered = DeliveredPrompt(text, clock, 0)
    return StoredRound("e", "own", "OWN", 2, ordered, (), timedelta(0), delivered)


OWN = _row("own", 1, 50, -20)


def _line(place: int, team: str, score: float, rounds: int = 1) -> str:
    mark = " (あなたのチーム)" if team == "own" else ""
    line = f"#{place} {team.upper()}{mark} - スコア: {score:.2f}/100 (ラウンド数: {rounds})"
    return f"**{line}**" if mark else line


def test_a_row_committed_between_clock_and_look_is_found_in_the_text() -> None:
    board = [OWN, _row("a", 1, 70, -5), _row("b", 1, 60, 0.002)]
    seen = "\n".join([_line(1, "a", 70), _line(2, "b", 60), _line(3, "own", 50)])
    rebuilt = rebuild(_stored(board, f"x\n{seen}\ny"), "team", "task")
    assert [entry.team_id for entry in rebuilt.context.ranking or []] == ["a", "b", "own"]
    assert rebuilt.cutoff == "neighbour"


def test_a_row_dated_before_the_clock_and_committed_after_the_look_is_left_out() -> None:
    board = [OWN, _row("a", 1, 70, -5), _row("b", 1, 60, -0.001)]
    seen = "\n".join([_line(1, "a", 70), _line(2, "own", 50)])
    rebuilt = rebuild(_stored(board, f"x\n{seen}\ny"), "team", "task")
    assert [entry.team_id for entry in rebuilt.context.ranking or []] == ["a", "own"]
    assert rebuilt.cutoff == "neighbour"


def test_of_two_late_rows_the_later_one_may_be_seen_alone() -> None:
    board = [OWN, _row("a", 1, 70, -0.003), _row("b", 1, 60, -0.002)]
    seen = "\n".join([_line(1, "b", 60), _line(2, "own", 50)])
    rebuilt = rebuild(_stored(board, f"x\n{seen}\ny"), "team", "task")
    assert [entry.team_id for entry in rebuilt.context.ranking or []] == ["b", "own"]


def test_a_shorter_ranking_is_not_taken_for_the_longer_one_it_begins() -> None:
    board = [_row("own", 1, 90, -20), _row("a", 1, 70, -5), _row("b", 1, 60, 0.002)]
    seen = "\n".join([_line(1, "own", 90), _line(2, "a", 70), _line(3, "b", 60)])
    rebuilt = rebuild(_stored(board, f"x\n{seen}\ny"), "team", "task")
    assert len(rebuilt.context.ranking or []) == 3


def test_a_template_with_only_the_position_is_followed_by_its_sentence() -> None:
    board = [OWN, _row("a", 1, 70, -5), _row("b", 1, 60, 0.002)]
    rebuilt = rebuild(_stored(board, "現在、3チーム中3位です。素晴らしい成績です！"), "team", "task")
    assert len(rebuilt.context.ranking or []) == 3
    assert rebuilt.cutoff == "neighbour"


def test_where_the_text_shows_no_ranking_the_moment_decides() -> None:
    board = [OWN, _row("a", 1, 70, -5), _row("b", 1, 60, 0.002)]
    rebuilt = rebuild(_stored(board, "no ranking here"), "team", "task")
    assert [entry.team_id for entry in rebuilt.context.ranking or []] == ["a", "own"]
    assert rebuilt.cutoff == "unconfirmed"


def test_own_rows_are_always_seen_and_never_those_of_the_round_itself() -> None:
    board = [_row("own", 1, 50, 3), _row("own", 2, 95, -1), _row("a", 1, 70, -5)]
    rebuilt = rebuild(_stored(board, "no ranking here"), "team", "task")
    assert [(entry.team_id, entry.max_score) for entry in rebuilt.context.ranking or []] == [
        ("a", 70),
        ("own", 50),
    ]


def test_a_time_inside_a_submission_is_not_taken_for_the_clock() -> None:
    others = "2026-05-01T11:59:00.000001+00:00, 2026-05-01T12:00:01+00:00"
    text = f"現在日時: 2026-05-01T21:00:00+09:00\n過去: {others}"
    rebuilt = rebuild(_stored([OWN], text), "team", "task")
    assert rebuilt.delivered_at.isoformat() == "2026-05-01T21:00:00+09:00"


def test_rank_orders_as_the_store_does() -> None:
    rows = [
        _row("c", 1, 70, 0),
        _row("b", 1, 70, 0),
        _row("b", 2, 60, 0),
        _row("a", 1, 70, 0),
        _row("d", 1, 80, 0),
    ]
    assert [entry.team_id for entry in rank(rows, "latest_round")] == ["d", "b", "a", "c"]
    assert [entry.team_id for entry in rank(rows, "team_id")] == ["d", "a", "b", "c"]
    assert [entry.total_rounds for entry in rank(rows, "team_id")] == [1, 1, 2, 1]


@pytest.mark.parametrize("minutes", [0, 540, -240, 345, -570])
def test_the_writers_zone_follows_from_pairs_of_times(minutes: int) -> None:
    local = NOON.replace(tzinfo=None) + timedelta(minutes=minutes)
    utc = NOON.replace(tzinfo=None)
    pairs = [(local, utc - timedelta(milliseconds=2)), (local, utc + timedelta(minutes=40)), (None, utc)]
    assert offset_of(pairs) == timedelta(minutes=minutes)
