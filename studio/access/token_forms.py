"""Forms for tokens of the API: a person's own, and a service's."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from studio.access.accounts import Role
from studio.access.tokens import Scope
from studio.prompts.forms import LineField

_DAYS = (7, 30, 90, 365)


class TokenForm(forms.Form):
    """What a token is for, and for how long."""

    name = LineField(max_length=80, label=_("Name"), help_text=_("What uses it, such as “laptop” or “CI”."))
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=["read"],
        widget=forms.CheckboxSelectMultiple,
        label=_("May be used to"),
    )
    days = forms.TypedChoiceField(
        choices=lambda: [(days, ngettext("%(n)d day", "%(n)d days", days) % {"n": days}) for days in _DAYS],
        coerce=int,
        initial=90,
        label=_("Good for"),
    )


class ServiceTokenForm(TokenForm):
    """The same of a program, which has a role of its own."""

    role = forms.TypedChoiceField(
        choices=[(role.value, role.label) for role in Role if role is not Role.ADMINISTRATOR],
        coerce=int,
        initial=Role.EDITOR,
        label=_("Role"),
    )
