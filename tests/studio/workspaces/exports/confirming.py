"""A set with versions, and workspaces with files, for tests of exports."""

from pathlib import Path

from django.contrib.auth.models import User

from builder.files.prompt_file import merge
from studio.models import Label, PromptSet, PromptVersion, Workspace
from studio.prompts.texts import Templates
from studio.workspaces.exports.models import hash_of
from studio.workspaces.exports.writing import Order
from tests.studio.clock import NOW


def templates(word: str) -> Templates:
    return Templates(f"{word}\n{{{{ user_prompt }}}}\n", f"{word}\n{{{{ submission }}}}\n", f"{word}\n")


def make_set(slug: str, person: User, *words: str) -> PromptSet:
    made = PromptSet.objects.create(slug=slug, name=slug.title(), created_at=NOW, changed_at=NOW)
    for base, word in enumerate(words):
        made.save_version(templates(word), base=base, message=word, author=person, at=NOW)
    return made


def make_workspace(folder: Path, label: Label | None = None, word: str | None = None) -> Workspace:
    """A folder named as the workspace; ``word`` is what its file holds."""
    (folder / "configs").mkdir(parents=True)
    if word is not None:
        prompt_file(folder).write_bytes(file_of(templates(word)))
    return Workspace.objects.create(
        slug=folder.name, name=folder.name.title(), path=str(folder), label=label, created_at=NOW
    )


def prompt_file(folder: Path) -> Path:
    return folder / "configs" / "prompt_builder.toml"


def file_of(texts: Templates) -> bytes:
    return merge(None, vars(texts), NOW.date())


def order(workspace: Workspace, *, overwrite: bool = False) -> Order:
    """A confirmation by somebody who sees the file as it is now."""
    path = prompt_file(workspace.folder)
    return Order(workspace, hash_of(path.read_bytes() if path.exists() else None), overwrite)


def version(prompt_set: PromptSet, number: int) -> PromptVersion:
    return prompt_set.versions.get(number=number)
