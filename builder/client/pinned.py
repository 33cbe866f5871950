"""Pinned runs: a command of MixSeek's runs with exactly one version of a prompt set, and leaves a manifest.

Used by ``prompt-studio exec``. The workspace's own prompt file is not touched: MixSeek takes the file that
`MIXSEEK_PROMPT_BUILDER_CONFIG` names before any that an orchestrator file names. Only variables for single
templates would beat it; those of the environment are left out, those of a `.env` are refused.
"""

import hashlib
import os
import signal
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builder.client.manifest import LOGS, Link, Manifest, ScoredBy, write
from builder.client.prompts import Prompts
from builder.errors import BuilderError, ClientError
from builder.files.prompt_file import merge
from builder.files.writing import replace
from builder.jail import JailPool
from builder.leaderboard import AggregationStore, database_path
from builder.messages import message
from builder.orchestrators.dotenv import mixseek_variables
from builder.orchestrators.finder import RunSurroundings, find
from builder.orchestrators.installed import version_of_program
from builder.orchestrators.scoring_settings import ScoringSettings, scoring_settings
from builder.results.attribution import Candidate, attribute, decide
from builder.template.dialect import MIXSEEK

SINGLE = "mixseek_prompt_builder__"
FILE = "MIXSEEK_PROMPT_BUILDER_CONFIG"
PROMPT_FILE_ENDING = ".studio.toml"
_PASSED_ON = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
)
_SLACK = timedelta(seconds=2)
"""Between this clock and that of the rows, which MixSeek takes on the same machine."""
_NEWEST = 500

IN_DOTENV = message(
    "pinned-dotenv",
    "{file} sets {names}, which MixSeek would use instead of the version",
    "{file} に {names} が設定されています。MixSeek はこのバージョンではなくその値を使います",
    fix_en="Remove the lines from the file, or run the command in another folder.",
    fix_ja="その行をファイルから消すか、別のフォルダーでコマンドを実行してください。",
)
NO_PROGRAM = message(
    "pinned-no-program",
    "{program} cannot be started: {reason}",
    "{program} を起動できません：{reason}",
)


@dataclass(frozen=True)
class Surroundings:
    """Where a pinned run is started."""

    workspace: Path
    environ: Mapping[str, str]
    working_directory: Path
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


def run_pinned(prompts: Prompts, by: str, command: Sequence[str], at: Surroundings) -> tuple[int, Manifest]:
    """Run the command to its end; its exit code, as a shell would tell it, and the manifest."""
    _require_no_dotenv(at)
    manifest = _begin(prompts, by, command, at)
    known = _executions(at.workspace)
    path = at.workspace / LOGS / f"{manifest.id}{PROMPT_FILE_ENDING}"
    replace(path, merge(None, prompts.templates, manifest.started_at.date()), None, at.workspace)
    written = write(at.workspace, manifest, None)
    try:
        code = _run(command, environment(at.environ, path), at.working_directory)
    except OSError as error:
        code = 126 if isinstance(error, PermissionError) else 127
        _end(manifest, written, at, code, known, prompts)
        raise ClientError(NO_PROGRAM, program=command[0], reason=error.strerror or str(error)) from error
    return code, _end(manifest, written, at, code, known, prompts)


