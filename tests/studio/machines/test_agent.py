"""A workspace on another machine: its agent and the studio are two processes that share nothing but http."""

import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

import pytest

from builder.client.agent import Agent
from builder.client.connection import Connection
from builder.client.credentials import Credentials
from builder.errors import StudioRefused, StudioUnreachable
from builder.simulation import Run, simulate
from tests.studio.machines.test_batches import rows
from tests.studio.operations.test_client import SET, Machine, make_token
from tests.studio_process import Studio

SLUG = "workspace-gpu-1"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def studio(data: Path) -> Iterator[Studio]:
    studio = Studio(data, "--port", "0")
    try:
        yield studio
    finally:
        if studio.process.poll() is None:
            studio.end(signal.SIGTERM)


class Person:
    """A browser that is signed in."""

    def __init__(self, studio: Studio) -> None:
        self.base = studio.base
        self.browser: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))
        self.browser.open(studio.fresh_link()).read()

    def see(self, path: str) -> str:
        return " ".join(self.browser.open(self.base + path).read().decode().split())

    def see_run(self, execution: str, says: str, *, not_any_more: bool = False) -> str:
        """The page of a run once it has the text, or has it no longer: pages show the last copy of a
        database while a new one is made."""
        end = time.monotonic() + 60
        while True:
            with suppress(HTTPError):  # the last copy has no such run yet
                page = self.see(f"/workspaces/{SLUG}/runs/{execution}/")
                if "run-ranking" in page and (says in page) is not not_any_more:
                    return page
            assert time.monotonic() < end, says
            time.sleep(0.2)

    def post(self, path: str, **fields: str) -> str:
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.see("/account/"))
        assert token
        sent = urlencode({"csrfmiddlewaretoken": token[1], **fields}).encode()
        request = Request(self.base + path, sent, {"Referer": self.base})
        return " ".join(self.browser.open(request).read().decode().split())


class Patient(Connection):
    """Comes back while the first copy of a database is made."""

    def get(self, *parts: str | int, **query: str | int | None) -> Any:
        while True:
            try:
                return super().get(*parts, **query)
            except StudioRefused as refusal:
                if refusal.status != 503:
                    raise
            time.sleep(0.2)


def connected(studio: Studio, token: str) -> Connection:
    return Patient(Credentials(studio.base, token))


def played(machine: Machine, task: str, **more: object) -> str:
    (execution,) = simulate(machine.workspace, [Run(task, datetime.now(UTC) - timedelta(minutes=9))])
    return execution


