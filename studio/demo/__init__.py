"""The demo: made by the studio's own code, from its own models; tests use it too."""

from datetime import datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from studio.demo.story import STORIES, Story
from studio.demo.workspaces import WORKSPACES, DemoWorkspace, make_workspace
from studio.models import Label, PromptSet, Tag, Workspace
from studio.samples import add_samples


def load_demo(data_dir: Path, now: datetime | None = None) -> None:
    """Prompt sets with history, sample contexts, workspaces with runs; what is there already stays."""
    now = now or timezone.now()
    folder = data_dir.resolve() / "demo"
    for demo in WORKSPACES:
        make_workspace(demo, folder / demo.slug, now)
    with transaction.atomic():
        for story in STORIES:
            if not PromptSet.objects.filter(slug=story.slug).exists():
                _tell(story, now)
        add_samples(now)
        for demo in WORKSPACES:
            _register(demo, folder / demo.slug, now)


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
        Label.objects.move(step.label, versions[step.number - 1], by=_person(step.by), at=at)


def _person(name: str) -> User:
    """A colleague of the story; nobody can sign in as one."""
    user, made = User.objects.get_or_create(username=name, defaults={"is_active": False})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def _register(demo: DemoWorkspace, folder: Path, now: datetime) -> None:
    label = Label.objects.filter(prompt_set__slug=demo.story.slug, name="production").first()
    Workspace.objects.get_or_create(
        slug=demo.slug,
        defaults={"name": demo.name, "path": str(folder), "label": label, "created_at": now},
    )
