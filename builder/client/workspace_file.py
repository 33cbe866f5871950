"""The prompt file of a workspace beside a studio's version: pulled from it, pushed to it, compared with it.

Used by ``prompt-studio pull``, ``push`` and ``status``. A file is somebody's edit where its templates are
neither those of a version in the studio nor those that were pulled last.
"""

import json
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from builder.client.credentials import write_private
from builder.client.prompts import Prompts, Studio
from builder.contract.settings import locate
from builder.diff.lines import compare
from builder.diff.unified import unified
from builder.errors import ClientError, PromptFileInvalid, StudioRefused, StudioUnreachable
from builder.files.prompt_file import merge, read
from builder.files.reading import FileState, inspect
from builder.files.writing import Receipt, replace
from builder.messages import message
from builder.template.content_hash import content_hash
from builder.template.variables import FIELDS

HAND_EDIT = message(
    "client-hand-edit",
    "{file} was edited by hand and matches no version of {prompt_set}; nothing was written",
    "{file} は手作業で編集されており、{prompt_set} のどのバージョンとも一致しません。何も書き込んでいません",
    fix_en="Save the edit with `prompt-studio push`, or pass --overwrite.",
    fix_ja="`prompt-studio push` で保存するか、--overwrite を指定してください。",
)
INCOMPLETE = message(
    "client-incomplete-file",
    "{file} does not contain all three templates",
    "{file} には3つのテンプレートがそろっていません",
)
NO_FILE = message("client-no-file", "{file} does not exist", "{file} がありません")
BEHIND = message(
    "client-behind",
    "{file} starts from v{base}, but {prompt_set} has newer versions; nothing was saved",
    "{file} は v{base} をもとにしていますが、{prompt_set} には新しいバージョンがあります。"
    "何も保存していません",
    fix_en="Push without --message: the edit becomes your draft, and the editor merges it.",
    fix_ja="--message を付けずに push すると下書きになり、エディターで統合できます。",
)
NO_SET = message(
    "client-no-set",
    "Cannot tell which prompt set {file} belongs to",
    "{file} がどのプロンプトセットのものか分かりません",
    fix_en="Specify it: `prompt-studio push SET`.",
    fix_ja="`prompt-studio push SET` のように指定してください。",
)

Standing = Literal["missing", "same", "known", "edited", "invalid"]
"""The version itself; another version, or what was pulled last; an edit; not to be read."""


@dataclass(frozen=True)
class Pulled:
    """What a pull did or would do."""

    path: Path
    standing: Standing
    old: bytes | None = field(repr=False)
    new: bytes = field(repr=False)
    receipt: Receipt | None = None

    @property
    def diff(self) -> str:
        before, after = ((data or b"").decode("utf-8", "replace") for data in (self.old, self.new))
        left = str(self.path) if self.old is not None else "/dev/null"
        return unified(compare(before, after), left, str(self.path))


def pull(
    studio: Studio,
    prompts: Prompts,
    workspace: Path,
    *,
    today: date,
    file: str = "",
    overwrite: bool = False,
    dry_run: bool = False,
    environ: Mapping[str, str],
) -> Pulled:
    """Write a version into the workspace's prompt file, or tell what would be written.

    Raises ``ClientError`` for an edit by hand without ``overwrite``, and what the writer raises.
    """
    root = workspace.resolve()
    path = root / file if file else locate(root).path
    state = inspect(path, root)
    standing = _standing(studio, prompts, state, environ)
    try:
        new = merge(state.data, prompts.templates, today, str(path))
    except PromptFileInvalid:
        new = merge(None, prompts.templates, today, str(path))
    pulled = Pulled(path, standing, state.data, new)
    if dry_run:
        return pulled
    if standing in ("edited", "invalid") and not overwrite:
        raise ClientError(HAND_EDIT, file=str(path), prompt_set=prompts.prompt_set)
    receipt = replace(path, new, state.sha256, root) if new != state.data else None
    _note(environ, path, {"hash": prompts.hash, "set": prompts.prompt_set, "number": prompts.number})
    return Pulled(path, standing, state.data, new, receipt)


