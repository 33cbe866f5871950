"""The machine's clock is set back by three hours while the studio runs (libfaketime, from Debian)."""

import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.scene import SET, WORKSPACES, Scene, texts
from tests.studio.besieged import Person

pytestmark = pytest.mark.slow

PAGES = ("/", "/prompts/", f"/prompts/{SET}/", f"/prompts/{SET}/edit/", "/workspaces/", "/workspaces/a/")
PAGES += ("/runs/", "/account/", "/audit/", f"/prompts/{SET}/versions/2/")


def library() -> Path:
    found = [*Path("/usr/lib").glob("*/faketime/libfaketime.so.1")]
    assert found, "There is no libfaketime: apt-get install libfaketime"
    return found[0]


def write_draft(person: Person, seq: int) -> int:
    fields = {"kind": "team", "tab": "t", "seq": seq, "revision": 0, "base": 1, "message": ""}
    return person.post(f"/prompts/{SET}/draft/", fields | texts(f"draft {seq}")).status


def save(scene: Scene, word: str) -> int:
    base = scene.ask("GET", f"sets/{SET}/versions/latest")[1]["number"]
    made = scene.ask("POST", f"sets/{SET}/versions", {"base": base, "message": word, "texts": texts(word)})
    return int(made[1]["number"])


def export(scene: Scene) -> list[str]:
    plan = scene.ask("POST", "exports/plan", {"set": SET, "version": "latest", "files": WORKSPACES})[1]
    files = [{"key": each["key"], "sha256": each["sha256"]} for each in plan["targets"]]
    done = scene.ask("POST", "exports", {"set": SET, "version": plan["version"], "files": files})
    return [receipt["outcome"] for receipt in done[1]["receipts"]]


def test_a_clock_set_back_loses_nothing_and_keeps_nobody_out(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0")
    preload = {"LD_PRELOAD": str(library()), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
    scene = Scene(
        tmp_path / "data", tmp_path / "workspaces", environment={**preload, "DONT_FAKE_MONOTONIC": "1"}
    )
    person = scene.prepare()
    assert (write_draft(person, 1), save(scene, "before"), export(scene)) == (200, 2, ["written"] * 2)
    before = datetime.now(UTC)

    clock.write_text("-3h")
    assert (write_draft(person, 2), save(scene, "after"), export(scene)) == (200, 3, ["written"] * 2)
    stamp = scene.rows("SELECT created_at FROM studio_promptversion WHERE number = 3")[0][0]
    assert datetime.fromisoformat(stamp).replace(tzinfo=UTC) < before - timedelta(hours=2), "it was set back"
    assert "draft 2" in person.get(f"/prompts/{SET}/edit/").body
    assert scene.ask("GET", f"sets/{SET}/versions/latest")[1]["number"] == 3
    for who in (person, Person(scene.studio, "anna")):
        for page in PAGES:
            answer = who.get(page)
            assert answer.status == 200, (page, answer.status)
            shown = re.findall(r"data-relative>([^<]*)<", answer.body)
            assert not [text for text in shown if "-" in text or text.startswith("in ")], page
    assert scene.studio.fresh_link()
    assert scene.studio.end(signal.SIGTERM) == 0
    assert "Traceback" not in scene.studio.output

    # What is started by the wrong clock, and by the right one again.
    for time in ("-3h", "+0"):
        clock.write_text(time)
        person.studio = scene.start()
        assert save(scene, f"started at {time}") > 3 and person.get("/").status == 200
        assert scene.studio.end(signal.SIGTERM) == 0
    assert scene.damage() == []
