"""What the page of an export shows before anybody confirmed it, put together from its address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.models import Label, PromptSet, PromptVersion, Workspace
from studio.prompts.file_kinds import FileKind
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.forms import OpenedFile
from studio.workspaces.exports.plan import Plan, Target, plan
from studio.workspaces.file_kinds import held_file
from studio.workspaces.models import LABELLED
from studio.workspaces.state import PromptFileState, states_of

VERSIONS_OFFERED = 20
USUAL_LABEL = "production"


@dataclass(frozen=True)
class Choice:
    """A workspace that the version could go to."""

    state: PromptFileState
    chosen: bool

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace


@dataclass(frozen=True)
class ExportPage:
    """A version, the workspaces it could go to, and the plan for those that are chosen."""

    version: PromptVersion
    label_name: str
    choices: Sequence[Choice]
    plan: Plan
    batch: UUID
    """Sent with the confirmation, so that the same one is carried out once."""

    @property
    def prompt_set(self) -> PromptSet:
        return self.version.prompt_set

    @property
    def source(self) -> str:
        """The choice as the list of versions and labels has it."""
        return self.label_name or f"v{self.version.number}"

    @cached_property
    def labels(self) -> list[Label]:
        return list(self.prompt_set.labels.select_related("version"))

    @cached_property
    def versions(self) -> list[PromptVersion]:
        """The newest ones, and the one in question however old it is."""
        newest = list(self.prompt_set.versions.only("number", "message", "prompt_set")[:VERSIONS_OFFERED])
        known = any(each.pk == self.version.pk for each in newest)
        return newest if known else [*newest, self.version]

    @property
    def ready(self) -> list[Target]:
        """Those that a confirmation writes to without asking more."""
        return [each for each in self.plan.targets if each.standing in ("new", "ready")]

    @property
    def edited(self) -> list[Target]:
        return [each for each in self.plan.targets if each.standing == "edited"]

    @property
    def can_confirm(self) -> bool:
        return not self.plan.errors and bool(self.ready or self.edited)


@dataclass(frozen=True)
class Offer:
    """A label that points at a version, and the workspaces that follow it without having the version yet."""

    label: Label
    behind: Sequence[PromptFileState]

    @property
    def address(self) -> str:
        """Of the plan, with these workspaces chosen."""
        query = urlencode(
            {"label": self.label.name, "workspace": [each.workspace.slug for each in self.behind]}, doseq=True
        )
        return f"{reverse('prompt-export', args=[self.label.prompt_set.slug])}?{query}"


def offers_of(version: PromptVersion) -> list[Offer]:
    """What to export after a label was moved: it stays on offer until the workspaces have the version."""
    holds = version.prompt_set.holds
    followed = Q(system_label__version=version) if holds == FileKind.SYSTEM else Q(label__version=version)
    followers = Workspace.objects.filter(followed, archived=False)
    behind: dict[Label, list[PromptFileState]] = {}
    for state in states_of(followers.select_related(*LABELLED), holds):
        if state.kind != "in_sync" and state.label is not None:
            behind.setdefault(state.label, []).append(state)
    return [Offer(label, found) for label, found in behind.items()]


def export_page(
    prompt_set: PromptSet, clean: dict[str, Any], person: User, today: date, *, batch: UUID | None = None
) -> ExportPage:
    """The page for a clean ``PlanForm``. Raises the jail's errors where nothing can be planned now."""
    version, label_name = chosen_version(prompt_set, clean["version"], clean["label"])
    workspaces = list(Workspace.objects.filter(archived=False).select_related(*LABELLED))
    named = set(clean["workspace"])
    if missing := named - {each.slug for each in workspaces}:
        raise RequestRefused(404, _("There is no workspace «%(slug)s».") % {"slug": min(missing)})
    if not named and not clean["chosen"]:
        named = suggested(version, label_name, workspaces)
    states = states_of(workspaces, prompt_set.holds)
    choices = [Choice(state, state.workspace.slug in named) for state in states]
    made = plan(
        version,
        [each.workspace for each in choices if each.chosen],
        owner=person,
        today=today,
        opened=_opened(clean["open"]),
    )
    return ExportPage(version, label_name, choices, made, batch or uuid4())


def chosen_version(prompt_set: PromptSet, number: int | None, label_name: str) -> tuple[PromptVersion, str]:
    """By label, by number, or what is usual: where `production` points, else the newest version."""
    labels = prompt_set.labels.select_related("version")
    if label_name:
        label = labels.filter(name=label_name).first()
        if label is None:
            raise RequestRefused(
                404,
                _("This set has no label «%(label)s».") % {"label": label_name},
                _("Move the label to a version first."),
            )
        return _of_set(label.version, prompt_set), label.name
    if number is None and (usual := labels.filter(name=USUAL_LABEL).first()):
        return _of_set(usual.version, prompt_set), usual.name
    version = prompt_set.versions.filter(number=number or prompt_set.revision).first()
    if version is None:
        raise RequestRefused(
            404,
            _("This set has no version %(number)d.") % {"number": number}
            if number
            else _("This set has no version yet, so there is nothing to export."),
            _("Look up the version's number in the history."),
        )
    return _of_set(version, prompt_set), ""


def suggested(version: PromptVersion, label_name: str, workspaces: Sequence[Workspace]) -> set[str]:
    """Who waits for the version: those that follow the label, or any label that points at it."""
    return {
        each.slug
        for each in workspaces
        if (label := held_file(version.prompt_set.holds).label_of(each)) is not None
        and label.prompt_set_id == version.prompt_set_id
        and (label.name == label_name if label_name else label.version_id == version.pk)
    }


def _of_set(version: PromptVersion, prompt_set: PromptSet) -> PromptVersion:
    # One object for both, so that the set is read once.
    version.prompt_set = prompt_set
    return version


def _opened(opened: Sequence[OpenedFile]) -> dict[str, list[range]]:
    found: dict[str, list[range]] = {}
    for each in opened:
        found.setdefault(each.slug, []).append(each.rows)
    return found
