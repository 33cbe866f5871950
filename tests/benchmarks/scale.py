"""What grows, and how fast: CPU of pages, API and previews, and bytes, at 1, 10 and 100 times as much.

    .venv/bin/python -m tests.benchmarks.scale [KIND…]

Prints the figures that the help page about growth rests on. Each kind (sets, versions of one set, people,
workspaces, rows of one database) grows alone, in a studio of its own. Requests are answered in this process,
so CPU is the server's without its connections; that of workers and readers is counted, too.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.process_memory import descendants

FACTORS = (1, 10, 100)
REQUESTS = 10
TEXT = "Task: {{ user_prompt }}\nRound {{ round_number }}.\n" + "Answer in whole sentences.\n" * 20


def main() -> None:
    """Each kind in a process of its own, forked before Django knows a database."""
    rows: list[str] = []
    for kind in sys.argv[1:] or SEEDS:
        for factor in FACTORS:
            with tempfile.TemporaryDirectory(prefix="scale-") as folder:
                reading, writing = os.pipe()
                if (child := os.fork()) == 0:
                    os.close(reading)
                    with os.fdopen(writing, "w") as told:
                        told.write(measure(kind, factor, Path(folder)))
                    os._exit(0)
                os.close(writing)
                with os.fdopen(reading) as told:
                    rows.append(told.read())
                os.waitpid(child, 0)
                print(rows[-1], flush=True)


def measure(kind: str, factor: int, folder: Path) -> str:
    """One line: how many, CPU of each request in milliseconds, bytes."""
    os.environ |= {"STUDIO_DATA": str(folder / "data"), "STUDIO_WORKSPACE_ROOTS": str(folder / "workspaces")}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "studio.settings", "STUDIO_API_RATE": "1000000"}
    (folder / "data").mkdir(mode=0o700)
    (folder / "workspaces").mkdir()
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from studio.access.accounts import Account
    from studio.access.tokens import ApiToken, Scope

    call_command("migrate", interactive=False, verbosity=0)
    User.objects.create_superuser("anna")
    Account.objects.update(most_sets=10**6)
    anna = User.objects.get()
    _add_sets(anna, 1, 2)
    many = SEEDS[kind](anna, factor, folder / "workspaces")
    _token, key = ApiToken.objects.make(anna, "t", scopes=list(Scope), days=1, at=timezone.now())
    client, program = (
        Client(SERVER_NAME="localhost"),
        Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {key}"}),
    )
    client.force_login(anna)
    texts = {"team_user_prompt": TEXT, "evaluator_user_prompt": "e", "judgment_user_prompt": "j"}
    fields = {"kind": "team", "tab": "t", "seq": 1, "revision": 0, "base": 2, "message": "", **texts}
    number = iter(range(10**6))
    asked: dict[str, Callable[[], int]] = {
        "home": lambda: client.get("/").status_code,
        "list of sets": lambda: client.get("/prompts/").status_code,
        "a set": lambda: client.get("/prompts/bench-0/").status_code,
        "workspaces": lambda: client.get("/workspaces/").status_code,
        "runs": lambda: client.get("/runs/").status_code,
        "people": lambda: client.get("/people/").status_code,
        "search": lambda: client.get("/search/?q=sentences").status_code,
        "preview": lambda: (
            client.post(
                "/prompts/bench-0/preview/",
                fields | {"team_user_prompt": f"{TEXT}{next(number)}"},
                headers={"HX-Request": "true"},
            ).status_code
        ),
        "API latest": lambda: program.get("/api/v1/sets/bench-0/versions/latest").status_code,
        "API list 100": lambda: program.get("/api/v1/sets?limit=100").status_code,
    }
    figures = [f"{name} {_cpu(request):.1f}" for name, request in asked.items()]
    size = (folder / "data" / "studio.sqlite3").stat().st_size
    wal = folder / "data" / "studio.sqlite3-wal"
    size += wal.stat().st_size if wal.exists() else 0
    databases = sum(path.stat().st_size for path in (folder / "workspaces").rglob("mixseek.db"))
    return (
        f"{many:>9,} {kind:10} CPU ms: {', '.join(figures)}; "
        f"database {size / 1e6:.1f} MB, mixseek.db {databases / 1e6:.1f} MB"
    )


def _cpu(request: Callable[[], int]) -> float:
    """Milliseconds of CPU of one request, the children's included; the first ones are to get warm."""
    for _ in range(3):
        status = request()
        assert status == 200, status
    before = _used()
    for _ in range(REQUESTS):
        request()
    return (_used() - before) * 1000 / REQUESTS