def environment(environ: Mapping[str, str], prompt_file: Path) -> dict[str, str]:
    """What the command gets: without variables for single templates, and with the file."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.lower().startswith(SINGLE) and name.lower() != FILE.lower()
    }
    return {**kept, FILE: str(prompt_file)}


def _require_no_dotenv(at: Surroundings) -> None:
    path = at.working_directory / ".env"
    try:
        data = path.read_bytes()
    except OSError:
        return
    if names := [name.upper() for name in mixseek_variables(data) if name.startswith(SINGLE)]:
        raise ClientError(IN_DOTENV, file=str(path), names=", ".join(sorted(names)))


# --- the manifest ------------------------------------------------------------------------


def _begin(prompts: Prompts, by: str, command: Sequence[str], at: Surroundings) -> Manifest:
    orchestrator = _orchestrator(command, at)
    settings = _settings(orchestrator, at) if orchestrator else None
    return Manifest(
        id=uuid.uuid4().hex,
        studio=prompts.studio,
        prompt_set=prompts.prompt_set,
        version=prompts.number,
        label=prompts.label,
        hash=prompts.hash,
        by=by,
        program=Path(command[0]).name,
        started_at=at.clock(),
        mixseek=version_of_program(command[0], at.environ, at.working_directory),
        orchestrator=orchestrator,
        settings=_hashes(settings) if settings else {},
        models=models_of(settings) if settings else [],
    )


def _end(
    manifest: Manifest, written: bytes, at: Surroundings, code: int, known: set[str] | None, prompts: Prompts
) -> Manifest:
    """Add the end and the executions. Whatever cannot be read now leaves the link unknown: a run that is
    over must not fail because of its manifest."""
    ended = manifest.model_copy(update={"ended_at": at.clock(), "exit_code": code})
    with suppress(BuilderError, OSError):
        if known is not None:
            executions = _matching(ended, known, at.workspace, prompts)
            link: Link = "none" if not executions else "one" if len(executions) == 1 else "several"
            ended = ended.model_copy(update={"executions": executions, "link": link})
    with suppress(BuilderError, OSError):
        write(at.workspace, ended, written)
    return ended


def _orchestrator(command: Sequence[str], at: Surroundings) -> str:
    """The file that `--config` names, seen from the workspace; empty where there is none inside it."""
    given = ""
    for number, word in enumerate(command):
        if word in ("--config", "-c") and number + 1 < len(command):
            given = command[number + 1]
        elif word.startswith("--config="):
            given = word.partition("=")[2]
    if not given:
        return ""
    workspace = at.workspace.resolve()
    for folder in (at.working_directory, workspace):
        path = Path(os.path.normpath(folder.resolve() / given))
        if path.is_file() and path.is_relative_to(workspace):
            return str(path.relative_to(workspace))
    return ""


def _settings(orchestrator: str, at: Surroundings) -> ScoringSettings | None:
    surroundings = RunSurroundings(at.environ, at.working_directory)
    with suppress(BuilderError):
        found = find(at.workspace, orchestrator, surroundings, roots=(at.working_directory,))
        return scoring_settings(found)
    return None


def _hashes(settings: ScoringSettings) -> dict[ScoredBy, str]:
    parts: dict[ScoredBy, tuple[str, ...]] = {
        "evaluator": settings.evaluator,
        "judgment": settings.judgment,
        "teams": settings.teams,
    }
    return {name: hashlib.sha256("\n".join(lines).encode()).hexdigest() for name, lines in parts.items()}


def models_of(settings: ScoringSettings) -> list[str]:
    """Every model that the settings name, once."""
    lines = (*settings.evaluator, *settings.judgment, *settings.teams)
    pairs = (line.partition(" = ") for line in lines)
    return sorted({value.strip('"') for key, _, value in pairs if key.endswith("model")})


# --- the executions ----------------------------------------------------------------------


def _executions(workspace: Path) -> set[str] | None:
    """The newest executions before the run; None where they cannot be read."""
    if not database_path(workspace).exists():
        return set()
    with suppress(BuilderError), AggregationStore(workspace) as store:
        return {execution.execution_id for execution in store.executions(limit=_NEWEST)}
    return None


def _matching(manifest: Manifest, known: set[str], workspace: Path, prompts: Prompts) -> list[str]:
    if not database_path(workspace).exists():
        return []
    assert manifest.ended_at is not None
    text = prompts.templates["team_user_prompt"]
    with JailPool(size=1, spares=0) as pool, AggregationStore(workspace) as store:
        (marks,) = pool.landmarks([text], MIXSEEK)
        if marks is None:
            return []
        candidates = [Candidate(text, marks)]
        return [
            execution.execution_id
            for execution in store.executions(limit=_NEWEST)
            if execution.execution_id not in known
            and execution.started_at is not None
            and manifest.started_at - _SLACK <= execution.started_at <= manifest.ended_at + _SLACK
            and decide(
                attribute(
                    (run := store.delivered_rounds(execution.execution_id)).rounds, run.task, candidates, pool
                )
            )
        ]


# --- the command -------------------------------------------------------------------------


def _run(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> int:
    """Run it in the foreground with this process's own files. Signals that a person or a program sends to
    this process are passed on; those of the terminal reach the command by themselves."""
    if not hasattr(signal, "sigwaitinfo"):  # macOS
        return _as_a_shell_tells(_wait(subprocess.Popen(command, env=environ, cwd=folder)))
    awaited = {*_PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        child = subprocess.Popen(
            command,
            env=environ,
            cwd=folder,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
        )
        while child.poll() is None:
            said = signal.sigwaitinfo(awaited)
            if said.si_signo != signal.SIGCHLD and said.si_code <= 0:  # sent by a process, not the kernel
                with suppress(ProcessLookupError):
                    child.send_signal(said.si_signo)
        return _as_a_shell_tells(child.returncode)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(child: "subprocess.Popen[bytes]") -> int:
    while True:
        with suppress(KeyboardInterrupt):
            return child.wait()


def _as_a_shell_tells(code: int) -> int:
    return code if code >= 0 else 128 - code
