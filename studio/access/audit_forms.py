"""The form of the audit's page: which entries."""

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


class AuditForm(SearchForm):
    """Every field may be left empty."""

    person = forms.CharField(required=False, max_length=150, label=_("Person"))
    action = forms.ChoiceField(required=False, choices=[("", _("All")), *Event.choices], label=_("Action"))
    via = forms.ChoiceField(required=False, choices=[("", _("All")), *Via.choices], label=_("From where"))
    since = forms.DateField(
        required=False, label=_("Since"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    until = forms.DateField(
        required=False, label=_("Until"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    set = forms.ModelChoiceField(
        PromptSet.objects.order_by("name"),
        required=False,
        to_field_name="slug",
        empty_label=_("All"),
        label=_("Prompt set"),
    )
    workspace = forms.ModelChoiceField(
        Workspace.objects.order_by("name"),
        required=False,
        to_field_name="slug",
        empty_label=_("All"),
        label=_("Workspace"),
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=10**18)
    format = forms.ChoiceField(required=False, choices=[("jsonl", "JSON Lines")])

    def chosen(self, entries: "QuerySet[AuditEntry]") -> "QuerySet[AuditEntry]":
        """Those that the form asks for."""
        clean = self.cleaned_data
        same: dict[str, Any] = {"name": clean["person"], "action": clean["action"], "via": clean["via"]}
        wanted = Q(**{name: value for name, value in same.items() if value})
        if clean["set"]:
            wanted &= Q(prompt_set=clean["set"].pk)
        if clean["workspace"]:
            wanted &= Q(workspace=clean["workspace"].pk)
        if clean["since"]:
            wanted &= Q(at__gte=_midnight(clean["since"]))
        if clean["until"]:
            wanted &= Q(at__lt=_midnight(clean["until"] + timedelta(days=1)))
        if text := clean["q"]:
            columns = ("name", "thing_name", "source", "before", "after")
            wanted &= Q(*((f"{column}__icontains", text) for column in columns), _connector=Q.OR)
        return entries.filter(wanted)


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
