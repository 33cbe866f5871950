"""The export page before anybody confirmed it, put together from its address.

And what the page of a version offers to export after a label was moved.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from builder.template.dialect import Dialect
from studio.compare.releases import ReleaseMatrix
from studio.contexts.at_round import dialect_of
from studio.models import Draft, Label, PromptSet, PromptVersion, Proposal, Workspace
from studio.preview.saving import Refused
from studio.prompts.findings import Finding
from studio.prompts.labels import USUAL_LABELS
from studio.prompts.protection import protection_of
from studio.prompts.system_text import read_text
from studio.prompts.texts import SystemText, Texts, user_prompts
from studio.shell.jail import pool
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.forms import DRAFT
from studio.workspaces.exports.plan import USUAL_LABEL, Target, chosen_version, plan, trial
from studio.workspaces.file_kinds import kind_of_file
from studio.workspaces.models import LABELLED
from studio.workspaces.state import PromptFileState, prompt_states_of

VERSIONS_OFFERED = 20


class NoDraft(Exception):
    """The person has no draft with changes."""


class ReleaseChanges(NamedTuple):
    """Workspaces of one release, and what it makes of the version in each context."""

    workspaces: list[Workspace]
    matrix: ReleaseMatrix


@dataclass(frozen=True)
class ExportPage:
    """A version or a draft, the label that moves to it, and the plan for the workspaces that are chosen."""

    version: PromptVersion
    """For a draft what it would become; not stored."""
    label_name: str
    """The label that the version was chosen by."""
    move: str
    """The label that moves to it."""
    draft: Draft | None
    states: Sequence[PromptFileState]
    """Of all workspaces."""
    chosen: set[str]
    """The keys of the files that the version shall go to."""
    person: User
    batch: UUID
    """Sent with the confirmation, so that the same one is carried out once."""
    targets: Sequence[Target] = ()
    errors: Sequence[Finding] = ()
    """They make the export impossible; there are no targets then."""
    warnings: Sequence[Finding] = ()

    @property
    def prompt_set(self) -> PromptSet:
        return self.version.prompt_set

    @property
    def source(self) -> str:
        """The choice as the list of versions and labels has it."""
        return DRAFT if self.draft else self.label_name or f"v{self.version.number}"

    @property
    def moved_from(self) -> int | None:
        """Where the label that moves points now; None where there is no such label yet."""
        return self.prompt_set.pointers.get(self.move)

    @property
    def movable(self) -> list[tuple[str, int | None]]:
        """Labels that could move to the version, with the version that each points at."""
        points = self.prompt_set.pointers
        names = sorted({*USUAL_LABELS, *points})
        return [(name, points.get(name)) for name in names if points.get(name) != self.version.number]

    @cached_property
    def approval(self) -> bool:
        """Whether the label moves only once somebody else approves: the page proposes, and writes nothing."""
        return bool(self.move) and protection_of(self.prompt_set, self.move).approval

    @cached_property
    def open_proposal(self) -> Proposal | None:
        """The one that has to be answered before another can be made; a draft's new version voids it."""
        if not self.approval:
            return None
        rows = Proposal.objects.open_of(self.prompt_set).filter(label=self.move)
        return next((each for each in rows if not each.is_void), None)

    @cached_property
    def labels(self) -> list[Label]:
        return list(self.prompt_set.labels.select_related("version"))

    @cached_property
    def versions(self) -> list[PromptVersion]:
        """The newest ones, and the one in question however old it is."""
        newest = list(self.prompt_set.versions.only("number", "message", "prompt_set")[:VERSIONS_OFFERED])
        return newest if self.draft or self.version in newest else [*newest, self.version]

    @property
    def has_draft(self) -> bool:
        """Whether there is a draft to choose."""
        return self.draft is not None or Draft.objects.unsaved(self.prompt_set, self.person) is not None

    @cached_property
    def other_releases(self) -> list[ReleaseChanges]:
        """What changes from the set's previews to the releases that the chosen workspaces run."""
        texts = self.version.templates
        if isinstance(texts, SystemText):
            return []
        usual = dialect_of(self.prompt_set)
        named: dict[Dialect, list[Workspace]] = {}
        for target in self.targets:
            if target.workspace.spoken != usual:
                named.setdefault(target.workspace.spoken, []).append(target.workspace)
        return [
            ReleaseChanges(workspaces, ReleaseMatrix(self.prompt_set, user_prompts(texts), usual, runs))
            for runs, workspaces in named.items()
        ]

    @property
    def ready(self) -> list[Target]:
        """Those that a confirmation writes to without asking more."""
        return [target for target in self.targets if target.standing in ("new", "ready")]

    @property
    def edited(self) -> list[Target]:
        return [target for target in self.targets if target.standing == "edited"]

    @property
    def can_confirm(self) -> bool:
        if self.open_proposal and not self.draft:
            return False
        return bool(self.ready or self.edited or ((self.draft or self.move) and not self.errors))


@dataclass(frozen=True)
class Offer:
    """A label that points at a version, and the workspaces that follow it without having the version yet."""

    label: Label
    behind: Sequence[PromptFileState]

    @property
    def address(self) -> str:
        """Of the plan, with these workspaces chosen."""
        keys = [state.key for state in self.behind]
        query = urlencode({"label": self.label.name, "workspace": keys}, doseq=True)
        return f"{reverse('prompt-export', args=[self.label.prompt_set.slug])}?{query}"


