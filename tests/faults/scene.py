"""A studio that is worked with while something breaks: one set, two workspaces, a person and a token.

What the studio said yes to is noted by whoever asked; what stands in its database is read without it.
"""

import http.client
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.postgresql_cluster import Cluster
from tests.studio.besieged import PASSWORD, Person
from tests.studio_process import ROOT, Studio

SET = "set"
WORKSPACES = ("a", "b")
_PREPARE = f"""
from pathlib import Path
from django.contrib.auth.models import User
from django.utils import timezone
from studio.access.tokens import ApiToken, Scope
from tests.studio.editing import make_context, make_set
from tests.studio.workspaces.exports.confirming import make_workspace
anna = User.objects.create_superuser("anna", password={PASSWORD!r})
made = make_set(anna)
make_context("start")
make_context("third", rounds=3)
for name in {WORKSPACES!r}:
    make_workspace(Path(%r) / name)
_token, key = ApiToken.objects.make(anna, "t", scopes=list(Scope), days=9, at=timezone.now())
print(key)
"""
Row = tuple[Any, ...]


@dataclass
class Scene:
    """A data folder, a folder of workspaces beside it, and the studio that uses both."""

    data: Path
    folder: Path
    cluster: Cluster | None = None
    environment: dict[str, str] = field(default_factory=dict)
    port: str = "0"
    key: str = ""

    def start(self) -> Studio:
        """On the port of the time before, so that whoever was signed in still is."""
        environ = {"STUDIO_WORKSPACE_ROOTS": str(self.folder), "STUDIO_API_RATE": "1000000"}
        if self.cluster is not None:
            environ["DATABASE_URL"] = self.cluster.url
        self.studio = Studio(self.data, "--no-demo", "--port", self.port, **environ, **self.environment)
        self.port = self.studio.base.rpartition(":")[2]
        return self.studio

    def prepare(self) -> Person:
        """The first start, with something in it; anna, signed in."""
        studio = self.start()
        found = re.search(r"pst_\S+", self.run(_PREPARE % str(self.folder)))
        assert found
        self.key = found[0]
        return Person(studio, "anna")

    def run(self, code: str) -> str:
        """What Python prints that is run with the studio's settings."""
        settings = {"STUDIO_DATA": str(self.data), "DJANGO_SETTINGS_MODULE": "studio.settings"}
        return subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\n{code}"],
            cwd=ROOT,
            env={**self.studio.environment, **settings},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any, http.client.HTTPMessage]:
        """A request of the API, on a connection of its own."""
        with closing(http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=60)) as connection:
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1/{path}", sent, headers)
            answer = connection.getresponse()
            content = answer.read()
        if answer.status == 429:
            # A server claims a twentieth of a token's requests of a minute; those of a killed one are lost.
            time.sleep(1)
            return self.ask(method, path, body)
        return answer.status, json.loads(content) if content else None, answer.headers

    def rows(self, query: str) -> list[Row]:
        """Of the database as it stands, whether or not a studio runs on it."""
        if self.cluster is not None:
            import psycopg

            with psycopg.connect(self.cluster.url) as connection:
                return connection.execute(query).fetchall()  # type: ignore[call-overload, no-any-return]
        with closing(sqlite3.connect(self.data / "studio.sqlite3", timeout=20)) as database:
            return database.execute(query).fetchall()

    def damage(self) -> list[Row]:
        """What the database itself finds wrong: nothing."""
        if self.cluster is not None:
            return []  # its rows were checked as they were written, and nobody killed it
        found = [row for row in self.rows("PRAGMA integrity_check") if row != ("ok",)]
        return found + self.rows("PRAGMA foreign_key_check")


def texts(word: str) -> dict[str, str]:
    """The texts of a version that says this word; long enough for more than one page of the database."""
    return {
        "team_user_prompt": f"{word}\n{{{{ user_prompt }}}}\n" + f"{word} and so on.\n" * 400,
        "evaluator_user_prompt": f"{word}\n{{{{ submission }}}}\n",
        "judgment_user_prompt": f"{word}\n",
    }


def descendants(pid: int) -> Sequence[int]:
    """Every process below this one."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text(encoding="ascii").split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def is_root() -> bool:
    return os.geteuid() == 0