@pytest.mark.slow
def test_a_remote_workspace_from_registration_to_an_export_and_back(studio: Studio, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    secret = machine.workspace / "configs" / "agents" / "team-001.toml"
    secret.write_text(secret.read_text() + '\n[team.leader.headers]\nauthorization = "Bearer s3cret"\n')
    token = make_token(studio, "read", "write", "release", "machine")
    api = connected(studio, token)
    agent = Agent(api, machine.workspace, "gpu-1")
    first = agent.once()
    assert first.executions == 1 and first.files > 2

    # What ran there is shown here, and what is new is sent alone.
    page = Person(studio)
    assert "machine last heard of" in page.see(f"/workspaces/{SLUG}/")
    new = played(machine, "later on the other machine")
    second = agent.once()
    assert second.executions == 1 and agent.once().executions == 0
    page.see_run(new, "later on the other machine")
    files = (tmp_path / "data" / "machines").rglob("*.toml")
    assert not [path for path in files if "s3cret" in path.read_text()]

    # An export is confirmed here and carried out there.
    (file,) = (f for f in api.get("workspaces", SLUG)["files"] if f["file"].endswith("prompt_builder.toml"))
    version = api.get("sets", SET, "versions", "latest")["number"]
    order = {"key": file["key"], "sha256": file["sha256"] or "", "overwrite": True}
    made = api.ask("POST", ("exports",), {"set": SET, "version": version, "files": [order]})
    assert made["receipts"][0]["outcome"] is None
    receipt = f"/exports/{made['batch']}/"
    assert "Waiting for the machine" in page.see(receipt)
    before = machine.file.read_bytes()
    assert agent.once().exports == 1 and machine.file.read_bytes() != before
    assert "Waiting for the machine" not in page.see(receipt)
    assert api.get("exports", made["batch"])["receipts"][0]["outcome"] == "written"
    assert "Export written" in page.see(f"/audit/?workspace={SLUG}").partition("<tbody")[2]
    (file,) = (f for f in api.get("workspaces", SLUG)["files"] if f["key"] == file["key"])
    assert (file["version"]["set"], file["version"]["version"]) == (SET, version)

    # Somebody edits the file there: an export over it fails there, and the edit is seen here.
    machine.file.write_text(machine.file.read_text().replace('"""', '"""By hand. ', 1))
    order = {"key": file["key"], "sha256": file["sha256"], "overwrite": False}
    made = api.ask("POST", ("exports",), {"set": SET, "version": 1, "files": [order]})
    edited = machine.file.read_bytes()
    assert agent.once().exports == 1 and machine.file.read_bytes() == edited
    (told,) = api.get("exports", made["batch"])["receipts"]
    assert told["outcome"] == "failed" and "changed" in told["failure"]
    (file,) = (f for f in api.get("workspaces", SLUG)["files"] if f["key"] == file["key"])
    assert file["state"] == "edited"
    assert "By hand." in page.see(f"/prompts/{SET}/export/?workspace={SLUG}&source=v1&chosen=1")


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_the_studio_is_killed_while_rows_come_in(
    studio: Studio, data: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "machine")
    token = make_token(studio, "read", "machine")
    runs = [Run(f"task {n}", datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=n)) for n in range(30)]
    ids = set(simulate(machine.workspace, runs))
    port = studio.base.rpartition(":")[2]
    machine.environ |= {"PROMPT_STUDIO_URL": studio.base, "PROMPT_STUDIO_TOKEN": token}
    command = [sys.executable, "-m", "builder", "agent", "--every", "1", "--machine", "gpu-1"]
    process = subprocess.Popen(command, cwd=machine.home, env=machine.environ, stderr=subprocess.DEVNULL)
    try:
        # In the middle of its first report, and again while it tries.
        for _ in range(3):
            time.sleep(0.7)
            studio.process.kill()
            studio.process.wait()
            studio = Studio(data, "--port", port)
        api = connected(studio, token)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                listed = [run["id"] for run in api.get("workspaces", SLUG, "runs", limit=100)["items"]]
            except StudioRefused:
                listed = []
            if len(listed) > 30:
                break
            time.sleep(0.5)
        assert len(listed) == len(set(listed)) == 31 and ids < set(listed)
        # A second agent is refused while the first one lives.
        with pytest.raises(StudioRefused, match="409"):
            Agent(api, machine.workspace, "gpu-1").once()
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        Agent(api, machine.workspace, "gpu-1").once()
    finally:
        process.kill()
        studio.end(signal.SIGTERM)