def continue_address(version: PromptVersion, label: Label | None) -> str:
    """Of the plan that goes on with a version which a workspace holds already: its label moves there, and the
    other workspaces that follow it get it too."""
    query: dict[str, object] = {"version": version.number}
    if label is not None and label.prompt_set_id == version.prompt_set_id:
        query |= {"move": label.name}
    return reverse("prompt-export", args=[version.prompt_set.slug], query=query)


def offers_of(version: PromptVersion) -> list[Offer]:
    """What to export after a label was moved: it stays on offer until the workspaces have the version."""
    if version.number not in version.prompt_set.pointers.values():
        return []
    holds = version.prompt_set.holds
    followed = Q(**{f"{kind_of_file(holds).label_field}__version": version})
    followers = Workspace.objects.filter(followed | Q(followed_files__label__version=version), archived=False)
    behind: dict[Label, list[PromptFileState]] = {}
    for state in prompt_states_of(list(followers.select_related(*LABELLED).distinct()), holds):
        if state.kind == "in_sync" or state.awaits_label:
            continue
        if state.label is not None and state.label.version_id == version.pk:
            behind.setdefault(state.label, []).append(state)
    return [Offer(label, states) for label, states in behind.items()]


def export_page(prompt_set: PromptSet, clean: dict[str, Any], person: User, today: date) -> ExportPage:
    """The page for a clean ``PlanForm``. Raises the jail's errors where nothing can be planned now."""
    draft = _draft(prompt_set, person) if clean["draft"] else None
    if draft is not None:
        version, label_name = _next_version(prompt_set, draft), ""
    else:
        version, label_name = chosen_version(prompt_set, clean["version"], clean["label"])
    workspaces = list(Workspace.objects.filter(archived=False).select_related(*LABELLED))
    states = prompt_states_of(workspaces, prompt_set.holds)
    keys = {state.alias: state.key for state in states}
    chosen = {keys.get(key, key) for key in clean["workspace"]}
    if missing := chosen - {state.key for state in states}:
        raise RequestRefused(404, _("There is no workspace «%(slug)s».") % {"slug": min(missing)})
    is_open = not chosen and not clean["chosen"]
    move = clean["move"]
    if move is None:
        move = _usual_move(states, version) if is_open and not label_name else ""
    require_label(prompt_set, move)
    if move and prompt_set.pointers.get(move) == version.number:
        label_name, move = move, ""
    if is_open:
        chosen = {state.key for state in states if _waits_for(state, version, move or label_name)}
    opened: dict[str, list[range]] = {}
    for slug, rows in clean["open"]:
        opened.setdefault(slug, []).append(rows)
    start = (version, label_name, move, draft, states, chosen, person, uuid4())
    planned = [state for state in states if state.key in chosen]
    try:
        targets = plan(version, planned, owner=person, today=today, opened=opened, moving=move)
    except Refused as refused:
        return ExportPage(*start, errors=refused.findings)
    warnings = [*trial(version, planned, owner=person), *_warnings(version.templates, str(person.pk))]
    return ExportPage(*start, targets, warnings=warnings)


def require_label(prompt_set: PromptSet, name: str) -> None:
    """A label that moves is one that the page offers."""
    if name and name not in {*USUAL_LABELS, *prompt_set.pointers}:
        raise RequestRefused(404, _("This set has no label «%(label)s».") % {"label": name})


def _draft(prompt_set: PromptSet, person: User) -> Draft:
    draft = Draft.objects.unsaved(prompt_set, person)
    if draft is None:
        raise NoDraft
    return draft


def _next_version(prompt_set: PromptSet, draft: Draft) -> PromptVersion:
    """What a draft would become, so that it can be planned like a version; it is never stored."""
    return PromptVersion(
        prompt_set=prompt_set,
        number=prompt_set.revision + 1,
        content_hash=draft.templates.content_hash,
        message=draft.message,
        author=draft.person,
        created_at=draft.changed_at,
        **draft.templates.columns,
    )


def _usual_move(states: Sequence[PromptFileState], version: PromptVersion) -> str:
    """The label that workspaces follow, where it points at an older version."""
    labels = [state.label for state in states if state.label is not None]
    followed = Counter(
        label.name
        for label in labels
        if label.prompt_set_id == version.prompt_set_id and label.version.number < version.number
    )
    if not followed or version.prompt_set.pointers.get(USUAL_LABEL) == version.number:
        return ""
    return USUAL_LABEL if USUAL_LABEL in followed else followed.most_common(1)[0][0]


def _waits_for(state: PromptFileState, version: PromptVersion, label_name: str) -> bool:
    """Whether the workspace follows the label, or any label that points at the version."""
    label = state.label
    if label is None or label.prompt_set_id != version.prompt_set_id:
        return False
    if state.awaits_label and label.version_id == version.pk:
        return False  # nothing writes over an adopted edit unless somebody ticks it
    return bool(label.name == label_name if label_name else label.version_id == version.pk)


def _warnings(texts: Texts, owner: str) -> list[Finding]:
    if isinstance(texts, SystemText):
        findings = read_text(texts.system_prompt, owner=owner).findings
        return [finding for finding in findings if finding.severity != "error"]
    return [
        Finding.of(problem, kind)
        for kind, text in texts.by_kind.items()
        for problem in pool().check(kind, text, owner=owner)
        if problem.severity != "error"
    ]
