"""Whatever happens to a server during an export: each file is the old or the new one, and receipts are true.

The steps come from the code's own list; processes are really killed.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from studio.workspaces.exports.models import hash_of
from studio.workspaces.exports.writing import STEPS
from tests.studio.workspaces.exports import export_processes
from tests.studio.workspaces.exports.confirming import file_of, prompt_file, templates
from tests.studio.workspaces.exports.export_processes import BEFORE, CLEAN, Told, content, run
from tests.studio_process import Studio

pytestmark = pytest.mark.slow

AFTER = file_of(templates("two"))
OLD, NEW = hash_of(BEFORE), hash_of(AFTER)
EACH = STEPS[STEPS.index("intended") + 1 :]
"""What is done for one workspace after the other."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    assert run(export_processes.prepare, folder) is None
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path) -> Path:
    """A database, and two workspaces beside it that hold version 1."""
    return arranged(prepared, tmp_path, "a", "b")


def arranged(prepared: Path, folder: Path, *slugs: str) -> Path:
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    assert run(export_processes.arrange, folder, slugs) is None
    return folder


def left_over(folder: Path) -> list[str]:
    return [each.name for slug in ("a", "b") for each in prompt_file(folder / slug).parent.iterdir()]


# --- killed ------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "time"), [*((step, 1) for step in STEPS), *((step, 2) for step in EACH)])
def test_an_export_killed_at_a_step_leaves_whole_files_and_true_receipts(
    folder: Path, step: str, time: int
) -> None:
    assert run(export_processes.export_and_die, folder, uuid4(), step, time) == -9

    written = STEPS.index(step) >= STEPS.index("replaced")
    done = {"a": written or time == 2, "b": written and time == 2}
    assert {slug: content(folder, slug) for slug in done} == {
        slug: AFTER if there else BEFORE for slug, there in done.items()
    }
    told = run(export_processes.mend, folder)
    if step == "kept":
        assert told == []
        return
    noted = {"a": time == 2 or step == "receipted", "b": time == 2 and step == "receipted"}
    assert told == [
        Told(slug, 2, *(("written", not noted[slug], "", NEW) if done[slug] else ("failed", True, "", OLD)))
        for slug in ("a", "b")
    ]
    assert left_over(folder) == ["prompt_builder.toml"] * 2, "what the killed process left is swept away"
    assert run(export_processes.mend, folder) == told


REMOVAL = ("intended", "locked", "compared", "replaced", "folder-synced", "done", "receipted")


@pytest.mark.parametrize(
    ("step", "had_file"),
    # With a file before, an undo takes the steps of any export.
    [*((step, True) for step in ("compared", "replaced")), *((step, False) for step in REMOVAL)],
)
def test_an_undo_killed_at_a_step_leaves_whole_files_and_true_receipts(
    prepared: Path, tmp_path: Path, step: str, had_file: bool
) -> None:
    folder = arranged(prepared, tmp_path, "a")
    if not had_file:
        prompt_file(folder / "a").unlink()
    before = content(folder, "a")
    assert run(export_processes.export, folder, 2, uuid4(), hash_of(before))[0].outcome == "written"
    after = content(folder, "a")

    assert run(export_processes.undo_and_die, folder, uuid4(), step) == -9

    back = STEPS.index(step) >= STEPS.index("replaced")
    assert content(folder, "a") == (before if back else after)
    told = run(export_processes.mend, folder)[1]
    assert (told.outcome, told.hash_found) == (
        ("written", hash_of(before)) if back else ("failed", hash_of(after))
    )
    assert told.reconciled == (step != "receipted")


# --- the system says no ------------------------------------------------------------------


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A workspace's folder on a disk with no room; where none can be mounted, files may not grow there."""
    place = tmp_path / "a-disk"  # the first in order
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", place], capture_output=True)
    yield place
    if mounted.returncode == 0:
        subprocess.run(["umount", place], check=True)