def _used() -> float:
    spent = time.process_time()
    for pid in [*descendants(os.getpid())][1:]:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


# --- what there is much of -----------------------------------------------------------------


def _add_sets(person: object, count: int, versions: int, start: int = 0) -> int:
    from django.db import transaction
    from django.utils import timezone

    from studio.editor.sets import create_set
    from studio.prompts.texts import Templates

    now = timezone.now()
    with transaction.atomic():
        for number in range(start, start + count):
            made = create_set(f"Bench {number}", tags=["bench"], dialect="mixseek", by=person, at=now)  # type: ignore[arg-type]
            for base in range(versions):
                texts = Templates(f"{TEXT}{number} {base}", "{{ submission }}", "{{ user_prompt }}")
                made.save_version(texts, base=base, message=f"Change {base}", author=person, at=now)  # type: ignore[arg-type]
    return count


def _sets(person: object, factor: int, folder: Path) -> int:
    return _add_sets(person, 30 * factor, 2, start=1)


def _versions(person: object, factor: int, folder: Path) -> int:
    from django.db import transaction
    from django.utils import timezone

    from studio.models import PromptSet
    from studio.prompts.texts import Templates

    made = PromptSet.objects.get(slug="bench-0")
    with transaction.atomic():
        for base in range(2, 30 * factor):
            texts = Templates(f"{TEXT}{base}", "{{ submission }}", "{{ user_prompt }}")
            made.save_version(texts, base=base, message=f"Change {base}", author=person, at=timezone.now())  # type: ignore[arg-type]
    return 30 * factor


def _people(person: object, factor: int, folder: Path) -> int:
    from django.contrib.auth.models import User
    from django.utils import timezone

    from studio.models import Draft, PromptSet
    from studio.prompts.drafts import SentDraft
    from studio.prompts.texts import Templates

    made = PromptSet.objects.get(slug="bench-0")
    for number in range(10 * factor):
        other = User.objects.create_user(f"person-{number}")
        sent = SentDraft(Templates(f"{TEXT}{number}", "e", "j"), 2, 0)
        Draft.objects.keep(made, other, sent, at=timezone.now())
    return 10 * factor


def _workspaces(person: object, factor: int, folder: Path) -> int:
    from django.utils import timezone

    from builder.simulation import Run, simulate
    from studio.models import Workspace

    now = timezone.now()
    for number in range(2 * factor):
        path = folder / f"w{number}"
        if number:
            shutil.copytree(folder / "w0", path)
        else:
            simulate(path, [Run("Compare three ways.", now, rounds=2)], seed=number)
        Workspace.objects.create(slug=path.name, name=path.name, path=str(path), created_at=now)
    return 2 * factor


def _rows(person: object, factor: int, folder: Path) -> int:
    from django.utils import timezone

    from studio.models import Workspace
    from tests.benchmarks.test_leaderboard import fill

    (folder / "w0").mkdir()
    fill(folder / "w0" / "mixseek.db", 10_000 * factor)
    Workspace.objects.create(slug="w0", name="w0", path=str(folder / "w0"), created_at=timezone.now())
    return 10_000 * factor


SEEDS: dict[str, Callable[[object, int, Path], int]] = {
    "sets": _sets,
    "versions": _versions,
    "people": _people,
    "workspaces": _workspaces,
    "rows": _rows,
}

if __name__ == "__main__":
    main()
