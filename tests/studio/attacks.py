"""The attacks on a studio that once stopped it, as steps that can be repeated. Used by the benchmark of what
goes on meanwhile."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.builder.leaderboard.hostile_databases import HOSTILE, make_heavy, make_hostile, make_sparse
from tests.builder.template.test_repetitions import loops
from tests.hanging import HANGS
from tests.studio.besieged import MANY_PROBLEMS, OTHER_TEXTS, SET, TABLES, Answer, Person
from tests.studio_process import ROOT, Studio

_REGISTER = """
from pathlib import Path
from django.utils import timezone
from studio.models import Workspace
for folder in sorted(Path(%r).iterdir()):
    slug = folder.name.replace(" ", "-")
    Workspace.objects.create(slug=slug, name=folder.name, path=str(folder), created_at=timezone.now())
"""
SKILLS, LARGE_FILE = 2000, 10_000_000


@dataclass(frozen=True)
class Attack:
    """One round of it, by these people; and the answers that are right."""

    once: Callable[[Sequence[Person], Path], Iterable[Answer]]
    statuses: frozenset[int]


def make_workspaces(folder: Path) -> Path:
    """Ten with hostile databases, one whose file has 27,000 problems, one with much to build prompts from."""
    for name in HOSTILE:
        make_hostile(name, folder / name)
    make_sparse(folder / "sparse", 4 * 1024**3)
    make_heavy(folder / "heavy", 30_000_000)
    _write(
        folder / "problems/configs/prompt_builder.toml",
        f"[prompt_builder]\nteam_user_prompt = '''\n{MANY_PROBLEMS}\n'''\n",
    )
    make_large_system_prompt(folder / "system")
    return folder


def make_large_system_prompt(folder: Path) -> Path:
    for name in ("AGENTS", "SOUL", "USER", "TOOLS"):
        _write(folder / f"{name}.md", "All work and no play. " * (LARGE_FILE // 22))
    for number in range(SKILLS):
        text = f"---\nname: skill-{number}\ndescription: Does {number}\n---\n" + "Step by step. " * 300
        _write(folder / f"skills/skill-{number}/SKILL.md", text)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def add_workspaces(studio: Studio, folder: Path) -> None:
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", _REGISTER % str(folder)]
    environment = {**studio.environment, "STUDIO_DATA": str(studio.data)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def at_once(asks: Sequence[Callable[[], Answer]]) -> list[Answer]:
    with ThreadPoolExecutor(len(asks)) as threads:
        return [job.result() for job in [threads.submit(ask) for ask in asks]]


def hostile_databases(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    """All of them changed, so that each is copied and opened anew, and all pages asked for at once."""
    names = [*HOSTILE, "sparse", "heavy"]
    for name in names:
        os.utime(workspaces / name / "mixseek.db")
    slugs = [name.replace(" ", "-") for name in names]
    answers = at_once([lambda slug=slug: people[0].get(f"/workspaces/{slug}/") for slug in slugs])  # type: ignore[misc]
    return answers + at_once(
        [lambda slug=slug: people[1].get(f"/workspaces/{slug}/runs/") for slug in slugs]  # type: ignore[misc]
    )


def uploads(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    return at_once([lambda person=person: upload(person) for person in people for _ in range(10)])  # type: ignore[misc]


def upload(person: Person) -> Answer:
    return person.upload("/prompts/import/", "many.toml", TABLES)


def problems(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    return at_once([lambda person=person: person.preview(MANY_PROBLEMS) for person in people])  # type: ignore[misc]


def problems_of_a_file(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    # A remark makes it another text: the check of the last one is remembered.
    with (workspaces / "problems/configs/prompt_builder.toml").open("a") as file:
        file.write("#\n")
    return [people[0].get("/workspaces/problems/"), people[1].get("/workspaces/")]


def save_bomb(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    bomb = loops("range(99999)", "range(99999)", "range(99999)")
    text = f"a\n{{% if 'Q4 forecast' in user_prompt %}}\n{bomb}\n{{% endif %}}\n"
    return [save(person, text) for person in people]


def save(person: Person, text: str) -> Answer:
    base = re.findall(r'name="base" value="(\d+)"', person.get(f"/prompts/{SET}/edit/").body)[0]
    fields = {"kind": "team", "tab": "t", "seq": 1, "revision": 0, "base": base, "message": "m"}
    return person.post(f"/prompts/{SET}/save/", fields | {"team_user_prompt": text} | OTHER_TEXTS)


def huge_context(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    told = {"user_prompt": "x" * 999_500, "round_number": 1, "round_history": [], "team_id": "t"}
    told |= {"team_name": "T", "execution_id": "e"}
    fields = {"name": "Huge", "json": json.dumps(told), "handed_in": "x"}
    return at_once([lambda person=person: person.post("/contexts/new/json/", fields) for person in people])  # type: ignore[misc]


def endless_templates(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    return at_once([lambda person=person: person.preview(HANGS) for person in people])  # type: ignore[misc]


def system_prompts(people: Sequence[Person], workspaces: Path) -> list[Answer]:
    """Six views at once."""
    return at_once([lambda person=person: person.get("/workspaces/system/system/") for person in people * 3])  # type: ignore[misc]


def _attack(once: Callable[[Sequence[Person], Path], Iterable[Answer]], *statuses: int) -> Attack:
    return Attack(once, frozenset(statuses))


ATTACKS: dict[str, Attack] = {
    "ten hostile databases": _attack(hostile_databases, 200, 422, 503),
    "20 uploads of 60,000 tables": _attack(uploads, 200, 503),
    "27,000 problems in a preview": _attack(problems, 200),
    "27,000 problems in a workspace's file": _attack(problems_of_a_file, 200),
    "system prompts of 40 MB and 2,000 skills, six views": _attack(system_prompts, 200, 503),
    "a dormant bomb saved": _attack(save_bomb, 422),
    "a context of a million characters": _attack(huge_context, 422),
    "templates without end": _attack(endless_templates, 200, 429),
}
