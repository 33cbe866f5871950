"""The agent of a workspace: runs beside MixSeek, tells a studio elsewhere what ran, and writes its exports.

Used by ``prompt-studio agent``. What it knows of the studio it asks for: after a restart, on either side, and
after a studio was restored from a backup, it goes on from what the studio has.
"""

import base64
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from builder.client.connection import ODD, Connection
from builder.client.file_names import MOST_FILES
from builder.client.manifest import ENDING, LOGS, MOST_MANIFESTS
from builder.client.orders import Order, written
from builder.client.shared_files import SharedFile, moment_of, shared_files
from builder.errors import (
    BuilderError,
    ClientError,
    DatabaseMissing,
    StudioRefused,
)
from builder.files.reading import peek, sha256
from builder.leaderboard import batches, database_path
from builder.leaderboard.copying import Changed, Identity, copy, identify
from builder.orchestrators.installed import version_in
from builder.system.workspace_scan import Machine

AGENT = "Prompt-Studio-Agent"
BEGIN_AGAIN = "begin-again"
"""The code of a refusal where the studio merged its batches, or its settings changed, meanwhile."""
PROGRESS = ".progress.json"
_TRIES = 5
_COPY_TRIES = 50
_GROUP = 200
"""Executions that are committed together: an agent that is stopped goes on after the last group."""
_GONE_AT_ONCE = 5_000
_FRESH_SECONDS = 15 * 60.0
_MOST_LOG = 65_536
_MOST_FILES_AT_ONCE = 50


class State(BaseModel):
    """What the studio has of the workspace, as it says."""

    workspace: str
    texts: bool
    tag: str
    generation: int
    next_batch: int
    files: dict[str, str]
    orders: int


class _Orders(BaseModel):
    orders: list[Order]


class _Digests(BaseModel):
    digests: dict[str, str]


Answer = TypeVar("Answer", bound=BaseModel)
Item = TypeVar("Item")


@dataclass
class Sent:
    """What one round of reporting did."""

    files: int = 0
    executions: int = 0
    bytes: int = 0
    exports: int = 0


