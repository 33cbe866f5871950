"""A set that is a system prompt, which has no such page, and the fields that its editor sends."""

from typing import Any

from django.contrib.auth.models import User

from studio.models import PromptSet
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import SystemText
from tests.studio.clock import NOW


def text(identity: str = "You are careful.", more: str = "") -> str:
    """A text of system_prompt.toml that can be used."""
    return f'# Ours\n[system_prompt]\nmode = "full"\nidentity_line = "{identity}"\n{more}'


def make_system_set(author: User, *texts: str, slug: str = "sys") -> PromptSet:
    made = PromptSet.objects.create(
        slug=slug, name=slug.title(), holds=FileKind.SYSTEM, created_at=NOW, changed_at=NOW
    )
    for base, each in enumerate(texts or (text(),)):
        made.save_version(SystemText(each), base=base, message=f"v{base + 1}", author=author, at=NOW)
    return made


def fields(system_prompt: str, **more: Any) -> dict[str, Any]:
    sent = {"base": 1, "revision": 0, "tab": "tab-a", "seq": 1, "message": "", "kind": "system"}
    return sent | {"system_prompt": system_prompt} | more
