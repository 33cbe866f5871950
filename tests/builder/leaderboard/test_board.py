"""One execution as its pages show it: places, scores by round, one round, what is going on."""

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from builder.errors import MissingTable, UnknownExecution, UnknownRound, UnknownTeam
from builder.leaderboard import AggregationStore, ScorePoint, SubmissionLength
from builder.leaderboard.process import ReaderProcess
from builder.template.dialect import CONTRACT, MIXSEEK
from tests.builder.leaderboard.conftest import Played
from tests.builder.leaderboard.test_store import _add_row, _write

Open = Callable[..., AggregationStore]
LATER = datetime(2026, 4, 6, tzinfo=UTC)


def _in_32_bits(score: float) -> float:
    (kept,) = struct.unpack("f", struct.pack("f", score))
    return float(kept)


def test_places_have_the_evaluators_digits_best_and_latest_rounds(
    original: Played, kept: AggregationStore
) -> None:
    rounds = kept.rounds(original.ids[0])
    for place in kept.standings(original.ids[0]):
        own = [each for each in rounds if each.team_id == place.team_id]
        scores = [each.score for each in own if each.score is not None]
        assert place.best_score == max(scores) == round(place.best_score, 2)
        assert place.kept_score == _in_32_bits(place.best_score)
        assert own[place.best_round - 1].score == place.best_score
        assert (place.latest_score, place.latest_round, place.rounds) == (scores[-1], 3, 3)
        assert place.exit_reason == "max_rounds_reached"
    assert [place.rank for place in kept.standings(original.ids[0])] == [1, 2, 3, 4]


@pytest.mark.slow
def test_either_order_can_be_asked_for_whatever_the_dialect(played: Played, open_store: Open) -> None:
    for team, number, score in [("c", 1, 70), ("b", 1, 70), ("b", 2, 60), ("a", 1, 70), ("d", 1, 80)]:
        _add_row(played, "tied", team, number, score)
    contract, mixseek = (open_store(played.path, dialect=each) for each in (CONTRACT, MIXSEEK))
    for store in (contract, mixseek):
        for names, order in (("dbac", "latest_round"), ("dabc", "team_id")):
            assert [place.team_id for place in store.standings("tied", order)] == [*names]
            assert [place.team_id for place in store.ranking("tied", order)] == [*names]
    assert contract.standings("tied") == contract.standings("tied", "latest_round")
    assert mixseek.standings("tied") == mixseek.standings("tied", "team_id")


@pytest.mark.slow
def test_scores_that_differ_beyond_32_bits_are_tied_as_mixseek_ties_them(
    played: Played, open_store: Open
) -> None:
    _add_row(played, "close", "b", 1, 84.2350001)
    _add_row(played, "close", "a", 1, 84.235)
    places = open_store(played.path).standings("close", "team_id")
    assert [(place.team_id, place.best_score) for place in places] == [("a", 84.235), ("b", 84.2350001)]


@pytest.mark.slow
def test_a_score_changed_by_hand_is_shown_as_the_ranking_takes_it(played: Played, open_store: Open) -> None:
    _add_row(played, "edited", "a", 1, 50.25)
    _add_row(played, "edited", "b", 1, 60.5)
    _write(played, "UPDATE leader_board SET score = 99.5 WHERE execution_id = 'edited' AND team_id = 'a'")
    store = open_store(played.path)
    assert [(place.team_id, place.best_score) for place in store.standings("edited")] == [
        ("a", 99.5),
        ("b", 60.5),
    ]
    assert [point.score for point in store.scores("edited")] == [99.5, 60.5]
    assert [each.score for each in store.rounds("edited")] == [99.5, 60.5]


@pytest.mark.slow
def test_the_first_of_several_best_rounds_is_the_best_round(played: Played, open_store: Open) -> None:
    for number, score in enumerate([70.0, 80.0, 80.0, 75.0], start=1):
        _add_row(played, "again", "a", number, score)
    (place,) = open_store(played.path).standings("again")
    assert (place.best_round, place.latest_score, place.rounds) == (2, 75.0, 4)


@pytest.mark.slow
def test_a_score_that_is_no_number_leaves_the_others_of_its_team(played: Played, open_store: Open) -> None:
    _add_row(played, "odd", "a", 1, 50)
    for team, number, score in (("a", 2, "nan"), ("b", 1, "inf")):
        _write(
            played,
            "INSERT INTO leader_board (execution_id, team_id, team_name, round_number, submission_content,"
            f" score, score_details) VALUES ('odd', '{team}', '{team.upper()}', {number}, '', '{score}',"
            " '{}')",
        )
    store = open_store(played.path)
    (place,) = store.standings("odd")
    assert (place.team_id, place.best_score, place.latest_score, place.rounds) == ("a", 50.0, None, 2)
    assert [point.score for point in store.scores("odd")] == [50.0, None, None]


def test_scores_are_the_rounds_without_their_texts(original: Played, kept: AggregationStore) -> None:
    points = kept.scores(original.ids[0])
    assert points == [
        ScorePoint(each.team_id, each.team_name, each.round_number, each.score, each.final_submission)
        for each in kept.rounds(original.ids[0])
    ]
    assert [point.round_number for point in kept.scores(original.ids[0], "team-002")] == [1, 2, 3]
    assert sum(point.final for point in points) == 4
    assert kept.scores("nothing ran under this id") == []


