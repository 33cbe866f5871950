"""Pinned runs: a command that gets exactly one version, and the manifest that it leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builder.client.manifest import LOGS, Manifest, read_manifests
from builder.client.pinned import FILE, Surroundings, run_pinned
from builder.client.prompts import Prompts
from builder.errors import ClientError
from builder.leaderboard import AggregationStore
from builder.simulation import Run, simulate
from builder.template.content_hash import content_hash

ROOT = Path(__file__).parents[3]
STAND_IN = Path(__file__).with_name("stand_in_mixseek.py")
CONFIG = "configs/orchestrator.toml"

TEXTS = {
    "team_user_prompt": "Pinned. {{ user_prompt }} {{ submission_history }}",
    "evaluator_user_prompt": "Judge {{ submission }}",
    "judgment_user_prompt": "Go on? {{ submission_history }}",
}
PROMPTS = Prompts(
    studio="http://studio.example",
    prompt_set="research",
    number=7,
    label="production",
    hash=content_hash(TEXTS.values()),
    message="Shorter",
    fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    **TEXTS,
)


@pytest.fixture
def at(tmp_path: Path) -> Surroundings:
    """A workspace with a run of its own templates, and a folder to start commands from."""
    workspace, folder = tmp_path / "workspace", tmp_path / "folder"
    folder.mkdir()
    simulate(workspace, [Run("earlier", datetime(2026, 1, 1, tzinfo=UTC))])
    environ = {**os.environ, "MIXSEEK_WORKSPACE": str(workspace), "PYTHONPATH": str(ROOT)}
    return Surroundings(workspace, environ, folder)


def pinned(at: Surroundings, *words: str) -> tuple[int, Manifest]:
    command = [sys.executable, str(STAND_IN), "exec", "task", "--config", CONFIG, *words]
    return run_pinned(PROMPTS, "hana", command, at)


def test_a_pinned_run_gets_the_version_and_leaves_the_workspaces_file_alone(at: Surroundings) -> None:
    own = at.workspace / "configs" / "prompt_builder.toml"
    before = own.read_bytes()
    code, manifest = pinned(at, "fail")
    assert code == 3 and own.read_bytes() == before
    (execution,) = manifest.executions
    with AggregationStore(at.workspace) as store:
        run = store.delivered_rounds(execution)
        assert run.rounds and all(
            stored.delivered is not None and stored.delivered.text.startswith("Pinned. task 0")
            for stored in run.rounds
        )
    (stored,) = read_manifests(at.workspace)
    assert stored == manifest and stored.link == "one" and stored.exit_code == 3
    assert (stored.prompt_set, stored.version, stored.hash, stored.by) == (
        "research",
        7,
        PROMPTS.hash,
        "hana",
    )
    assert stored.orchestrator == CONFIG and set(stored.settings) == {"evaluator", "judgment", "teams"}
    assert "google-gla:gemini-2.5-flash" in stored.models
    assert "task" not in (at.workspace / stored.name).read_text()


def test_variables_for_single_templates_do_not_reach_the_command(
    at: Surroundings, capfd: pytest.CaptureFixture[str]
) -> None:
    at.environ.update(  # type: ignore[attr-defined]
        MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT="other",
        mixseek_prompt_builder__judgment_user_prompt="other",
        mixseek_prompt_builder_config="configs/other.toml",
    )
    _code, manifest = pinned(at)
    assert manifest.link == "one"
    assert capfd.readouterr().out == f"this is its output {FILE}\n"


def test_a_dotenv_that_would_win_is_refused_before_anything_runs(at: Surroundings) -> None:
    (at.working_directory / ".env").write_text(
        "export mixseek_Prompt_Builder__team_user_prompt='x'\nKEY=secret\n"
    )
    with pytest.raises(ClientError) as refused:
        pinned(at)
    assert "MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT" in str(refused.value) and "secret" not in str(
        refused.value
    )
    assert not read_manifests(at.workspace)


def test_with_two_new_executions_the_manifest_says_that_it_cannot_tell(at: Surroundings) -> None:
    _code, manifest = pinned(at, "twice")
    assert manifest.link == "several" and len(manifest.executions) == 2


def test_a_program_that_is_not_there_leaves_an_ended_manifest(at: Surroundings) -> None:
    with pytest.raises(ClientError, match="no-such-program cannot be started"):
        run_pinned(PROMPTS, "hana", ["no-such-program"], at)
    (manifest,) = read_manifests(at.workspace)
    assert manifest.exit_code == 127 and manifest.ended_at is not None and manifest.link == "none"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_command_and_its_exit_code_comes_back(
    at: Surroundings, number: signal.Signals
) -> None:
    script = (
        "import os, sys; from pathlib import Path;"
        "from builder.client.pinned import Surroundings, run_pinned;"
        "from builder.client.prompts import Prompts;"
        "prompts = Prompts.model_validate_json(sys.argv[1]);"
        "at = Surroundings(Path(sys.argv[2]), os.environ, Path.cwd());"
        "sys.exit(run_pinned(prompts, 'hana', sys.argv[3:], at)[0])"
    )
    command = [sys.executable, str(STAND_IN), "wait"]
    process = subprocess.Popen(
        [sys.executable, "-c", script, PROMPTS.model_dump_json(), str(at.workspace), *command],
        env=dict(at.environ),
        cwd=at.working_directory,
        start_new_session=True,
    )
    try:
        while not (at.workspace / "ready").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(60) == 40 + number
    finally:
        process.kill()
    (manifest,) = read_manifests(at.workspace)
    assert manifest.exit_code == 40 + number


def test_what_is_no_manifest_is_passed_over(at: Surroundings) -> None:
    _code, manifest = pinned(at)
    logs = at.workspace / LOGS
    good = json.loads((at.workspace / manifest.name).read_text())
    other = "0" * 32
    (logs / f"{other}.studio.json").write_text(json.dumps(good))  # says it is another one
    (logs / f"{'1' * 32}.studio.json").write_text(json.dumps({**good, "id": "1" * 32, "version": "many"}))
    (logs / f"{'2' * 32}.studio.json").write_text("[" * 100_000)
    (logs / f"{'3' * 32}.studio.json").symlink_to(at.workspace / manifest.name)
    (logs / f"{'4' * 32}.studio.json").mkdir()
    assert read_manifests(at.workspace) == [manifest]