def test_a_full_disk_leaves_the_old_file_and_a_receipt_that_says_so(
    prepared: Path, tmp_path: Path, full_disk: Path
) -> None:
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    told = run(export_processes.export_to_full_disk, tmp_path, full_disk, os.path.ismount(full_disk))
    assert [(each.slug, each.outcome, each.error) for each in told] == [
        ("a", "failed", "file-unwritable"),
        ("b", "written", ""),
    ]
    assert prompt_file(full_disk / "a").read_bytes() == BEFORE
    assert content(tmp_path, "b") == AFTER
    assert os.listdir(full_disk / "a" / "configs") in (
        ["prompt_builder.toml"],
        ["prompt_builder.toml", "filler"],
        ["filler", "prompt_builder.toml"],
    )


def test_a_read_only_folder_leaves_the_old_file_and_a_receipt_that_says_so(prepared: Path) -> None:
    # Not in pytest's own folder, which other users cannot reach.
    with tempfile.TemporaryDirectory() as name:
        folder = arranged(prepared, Path(name), "a", "b")
        subprocess.run(["chmod", "-R", "a+rwX", name], check=True)
        prompt_file(folder / "a").parent.chmod(0o555)
        told = run(export_processes.export_as_nobody, folder, uuid4())
        assert [(each.slug, each.outcome, each.error) for each in told] == [
            ("a", "failed", "file-unwritable"),
            ("b", "written", ""),
        ]
        assert (content(folder, "a"), content(folder, "b")) == (BEFORE, AFTER)
        prompt_file(folder / "a").parent.chmod(0o755)


# --- at once -----------------------------------------------------------------------------


def test_of_exports_at_once_one_writes_and_the_others_say_why_not(folder: Path) -> None:
    start = CLEAN.Barrier(4)
    children = [
        CLEAN.Process(target=export_processes.export_at_once, args=(folder, number, uuid4(), start))
        for number in (2, 3, 4, 5)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4

    told = run(export_processes.mend, folder)
    assert len(told) == 8 and not any(each.reconciled for each in told)
    for slug in ("a", "b"):
        winners = [each for each in told if each.slug == slug and each.outcome == "written"]
        others = [each for each in told if each.slug == slug and each.outcome != "written"]
        assert len(winners) == 1
        assert content(folder, slug) == file_of(templates(export_processes.WORDS[winners[0].number - 1]))
        assert {(each.outcome, each.error) for each in others} == {("failed", "file-changed")}


def test_one_confirmation_sent_four_times_at_once_is_carried_out_once(folder: Path) -> None:
    start, batch = CLEAN.Barrier(4), uuid4()
    children = [
        CLEAN.Process(target=export_processes.export_at_once, args=(folder, 2, batch, start))
        for _ in range(4)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    told = run(export_processes.mend, folder)
    assert [(each.slug, each.outcome, each.reconciled) for each in told] == [
        ("a", "written", False),
        ("b", "written", False),
    ]


@pytest.mark.parametrize("step", ["intended", "compared", "replaced", "done"])
def test_a_start_beside_an_export_under_way_leaves_it_alone(folder: Path, step: str) -> None:
    reached, go_on = CLEAN.Event(), CLEAN.Event()
    child = CLEAN.Process(
        target=export_processes.export_and_wait, args=(folder, uuid4(), step, reached, go_on)
    )
    child.start()
    assert reached.wait(30)
    assert [each.outcome for each in run(export_processes.mend, folder)] == ["", ""]
    go_on.set()
    child.join(30)
    told = run(export_processes.mend, folder)
    assert [(each.outcome, each.reconciled) for each in told] == [("written", False)] * 2


def test_a_start_mends_what_the_last_stop_cut_off(folder: Path) -> None:
    assert run(export_processes.export_and_die, folder, uuid4(), "done", 1) == -9
    studio = Studio(folder, "--no-demo", "--port", "0", STUDIO_WORKSPACE_ROOTS=str(folder))
    try:
        assert "An export was interrupted: Research v2 → A: written." in studio.output
        assert "An export was interrupted: Research v2 → B: failed." in studio.output
    finally:
        studio.end(signal.SIGTERM)
    assert [each.outcome for each in run(export_processes.mend, folder)] == ["written", "failed"]
