"""Agents with a right token that lie, and a studio that lies to an agent."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from builder.client.agent import AGENT
from builder.client.orders import Order, written
from builder.errors import ClientError, StudioRefused
from builder.leaderboard import DATABASE_NAME
from builder.simulation import Run, simulate
from studio.access.tokens import ApiToken, Scope
from studio.machines.mirror import refreshed
from studio.machines.models import RemoteBatch, RemoteWorkspace
from tests.studio.clock import NOW
from tests.studio.machines.conftest import Inside, Workplace

LIAR = {AGENT: "0" * 32}


class Liar:
    """Sends whatever it likes for a workspace that it registered."""

    def __init__(self, connection: Inside) -> None:
        self.connection = connection
        self.state = connection.ask(
            "PUT", ("machines",), {"machine": "liar", "folder": "/srv/w"}, headers=LIAR
        )

    def ask(self, method: str, *parts: str | int, **more: Any) -> Any:
        return self.connection.ask(
            method, ("machines", self.state["workspace"], *parts), headers=LIAR, **more
        )

    def send(self, number: int, data: bytes, table: str = "leader_board", **head: object) -> Any:
        said = {"table": table, "replaces": [], "generation": 0, "texts": True, **head}
        return self.ask("POST", "batches", number, data=json.dumps(said).encode() + b"\n" + data)

    def refused(self, ask: Callable[[], Any]) -> StudioRefused:
        with pytest.raises(StudioRefused) as refusal:
            ask()
        assert refusal.value.status in (400, 403, 404, 409, 413, 422), refusal.value
        return refusal.value


@pytest.fixture
def liar(machine_token: str) -> Liar:
    return Liar(Inside(machine_token))


def parquet(folder: Path, query: str, options: str = "COMPRESSION zstd") -> bytes:
    path = folder / "lie.parquet"
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, {options})")
    return path.read_bytes()


HOSTILE = {
    "another-table": "SELECT 'x' AS user, 'y' AS password",
    "one-more-column": "SELECT 'e' AS execution_id, 1 AS id",
    "nested": "SELECT {'a': [1, 2]} AS execution_id",
    "list": "SELECT 'e' AS execution_id, ['t'] AS team_id",
    "bytes": "SELECT 'e' AS execution_id, '\\xFF\\xFE'::BLOB AS team_name",
    # 100 kB that unpack to 4 GB: one text, many times.
    "dictionary-bomb": "SELECT 'e' AS execution_id, repeat('x', 40000) AS exit_reason FROM range(100000)",
    "page-bomb": "SELECT 'e' AS execution_id, repeat('x', 540000000) AS submission_content",
    "row-bomb": "SELECT 'e' AS execution_id FROM range(3000000)",
}


@pytest.mark.parametrize("lie", HOSTILE)
def test_a_batch_that_is_none_of_mixseeks_is_refused_and_stored_nowhere(
    liar: Liar, tmp_path: Path, lie: str
) -> None:
    data = parquet(tmp_path, HOSTILE[lie])
    assert liar.refused(lambda: liar.send(1, data)).problem["code"] == "report-refused"
    assert not RemoteBatch.objects.exists()


def test_what_is_no_parquet_or_comes_out_of_order_is_refused(liar: Liar, tmp_path: Path) -> None:
    good = parquet(tmp_path, "SELECT 'e' AS execution_id, 't' AS team_id, 5::FLOAT AS score")
    cut = good[: len(good) // 2] + good[-8:]
    for data in (b"", b"PAR1", b"PAR1" + bytes(1000) + b"PAR1", cut, good[4:], b"../../etc/passwd"):
        liar.refused(lambda data=data: liar.send(1, data))  # type: ignore[misc]
    for table in ("sqlite_master", "leader_board; DROP TABLE x", "../leader_board", ""):
        liar.refused(lambda table=table: liar.send(1, good, table=table))  # type: ignore[misc]
    liar.refused(lambda: liar.send(2, good))
    liar.refused(lambda: liar.send(2**60, good))
    assert liar.send(1, good)["new"] and not liar.send(1, good)["new"]  # the same again is no mistake
    liar.refused(lambda: liar.send(3, good))
    other = parquet(tmp_path, "SELECT 'e' AS execution_id, 'u' AS team_id")
    assert liar.send(2, other)["new"]
    liar.refused(lambda: liar.send(2, good))  # another batch has this number
    basis = {"digests": {"e": "1"}, "generation": 0, "texts": True}
    liar.refused(lambda: liar.ask("POST", "commit", body={"up_to": 7, **basis}))
    liar.refused(lambda: liar.ask("POST", "commit", body={"up_to": 2, **basis, "generation": 3}))
    liar.refused(lambda: liar.ask("POST", "commit", body={"up_to": 2, **basis, "texts": False}))
    liar.ask("POST", "commit", body={"up_to": 2, **basis})
    liar.refused(lambda: liar.send(1, other))  # an old number
    liar.ask("POST", "commit", body={"up_to": 2, **basis})  # replayed
    mirror = refreshed("liar:/srv/w") / DATABASE_NAME
    with duckdb.connect(str(mirror), read_only=True) as opened:
        assert opened.execute("SELECT team_id FROM leader_board ORDER BY 1").fetchall() == [("t",), ("u",)]


NAMES = [
    "../x.toml",
    "/etc/x.toml",
    "configs/../../x.toml",
    "configs//x.toml",
    "configs/./x.toml",
    "configs/.x.toml",
    ".state",
    "mixseek.db",
    "mixseek.db.wal",
    "MIXSEEK.DB",
    "mixseek.db/x.toml",
    "configs/" + "あ" * 100 + ".toml",
    "configs/" + "x/" * 300 + "x.toml",
    "configs/a\nb.toml",
    "configs/a\u202eb.toml",
    "",
]


def test_files_by_such_names_are_refused(liar: Liar) -> None:
    for name in NAMES:
        file = {"name": name, "sha256": "0" * 64, "data": "", "modified_at": "2026-01-01T00:00:00Z"}
        liar.refused(lambda file=file: liar.ask("POST", "files", body={"files": [file]}))  # type: ignore[misc]
    assert not RemoteWorkspace.objects.get().files.exists()


def test_files_that_cannot_lie_together_and_odd_moments_break_no_page(liar: Liar, person: User) -> None:
    file = {"name": "configs/a.toml", "sha256": "0" * 64, "data": "", "modified_at": "2026-01-01T00:00:00Z"}
    below = {**file, "name": "configs/a.toml/b.toml"}
    liar.refused(lambda: liar.ask("POST", "files", body={"files": [file, below]}))
    large = {**file, "data": base64.b64encode(bytes(5_000_000)).decode()}
    liar.refused(lambda: liar.ask("POST", "files", body={"files": [large]}))
    for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01T00:00:00", "1e400"):
        try:
            liar.ask("POST", "files", body={"files": [{**file, "modified_at": moment}]})
        except StudioRefused as refusal:
            assert refusal.status in (400, 422), moment
    # A folder that becomes a file, as it may on any machine.
    liar.ask("POST", "files", body={"files": [below], "gone": ["configs/a.toml"]})
    refreshed("liar:/srv/w")
    liar.ask("POST", "files", body={"files": [file], "gone": ["configs/a.toml/b.toml"]})
    assert (refreshed("liar:/srv/w") / "configs" / "a.toml").is_file()
    browser = Client()
    browser.force_login(person)
    assert browser.get(f"/workspaces/{liar.state['workspace']}/").status_code == 200


def test_nobody_reports_a_workspace_that_another_account_registered(workplace: Workplace) -> None:
    workplace.agent.once()
    workplace.agent.stop()
    hana = User.objects.create_user("hana", password="correct horse battery")
    key = ApiToken.objects.make(hana, "gpu", scopes=[Scope.MACHINE], days=1, at=timezone.now())[1]
    slug = RemoteWorkspace.objects.get().workspace.slug
    other = Inside(key)
    folder = str(workplace.folder.resolve())
    for parts, method, body in (
        (("machines",), "PUT", {"machine": "gpu-1", "folder": folder}),
        (("machines", slug), "GET", None),
        (("machines", slug, "digests"), "GET", None),
        (("machines", slug, "files"), "POST", {"files": [], "gone": ["configs/prompt_builder.toml"]}),
        (("machines", slug, "lease"), "DELETE", None),
    ):
        with pytest.raises(StudioRefused, match=r"403.*yuki"):
            other.ask(method, parts, body, headers=LIAR)
    assert workplace.agent.once().executions == 0
    workplace.agent.stop()
    User.objects.filter(username="yuki").update(is_active=False)
    assert other.ask("GET", ("machines", slug), headers=LIAR)["workspace"] == slug


def order(file: str, data: bytes | None, before: bytes | None = None) -> Order:
    return Order(
        export=1,
        file=file,
        sha256_before="" if before is None else hashlib.sha256(before).hexdigest(),
        data=None if data is None else base64.b64encode(data).decode(),
    )


PROMPTS = b'[prompt_builder]\nteam_user_prompt = "x"\n'


def test_an_agent_writes_prompt_files_of_its_workspace_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    simulate(root, [Run("task", NOW)])
    outside = tmp_path / "outside.toml"
    outside.write_bytes(PROMPTS)
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "configs" / "link.toml").symlink_to(outside)
    (root / "inside").symlink_to(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    team, orchestrator = root / "configs/agents/team-001.toml", root / "configs/orchestrator.toml"
    for lie in (
        order("../outside.toml", PROMPTS + b"#", PROMPTS),
        order(str(outside), PROMPTS + b"#", PROMPTS),
        order("inside/outside.toml", PROMPTS + b"#", PROMPTS),
        order("configs/link.toml", PROMPTS + b"#", PROMPTS),
        order("configs/../../outside.toml", PROMPTS + b"#", PROMPTS),
        order(".git/hooks/pre-commit", PROMPTS),
        order("run.sh", b"#!/bin/sh\n# prompt_builder\n"),
        order("configs/agents/team-001.toml", PROMPTS, team.read_bytes()),
        order("configs/agents/team-001.toml", None, team.read_bytes()),
        order("configs/orchestrator.toml", b"[orchestrator]\n", orchestrator.read_bytes()),
        order("mixseek.db", PROMPTS, (root / DATABASE_NAME).read_bytes()),
        order("configs/new.toml", b"[team]\n"),
        order("configs/\0.toml", PROMPTS),
        order("configs/large.toml", PROMPTS + b"#" * 5_000_000),
        Order(export=1, file="configs/x.toml", sha256_before="", data="no Base64!"),
    ):
        assert written(root, lie)["outcome"] == "failed", lie.file
    now = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert now == before
    # What an export of the studio's does is done.
    assert written(root, order("configs/new.toml", PROMPTS))["outcome"] == "written"
    assert written(root, order("configs/new.toml", PROMPTS))["outcome"] == "written"  # its receipt was lost
    assert written(root, order("configs/new.toml", None, PROMPTS))["outcome"] == "written"
    assert written(root, order("configs/new.toml", None, PROMPTS))["outcome"] == "written"
    assert written(root, order("configs/system_prompt.toml", b"mode = 'full'\n"))["outcome"] == "written"


@pytest.mark.parametrize(
    "answer",
    [None, [], {}, {"workspace": "x"}, {"workspace": [], "texts": "?", "orders": "many"}, "text"],
)
def test_an_answer_that_is_none_of_a_studios_is_a_sentence(workplace: Workplace, answer: object) -> None:
    workplace.connection.ask = lambda *_args, **_more: answer  # type: ignore[method-assign]
    with pytest.raises(ClientError, match="not a Prompt Studio server"):
        workplace.agent.once()
