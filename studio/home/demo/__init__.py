"""The demo: prompt sets, sample contexts and workspaces for a first start. Tests use it too."""

from datetime import datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from builder.files.reading import PROMPT_FILE, sha256
from studio.access.audit import Event, recorded_as_one
from studio.contexts.samples import add_samples
from studio.home.demo.story import STORIES, Story
from studio.home.demo.workspaces import (
    FOLLOWED,
    WORKSPACES,
    DemoWorkspace,
    exported_files,
    make_workspace,
)
from studio.models import Export, ExportReceipt, Label, PromptSet, PromptVersion, Tag, Workspace
from studio.workspaces.exports.models import Outcome


def load_demo(data_dir: Path, now: datetime | None = None) -> None:
    """Prompt sets with history, sample contexts, workspaces with runs; what is there already stays."""
    now = now or timezone.now()
    folder = data_dir.resolve() / "demo"
    for demo in WORKSPACES:
        make_workspace(demo, folder / demo.slug, now)
    with transaction.atomic(), recorded_as_one(Event.DEMO_LOADED):
        for story in STORIES:
            if not PromptSet.objects.filter(slug=story.slug).exists():
                _tell(story, now)
        add_samples(now)
        exports = [export for demo in WORKSPACES for export in _register(demo, folder / demo.slug, now)]
        for export in sorted(exports, key=lambda export: export.at):
            export.save()
            ExportReceipt.objects.create(
                export=export, outcome=Outcome.WRITTEN, hash_found=export.hash_after, at=export.at
            )


def _tell(story: Story, now: datetime) -> None:
    start = now - timedelta(days=story.chapters[0].days_ago)
    prompt_set = PromptSet.objects.create(
        slug=story.slug, name=story.name, created_at=start, changed_at=start
    )
    prompt_set.tags.set([Tag.objects.get_or_create(name=name)[0] for name in story.tags])
    versions = [
        prompt_set.save_version(
            chapter.templates,
            base=base,
            message=chapter.message,
            author=_person(chapter.author),
            at=now - timedelta(days=chapter.days_ago),
        )
        for base, chapter in enumerate(story.chapters)
    ]
    for step in story.label_steps:
        at = now - timedelta(days=step.days_ago)
        Label.objects.move(step.label, versions[step.number - 1], by=_person(step.by), at=at, approved=True)


def _person(name: str) -> User:
    """A colleague of the story; nobody can sign in as one."""
    user, made = User.objects.get_or_create(username=name, defaults={"is_active": False})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def _register(demo: DemoWorkspace, folder: Path, now: datetime) -> list[Export]:
    """A workspace, and what was exported to it so far: not stored yet, for others may be older."""
    label = Label.objects.filter(prompt_set__slug=demo.story.slug, name=FOLLOWED).first()
    workspace, made = Workspace.objects.get_or_create(
        slug=demo.slug,
        defaults={
            "name": demo.name,
            "path": str(folder),
            "label": label,
            "created_at": now - timedelta(days=demo.steps[0].days_ago),
        },
    )
    return _exports(demo, workspace, now) if made else []


def _exports(demo: DemoWorkspace, workspace: Workspace, now: datetime) -> list[Export]:
    """What the story shipped here, so that each can be looked at and the last one undone."""
    exports: list[Export] = []
    before: bytes | None = None
    for step, after in zip(demo.steps, exported_files(demo, workspace.folder), strict=True):
        version = PromptVersion.objects.filter(prompt_set__slug=demo.story.slug, number=step.number).first()
        at = now - timedelta(days=step.days_ago)
        export = Export(
            # One confirmation wrote to every workspace that followed the label on that day.
            batch=uuid5(NAMESPACE_URL, f"{demo.story.slug}/{step.number}/{at.isoformat()}"),
            workspace=workspace,
            version=version,
            label_name=FOLLOWED,
            path=str(workspace.folder / PROMPT_FILE),
            before=before,
            after=after,
            hash_before=sha256(before) if before else "",
            hash_after=sha256(after),
            by=_person(step.by),
            at=at,
        )
        exports.append(export)
        before = after
    return exports
