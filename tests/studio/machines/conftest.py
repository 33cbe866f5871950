"""A workspace on another machine, with an agent that reaches the studio without a network."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from builder.client.agent import Agent
from builder.client.connection import REFUSED, Connection
from builder.client.credentials import Credentials
from builder.errors import StudioRefused
from builder.simulation import Run, simulate
from studio.access.tokens import ApiToken, RequestCounter, Scope
from studio.api import gate


class Inside(Connection):
    """The studio of this process. ``before`` is called with each request."""

    def __init__(self, token: str, before: Callable[[str], None] = lambda what: None) -> None:
        super().__init__(Credentials("http://testserver", token))
        self.before = before

    def ask(
        self,
        method: str,
        parts: tuple[str | int, ...],
        body: Any = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> Any:
        what = f"{method} {'/'.join(map(str, parts[2:]))}"
        self.before(what)
        given = {"Authorization": f"Bearer {self.credentials.token}", **(headers or {})}
        answer = Client().generic(
            method,
            "/api/v1/" + "/".join(map(str, parts)),
            data if data is not None else b"" if body is None else json.dumps(body),
            "application/octet-stream" if data is not None else "application/json",
            headers=given,
        )
        if answer.status_code >= 400:
            problem = answer.json()
            refusal = StudioRefused(REFUSED, status=answer.status_code, detail=str(problem.get("detail")))
            refusal.problem = problem
            raise refusal
        return answer.json() if answer.content else None


@pytest.fixture(autouse=True)
def own_data(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder for each test: mirrors are made in it."""
    monkeypatch.setattr(gate, "COUNTER", RequestCounter())
    settings.STUDIO_DATA = tmp_path / "data"
    settings.STUDIO_API_RATE = 10_000
    return tmp_path / "data"


@pytest.fixture
def machine_token(person: User) -> str:
    return ApiToken.objects.make(person, "gpu", scopes=[Scope.MACHINE], days=1, at=timezone.now())[1]


class Workplace:
    """A workspace there, and its agent."""

    def __init__(self, folder: Path, connection: Inside) -> None:
        self.folder, self.connection, self.played = folder, connection, 0
        self.agent = Agent(connection, folder, "gpu-1")
        self.file = folder / "configs" / "prompt_builder.toml"
        self.play("first task")

    def play(self, task: str, runs: int = 1) -> list[str]:
        """Run that task; the ids of the executions."""
        self.played += runs
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=self.played)
        return simulate(self.folder, [Run(task, start + timedelta(minutes=n)) for n in range(runs)])


@pytest.fixture
def workplace(tmp_path: Path, machine_token: str) -> Workplace:
    return Workplace(tmp_path / "workspace", Inside(machine_token))
