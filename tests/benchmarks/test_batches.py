"""A million rows from another machine on their way into the studio. Run with ``-s`` for the figures."""

import time
from pathlib import Path

import duckdb
import pytest

from builder.client.agent import Agent
from builder.client.connection import Connection
from builder.client.credentials import Credentials
from builder.leaderboard.schema import DDL
from tests.studio.operations.test_client import make_token
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

EXECUTIONS, TEAMS, ROUNDS = 1_250, 100, 4
"""Half a million scores, and as many prompts."""


def make_database(workspace: Path) -> int:
    """The rows that so many runs leave; how many."""
    (workspace / "configs").mkdir(parents=True)
    with duckdb.connect(str(workspace / "mixseek.db")) as connection:
        for statement in DDL:
            connection.execute(statement)
        connection.execute(
            "CREATE TEMP TABLE played AS SELECT printf('%08d-run', e) AS execution_id, r AS round_number,"
            " printf('team-%03d', t) AS team_id, printf('Team %d', t) AS team_name, e, t,"
            " (e * 31 + t * 17 + r) % 100 AS score"
            f" FROM range({EXECUTIONS}) e(e), range({TEAMS}) t(t), range(1, {ROUNDS + 1}) r(r)"
        )
        connection.execute(
            "INSERT INTO leader_board BY NAME SELECT execution_id, team_id, team_name, round_number, score,"
            " repeat(md5(execution_id || team_id || round_number), 3) AS submission_content,"
            " json_object('overall_score', score, 'metrics', []) AS score_details FROM played"
        )
        connection.execute(
            "INSERT INTO round_history BY NAME SELECT execution_id, team_id, team_name, round_number,"
            " json_array(json_object('parts', json_array(json_object('part_kind', 'user-prompt', 'content',"
            " 'Task ' || e)))) AS message_history FROM played"
        )
    return EXECUTIONS * TEAMS * ROUNDS * 2


def test_a_million_rows_come_in_and_a_second_report_costs_next_to_nothing(tmp_path: Path) -> None:
    rows = make_database(tmp_path / "workspace")
    studio = Studio(tmp_path / "data", "--port", "0", "--no-demo", STUDIO_API_RATE="6000")
    try:
        api = Connection(Credentials(studio.base, make_token(studio, "read", "machine")), seconds=600)
        agent = Agent(api, tmp_path / "workspace", "gpu-1")
        took = []
        for _ in range(2):
            begun = time.perf_counter()
            sent = agent.once()
            took.append((time.perf_counter() - begun, sent))
        begun = time.perf_counter()
        while True:
            try:
                runs = api.get("workspaces", "workspace-gpu-1", "runs", limit=1)["items"]
                break
            except Exception as error:  # being put together and copied for the first time
                assert "503" in str(error), error
                time.sleep(0.5)
        assert runs and took[0][1].executions == EXECUTIONS and took[1][1].executions == 0
        print(
            f"\n{rows:,} rows: sent in {took[0][0]:.1f} s ({took[0][1].bytes / 1e6:.1f} MB),"
            f" a second report {took[1][0]:.3f} s (1/{took[0][0] / took[1][0]:.0f}),"
            f" shown after {time.perf_counter() - begun:.1f} s more"
        )
    finally:
        studio.process.kill()
        studio.process.wait()