@dataclass
class Agent:
    """One workspace and one studio."""

    connection: Connection
    workspace: Path
    machine: str
    name: str = ""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    say: Callable[[str], None] = lambda line: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _slug: str = ""
    _known: tuple[Identity, str] | None = None
    """The state of the database whose rows the studio has, and the studio's word for that."""

    def once(self) -> Sent:
        """Report everything that changed and carry out what waits. Raises ``ClientError``."""
        sent = Sent()
        for tries_left in reversed(range(_TRIES)):
            state = self._state()
            sent.exports += self._carry_out(state)
            sent.files += self._report_files(state)
            try:
                self._report_runs(state, sent)
                break
            except StudioRefused as refusal:
                if not tries_left or refusal.problem.get("code") != BEGIN_AGAIN:
                    raise
        return sent

    def stop(self) -> None:
        """Give the lease back."""
        if self._slug:
            with suppress(ClientError):
                self._send("DELETE", "lease")

    # --- the studio ----------------------------------------------------------------------

    def _state(self) -> State:
        if self._slug:
            try:
                return self._ask(State, "GET")
            except StudioRefused as refusal:
                if refusal.status != 404:
                    raise
        body = {
            "machine": self.machine,
            "folder": str(self.workspace.resolve()),
            "name": self.name,
            "facts": self._facts(),
        }
        answer = self.connection.ask("PUT", ("machines",), body, headers=self._headers)
        state = self._read(State, answer)
        self._slug, self._known = state.workspace, None
        return state

    def _facts(self) -> dict[str, str]:
        """What system prompts say of the machine that they are made on."""
        here, root = Machine.here(), self.workspace.resolve()
        environments = (root / name for name in (".venv", "venv"))
        facts = {
            "host": here.host,
            "os": here.os,
            "python": here.python,
            "home": str(here.home or ""),
            "repository": "yes" if os.path.lexists(root / ".git") else "",
            "mixseek": next(filter(None, map(version_in, environments)), ""),
        }
        return {name: value[:200] for name, value in facts.items()}

    def _ask(self, kind: type[Answer], method: str, *parts: str | int, **more: Any) -> Answer:
        return self._read(kind, self._send(method, *parts, **more))

    def _send(self, method: str, *parts: str | int, body: Any = None, **more: Any) -> Any:
        path = ("machines", self._slug, *parts)
        return self.connection.ask(method, path, body, headers=self._headers, **more)

    def _read(self, kind: type[Answer], answer: Any) -> Answer:
        try:
            return kind.model_validate(answer)
        except ValidationError:
            raise ClientError(ODD, url=self.connection.credentials.url) from None

    @property
    def _headers(self) -> dict[str, str]:
        return {AGENT: self.id}

    # --- files ---------------------------------------------------------------------------

    def _report_files(self, state: State) -> int:
        now = {file.name: file for file in islice(self._files(texts=state.texts), MOST_FILES)}
        changed = [file for name, file in now.items() if state.files.get(name) != file.sha256]
        gone = [name for name in state.files if name not in now]
        for part in _groups(changed, _MOST_FILES_AT_ONCE) or ([[]] if gone else []):
            files = [
                {
                    "name": file.name,
                    "sha256": file.sha256,
                    "data": base64.b64encode(file.data).decode(),
                    "modified_at": file.modified_at.isoformat(),
                }
                for file in part
            ]
            self._send("POST", "files", body={"files": files, "gone": gone})
            gone = []
        return len(changed)

    def _files(self, *, texts: bool) -> Iterator[SharedFile]:
        yield from shared_files(self.workspace, texts=texts)
        listed = []
        with suppress(OSError), os.scandir(self.workspace / LOGS) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    young = self.clock().timestamp() - status.st_mtime < _FRESH_SECONDS
                    # Progress files carry errors of teams, which may quote texts.
                    progress = texts and young and entry.name.endswith(PROGRESS)
                    if (progress or entry.name.endswith(ENDING)) and status.st_size <= _MOST_LOG:
                        listed.append((status.st_mtime, entry.name))
        for modified, name in sorted(listed, reverse=True)[:MOST_MANIFESTS]:
            with suppress(BuilderError):
                data = peek(self.workspace.resolve() / LOGS / name, self.workspace.resolve())[0].data
                if data is not None:
                    yield SharedFile(f"{LOGS}/{name}", data, moment_of(modified), sha256(data))

    # --- runs ----------------------------------------------------------------------------

    def _report_runs(self, state: State, sent: Sent) -> None:
        try:
            identity = identify(str(database_path(self.workspace)))
        except DatabaseMissing:
            return
        if self._known == (identity, state.tag):
            return
        with tempfile.TemporaryDirectory(prefix="prompt-studio-") as scratch:
            copied = Path(scratch) / "mixseek.db"
            identity = self._copied(copied)
            here = batches.digests(copied, texts=state.texts)
            there = self._ask(_Digests, "GET", "digests").digests
            changed = sorted(name for name, digest in here.items() if there.get(name) != digest)
            gone = sorted(name for name in there if name not in here)
            for group, left in zip_longest(_groups(changed, _GROUP), _groups(gone, _GONE_AT_ONCE)):
                state = self._send_rows(copied, group or [], left or [], here, state, Path(scratch), sent)
        self._known = (identity, state.tag)

    def _copied(self, target: Path) -> Identity:
        for _ in range(_COPY_TRIES):
            with suppress(Changed):
                return copy(str(database_path(self.workspace)), target)
        return copy(str(database_path(self.workspace)), target)

    def _send_rows(
        self,
        copied: Path,
        group: Sequence[str],
        gone: Sequence[str],
        here: dict[str, str],
        state: State,
        folder: Path,
        sent: Sent,
    ) -> State:
        """Send the rows of some executions, and let the studio show them."""
        number = state.next_batch
        basis = {"generation": state.generation, "texts": state.texts}
        for batch in batches.extract(copied, [*group], folder, texts=state.texts, gone=gone):
            data = batch.path.read_bytes()
            batch.path.unlink()
            head = json.dumps({"table": batch.table, "replaces": batch.replaces, **basis}).encode()
            self._send("POST", "batches", number, data=head + b"\n" + data)
            sent.bytes += len(data)
            number += 1
        done = {name: here[name] for name in group}
        body = {"up_to": number - 1, "digests": done, "gone": list(gone), **basis}
        state = self._ask(State, "POST", "commit", body=body)
        sent.executions += len(group)
        return state

    # --- exports -------------------------------------------------------------------------

    def _carry_out(self, state: State) -> int:
        if not state.orders:
            return 0
        orders = self._ask(_Orders, "GET", "orders").orders
        for order in orders:
            self._send(
                "POST", "receipts", body={"export": order.export, **written(self.workspace.resolve(), order)}
            )
        return len(orders)


def _groups(items: list[Item], size: int) -> list[list[Item]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def pause_after(error: BuilderError, usual: float) -> float:
    """How long to wait after a refusal."""
    if isinstance(error, StudioRefused) and error.status in (401, 403):
        return max(usual, 60.0)
    return usual
