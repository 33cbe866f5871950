"""The list of prompt sets: a row for each set of a page. Used by the list's view.

Rows are plain values: a hundred sets, with tags, labels and versions, took half of the page's time as models.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.prompts.file_kinds import FileKind
from studio.prompts.labels import Label
from studio.prompts.models import PromptSet, PromptSetQuerySet


@dataclass(frozen=True, slots=True)
class Link:
    """A tag or a label as a row shows it."""

    name: str
    url: str
    title: str = ""
    number: str = ""
    """The version that a label points at."""


@dataclass(frozen=True, slots=True)
class SetRow:
    """A set of the list."""

    name: str
    url: str
    kind: str
    """What it holds, where that is not templates."""
    revision: str
    changed_at: datetime
    message: str | None
    author: str | None
    tags: Sequence[Link]
    labels: Sequence[Link]


def set_rows(sets: PromptSetQuerySet, start: int, stop: int) -> list[SetRow]:
    """Some of the sets, by the newest change first, with what their last version says."""
    last = Q(versions__number=F("revision"))
    rows = list(
        sets.annotate(last=models.FilteredRelation("versions", condition=last))
        .order_by("-changed_at", "pk")
        .values_list(
            "pk", "slug", "name", "holds", "revision", "changed_at", "last__message", "last__author__username"
        )[start:stop]
    )
    slugs = {row[0]: row[1] for row in rows}
    tags, labels = _tags(slugs), _labels(slugs)
    return [
        SetRow(
            name,
            reverse("prompt-detail", args=[slug]),
            "" if FileKind(holds).has_templates else str(FileKind(holds).label),
            str(revision or ""),
            changed_at,
            message,
            author,
            tags[key],
            labels[key],
        )
        for key, slug, name, holds, revision, changed_at, message, author in rows
    ]


def _tags(slugs: dict[int, str]) -> dict[int, list[Link]]:
    through = PromptSet.tags.through.objects.filter(promptset__in=slugs).order_by("tag__name")
    address, tags = reverse("prompt-list"), defaultdict(list)
    for key, name in through.values_list("promptset_id", "tag__name"):
        tags[key].append(Link(name, f"{address}?{urlencode({'tag': name})}"))
    return tags


def _labels(slugs: dict[int, str]) -> dict[int, list[Link]]:
    rows = Label.objects.filter(prompt_set__in=slugs).order_by("name")
    says, labels = _("%(name)s points to version %(number)s"), defaultdict(list)
    for key, name, number in rows.values_list("prompt_set_id", "name", "version__number"):
        url = reverse("version-detail", args=[slugs[key], number])
        labels[key].append(Link(name, url, says % {"name": name, "number": number}, str(number)))
    return labels
