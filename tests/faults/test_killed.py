"""A server killed at any moment while people save versions, drafts and exports, on both engines.

What it said yes to is there after the next start, whole; what it did not, is there whole or not at all.
`manage.py test -m slow --thorough tests/faults/test_killed.py` kills 200 on each engine.
"""

import hashlib
import http.client
import json
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from tests.faults.scene import SET, WORKSPACES, Scene, texts
from tests.fuzzing import share_of
from tests.postgresql_cluster import cluster
from tests.studio.besieged import Person

pytestmark = pytest.mark.slow

KILLS = share_of(200, one_in=40)
LONGEST = 0.3
"""Seconds until the kill, from the first answers on: a few more of each request go through."""


@pytest.fixture(params=["sqlite", "postgresql"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    if request.param == "postgresql":
        with cluster() as own:
            yield Scene(tmp_path / "data", tmp_path / "workspaces", own)
    else:
        yield Scene(tmp_path / "data", tmp_path / "workspaces")


class Acknowledged:
    """What the studio said yes to, and what was sent and never answered."""

    def __init__(self) -> None:
        self.versions: dict[int, str] = {1: ""}
        self.drafts: dict[int, str] = {}
        self.receipts: dict[int, tuple[str, str]] = {}
        self.sent: set[str] = set()
        """Words that may stand there, or not."""

    def count(self) -> tuple[int, ...]:
        return len(self.versions), len(self.drafts), len(self.receipts)

    def is_ahead_of(self, before: tuple[int, ...]) -> bool:
        """Whether something of every kind was answered since."""
        return all(now > then for now, then in zip(self.count(), before, strict=True))

    def word(self) -> str:
        word = uuid4().hex
        self.sent.add(word)
        return word


def save(scene: Scene, said: Acknowledged) -> None:
    """A version on top of the newest."""
    word, base = said.word(), scene.ask("GET", f"sets/{SET}/versions/latest")[1]["number"]
    status, made, _ = scene.ask(
        "POST", f"sets/{SET}/versions", {"base": base, "message": word, "texts": texts(word)}
    )
    assert status == 201, made
    said.versions[made["number"]] = word


def write_draft(person: Person, said: Acknowledged) -> None:
    """As the editor of one tab does."""
    word, newest = said.word(), max(said.drafts, default=0)
    fields = {"kind": "team", "tab": "t", "seq": len(said.sent), "revision": newest, "base": 1, "message": ""}
    answer = person.post(f"/prompts/{SET}/draft/", fields | texts(word))
    assert answer.status == 200, answer.body
    said.drafts[json.loads(answer.body)["revision"]] = word


def export(scene: Scene, said: Acknowledged) -> None:
    """The newest version into both workspaces, as the plan shows them."""
    planned = scene.ask("POST", "exports/plan", {"set": SET, "version": "latest", "files": WORKSPACES})[1]
    wanted = [{"key": each["key"], "sha256": each["sha256"]} for each in planned["targets"]]
    status, done, _ = scene.ask(
        "POST", "exports", {"set": SET, "version": planned["version"], "files": wanted}
    )
    assert status == 201, done
    for receipt in done["receipts"]:
        assert receipt["outcome"] in ("written", "unchanged"), receipt
        said.receipts[receipt["id"]] = (receipt["outcome"], receipt["sha256_after"])


def work_until_killed(work: Callable[[], None], over: threading.Event) -> Exception | None:
    """Again and again; what the kill cut off is nobody's mistake, anything else is given back."""
    while not over.is_set():
        try:
            work()
        except Exception as error:
            cut_off = over.is_set() and isinstance(error, OSError | http.client.HTTPException)
            return None if cut_off else error
    return None


def test_whatever_a_killed_server_said_yes_to_is_there(scene: Scene) -> None:
    person, said = scene.prepare(), Acknowledged()
    said.versions[1] = scene.rows("SELECT team_user_prompt FROM studio_promptversion")[0][0]
    chance = random.Random(19)
    jobs = (lambda: save(scene, said), lambda: write_draft(person, said), lambda: export(scene, said))
    for number in range(KILLS):
        over, before, patient = threading.Event(), said.count(), chance.random() > 0.2
        with ThreadPoolExecutor(len(jobs)) as threads:
            under_way = [threads.submit(work_until_killed, job, over) for job in jobs]
            # Now and then while everything is still starting.
            while patient and not said.is_ahead_of(before) and not any(job.done() for job in under_way):
                time.sleep(0.005)
            time.sleep(chance.uniform(0.0, LONGEST))
            over.set()
            scene.studio.end(signal.SIGKILL)
        failures = [job.result() for job in under_way]
        assert failures == [None] * len(jobs), f"kill {number}: {failures}"
        assert scene.damage() == [], f"kill {number}"
        person.studio = scene.start()
        check(scene, said, number)
    print(
        f"\n{KILLS} kills: {len(said.versions)} versions, {len(said.drafts)} drafts and "
        f"{len(said.receipts)} receipts acknowledged, none missing"
    )
    assert scene.studio.end(signal.SIGTERM) == 0
    assert "Traceback" not in scene.studio.output


def check(scene: Scene, said: Acknowledged, number: int) -> None:
    """Everything that was acknowledged is there, nothing is torn, and files and receipts agree."""
    where = f"kill {number}"
    columns = "team_user_prompt, evaluator_user_prompt, judgment_user_prompt"
    rows = scene.rows(f"SELECT number, {columns} FROM studio_promptversion")
    stored = {row[0]: row[1:] for row in rows}
    assert sorted(stored) == list(range(1, len(stored) + 1)), where
    for version, written in stored.items():
        word = written[0].split("\n")[0]
        assert version == 1 or (word in said.sent and written == tuple(texts(word).values())), where
        assert version not in said.versions or version == 1 or said.versions[version] == word, where
    assert set(said.versions) <= set(stored), where
    check_draft(scene, said, where)
    check_exports(scene, said, where)


def check_draft(scene: Scene, said: Acknowledged, where: str) -> None:
    for revision, *columns in scene.rows(
        "SELECT revision, team_user_prompt, evaluator_user_prompt, judgment_user_prompt FROM studio_draft"
    ):
        word = columns[0].split("\n")[0]
        assert columns == list(texts(word).values()) and word in said.sent, where
        assert revision >= max(said.drafts, default=0), where
        assert said.drafts.get(revision, word) == word, where


def check_exports(scene: Scene, said: Acknowledged, where: str) -> None:
    exports = scene.rows(
        "SELECT e.id, w.slug, r.outcome, r.hash_found, e.hash_after, r.reconciled FROM studio_export e"
        " JOIN studio_workspace w ON w.id = e.workspace_id"
        " LEFT JOIN studio_exportreceipt r ON r.export_id = e.id ORDER BY e.id"
    )
    assert all(row[2] in ("written", "unchanged", "failed") for row in exports), f"{where}: {exports[-4:]}"
    known = {row[0]: (row[2], row[4]) for row in exports}
    assert said.receipts.items() <= known.items(), where
    for slug in WORKSPACES:
        folder = scene.folder / slug / "configs"
        left = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
        assert [name for name in left if not name.startswith(".prompt-studio-")] in (
            [],
            ["prompt_builder.toml"],
        ), where
        there = [row for row in exports if row[1] == slug and row[2] in ("written", "unchanged")]
        file = folder / "prompt_builder.toml"
        if there:
            assert hashlib.sha256(file.read_bytes()).hexdigest() == there[-1][4] == there[-1][3], where
            assert len(set(re.findall(r"[0-9a-f]{32}", file.read_text()))) <= 1, where
        else:
            assert not file.exists(), where
