"""Simulated runs are what MixSeek would have left behind, and the same every time."""

import json
import statistics
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from builder.leaderboard.schema import COLUMNS
from builder.simulation import TASKS, TEAMS, Run, Team, simulate
from builder.template.defaults import DEFAULT_TEMPLATES

START = datetime(2026, 4, 1, 9, tzinfo=UTC)
RUN = Run(TASKS["ja"][0], START)
TABLES = ("round_history", "leader_board", "round_status", "execution_summary")


def _rows(workspace: Path, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(workspace / "mixseek.db"), read_only=True) as connection:
        return connection.execute(sql, list(parameters)).fetchall()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_workspace(tmp_path: Path) -> None:
    for name in ("one", "two", "other"):
        simulate(tmp_path / name, [RUN], seed=1 if name != "other" else 2)
    for table in TABLES:
        contents = [
            _rows(tmp_path / name, f"SELECT * FROM {table} ORDER BY ALL") for name in ("one", "two", "other")
        ]
        assert contents[0] == contents[1]
        assert contents[0] != contents[2]


@pytest.mark.slow
def test_a_run_before_it_changes_nothing_about_a_run(tmp_path: Path) -> None:
    later = replace(RUN, task=TASKS["en"][0])
    alone = simulate(tmp_path / "alone", [RUN, later])
    changed = simulate(tmp_path / "changed", [replace(RUN, rounds=1), later])
    assert alone[1] == changed[1]


@pytest.mark.slow
def test_a_second_call_adds_to_the_workspace(tmp_path: Path) -> None:
    first = simulate(tmp_path, [RUN])
    prompt_file = (tmp_path / "configs" / "prompt_builder.toml").read_bytes()
    second = simulate(tmp_path, [replace(RUN, started_at=START + timedelta(days=1), templates={"team": "x"})])
    assert first != second
    assert {row[0] for row in _rows(tmp_path, "SELECT execution_id FROM execution_summary")} == {
        *first,
        *second,
    }
    assert (tmp_path / "configs" / "prompt_builder.toml").read_bytes() == prompt_file