AGENT = """
import os, sys
from pathlib import Path
from builder.client.agent import Agent
from builder.client.connection import Connection
from builder.client.credentials import read_credentials
from builder.errors import BuilderError
agent = Agent(Connection(read_credentials(os.environ)), Path(sys.argv[1]), "gpu-1", id="a" * 32)
while True:
    try:
        agent.once()
    except BuilderError:
        pass
"""
"""An agent that never pauses. A new one has the id of the one before, so that no lease is waited for."""


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_both_are_killed_again_and_again(
    studio: Studio, data: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    machine = Machine(tmp_path / "machine")
    token = make_token(studio, "read", "machine")
    port = studio.base.rpartition(":")[2]
    machine.environ |= {"PROMPT_STUDIO_URL": studio.base, "PROMPT_STUDIO_TOKEN": token}
    moments = random.Random(18)
    process: subprocess.Popen[bytes] | None = None
    try:
        for kill in range(36 if pytestconfig.getoption("--thorough") else 9):
            if process is None:
                process = subprocess.Popen(
                    [sys.executable, "-c", AGENT, str(machine.workspace)], env=machine.environ
                )
            simulate(
                machine.workspace, [Run(f"task {kill}", datetime(2026, 1, 1 + kill % 28, tzinfo=UTC))] * 3
            )
            time.sleep(moments.random() * 1.5)
            if kill % 3 == 2:
                studio.process.kill()
                studio.process.wait()
                studio = Studio(data, "--port", port)
            else:
                process.kill()
                process.wait()
                process = None
        if process is not None:
            process.kill()
            process.wait()
        api = connected(studio, token)
        agent = Agent(api, machine.workspace, "gpu-1", id="a" * 32)
        agent.once()
        assert agent.once().executions == 0
        api.get("workspaces", SLUG, "runs", limit=1)
        (mirror,) = (data / "machines").glob("*/mixseek.db")
        assert rows(mirror) == rows(machine.workspace / "mixseek.db")
    finally:
        if process is not None:
            process.kill()
        studio.end(signal.SIGTERM)


@pytest.mark.slow
def test_texts_are_withheld_and_deleted(studio: Studio, data: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    with pytest.raises(StudioRefused, match="403"):
        Agent(connected(studio, make_token(studio, "read", "write")), machine.workspace, "gpu-1").once()
    token = make_token(studio, "read", "machine")
    api, page = connected(studio, token), Person(studio)
    run = played(machine, "confidential task")
    agent = Agent(api, machine.workspace, "gpu-1")
    agent.once()
    page.see_run(run, "confidential task")
    score = api.get("workspaces", SLUG, "runs", run)["best_score"]
    sent = prompts_in(data)
    assert sent
    page.post(f"/workspaces/{SLUG}/machine/texts/", texts="no")
    agent.once()
    page.see_run(run, "confidential", not_any_more=True)
    assert api.get("workspaces", SLUG, "runs", run)["best_score"] == score
    later = played(machine, "another confidential task")
    agent.once()
    page.see_run(later, "confidential", not_any_more=True)
    require_nowhere(data, [b"confidential", *sent])
    page.post(f"/workspaces/{SLUG}/machine/texts/", texts="yes")
    agent.once()
    page.see_run(run, "confidential task")
    sent = prompts_in(data)
    page.post(f"/workspaces/{SLUG}/machine/forget/")
    require_nowhere(data, [b"confidential", *sent])
    assert not [path for path in (data / "machines").rglob("*") if path.is_file()]
    with pytest.raises(StudioRefused, match="404"):
        api.get("workspaces", SLUG, "runs", run)
    # What was deleted does not come back by itself.
    with pytest.raises(StudioRefused, match=r"409.*removed from the list"):
        agent.once()
    page.post(f"/workspaces/{SLUG}/archive/", archived="no")
    assert agent.once().executions == 3
    page.see_run(run, "confidential task")


def prompts_in(data: Path) -> list[bytes]:
    """A part of each batch with prompts, as it lies compressed in the database."""
    with closing(sqlite3.connect(data / "studio.sqlite3")) as connection:
        rows = connection.execute("SELECT data FROM studio_remotebatch WHERE \"table\" = 'round_history'")
        return [content[len(content) // 2 :][:100] for (content,) in rows]


def require_nowhere(data: Path, texts: list[bytes]) -> None:
    """No file of the studio holds one of the texts: database, its log, copies and mirrors. Those who read a
    copy let go of it when they look next."""
    end = time.monotonic() + 60
    while found := [
        path
        for path in data.rglob("*")
        if path.is_file() and (content := path.read_bytes()) and any(text in content for text in texts)
    ]:
        assert time.monotonic() < end, found
        time.sleep(0.5)


@pytest.mark.slow
def test_an_agent_catches_up_with_a_studio_that_was_away(studio: Studio, data: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    token = make_token(studio, "read", "machine")
    agent = Agent(connected(studio, token), machine.workspace, "gpu-1")
    agent.once()
    port = studio.base.rpartition(":")[2]
    backup = tmp_path / "backup"
    manage = [sys.executable, "manage.py"]
    environment = {**studio.environment, "STUDIO_DATA": str(data)}
    subprocess.run([*manage, "backup", str(backup)], env=environment, check=True, capture_output=True)
    first = played(machine, "before the studio broke")
    agent.once()
    studio.end(signal.SIGTERM)
    second = played(machine, "while it was away")
    with pytest.raises(StudioUnreachable):
        agent.once()
    subprocess.run([*manage, "restore", str(backup)], env=environment, check=True, capture_output=True)
    back = Studio(data, "--port", port)
    try:
        agent.once()
        page = Person(back)
        page.see_run(first, "before the studio broke")
        page.see_run(second, "while it was away")
    finally:
        back.end(signal.SIGTERM)
