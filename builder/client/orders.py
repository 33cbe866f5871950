"""Orders: exports that were confirmed in the studio, and that an agent carries out. Used by ``agent``.

What the studio says is not believed: an agent writes prompt files of its workspace, and nothing else.
"""

import base64
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from builder.client.shared_files import is_prompt_file
from builder.errors import PromptFileConflict, PromptFileError, PromptFileRefused
from builder.files.reading import peek, sha256
from builder.files.writing import remove, replace
from builder.messages import message

NOT_PROMPTS = message(
    "agent-not-a-prompt-file",
    "{file} is not a prompt file of this workspace; its agent writes nothing else",
    "{file} はこのワークスペースのプロンプトファイルではありません。"
    "エージェントはほかのファイルに書き込みません",
)


class Order(BaseModel):
    """An export that was confirmed in the studio."""

    export: int
    file: str
    sha256_before: str
    data: str | None


def written(root: Path, order: Order) -> dict[str, Any]:
    """Write one file of the workspace as an export on this machine would be written: the same checks, whole
    or not at all. Tells what came of it."""
    path, before = root / order.file, order.sha256_before
    try:
        new = None if order.data is None else base64.b64decode(order.data, validate=True)
        _require_prompt_file(root, order.file, new)
        try:
            receipt = remove(path, before, root) if new is None else replace(path, new, before or None, root)
        except PromptFileConflict as conflict:
            # An order whose receipt was lost on the way is carried out already.
            if conflict.found != new:
                raise
            return {"outcome": "written", "sha256": "" if new is None else sha256(new)}
    except (PromptFileError, ValueError) as error:
        return _failed(error, before)
    return {
        "outcome": "written",
        "sha256": receipt.sha256_after or "",
        "owner_kept": receipt.owner_kept,
        "durable": receipt.durable,
    }


def _require_prompt_file(root: Path, name: str, new: bytes | None) -> None:
    """Refuse to write anything else, whatever the studio says: other files may start programs."""
    if is_prompt_file(name, new if new is not None else b"prompt_builder"):
        old = peek(root / name, root)[0].data
        if old is None or is_prompt_file(name, old):
            return
    raise PromptFileRefused(NOT_PROMPTS, file=name)


def _failed(error: PromptFileError | ValueError, before: str) -> dict[str, Any]:
    if not isinstance(error, PromptFileError):  # no Base64
        return {"outcome": "failed", "sha256": before, "error_code": "file-unwritable"}
    found = error.found if isinstance(error, PromptFileConflict) else None
    return {
        "outcome": "failed",
        "sha256": sha256(found) if found is not None else before,
        "error_code": error.code,
        "error_params": {**error.params, **({"line": error.line} if error.line else {})},
    }
