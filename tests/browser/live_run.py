"""A process that writes a run as MixSeek does: it holds the database open, and obeys its standard input.

Usage: python live_run.py WORKSPACE. Says the execution's id when the first round is stored. «round» stores
another one, in which the last team overtakes; «end» stores the summary and ends the process.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builder.leaderboard.writer import Judgment, RoundKey, SimulatedDatabase, Summary

EXECUTION = "5f0e1d2c-aaaa-4bbb-8ccc-0123456789ab"
TASK = "順位と図が動くところを見せてください。"
TEAMS = (("team-a", "Alpha", 70.0, 1.0), ("team-b", "深掘り班", 60.0, 15.0))


def play_round(database: SimulatedDatabase, logs: Path, number: int) -> None:
    now = datetime.now(UTC)
    for team, name, start, gain in TEAMS:
        key = RoundKey(EXECUTION, team, name, number)
        score = start + gain * (number - 1)
        details = {
            "overall_score": score,
            "metrics": [{"metric_name": "Coverage", "score": score, "evaluator_comment": "ok"}],
        }
        database.save_history(key, [{"parts": []}], {}, now)
        database.save_submission(key, f"# Round {number}\n\n**{name}**", details, now)
        database.save_status(key, now - timedelta(seconds=5), now, now)
        database.save_judgment(key, Judgment(True, "まだ伸びます。", 0.8), now)
        report(logs, team, name, number, "running")
    database.checkpoint()


def report(logs: Path, team: str, name: str, number: int, status: str) -> None:
    logs.mkdir(exist_ok=True)
    document = {
        "execution_id": EXECUTION,
        "team_id": team,
        "team_name": name,
        "status": status,
        "current_round": number,
        "total_rounds": 9,
        "current_agent": "leader",
        "updated_at": datetime.now(UTC).isoformat(),
    }
    (logs / f"{EXECUTION}.{team}.progress.json").write_text(json.dumps(document), encoding="utf-8")


def main(workspace: Path) -> None:
    logs, number = workspace / "logs", 1
    with SimulatedDatabase(workspace / "mixseek.db") as database:
        play_round(database, logs, number)
        print(EXECUTION, flush=True)
        for line in sys.stdin:
            if line.strip() == "round":
                number += 1
                play_round(database, logs, number)
            else:
                results = [{"team_id": team, "team_name": name} for team, name, *_ in TEAMS]
                summary = Summary(EXECUTION, TASK, "completed", len(TEAMS), 12.0, team_results=results)
                database.save_summary(summary, datetime.now(UTC))
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
