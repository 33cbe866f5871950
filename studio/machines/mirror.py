"""The mirror of a workspace on another machine: a folder on this server with the files and the database that
its agent reported, so that pages read it like any other workspace. Each server makes its own."""

import fcntl
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import models

from builder.client.file_names import is_database
from builder.leaderboard import DATABASE_NAME, batches
from studio.machines.models import RemoteBatch, RemoteWorkspace

SEPARATOR = ":"
_STATE, _ASSEMBLED = ".state", ".assembled"
_SECONDS = 900

log = logging.getLogger(__name__)


class MirrorMissing(Exception):
    """There is no workspace of that path on another machine."""


def is_remote(path: str) -> bool:
    """Whether a workspace's path names a machine before its folder."""
    return not path.startswith("/")


def mirror_root() -> Path:
    return Path(settings.STUDIO_DATA) / "machines"


def mirror_folder(path: str) -> Path:
    """Where this server keeps the copy; it need not be there yet."""
    return mirror_root() / hashlib.sha256(path.encode()).hexdigest()[:24]


def within_mirror(stored_path: str, path: str) -> str | None:
    """A file of the mirror as seen from the workspace, whichever server's mirror it was."""
    _before, found, name = stored_path.partition(f"/{mirror_root().name}/{mirror_folder(path).name}/")
    return name if found else None


def refreshed(path: str) -> Path:
    """The mirror's folder, as new as the last report. What cannot be built leaves the copy of before."""
    folder = mirror_folder(path)
    remote = RemoteWorkspace.objects.filter(workspace__path=path).defer("digests").first()
    if remote is None:
        raise MirrorMissing(path)
    if _read(folder / _STATE) == remote.stamp:
        return folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder):
        while True:
            remote.refresh_from_db(fields=["generation", "committed", "stamp"])
            if _read(folder / _STATE) == remote.stamp:
                return folder
            _write_files(remote, folder)
            with suppress(_Merged):
                _assemble(remote, folder)
                _put(folder / _STATE, remote.stamp.encode())


def drop_gone() -> bool:
    """Take away this server's mirrors of workspaces that were deleted; whether there were any."""
    known = RemoteWorkspace.objects.values_list("workspace__path", flat=True)
    names = {mirror_folder(path).name for path in known}
    gone = [folder for folder in mirror_root().glob("*") if folder.name not in names]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(gone)


class _Merged(Exception):
    """The batches were merged while they were read."""


def _write_files(remote: RemoteWorkspace, folder: Path) -> None:
    wanted = {file.name: file for file in remote.files.all()}
    for path in _visible(folder):
        shown = PurePosixPath(path.relative_to(folder))
        if path.is_dir():
            with suppress(OSError):
                path.rmdir()  # only where nothing is left in it
        elif str(shown) not in wanted and not is_database(shown):
            path.unlink()
    for name, file in wanted.items():
        path, data = folder / name, bytes(file.data)
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            _put(path, data)
        moment = file.modified_at.timestamp()
        os.utime(path, (moment, moment))


def _visible(folder: Path) -> Iterator[Path]:
    """What lies in a mirror but for our own notes, the deepest first."""
    for path in sorted(folder.glob("[!.]*")):
        if path.is_dir():
            yield from _visible(path)
        yield path


def _assemble(remote: RemoteWorkspace, folder: Path) -> None:
    """Add the batches that are new to the database; begin again where they are not those of before."""
    batches_seen = remote.batches.filter(sequence__lte=remote.committed)
    known = _known(remote, _read(folder / _ASSEMBLED))
    rows = batches_seen.filter(sequence__gt=known)
    last = batches_seen.last()
    if known == 0 and last is None:
        (folder / DATABASE_NAME).unlink(missing_ok=True)
    if last is None or last.sequence == known:
        return
    with scratch_folder(folder, ".assembling-") as scratch:
        building = Path(scratch) / DATABASE_NAME
        if known and (folder / DATABASE_NAME).exists():
            shutil.copyfile(folder / DATABASE_NAME, building)
        plan = Path(scratch) / "plan.json"
        try:
            plan.write_text(json.dumps(list(_listed(rows, Path(scratch)))))
            _require_generation(remote)
            done = run_batches("assemble", str(building), str(plan)) is not None
        except OSError as error:
            _require_generation(remote)  # else a file of a batch is gone, or the disk is full
            log.warning("%s: %s", remote, error)
            done = False
        if not done:
            # Tried again after the next report.
            log.error("The batches of %s could not be put together", remote)
            return
        building.replace(folder / DATABASE_NAME)
    _put(folder / _ASSEMBLED, f"{remote.generation} {last.sequence} {last.sha256}".encode())


def _require_generation(remote: RemoteWorkspace) -> None:
    if not RemoteWorkspace.objects.filter(pk=remote.pk, generation=remote.generation).exists():
        raise _Merged


def _known(remote: RemoteWorkspace, assembled: str) -> int:
    """The number of the last batch in the database; 0 where the batches were written anew since, or the
    studio was restored from a backup."""
    generation, sequence, digest = [*assembled.split(" "), "", "", ""][:3]
    if generation != str(remote.generation) or not sequence.isdigit():
        return 0
    same = remote.batches.filter(sequence=int(sequence), sha256=digest, sequence__lte=remote.committed)
    return int(sequence) if same.exists() else 0


def is_whole(remote: RemoteWorkspace, folder: Path) -> bool:
    """Whether every batch that pages see is in the mirror's database."""
    last = remote.batches.filter(sequence__lte=remote.committed).last()
    return last is None or _known(remote, _read(folder / _ASSEMBLED)) == last.sequence


def _listed(rows: "models.QuerySet[RemoteBatch]", scratch: Path) -> Iterator[dict[str, object]]:
    for batch in rows.iterator(chunk_size=1):
        path = scratch / f"{batch.sequence}.parquet"
        path.write_bytes(batch.content)
        yield {"path": str(path), "table": batch.table, "replaces": batch.replaces}


def run_batches(*arguments: str) -> str | None:
    """What `batches` prints as a process of its own, with limits: the files come from elsewhere."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", batches.__file__, *arguments],
            env={},
            check=True,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except subprocess.CalledProcessError as error:
        log.warning("batches: %s", error.stderr[-2000:])
        return None
    except subprocess.TimeoutExpired:
        return None
    return done.stdout


@contextmanager
def _locked(folder: Path, name: str = ".lock") -> Iterator[None]:
    with open(folder / name, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def scratch_folder(folder: Path, prefix: str) -> Iterator[str]:
    """A folder of one's own inside a mirror; what a process that was killed left of its own goes."""
    with _locked(folder, f"{prefix}lock"):
        for left in folder.glob(f"{prefix}*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as scratch:
            yield scratch


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _put(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)
