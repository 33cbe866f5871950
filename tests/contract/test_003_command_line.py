"""Document 003, API Contract: UserPromptBuilder: its examples and sentences on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder import MIXSEEK, AggregationStore
from tests.builder.workspaces import play_small_workspace
from tests.contract.command_line import Outcome
from tests.contract.documents import ROUND_ONE, ROUND_TWO
from tests.contract.leaderboards import write_leaderboard
from tests.contract.mixseek_shapes import NOW, mixseek_state

Command = Callable[..., Outcome]

ALPHA = {"team_id": "team1", "team_name": "Alpha", "max_score": 75.5, "total_rounds": 1}


def as_json(round_number: int, **changes: Any) -> str:
    history = [] if round_number == 1 else [mixseek_state().model_dump(mode="json")]
    values = {
        "user_prompt": "データ分析タスク",
        "round_number": round_number,
        "round_history": history,
        "team_id": "team1",
        "team_name": "Alpha",
        "execution_id": "exec1",
    }
    return json.dumps(values | changes)


def rendered(command: Command, workspace: Path, stdin: str, *more: str) -> Outcome:
    return command("render", "team", "-w", workspace, "-c", "-", "--now", NOW.isoformat(), *more, stdin=stdin)


def test_4_prints_the_examples_to_the_byte(command: Command, workspace: Path) -> None:
    assert rendered(command, workspace, as_json(1)) == (0, ROUND_ONE, "")
    assert rendered(command, workspace, as_json(2, ranking=[ALPHA])) == (0, ROUND_TWO, "")
    tokyo = rendered(command, workspace, as_json(1), "--tz", "Asia/Tokyo").out
    assert tokyo.endswith("2025-11-19T21:34:56.789012+09:00")


@pytest.mark.parametrize(
    ("stdin", "sentence"),
    [
        (as_json(0), "error: round_number must be >= 1\n"),
        (as_json(1, team_name=" "), "error: team_name cannot be empty\n"),
        ("{", "error: Not a context: Invalid JSON"),
        (as_json(2, ranking=[ALPHA | {"max_score": float("nan")}]), "error: ranking.0.max_score: Input"),
    ],
)
def test_6_2_a_wrong_context_is_one_sentence(
    command: Command, workspace: Path, stdin: str, sentence: str
) -> None:
    code, out, err = rendered(command, workspace, stdin)
    assert (code, out) == (1, "")
    assert err.startswith(sentence) and "Traceback" not in err


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{% if %}", "error: Jinja2 template syntax error at line 1: "),
        ("{{ unknown_variable }}", "error: Jinja2 template error: 'unknown_variable' is undefined"),
    ],
)
def test_3_2_says_the_documents_sentences(
    command: Command, workspace: Path, template: str, sentence: str
) -> None:
    text = f'[prompt_builder]\nteam_user_prompt = """{template}"""\n'
    (workspace / "configs" / "prompt_builder.toml").write_text(text)
    code, out, err = rendered(command, workspace, as_json(1))
    assert (code, out, err.startswith(sentence)) == (1, "", True)


def test_reads_the_environment(command: Command, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXSEEK_TEAM_USER_PROMPT", "{{ user_prompt }}!")
    assert rendered(command, workspace, as_json(1)).out == "データ分析タスク!"
    monkeypatch.setenv("TZ", "Invalid/Timezone")
    outcome = command("render", "team", "-w", workspace, "-c", "-", stdin=as_json(1))
    assert (outcome.code, outcome.err) == (
        1,
        "error: Invalid timezone in TZ environment variable: Invalid/Timezone."
        " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'\n",
    )


def test_missing_workspace_and_evaluator(command: Command, workspace: Path) -> None:
    missing = rendered(command, workspace / "nowhere", as_json(1))
    assert missing.code == 1 and missing.err.startswith("error: Workspace does not exist: ")
    stdin = json.dumps({"user_query": "課題", "submission": "提出された内容"})
    evaluated = command("render", "evaluator", "-w", workspace, "-c", "-", stdin=stdin)
    assert evaluated.code == 0 and "提出された内容" in evaluated.out


def test_leaderboard(
    command: Command, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, out, err = command("leaderboard", workspace)
    assert (code, out) == (1, "") and "mixseek.db" in err
    write_leaderboard(workspace, [("exec1", "team1", "Alpha", 1, 75.5), ("exec1", "team2", "Beta", 1, 80)])
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace))
    for arguments in ([workspace, "exec1"], ["exec1"]):
        code, out, _ = command("leaderboard", *arguments, "--format", "json")
        assert (code, [row["team_id"] for row in json.loads(out)]) == (0, ["team2", "team1"])


def test_readme_context_and_render_give_a_stored_prompt_back(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    played = play_small_workspace(tmp_path / "played")
    with AggregationStore(played) as store:
        execution = next(each.execution_id for each in store.executions() if each.state == "completed")
        delivered = store.delivered(execution, "team-001", 2).text
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(played))
    given = command("context", execution, "team-001", 2).out
    now = json.loads(given)["delivered_at"]
    rendered = command("render", "team", "-c", "-", "--dialect", MIXSEEK.name, "--now", now, stdin=given)
    assert rendered == (0, delivered, "")
