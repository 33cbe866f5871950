"""The client's commands against a studio: a process of its own, on what might be another machine."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from builder.client import Studio as StudioClient
from builder.errors import StudioUnreachable
from builder.simulation import Run, simulate
from tests.studio.clock import NOW
from tests.studio_process import ROOT, Studio

STAND_IN = ROOT / "tests" / "builder" / "client" / "stand_in_mixseek.py"
SET = "research-team"


class Machine:
    """Another machine: a home, a workspace, and the commands."""

    def __init__(self, home: Path) -> None:
        self.home, self.workspace = home, home / "workspace"
        self.file = self.workspace / "configs" / "prompt_builder.toml"
        simulate(self.workspace, [Run("earlier", NOW)])
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "MIXSEEK_WORKSPACE": str(self.workspace),
            "PYTHONPATH": str(ROOT),
        }

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "builder", *words],
            cwd=self.home,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
        )


def make_token(studio: Studio, *scopes: str) -> str:
    """As a person does it: the sign-in link, the account's page, a form."""
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    page = browser.open(studio.fresh_link()).read()
    page = browser.open(f"{studio.base}/account/tokens/").read().decode()
    form = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert form
    sent = [
        ("csrfmiddlewaretoken", form[1]),
        ("name", "laptop"),
        ("days", "30"),
        *(("scopes", s) for s in scopes),
    ]
    request = Request(f"{studio.base}/account/tokens/", urlencode(sent).encode(), {"Referer": studio.base})
    made = re.search(r"pst_[\w-]+", browser.open(request).read().decode())
    assert made
    return made[0]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "data", "--port", "0")
    try:
        yield studio
    finally:
        if studio.process.poll() is None:
            studio.end(signal.SIGTERM)


@pytest.mark.slow
def test_another_machine_pulls_edits_pushes_and_runs_a_pinned_version(studio: Studio, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    token = make_token(studio, "read", "write")
    said = machine.run("login", studio.base, stdin=token + "\n")
    assert said.returncode == 0 and token not in said.stderr + said.stdout
    stored = machine.home / ".config" / "prompt-studio" / "credentials.json"
    assert stored.stat().st_mode & 0o777 == 0o600

    # What stands there is nobody's version.
    machine.file.write_text(machine.file.read_text().replace('"""', '"""Mine. ', 1))
    own = machine.file.read_bytes()
    refused = machine.run("pull", SET)
    assert refused.returncode == 1 and "--overwrite" in refused.stderr and machine.file.read_bytes() == own
    shown = machine.run("pull", SET, "--dry-run")
    assert (
        shown.stdout.startswith("--- ")
        and "+team_user_prompt" in shown.stdout
        and machine.file.read_bytes() == own
    )
    assert machine.run("pull", SET, "--overwrite").returncode == 0
    pulled = machine.file.read_text()
    assert pulled.encode() != own and machine.run("status").returncode == 0

    # A label goes back to an older version: no edit is in the way.
    assert machine.run("pull", f"{SET}@1").returncode == 0 and machine.file.read_text() != pulled
    older = machine.file.read_text()
    machine.file.write_text(older.replace('"""', '"""Late. ', 1))
    late = machine.run("push", "--message", "too late")
    assert late.returncode == 1 and "starts from v1" in late.stderr and "without --message" in late.stderr
    machine.file.write_text(older)
    assert machine.run("pull", SET).returncode == 0 and machine.file.read_text() == pulled

    # Somebody edits it by hand; it becomes a version.
    machine.file.write_text(pulled.replace('"""', '"""Carefully. ', 1))
    assert machine.run("status").returncode == 1
    assert machine.run("pull", SET).returncode == 1
    pushed = machine.run("push", "--message", "Carefully, by hand")
    assert pushed.returncode == 0, pushed.stderr
    assert machine.run("status").returncode == 0
    environ = {**machine.environ, "PROMPT_STUDIO_URL": studio.base, "PROMPT_STUDIO_TOKEN": token}
    prompts = StudioClient(environ=environ).prompts(SET)
    assert prompts.team_user_prompt.startswith("Carefully. ") and prompts.message == "Carefully, by hand"
    assert f"{SET}@{prompts.number}" in pushed.stderr and not prompts.from_cache

    # A pinned run of an older version leaves the file alone.
    now = machine.file.read_bytes()
    command = [sys.executable, str(STAND_IN), "exec", "task", "--config", "configs/orchestrator.toml"]
    ran = machine.run("exec", f"{SET}@1", "--", *command)
    assert ran.returncode == 0, ran.stderr
    assert "this is its output" in ran.stdout and f"{SET}@1: execution" in ran.stderr
    assert machine.file.read_bytes() == now

    assert machine.run("exec", f"{SET}@1", "--", "no-such-program").returncode == 127

    # The studio is away: the last answer is used, and its age said.
    studio.end(signal.SIGTERM)
    assert StudioClient(environ=environ).prompts(SET).from_cache
    with pytest.raises(StudioUnreachable):
        StudioClient(environ=environ).prompts("another")
    away = machine.run("pull", SET)
    assert away.returncode == 0 and "cannot be reached" in away.stderr and "minutes ago" in away.stderr


@pytest.mark.slow
def test_a_token_without_the_right_and_a_wrong_address_are_refused_with_a_sentence(
    studio: Studio, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "machine")
    assert machine.run("pull", SET).returncode == 1
    assert "prompt-studio login" in machine.run("pull", SET).stderr
    assert machine.run("login", "studio.example.org", stdin="x\n").returncode == 1
    wrong = machine.run("login", studio.base, stdin="pst_wrong\n")
    assert wrong.returncode == 1 and "401" in wrong.stderr and "Traceback" not in wrong.stderr
    assert machine.run("login", studio.base, stdin=make_token(studio, "read") + "\n").returncode == 0
    assert machine.run("pull", SET, "--overwrite").returncode == 0
    assert "404" in machine.run("pull", "no-such-set").stderr
    machine.file.write_text(machine.file.read_text().replace('"""', '"""x', 1))
    forbidden = machine.run("push", "--message", "m")
    assert forbidden.returncode == 1 and "403" in forbidden.stderr


@pytest.mark.slow
def test_an_assistant_reads_sets_and_tries_a_text(studio: Studio, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    token = make_token(studio, "read")
    environ = {**machine.environ, "PROMPT_STUDIO_URL": studio.base, "PROMPT_STUDIO_TOKEN": token}
    command = StdioServerParameters(command=sys.executable, args=["-m", "builder", "mcp"], env=environ)

    async def ask() -> None:
        async with stdio_client(command) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)

            async def call(name: str, **arguments: object) -> dict[str, Any]:
                result = await session.call_tool(name, arguments)
                assert not result.is_error, result
                return dict(result.structured_content or {})

            assert SET in str(await call("list_sets"))
            context = (await call("list_contexts", set=SET))["items"][0]["slug"]
            text = "Answer briefly: {{ user_prompt }}"
            checked = await call("check_template", set=SET, kind="team", text=text + " {{ submision }}")
            assert not checked["ok"] and "submision" in str(checked["problems"])
            rendered = await call("render_template", set=SET, kind="team", text=text, context=context)
            assert rendered["prompts"][0]["prompt"].startswith("Answer briefly: ")
            assert (await call("compare_versions", set=SET, old="1", new="latest"))["texts"]
            refused = await session.call_tool("read_version", {"set": "no-such-set"})
            assert refused.is_error and "404" in str(refused.content)

    anyio.run(ask)
