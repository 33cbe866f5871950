"""What a studio under load holds: sets with versions, people with sessions, workspaces with runs. And what
it holds afterwards. Each runs in a process of its own, beside the studio, on the same data."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.studio_process import ROOT, Studio

TEXT = "Task: {{ user_prompt }}\nRound {{ round_number }}.\n" + "Answer in whole sentences.\n" * 20
OTHER_TEXTS = {"evaluator_user_prompt": "{{ submission }}", "judgment_user_prompt": "{{ user_prompt }}"}


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    sets: int = 500
    versions: int = 20
    workspaces: int = 10
    rows: int = 1_000_000
    people: int = 64


def seed(size: Size, folder: Path) -> dict[str, Any]:
    """Fill the studio whose environment this runs in; gives sessions by name, and paths of run pages."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.db import transaction
    from django.test import Client
    from django.utils import timezone

    from studio.editor.sets import create_set
    from studio.models import Workspace
    from studio.prompts.texts import Templates
    from tests.benchmarks.test_leaderboard import fill
    from tests.studio.editing import make_context

    now = timezone.now()
    with transaction.atomic():
        people = [User.objects.create_superuser(f"person-{number}") for number in range(size.people)]
        make_context("first", rounds=1)
        make_context("third", rounds=3)
        for number in range(size.sets):
            made = create_set(f"Load {number:03}", tags=[], dialect="mixseek", by=people[0], at=now)
            for base in range(size.versions):
                texts = Templates(f"{TEXT}{number} {base}", *OTHER_TEXTS.values())
                made.save_version(texts, base=base, message=f"Change {base}", author=people[0], at=now)
    sessions = {}
    for person in people:
        client = Client()
        client.force_login(person)
        sessions[person.username] = client.cookies[settings.SESSION_COOKIE_NAME].value
    pages = []
    for number in range(size.workspaces):
        workspace = folder / f"load-{number}"
        (workspace / "configs").mkdir(parents=True)
        filled = fill(workspace / "mixseek.db", size.rows // size.workspaces)
        Workspace.objects.create(
            slug=workspace.name, name=workspace.name, path=str(workspace), created_at=now
        )
        pages += [
            f"/workspaces/{workspace.name}/runs/",
            f"/workspaces/{workspace.name}/runs/{filled.ids[0]}/",
        ]
    return {"sessions": sessions, "pages": pages}


def stored() -> dict[str, Any]:
    """Every draft by person and set, and the messages of every version by set."""
    from studio.models import Draft, PromptVersion

    drafts = {
        f"{draft.person.username} {draft.prompt_set.slug}": draft.templates.parts["team"]
        for draft in Draft.objects.select_related("person", "prompt_set")
    }
    versions: dict[str, list[str]] = {}
    for slug, message in PromptVersion.objects.values_list("prompt_set__slug", "message"):
        versions.setdefault(slug, []).append(message)
    return {"drafts": drafts, "versions": versions}


def beside(studio: Studio, *arguments: str) -> Any:
    """What this module's script answers on the data of a studio that runs."""
    environment = {**studio.environment, "STUDIO_DATA": str(studio.data)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.load.seeding", *arguments],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "studio.settings"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def seeded(studio: Studio, size: Size, folder: Path) -> Any:
    return beside(studio, "seed", json.dumps(asdict(size)), str(folder))


def _main(arguments: Sequence[str]) -> None:
    import django

    os.umask(0o077)
    django.setup()
    if arguments[0] == "seed":
        print(json.dumps(seed(Size(**json.loads(arguments[1])), Path(arguments[2]))))
    else:
        print(json.dumps(stored()))


if __name__ == "__main__":
    _main(sys.argv[1:])
