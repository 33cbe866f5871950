"""Prompt files as people hand them in, and a workspace that holds one."""

from pathlib import Path

from studio.models import PromptSet, Workspace
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS

NEW_TEAM = "# Task\n{{ user_prompt }}\nRound {{ round_number }}, go!\n"
EDITED = Templates(NEW_TEAM, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)


def toml(templates: Templates = EDITED, more: str = "") -> str:
    keys = "".join(f'{name} = """\n{text}"""\n' for name, text in vars(templates).items())
    return f"# by hand\n[prompt_builder]\n{keys}{more}"


def make_workspace(
    folder: Path, data: bytes | None, follows: PromptSet | None = None, slug: str = "mine"
) -> Workspace:
    """A workspace below the roots; it follows the set's ``production`` label."""
    (folder / "configs").mkdir(parents=True)
    if data is not None:
        (folder / "configs" / "prompt_builder.toml").write_bytes(data)
    label = None
    if follows is not None and follows.latest is not None:
        label = follows.labels.create(name="production", version=follows.latest, moved_at=NOW)
    return Workspace.objects.create(
        slug=slug, name=slug.title(), path=str(folder), created_at=NOW, label=label
    )