@pytest.mark.slow
def test_a_completed_run_fills_every_table(tmp_path: Path) -> None:
    (execution,) = simulate(tmp_path, [RUN])
    counts = [_rows(tmp_path, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES]
    assert counts == [12, 12, 12, 1]
    for table, columns in COLUMNS.items():
        assert len(_rows(tmp_path, f"SELECT {', '.join(columns)} FROM {table}")) > 0
    assert _rows(
        tmp_path, "SELECT execution_id, user_prompt, status, total_teams FROM execution_summary"
    ) == [(execution, RUN.task, "completed", 4)]
    best = _rows(tmp_path, "SELECT max(score) FROM leader_board")[0][0]
    assert _rows(tmp_path, "SELECT best_score FROM execution_summary")[0][0] == pytest.approx(best, abs=1e-4)
    assert _rows(tmp_path, "SELECT count(*) FROM leader_board WHERE final_submission") == [(4,)]


@pytest.mark.parametrize(
    ("state", "rounds", "summaries"),
    [("partial_failure", 10, ["partial_failure"]), ("failed", 0, ["failed"]), ("running", 7, [])],
)
def test_runs_that_go_wrong_leave_what_mixseek_would(
    state: Any, rounds: int, summaries: list[str], tmp_path: Path
) -> None:
    simulate(tmp_path, [replace(RUN, state=state)])
    assert _rows(tmp_path, "SELECT count(*) FROM leader_board") == [(rounds,)]
    assert [row[0] for row in _rows(tmp_path, "SELECT status FROM execution_summary")] == summaries


def test_local_and_utc_times_differ_by_the_writers_zone(tmp_path: Path) -> None:
    simulate(tmp_path, [replace(RUN, zone="Asia/Tokyo")])
    differences = _rows(
        tmp_path, "SELECT DISTINCT created_at - updated_at FROM leader_board WHERE NOT final_submission"
    )
    assert differences == [(timedelta(hours=9),)]
    prompt = _first_parts(tmp_path)[0][-1]["content"]
    assert f"現在日時: {START.date()}T18:0" in prompt
    assert "+09:00" in prompt


def _first_parts(workspace: Path) -> list[list[dict[str, Any]]]:
    rows = _rows(workspace, "SELECT message_history FROM round_history ORDER BY round_number, team_id")
    return [json.loads(row[0])[0]["parts"] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("system_prompt", [True, False])
def test_conversations_have_the_shape_of_pydantic_ai(system_prompt: bool, tmp_path: Path) -> None:
    simulate(tmp_path, [replace(RUN, system_prompt=system_prompt)])
    kinds = [[part["part_kind"] for part in parts] for parts in _first_parts(tmp_path)]
    assert kinds == [["system-prompt", "user-prompt"] if system_prompt else ["user-prompt"]] * 12
    messages = json.loads(_rows(tmp_path, "SELECT message_history FROM round_history LIMIT 1")[0][0])
    assert [message["kind"] for message in messages] == ["request", "response", "request", "response"]
    content = _rows(tmp_path, "SELECT submission_content FROM leader_board")
    assert (messages[-1]["parts"][0]["content"],) in content


def test_teams_write_in_the_language_of_the_task(tmp_path: Path) -> None:
    simulate(tmp_path, [RUN, replace(RUN, task=TASKS["en"][0])])
    rows = _rows(
        tmp_path,
        "SELECT s.user_prompt, b.submission_content FROM leader_board b"
        " JOIN execution_summary s USING (execution_id)",
    )
    for task, content in rows:
        assert content.startswith("# 提出" if task == RUN.task else "# Submission")


def test_ties_occur_where_they_are_asked_for(tmp_path: Path) -> None:
    simulate(tmp_path, [replace(RUN, ties=True)])
    best = _rows(tmp_path, "SELECT max(score) FROM leader_board GROUP BY team_id")
    assert len(set(best)) < len(best)
    assert all(score % 10 == 0 for (score,) in best)


@pytest.mark.slow
def test_a_shift_moves_the_mean_of_the_scores(tmp_path: Path) -> None:
    runs = [replace(RUN, started_at=START + timedelta(days=day), shift=10.0 * (day % 2)) for day in range(20)]
    ids = simulate(tmp_path, runs)
    scores = dict(_rows(tmp_path, "SELECT execution_id, avg(score) FROM leader_board GROUP BY 1"))
    plain = statistics.mean(scores[execution] for execution in ids[0::2])
    shifted = statistics.mean(scores[execution] for execution in ids[1::2])
    assert shifted - plain == pytest.approx(10, abs=3)


@pytest.mark.slow
def test_teams_get_better_over_their_rounds(tmp_path: Path) -> None:
    simulate(tmp_path, [replace(RUN, started_at=START + timedelta(days=day)) for day in range(10)])
    means = [
        row[0]
        for row in _rows(
            tmp_path, "SELECT avg(score) FROM leader_board GROUP BY round_number ORDER BY round_number"
        )
    ]
    assert means == sorted(means)


def test_metrics_and_teams_can_be_named(tmp_path: Path) -> None:
    teams = (Team("x", 'Quote "X" \\ 班'), *TEAMS[:1])
    simulate(tmp_path, [replace(RUN, metrics=("Taste",), teams=teams)])
    details = json.loads(_rows(tmp_path, "SELECT score_details FROM leader_board LIMIT 1")[0][0])
    assert [metric["metric_name"] for metric in details["metrics"]] == ["Taste"]
    with (tmp_path / "configs" / "agents" / "x.toml").open("rb") as file:
        assert tomllib.load(file)["team"]["team_name"] == 'Quote "X" \\ 班'


def test_the_configuration_is_one_that_mixseek_would_read(tmp_path: Path) -> None:
    simulate(tmp_path, [RUN, replace(RUN, rounds=5, task="Another")])
    with (tmp_path / "configs" / "orchestrator.toml").open("rb") as file:
        orchestrator = tomllib.load(file)["orchestrator"]
    assert orchestrator["max_rounds"] == 5
    for team in orchestrator["teams"]:
        with (tmp_path / team["config"]).open("rb") as file:
            assert tomllib.load(file)["team"]["leader"]["model"]
    with (tmp_path / "configs" / "prompt_builder.toml").open("rb") as file:
        templates = tomllib.load(file)["prompt_builder"]
    assert templates == {f"{kind}_user_prompt": text for kind, text in DEFAULT_TEMPLATES.items()}


def test_a_prompt_file_can_be_given(tmp_path: Path) -> None:
    simulate(tmp_path, [RUN], prompt_file={"team": "T {{ user_prompt }}", "evaluator": "E", "judgment": "J"})
    with (tmp_path / "configs" / "prompt_builder.toml").open("rb") as file:
        assert tomllib.load(file)["prompt_builder"]["team_user_prompt"] == "T {{ user_prompt }}"
    # The run itself was played with its own templates.
    assert _first_parts(tmp_path)[0][0]["content"].startswith("# ユーザから指定されたタスク")


def test_progress_files_tell_how_each_team_ended(tmp_path: Path) -> None:
    (execution,) = simulate(tmp_path, [replace(RUN, state="partial_failure")])
    progress = [json.loads(path.read_text()) for path in sorted((tmp_path / "logs").glob(f"{execution}.*"))]
    assert [team["status"] for team in progress] == ["completed", "completed", "completed", "failed"]
