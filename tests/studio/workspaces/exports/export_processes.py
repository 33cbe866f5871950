"""Exports in processes of their own, which can be killed, on a database file of their own."""

import tests.with_django  # noqa: F401

# isort: split

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from builder.jail import JailPool
from studio.models import Export, PromptSet, Workspace
from studio.shell import jail
from studio.workspaces.exports.models import hash_of
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.undoing import undo
from studio.workspaces.exports.writing import Order, confirm
from tests.studio.workspaces.exports.confirming import (
    file_of,
    make_set,
    make_workspace,
    prompt_file,
    templates,
)

# Children of a process that has Django set up and nothing else: cheap, and no thread of ours is copied.
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload([__name__])

DATABASE = "studio.sqlite3"
WORDS = ("one", "two", "three", "four", "five")
BEFORE = file_of(templates("one"))


class Told(NamedTuple):
    """What a receipt says; all empty where there is none."""

    slug: str
    number: int
    outcome: str = ""
    reconciled: bool = False
    error: str = ""
    hash_found: str = ""


def run(work: Callable[..., Any], *args: Any) -> Any:
    """What the function returns in a process of its own; the exit code where it ended otherwise."""
    mine, theirs = CLEAN.Pipe(duplex=False)
    child = CLEAN.Process(target=_answer, args=(theirs, work, *args))
    child.start()
    theirs.close()
    try:
        answer = mine.recv()
    except EOFError:
        answer = None
    child.join()
    return answer if child.exitcode == 0 else child.exitcode


def _answer(to: Connection, work: Callable[..., Any], *args: Any) -> None:
    to.send(work(*args))


# --- in the child ------------------------------------------------------------------------


def prepare(folder: Path) -> None:
    """A migrated database with one set of five versions."""
    use(folder)
    call_command("migrate", interactive=False, verbosity=0)
    make_set("research", User.objects.create_user("yuki"), *WORDS)


def arrange(folder: Path, slugs: tuple[str, ...]) -> None:
    """Workspaces in the folder whose files hold the first version."""
    use(folder)
    for slug in slugs:
        make_workspace(folder / slug, word="one")


def use(folder: Path) -> None:
    """Let Django work on this folder's database, whatever the tests have; one worker is jail enough."""
    jail.use(JailPool(size=1, spares=0, batch_size=1))
    connections.settings["default"] |= {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(folder / DATABASE),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def export(
    folder: Path,
    number: int,
    batch: UUID,
    seen: str = hash_of(BEFORE),
    on_step: Callable[[str], None] = lambda step: None,
) -> list[Told]:
    """Version ``number`` into every workspace, by somebody who saw the files as they were arranged."""
    use(folder)
    orders = [Order(each, seen) for each in Workspace.objects.order_by("slug")]
    version = PromptSet.objects.get().versions.get(number=number)
    confirm(version, orders, batch=batch, by=User.objects.get(), at=timezone.now(), on_step=on_step)
    return receipts()


def export_and_die(folder: Path, batch: UUID, step: str, time: int) -> None:
    """Killed when that step is taken for the first time, or the second."""
    export(folder, 2, batch, on_step=_killer(step, time))


def undo_and_die(folder: Path, batch: UUID, step: str) -> None:
    """An undo that is killed at that step."""
    use(folder)
    undo(
        Export.objects.get(), batch=batch, by=User.objects.get(), at=timezone.now(), on_step=_killer(step, 1)
    )


def _killer(step: str, time: int) -> Callable[[str], None]:
    told: list[str] = []

    def die(now: str) -> None:
        told.append(now)
        if told.count(step) == time:
            os.kill(os.getpid(), signal.SIGKILL)

    return die


def export_at_once(folder: Path, number: int, batch: UUID, start: Barrier) -> list[Told]:
    """With others, at the same moment."""
    use(folder)
    start.wait(30)
    return export(folder, number, batch)


def export_and_wait(folder: Path, batch: UUID, step: str, reached: Event, go_on: Event) -> list[Told]:
    """Stops at a step until it may go on."""

    def wait(now: str) -> None:
        if now == step:
            reached.set()
            go_on.wait(30)

    return export(folder, 2, batch, on_step=wait)


def export_as_nobody(folder: Path, batch: UUID) -> list[Told]:
    """As somebody who may not write into the workspaces."""

    def become_nobody(step: str) -> None:
        # By now the jail runs, whose interpreter may be in a home that nobody else may enter.
        if step == "kept" and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    return export(folder, 2, batch, on_step=become_nobody)


def export_to_full_disk(folder: Path, disk: Path, is_full: bool) -> list[Told]:
    """Into one workspace on a disk with no room left, and another one beside the database."""
    use(folder)
    make_workspace(disk / "a", word="one")
    make_workspace(folder / "b", word="one")
    if is_full:
        with suppress(OSError), open(disk / "a" / "configs" / "filler", "wb", buffering=0) as filler:
            while filler.write(b"#" * 1024):
                pass
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    told: list[str] = []

    def limit(step: str) -> None:
        # Only for the first file, and between two writes of the database, which has room enough.
        told.append(step)
        if not is_full and step in ("compared", "done"):
            soft = 100 if told.count("compared") == 1 and step == "compared" else limits[0]
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, limits[1]))

    return export(folder, 2, uuid4(), on_step=limit)


def mend(folder: Path) -> list[Told]:
    """What a start does after a crash, and what the receipts say then."""
    use(folder)
    reconcile(timezone.now())
    return receipts()


def receipts() -> list[Told]:
    found = []
    for each in Export.objects.select_related("receipt", "workspace").order_by("pk"):
        told = Told(each.workspace.slug, each.version.number if each.version else 0)
        if hasattr(each, "receipt"):
            receipt = each.receipt
            said = (receipt.outcome, receipt.reconciled, receipt.error_code, receipt.hash_found)
            told = Told(told.slug, told.number, *said)
        found.append(told)
    return found


def content(folder: Path, slug: str) -> bytes | None:
    path = prompt_file(folder / slug)
    return path.read_bytes() if path.exists() else None
