"""The audit's page: entries as lines, and the same as JSON Lines."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studio.access.audit import AuditEntry
from studio.access.audit_forms import AuditForm
from studio.access.limits import Limit
from studio.access.roles import Action, may
from studio.models import PromptSet, Workspace

PER_PAGE = 50
# Where somebody signs in from and what they were refused is for administrators.
_PERSONAL = ("signin.", "sessions.", "password.", "action.", "account.", "token.", "webhook.")
_VALUES = {
    "version": gettext_lazy("Version"),
    "message": gettext_lazy("Message"),
    "origin": gettext_lazy("Origin"),
    "name": gettext_lazy("Name"),
    "note": gettext_lazy("Note"),
    "label": gettext_lazy("Label"),
    "file": gettext_lazy("File"),
    "path": gettext_lazy("Folder"),
    "tags": gettext_lazy("Tags"),
    "dialect": gettext_lazy("Formatting"),
    "outcome": gettext_lazy("Outcome"),
    "why": gettext_lazy("Reason"),
    "role": gettext_lazy("Role"),
    "answer": pgettext_lazy("proposal", "Answer"),
    "of": gettext_lazy("Account"),
    "scopes": gettext_lazy("May be used to"),
    "days": gettext_lazy("Days"),
    "url": gettext_lazy("Address"),
    "events": gettext_lazy("Events"),
    "active": gettext_lazy("Active"),
    "slug": gettext_lazy("Address"),
    "invited by": gettext_lazy("Invited by"),
    "protected_labels": gettext_lazy("Protected labels"),
    "needs_approval": gettext_lazy("Approval needed"),
    "sessions": gettext_lazy("Sessions"),
    **dict(Limit.choices),
}


@dataclass(frozen=True)
class ChangedValue:
    """One value of an entry, before and after."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class AuditLine:
    """An entry as the page shows it."""

    entry: AuditEntry
    prompt_set: PromptSet | None
    workspace: Workspace | None

    @property
    def url(self) -> str:
        """The set's or the workspace's page, while there is one."""
        for thing in (self.prompt_set, self.workspace):
            if thing is not None:
                return thing.get_absolute_url()
        return ""

    @property
    def changes(self) -> list[ChangedValue]:
        before, after = self.entry.before or {}, self.entry.after or {}
        values = [
            ChangedValue(str(_VALUES.get(name, name)), _said(before.get(name)), _said(after.get(name)))
            for name in {**before, **after}
        ]
        return [value for value in values if value.old or value.new]


@dataclass(frozen=True)
class AuditPage:
    """What the page shows."""

    form: AuditForm
    lines: Sequence[AuditLine]
    sees_all: bool
    newest_url: str
    older_url: str
    file_url: str
    is_chosen: bool
    """Whether anything is filtered."""


def entries_for(person: User) -> "QuerySet[AuditEntry]":
    """Every entry that the person may see."""
    entries: QuerySet[AuditEntry] = AuditEntry.objects.all()
    if may(person, Action.PEOPLE):
        return entries
    return entries.exclude(Q(*(("action__startswith", prefix) for prefix in _PERSONAL), _connector=Q.OR))


def audit_page(form: AuditForm, person: User) -> AuditPage:
    """The entries that the form asks for, the newest first."""
    clean = form.cleaned_data
    asked = {
        name: form.data[name]
        for name in form.fields
        if name not in ("before", "format") and form.data.get(name)
    }
    entries = form.chosen(entries_for(person))
    if clean["before"]:
        entries = entries.filter(pk__lt=clean["before"])
    page = list(entries[: PER_PAGE + 1])
    shown = page[:PER_PAGE]
    sets = PromptSet.objects.in_bulk({entry.prompt_set for entry in shown if entry.prompt_set})
    workspaces = Workspace.objects.in_bulk({entry.workspace for entry in shown if entry.workspace})
    older = {**asked, "before": shown[-1].pk} if len(page) > PER_PAGE else {}
    return AuditPage(
        form=form,
        lines=[AuditLine(one, sets.get(one.prompt_set), workspaces.get(one.workspace)) for one in shown],
        sees_all=may(person, Action.PEOPLE),
        newest_url="?" + urlencode(asked) if clean["before"] else "",
        older_url="?" + urlencode(older) if older else "",
        file_url="?" + urlencode({**asked, "format": "jsonl"}),
        is_chosen=bool(asked),
    )


def json_lines(entries: "QuerySet[AuditEntry]", *, addresses: bool) -> Iterator[str]:
    """The oldest first, one object on a line."""
    for entry in entries.order_by("pk").iterator(chunk_size=500):
        line = {
            "id": entry.pk,
            "at": entry.at.isoformat(),
            "account": entry.account,
            "name": entry.name,
            "action": entry.action,
            "thing": {"kind": entry.thing_kind, "id": entry.thing_id, "name": entry.thing_name},
            "set": entry.prompt_set,
            "workspace": entry.workspace,
            "before": entry.before,
            "after": entry.after,
            "via": entry.via,
            "source": entry.source,
            **({"address": entry.address} if addresses else {}),
        }
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _said(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return _(", ").join(f"{name}: {_said(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return _(", ").join(_said(inner) for inner in value)
    text = str(value)
    return text[:12] if len(text) == 64 and text.isalnum() else text  # a hash
