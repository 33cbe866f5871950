"""The choice on the replay pages: the version or draft to replay with, and what else is offered."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from studio.compare.versions import SideName, VersionOrDraft, sides
from studio.models import Draft, Label, PromptSet, PromptVersion, Workspace
from studio.results.origins import RunOrigin
from studio.shell.refusal import RequestRefused

SETS_OFFERED = 200
VERSIONS_OFFERED = 30
"""In the list; the address takes any other number."""
_TEXTS = ("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")


@dataclass(frozen=True)
class Wanted:
    """A version or the draft; the set may be named beside it."""

    slug: str = ""
    side: SideName | None = None


@dataclass(frozen=True)
class QuickChoice:
    """A choice that is one click away."""

    name: SideName
    labels: tuple[str, ...] = ()
    sent: bool = False
    """Whether the run is traced to it."""


@dataclass(frozen=True)
class Choice:
    """What was chosen."""

    prompt_set: PromptSet
    side: VersionOrDraft
    draft: Draft | None
    """The reader's unsaved one of this set."""
    asked_for_draft: bool
    """Whether the draft was wanted although there is none: the newest version stands for it."""
    attribution: RunOrigin

    @property
    def name(self) -> SideName:
        return self.side.name

    @property
    def title(self) -> str:
        """As in a sentence; the set is named beside it."""
        return _("Your draft") if self.side.version is None else self.side.title

    @property
    def address(self) -> str:
        """As another page's query names it."""
        return f"{self.prompt_set.slug}/{self.name}"

    @cached_property
    def sets(self) -> Sequence[PromptSet]:
        """What can be chosen instead, the chosen one among them."""
        shown = _replayable().filter(archived=False).order_by("name", "pk")[:SETS_OFFERED]
        sets = list(shown)
        return sets if self.prompt_set in sets else [self.prompt_set, *sets]

    @cached_property
    def versions(self) -> Sequence[PromptVersion]:
        """The newest of the set, and the chosen one."""
        newest = list(self.prompt_set.versions.defer(*_TEXTS)[:VERSIONS_OFFERED])
        chosen = self.side.version
        return newest if chosen is None or chosen in newest else [*newest, chosen]

    @cached_property
    def quick(self) -> list[QuickChoice]:
        """The draft, what was really sent, where the labels point, and the newest."""
        own = [
            version for version in self.attribution.versions if version.prompt_set_id == self.prompt_set.pk
        ]
        sent = {version.number for version in own}
        if self.attribution.state not in ("exact", "several"):
            sent = set()
        labels: dict[int, list[str]] = {}
        for label in (
            Label.objects.filter(prompt_set=self.prompt_set).select_related("version").order_by("name")
        ):
            labels.setdefault(label.version.number, []).append(label.name)
        numbers = sorted({*sorted(sent)[-3:], *labels, self.prompt_set.revision}, reverse=True)
        drafted = [QuickChoice("draft")] if self.draft is not None else []
        return drafted + [
            QuickChoice(number, tuple(labels.get(number, ())), number in sent) for number in numbers[:8]
        ]


def choose(workspace: Workspace, person: User, attribution: RunOrigin, wanted: Wanted) -> Choice | None:
    """What the address asks for; without a word of it, the draft of the set that the run was made with,
    or where the reader has none, its newest version.

    None where there is no version at all yet.
    """
    prompt_set = _set(workspace, attribution, wanted.slug)
    if prompt_set is None:
        return None
    draft = Draft.objects.unsaved(prompt_set, person)
    name = wanted.side or "draft"
    if name == "draft" and draft is not None:
        return Choice(prompt_set, VersionOrDraft(draft), draft, False, attribution)
    if name == "draft":
        name = prompt_set.revision
    side = sides(prompt_set, person, name, name)[0]
    return Choice(prompt_set, side, draft, wanted.side == "draft", attribution)


def drafted_set(version: PromptVersion | None, person: User) -> PromptSet | None:
    """The version's set, where the person has an unsaved draft of it."""
    if version is None or Draft.objects.unsaved(version.prompt_set, person) is None:
        return None
    return version.prompt_set


def _replayable() -> "QuerySet[PromptSet]":
    return PromptSet.objects.of_templates().filter(revision__gt=0)


def _set(workspace: Workspace, attribution: RunOrigin, slug: str) -> PromptSet | None:
    known = _replayable()
    if slug:
        chosen = known.filter(slug=slug).first()
        if chosen is None:
            raise RequestRefused(404, _("There is no prompt set “%(slug)s” with a version.") % {"slug": slug})
        return chosen
    if attribution.versions:
        return attribution.versions[0].prompt_set
    if workspace.label is not None:
        return workspace.label.prompt_set
    return known.filter(archived=False).order_by("-changed_at", "pk").first() or known.first()
