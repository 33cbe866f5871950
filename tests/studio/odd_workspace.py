"""A database with what MixSeek allows and nobody expects: ids, texts and scores of every kind."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from builder.leaderboard.writer import Judgment, RoundKey, SimulatedDatabase, Summary

BEGAN = datetime(2026, 4, 1, 9, tzinfo=UTC)

EXECUTION = "run/1..2 甲"
OTHER_METRICS = "...other"
GOING_ON = "going on"
TEAM = "team/<b>ä</b>?x=1&y#z"
TEAM_NAME = '<script>alert("name")</script> 班'
SUBMISSION = """# Title <script>alert(1)</script>

<img src=x onerror=alert(2)> [link](javascript:alert(3)) ![picture](http://example.com/p.png)

- 提出 **内容** {{ user_prompt }}\r
"""
LONG = "長い文章。" * 45_000
PROMPT = "ラウンド1\r\n<b>prompt</b>\n\ttask: 依頼"


@dataclass
class _Clock:
    now: datetime = BEGAN

    def tick(self) -> datetime:
        self.now += timedelta(seconds=30)
        return self.now


def make_odd_workspace(folder: Path) -> Path:
    """Three executions: an odd one, one judged by other metrics, and one that goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    database, clock = folder / "mixseek.db", _Clock()
    with SimulatedDatabase(database) as writer:
        for number, text in enumerate((SUBMISSION, LONG, " "), start=1):
            key = RoundKey(EXECUTION, TEAM, TEAM_NAME, number)
            _round(writer, key, text, _details(50.0 + number, {"正確さ": 40.0, "x" * 90: -3.25}), clock)
            writer.save_judgment(key, Judgment(number < 3, "<i>理由</i>\n二行目", 0.87), clock.tick())
        writer.mark_final(RoundKey(EXECUTION, TEAM, TEAM_NAME, 2), "max_rounds <reached>", clock.tick())
        _round(writer, RoundKey(EXECUTION, "plain", "Plain", 1), "ok", {"overall_score": 1.0}, clock)
        _round(writer, RoundKey(EXECUTION, "", "", 1), "nameless", {"overall_score": -12.5}, clock)
        _round(writer, RoundKey(EXECUTION, "wild", "Wild", 0), "zero", {"overall_score": 3.0}, clock)
        late = RoundKey(EXECUTION, "late", "Late", 2**31 - 1)
        _round(writer, late, "late", {"overall_score": 7.0}, clock)
        for number, score in enumerate((1e30, float("nan"), float("inf")), start=1):
            details = {"overall_score": score, "note": "no metrics", "metrics": "odd"}
            _round(writer, RoundKey(EXECUTION, "wild", "Wild", number), "w", details, clock)
        writer.save_summary(Summary(EXECUTION, "依頼\n<b>task</b>", "completed", 4, 90.0), clock.tick())
        _round(
            writer, RoundKey(OTHER_METRICS, "plain", "Plain 2", 1), "b", _details(80, {"Brevity": 8.0}), clock
        )
        writer.save_summary(Summary(OTHER_METRICS, "another", "partial_failure", 2, 9.0), clock.tick())
        _round(writer, RoundKey(GOING_ON, "plain", "Plain", 1), "c", _details(70, {"Brevity": 7.0}), clock)
        writer.save_history(
            RoundKey(GOING_ON, "plain", "Plain", 2), _messages(PROMPT, clock), {}, clock.tick()
        )
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "UPDATE round_history SET message_history = NULL WHERE team_id = 'plain' AND round_number = 1"
        )
        connection.execute("UPDATE round_history SET message_history = '[7]' WHERE team_id = ''")
    return folder


def _round(
    writer: SimulatedDatabase, key: RoundKey, text: str, details: dict[str, Any], clock: _Clock
) -> None:
    began = clock.now
    writer.save_history(key, _messages(PROMPT, clock), {}, clock.tick())
    writer.save_submission(key, text, details, clock.tick())
    writer.save_status(key, began, clock.now, clock.now)


def _details(overall: float, metrics: dict[str, float]) -> dict[str, Any]:
    told = [
        {"metric_name": name, "score": score, "evaluator_comment": f"<u>{name}</u>"}
        for name, score in metrics.items()
    ]
    return {"overall_score": overall, "metrics": told}


def _messages(text: str, clock: _Clock) -> list[dict[str, Any]]:
    part = {"part_kind": "user-prompt", "content": text, "timestamp": clock.now.isoformat()}
    return [{"parts": [{"part_kind": "system-prompt", "content": "system"}, part], "kind": "request"}]
