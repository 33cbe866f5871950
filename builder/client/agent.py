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
from pathlib import Path
from typing import Any

from builder.client.connection import Connection
from builder.client.manifest import ENDING, LOGS
from builder.client.shared_files import SharedFile, shared_files
from builder.errors import (
    BuilderError,
    ClientError,
    DatabaseMissing,
    PromptFileConflict,
    PromptFileError,
    StudioRefused,
)
from builder.files.reading import sha256
from builder.files.writing import remove, replace
from builder.leaderboard import batches, database_path
from builder.leaderboard.copying import Changed, Identity, copy, identify

AGENT = "Prompt-Studio-Agent"
PROGRESS = ".progress.json"
_COPY_TRIES = 50
_GROUP = 200
"""Executions that are committed together: an agent that is stopped goes on after the last group."""
_FRESH_SECONDS = 15 * 60.0
_MOST_LOG = 65_536
_MOST_FILES_AT_ONCE = 50


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
        state = self._state()
        sent = Sent(exports=self._carry_out(state))
        sent.files = self._report_files(state)
        self._report_runs(state, sent)
        return sent

    def stop(self) -> None:
        """Give the lease back."""
        if self._slug:
            with suppress(ClientError):
                self._ask("DELETE", "lease")

    # --- the studio ----------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        if self._slug:
            try:
                return dict(self._ask("GET"))
            except StudioRefused as refusal:
                if refusal.status != 404:
                    raise
        body = {"machine": self.machine, "folder": str(self.workspace.resolve()), "name": self.name}
        state = dict(self.connection.ask("PUT", ("machines",), body, headers=self._headers))
        self._slug, self._known = state["workspace"], None
        return state

    def _ask(self, method: str, *parts: str | int, body: Any = None, **more: Any) -> Any:
        path = ("machines", self._slug, *parts)
        return self.connection.ask(method, path, body, headers=self._headers, **more)

    @property
    def _headers(self) -> dict[str, str]:
        return {AGENT: self.id}

    # --- files ---------------------------------------------------------------------------

    def _report_files(self, state: dict[str, Any]) -> int:
        now = {file.name: file for file in self._files(texts=state["texts"])}
        changed = [file for name, file in now.items() if state["files"].get(name) != file.sha256]
        gone = [name for name in state["files"] if name not in now]
        parts = [changed[at : at + _MOST_FILES_AT_ONCE] for at in range(0, len(changed), _MOST_FILES_AT_ONCE)]
        for part in parts or ([[]] if gone else []):
            files = [
                {
                    "name": file.name,
                    "sha256": file.sha256,
                    "data": base64.b64encode(file.data).decode(),
                    "modified_at": file.modified_at.isoformat(),
                }
                for file in part
            ]
            self._ask("POST", "files", body={"files": files, "gone": gone})
            gone = []
        return len(changed)

    def _files(self, *, texts: bool) -> Iterator[SharedFile]:
        yield from shared_files(self.workspace)
        try:
            entries = sorted(os.scandir(self.workspace / LOGS), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            # Progress files carry errors of teams, which may quote texts.
            wanted = entry.name.endswith(ENDING) or (texts and entry.name.endswith(PROGRESS))
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                young = self.clock().timestamp() - status.st_mtime < _FRESH_SECONDS
                if wanted and (young or entry.name.endswith(ENDING)) and status.st_size <= _MOST_LOG:
                    data = Path(entry.path).read_bytes()
                    moment = datetime.fromtimestamp(status.st_mtime, UTC)
                    yield SharedFile(f"{LOGS}/{entry.name}", data, moment, sha256(data))

    # --- runs ----------------------------------------------------------------------------

    def _report_runs(self, state: dict[str, Any], sent: Sent) -> None:
        try:
            identity = identify(str(database_path(self.workspace)))
        except DatabaseMissing:
            return
        if self._known == (identity, state["tag"]):
            return
        with tempfile.TemporaryDirectory(prefix="prompt-studio-") as scratch:
            copied = Path(scratch) / "mixseek.db"
            identity = self._copied(copied)
            texts = bool(state["texts"])
            here, there = batches.digests(copied, texts=texts), self._ask("GET", "digests")["digests"]
            changed = sorted(name for name, digest in here.items() if there.get(name) != digest)
            gone = sorted(name for name in there if name not in here)
            groups = [changed[at : at + _GROUP] for at in range(0, len(changed), _GROUP)]
            for group in groups or ([[]] if gone else []):
                state = self._send(copied, group, gone, here, state, Path(scratch), sent)
                gone = []
            sent.executions = len(changed)
        self._known = (identity, state["tag"])

    def _copied(self, target: Path) -> Identity:
        for _ in range(_COPY_TRIES):
            with suppress(Changed):
                return copy(str(database_path(self.workspace)), target)
        return copy(str(database_path(self.workspace)), target)

    def _send(
        self,
        copied: Path,
        group: Sequence[str],
        gone: Sequence[str],
        here: dict[str, str],
        state: dict[str, Any],
        folder: Path,
        sent: Sent,
    ) -> dict[str, Any]:
        """Send the rows of some executions, and let the studio show them."""
        number = state["next_batch"]
        texts = bool(state["texts"])
        for batch in batches.extract(copied, [*group], folder, texts=texts, gone=gone):
            data = batch.path.read_bytes()
            batch.path.unlink()
            head = json.dumps({"table": batch.table, "replaces": batch.replaces}).encode()
            self._ask("POST", "batches", number, data=head + b"\n" + data)
            sent.bytes += len(data)
            number += 1
        done = {name: here[name] for name in group}
        body = {"up_to": number - 1, "digests": done, "gone": list(gone), "texts": texts}
        return dict(self._ask("POST", "commit", body=body))

    # --- exports -------------------------------------------------------------------------

    def _carry_out(self, state: dict[str, Any]) -> int:
        if not state["orders"]:
            return 0
        orders = self._ask("GET", "orders")["orders"]
        for order in orders:
            self._ask("POST", "receipts", body={"export": order["export"], **self._written(order)})
        return len(orders)

    def _written(self, order: dict[str, Any]) -> dict[str, Any]:
        """Write one file as an export on this machine would be written: the same checks, whole or not."""
        root = self.workspace.resolve()
        path, before = root / order["file"], order["sha256_before"]
        try:
            if order["data"] is None:
                receipt = remove(path, before, root)
            else:
                new = base64.b64decode(order["data"])
                try:
                    receipt = replace(path, new, before or None, root)
                except PromptFileConflict as conflict:
                    # An order whose receipt was lost on the way is carried out already.
                    if conflict.found != new:
                        raise
                    return {"outcome": "written", "sha256": sha256(new)}
        except PromptFileError as error:
            found = error.found if isinstance(error, PromptFileConflict) else None
            return {
                "outcome": "failed",
                "sha256": sha256(found) if found is not None else before,
                "error_code": error.code,
                "error_params": {**error.params, **({"line": error.line} if error.line else {})},
            }
        return {
            "outcome": "written",
            "sha256": receipt.sha256_after or "",
            "owner_kept": receipt.owner_kept,
            "durable": receipt.durable,
        }


def pause_after(error: BuilderError, usual: float) -> float:
    """How long to wait after a refusal."""
    if isinstance(error, StudioRefused) and error.status in (401, 403):
        return max(usual, 60.0)
    return usual