def test_one_round_is_the_same_as_among_all(original: Played, kept: AggregationStore) -> None:
    expected = kept.rounds(original.ids[1], "team-002")
    assert [kept.round(original.ids[1], "team-002", number) for number in (1, 2, 3, 4)] == expected


@pytest.mark.parametrize(
    ("execution", "team", "number", "error"),
    [
        (None, "team-001", 1, UnknownExecution),
        (0, "team-999", 1, UnknownTeam),
        (0, "team-001", 99, UnknownRound),
        (0, "team-001", 0, UnknownRound),
        (0, "team-001", -(10**15), UnknownRound),
    ],
)
def test_a_round_that_is_not_there_is_said_to_be_missing(
    execution: int | None,
    team: str,
    number: int,
    error: type[Exception],
    original: Played,
    kept: AggregationStore,
) -> None:
    with pytest.raises(error):
        kept.round("no such id" if execution is None else original.ids[execution], team, number)


@pytest.mark.slow
def test_places_need_the_leaderboard_and_say_so(played: Played, open_store: Open) -> None:
    _write(played, "DROP TABLE leader_board")
    store = open_store(played.path)
    with pytest.raises(MissingTable):
        store.standings(played.ids[0])
    assert [found.best_score for found in store.executions() if found.execution_id == played.ids[3]] == [None]


# --- what is going on ----------------------------------------------------------------------------


def test_a_glance_tells_how_much_ran_and_what_ran_last(original: Played, kept: AggregationStore) -> None:
    glance = kept.activity(LATER, wait=30)
    assert (glance.executions, glance.last_state, glance.running) == (5, "unknown", ())
    assert glance.last_at == kept.executions(limit=1, now=LATER)[0].last_at
    sign = max(team.updated_at for team in kept.progress([original.ids[4]]) if team.updated_at)
    assert kept.activity(sign + timedelta(minutes=1)).running == (original.ids[4],)
    assert kept.activity(sign + timedelta(minutes=1)).running
    assert not kept.activity(sign + timedelta(days=1)).running


def test_a_glance_asks_an_unchanged_copy_once(
    played: Played, open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(played.path)
    first = store.activity(LATER, wait=30)
    ask = ReaderProcess.ask
    asked: list[object] = []
    monkeypatch.setattr(ReaderProcess, "ask", lambda *args: asked.append(args) or ask(*args))
    assert store.activity(LATER + timedelta(hours=1), wait=30) == first and not asked
    _add_row(played, "new", "team-001", 1, 50.0)
    assert store.activity(LATER, wait=30).executions == 6 and asked


@pytest.mark.slow
def test_a_run_is_seen_before_the_database_knows_it(played: Played, open_store: Open) -> None:
    now = datetime.now(UTC)
    (played.path / "logs" / "just-begun.t.progress.json").write_text(
        f'{{"execution_id": "just-begun", "team_id": "t", "status": "running",'
        f' "updated_at": "{now.isoformat()}"}}'
    )
    assert open_store(played.path).activity(now, wait=30).running == ("just-begun",)


def test_fresh_logs_of_a_finished_run_do_not_make_it_run(played: Played, open_store: Open) -> None:
    store = open_store(played.path)
    sign = max(team.updated_at for team in store.progress([played.ids[0]]) if team.updated_at)
    assert played.ids[0] not in store.activity(sign + timedelta(seconds=1), wait=30).running


def test_a_glance_at_a_workspace_where_nothing_ran_is_empty(played: Played, open_store: Open) -> None:
    (played.path / "mixseek.db").unlink()
    glance = open_store(played.path).activity(LATER)
    assert (glance.executions, glance.running, glance.last_at) == (0, (), None)


def test_a_glance_does_without_a_copy(played: Played, open_store: Open) -> None:
    (played.path / "mixseek.db").write_bytes(b"not a database")
    glance = open_store(played.path).activity(LATER, wait=30)
    assert (glance.executions, glance.last_at) == (None, None)


def test_lengths_are_those_of_the_submissions_of_the_executions_asked_for(
    original: Played, kept: AggregationStore
) -> None:
    first, second = original.ids[:2]
    found = kept.lengths([first])
    expected = [
        SubmissionLength(first, record.team_id, record.round_number, len(record.submission or ""))
        for record in kept.rounds(first)
        if record.submission is not None
    ]
    assert expected and found == expected
    assert {each.execution_id for each in kept.lengths([first, second, "nobody's"])} == {first, second}
    assert kept.lengths([]) == []


@pytest.mark.slow
def test_rows_without_a_text_have_no_length(
    played: Played, open_store: Callable[..., AggregationStore]
) -> None:
    with duckdb.connect(str(played.path / "mixseek.db")) as connection:
        connection.execute("CREATE TABLE narrow AS SELECT * EXCLUDE (submission_content) FROM leader_board")
        connection.execute("DROP TABLE leader_board")
        connection.execute("ALTER TABLE narrow RENAME TO leader_board")
    assert open_store(played.path).lengths(played.ids) == []
