"""Workspaces for tests: what stands in their folder, and what was exported there."""

from uuid import uuid4

from django.contrib.auth.models import User

from builder.files.reading import sha256
from studio.models import Export, ExportReceipt, PromptVersion, Workspace
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.workspaces.exports.confirming import file_of


def write(workspace: Workspace, content: Templates | bytes, name: str = "prompt_builder.toml") -> bytes:
    """A file of the workspace's `configs`; what was written is returned."""
    path = workspace.folder / "configs" / name
    path.parent.mkdir(exist_ok=True)
    data = file_of(content) if isinstance(content, Templates) else content
    path.write_bytes(data)
    return data


def note_export(
    workspace: Workspace, version: PromptVersion, person: User, outcome: str = "written"
) -> Export:
    """The record of an export, without the file."""
    data = file_of(version.templates)
    export = Export.objects.create(
        batch=uuid4(),
        workspace=workspace,
        version=version,
        path=str(workspace.folder / "configs/prompt_builder.toml"),
        after=data,
        hash_after=sha256(data),
        by=person,
        at=NOW,
    )
    ExportReceipt.objects.create(export=export, outcome=outcome, at=NOW)
    return export
