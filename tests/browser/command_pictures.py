"""Pictures of commands for the help pages: each is run for real, beside a studio, and what it says is drawn.

Used by `screenshots`.
"""

import html
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

from tests.studio.operations.test_client import STAND_IN, Machine, make_token
from tests.studio_process import ROOT, Studio

_PAGE = """<!doctype html><style>
body { margin: 0; background: #1b1f2a; color: #dfe3ee; font: 16px/1.6 monospace; }
pre { margin: 0; padding: 28px 32px; white-space: pre-wrap; overflow-wrap: anywhere; }
b { color: #9db5ff; } i { color: #7f8aa3; font-style: normal; }
</style><pre>%s</pre>"""


@dataclass(frozen=True)
class Said:
    """A command as a person types it, and its output."""

    command: str
    output: str
    status: int

    @property
    def markup(self) -> str:
        output = html.escape(self.output.strip("\n"))
        status = f"\n<i>exit {self.status}</i>" if self.status else ""
        return f"<i>$</i> <b>{html.escape(self.command)}</b>\n{output}{status}\n"


class OtherMachine:
    """A machine with MixSeek and the client, which is signed in to the studio."""

    def __init__(self, studio: Studio, home: Path, prompt_set: str) -> None:
        self._studio, self._machine, self._set = studio, Machine(home), prompt_set
        token = make_token(studio, "read", "write", "machine")
        self._machine.run("login", studio.base, stdin=token + "\n")

    def in_a_pipeline(self) -> list[Said]:
        """A template with a typing error, and the workspaces of the demo."""
        file = self._machine.file
        fine = file.read_text()
        file.write_text(fine.replace("\n{{ user_prompt }}", "\n{{ user_promt }}", 1))
        checked = self._client("python -m builder", "check", str(self._machine.workspace))
        file.write_text(fine)
        return [checked, self._drift()]

    def by_the_client(self) -> list[Said]:
        """A label's version into the workspace, a hand edit, and back as a version."""
        name, file = "prompt-studio", self._machine.file
        pulled = self._client(name, "pull", f"{self._set}@production", "--overwrite")
        status = self._client(name, "status")
        edited = file.read_text().replace('"""', '"""\nKeep it short.', 1)
        file.write_text(edited)
        return [
            pulled,
            status,
            self._client(name, "pull", f"{self._set}@production"),
            self._client(name, "status"),
        ]

    def a_pinned_run(self) -> list[Said]:
        """A stand-in for MixSeek runs with one version; the manifest says so."""
        run = [sys.executable, str(STAND_IN)]
        words = ["exec", "task", "--config", "configs/orchestrator.toml"]
        ran = self._client("prompt-studio", "exec", f"{self._set}@4", "--", *run, *words)
        typed = ran.command.replace(" ".join(run), "mixseek")
        manifest = next((self._machine.workspace / "logs").glob("*.studio.json"))
        shown = Said(f"head -12 logs/{manifest.name}", "\n".join(manifest.read_text().split("\n")[:12]), 0)
        return [Said(typed, ran.output, ran.status), shown]

    def show_agent(self, page: Page) -> None:
        """The page of the workspace, once the agent has reported it."""
        machine = self._machine.home.name
        self._client("prompt-studio", "agent", "--once", "--machine", machine)
        page.goto("/workspaces/")
        page.get_by_role("link", name=f"({machine})").first.click()
        path = page.get_by_text(str(self._machine.workspace)).first
        path.evaluate("each => { each.textContent = each.textContent.replace(/:.*/, ':/srv/workspace') }")

    def _client(self, name: str, *words: str) -> Said:
        done = self._machine.run(*words)
        return self._said(f"{name} {' '.join(words)}", done)

    def _drift(self) -> Said:
        command = [sys.executable, "manage.py", "drift", "--data", str(self._studio.data)]
        done = subprocess.run(
            command, cwd=ROOT, env=self._studio.environment, capture_output=True, text=True, check=False
        )
        done.stderr = ""  # where it builds the front end first, it says so
        return self._said("python manage.py drift", done)

    def _said(self, command: str, done: subprocess.CompletedProcess[str]) -> Said:
        def short(text: str) -> str:
            text = text.replace(str(self._machine.home), "~")
            return text.replace(str(self._studio.data.parent), "~")

        return Said(short(command), short(done.stdout + done.stderr), done.returncode)


def show_commands(page: Page, said: Iterable[Said]) -> None:
    """A page that looks like a terminal."""
    page.goto("about:blank")  # a page of the studio would allow no style
    page.set_content(_PAGE % "\n".join(each.markup for each in said))
