"""The state of a workspace's prompt file: which version it holds, whether somebody edited it, what is wrong."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from builder.defaults import DEFAULT_TEMPLATES
from builder.prompt_file import merge
from builder.variables import KINDS
from studio.models import Export, ExportReceipt, Label, PromptSet, PromptVersion, Workspace
from studio.models.prompts import Templates
from studio.workspace_state import PromptFileState, state_of, states_of
from tests.studio.clock import NOW

DEFAULTS = Templates(*(DEFAULT_TEMPLATES[kind] for kind in KINDS))


def templates(word: str) -> Templates:
    return Templates(f"{word}\n{{{{ user_prompt }}}}\n", f"{word}\n{{{{ submission }}}}\n", f"{word}\n")


def make_set(slug: str, person: User, *words: str) -> PromptSet:
    made = PromptSet.objects.create(slug=slug, name=slug.title(), created_at=NOW, changed_at=NOW)
    for base, word in enumerate(words):
        made.save_version(templates(word), base=base, message=word, author=person, at=NOW)
    return made


def write(workspace: Workspace, content: Templates | bytes, name: str = "prompt_builder.toml") -> bytes:
    path = workspace.folder / "configs" / name
    path.parent.mkdir(exist_ok=True)
    if isinstance(content, Templates):
        content = merge(None, vars(content), NOW.date())
    path.write_bytes(content)
    return content


def note_export(workspace: Workspace, version: PromptVersion, person: User, outcome: str = "written") -> Export:
    data = merge(None, vars(version.templates), NOW.date())
    export = Export.objects.create(
        batch=uuid4(), workspace=workspace, version=version, path="-", after=data, by=person, at=NOW
    )
    ExportReceipt.objects.create(export=export, outcome=outcome, at=NOW)
    return export


@pytest.fixture
def research(person: User) -> PromptSet:
    return make_set("research", person, "one", "two", "three")


@pytest.fixture
def workspace(research: PromptSet, person: User, tmp_path: Path) -> Workspace:
    """Follows `production`, which points at version 2."""
    Label.objects.move("production", research.versions.get(number=2), by=person, at=NOW)
    return Workspace.objects.create(
        slug="mine", name="Mine", path=str(tmp_path), created_at=NOW, label=research.labels.get()
    )


def read(workspace: Workspace) -> PromptFileState:
    return state_of(Workspace.objects.get(pk=workspace.pk))


def test_the_version_that_the_label_points_at_is_in_sync(workspace: Workspace) -> None:
    data = write(workspace, templates("two"))
    state = read(workspace)
    assert (state.kind, state.title, state.in_step) == ("in_sync", "In sync", True)
    assert state.version is not None and state.version == state.expected
    assert [label.name for label in state.labels] == ["production"]
    assert (state.relative, state.data, state.size) == ("configs/prompt_builder.toml", data, len(data))
    assert state.templates == templates("two")
    assert state.health == ()
