"""The form of the audit's page: which entries."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studio.access.actors import Via
from studio.access.audit import AuditEntry, Event
from studio.models import PromptSet, Workspace
from studio.shell.forms import SearchForm

KINDS = {
    "promptset": _("Prompt set"),
    "promptversion": _("Version"),
    "label": _("Label"),
    "proposal": _("Proposal"),
    "samplecontext": _("Context"),
    "workspace": _("Workspace"),
    "folder": _("Folder"),
    "export": _("Export"),
    "systembuild": _("System prompt"),
    "languagemodel": _("Model"),
    "user": _("Account"),
    "invitation": _("Invitation"),
    "apitoken": _("API token"),
    "webhookendpoint": "Webhook",
    "page": _("Refused action"),
}
"""What entries are about, by the names of models or the ``kind`` that `record` is given."""


def _choice(label: Any, choices: Iterable[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, choices=[("", _("All")), *choices], label=label)


def _day(label: Any) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(required=False, label=label, widget=widget)


def _row(label: Any, model: Any) -> "forms.ModelChoiceField[Any]":
    rows = model.objects.order_by("name")
    return forms.ModelChoiceField(
        rows, required=False, to_field_name="slug", empty_label=_("All"), label=label
    )


class AuditForm(SearchForm):
    """Every field may be left empty."""

    person = forms.CharField(required=False, max_length=150, label=_("Person"))
    kind = _choice(_("Kind of thing"), KINDS.items())
    action = _choice(_("Action"), Event.choices)
    via = _choice(_("Via"), Via.choices)
    since = _day(_("Since"))
    until = _day(_("Until"))
    set = _row(_("Prompt set"), PromptSet)
    workspace = _row(_("Workspace"), Workspace)
    before = forms.IntegerField(required=False, min_value=1, max_value=10**18)
    format = forms.ChoiceField(required=False, choices=[("jsonl", "JSON Lines")])

    def chosen(self, entries: "QuerySet[AuditEntry]") -> "QuerySet[AuditEntry]":
        """Those that the form asks for."""
        clean = self.cleaned_data
        same: dict[str, Any] = {
            "name": clean["person"],
            "thing_kind": clean["kind"],
            "action": clean["action"],
            "via": clean["via"],
            "prompt_set": clean["set"] and clean["set"].pk,
            "workspace": clean["workspace"] and clean["workspace"].pk,
            "at__gte": clean["since"] and _midnight(clean["since"]),
            "at__lt": clean["until"] and _midnight(clean["until"] + timedelta(days=1)),
        }
        wanted = Q(**{name: value for name, value in same.items() if value})
        if text := clean["q"]:
            columns = ("name", "thing_name", "source", "before", "after")
            wanted &= Q(*((f"{column}__icontains", text) for column in columns), _connector=Q.OR)
        return entries.filter(wanted)


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