def push(
    studio: Studio,
    workspace: Path,
    *,
    prompt_set: str = "",
    file: str = "",
    text: str = "",
    as_version: bool,
    environ: Mapping[str, str],
) -> dict[str, Any]:
    """Send what stands in the workspace's file to the studio, as one's draft or as a version; its answer."""
    root = workspace.resolve()
    path = root / file if file else locate(root).path
    last = _noted(environ, path)
    prompt_set = prompt_set or str(last.get("set", ""))
    if not prompt_set:
        raise ClientError(NO_SET, file=str(path))
    templates = _templates(inspect(path, root))
    if templates is None:
        raise ClientError(NO_FILE if not path.exists() else INCOMPLETE, file=str(path))
    base = last["number"] if last.get("set") == prompt_set else None
    newest = studio.connection.get("sets", prompt_set)
    body = {"texts": templates, "base": newest["revision"] if base is None else base}
    if not as_version:
        return dict(studio.connection.ask("PUT", ("sets", prompt_set, "draft"), body))
    try:
        made = studio.connection.ask(
            "POST",
            ("sets", prompt_set, "versions"),
            {**body, "message": text},
            headers={"Idempotency-Key": str(uuid.uuid4())},
        )
    except StudioRefused as refusal:
        if refusal.problem.get("code") != "version-conflict":
            raise
        raise ClientError(BEHIND, file=str(path), base=body["base"], prompt_set=prompt_set) from None
    _note(environ, path, {"hash": made["content_hash"], "set": prompt_set, "number": made["number"]})
    return dict(made)


@dataclass(frozen=True)
class FileStatus:
    """A workspace's file: what was pulled last, and whether it still stands there."""

    path: Path
    standing: Standing
    prompt_set: str = ""
    number: int | None = None
    pulled_at: datetime | None = None


def status(workspace: Path, *, file: str = "", environ: Mapping[str, str]) -> FileStatus:
    """What is known here, without asking the studio."""
    root = workspace.resolve()
    path = root / file if file else locate(root).path
    state, last = inspect(path, root), _noted(environ, path)
    templates = _templates(state)
    standing: Standing = (
        "missing"
        if state.data is None
        else "invalid"
        if templates is None
        else "same"
        if _hash(templates) == last.get("hash")
        else "edited"
    )
    at = last.get("at")
    return FileStatus(
        path, standing, last.get("set", ""), last.get("number"), datetime.fromisoformat(at) if at else None
    )


# --- the file and the studio -------------------------------------------------------------


def _standing(studio: Studio, prompts: Prompts, state: FileState, environ: Mapping[str, str]) -> Standing:
    if state.data is None:
        return "missing"
    templates = _templates(state)
    if templates is None:
        return "invalid"
    found = _hash(templates)
    if found == prompts.hash:
        return "same"
    if found == _noted(environ, state.path).get("hash"):
        return "known"
    try:
        studio.connection.get("sets", prompts.prompt_set, "versions", found)
    except StudioUnreachable:
        return "edited"
    except StudioRefused as refusal:
        if refusal.status != 404:
            raise
        return "edited"
    return "known"


def _templates(state: FileState) -> dict[str, str] | None:
    """The three templates of a file; None where it lacks one or is no prompt file."""
    try:
        values = read(state.data or b"", str(state.path)).values
    except PromptFileInvalid:
        return None
    return {name: values[name] for name in FIELDS} if all(name in values for name in FIELDS) else None


def _hash(templates: Mapping[str, str]) -> str:
    return content_hash(templates[name] for name in FIELDS)


# --- what was pulled last ----------------------------------------------------------------


def _notes(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_STATE_HOME") or os.path.join(
        environ.get("HOME") or str(Path.home()), ".local", "state"
    )
    return Path(base) / "prompt-studio" / "pulled.json"


def _all_noted(environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    try:
        noted = json.loads(_notes(environ).read_bytes())
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _noted(environ: Mapping[str, str], path: Path) -> dict[str, Any]:
    noted = _all_noted(environ).get(str(path), {})
    return noted if isinstance(noted, dict) else {}


def _note(environ: Mapping[str, str], path: Path, pulled: dict[str, Any]) -> None:
    entry = {**pulled, "at": datetime.now(UTC).isoformat()}
    with suppress(OSError):  # without it, the next pull asks the studio
        _notes(environ).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        noted = _all_noted(environ) | {str(path): entry}
        write_private(_notes(environ), (json.dumps(noted, indent=2) + "\n").encode())
