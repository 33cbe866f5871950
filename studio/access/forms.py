"""Forms of accounts: signing in, and one's own password."""

from typing import Any, ClassVar

from django import forms
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    SetPasswordForm,
    UserCreationForm,
)
from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from studio.access.accounts import Account, Role
from studio.access.limits import Limit


class RoleField(forms.TypedChoiceField):
    """One of the roles."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            coerce=lambda value: Role(int(value)),
            choices=Role.choices,
            label=pgettext_lazy("of a person", "Role"),
            **kwargs,
        )


def prepare_passwords(form: forms.BaseForm) -> None:
    """Short hints for a new password, and a bound: hashing megabytes would be work for nothing."""
    for name, field in form.fields.items():
        if isinstance(field.widget, forms.PasswordInput):
            field.validators.append(MaxLengthValidator(4096))
            field.widget.attrs["maxlength"] = 4096
            if name.endswith("1"):
                field.help_text = _("At least 8 characters, and not a common password.")
            elif name.endswith("2"):
                field.help_text, field.label = "", _("Password, again")


class SignInForm(AuthenticationForm):
    """Name and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        prepare_passwords(self)


class InvitationForm(forms.Form):
    """Whom to invite, in the words of the one who invites, and as what."""

    role = RoleField(initial=Role.EDITOR)
    note = forms.CharField(required=False, max_length=120, label=gettext_lazy("For whom"))


class JoinForm(UserCreationForm):  # type: ignore[type-arg]
    """Name and password of somebody who was invited."""

    class Meta:
        model = User
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        prepare_passwords(self)
        self.fields["username"].help_text = _("Your versions and exports carry this name.")
        self.fields["email"].help_text = _("For a forgotten password; may stay empty.")


class EmailForm(forms.ModelForm):  # type: ignore[type-arg]
    """One's own e-mail address."""

    class Meta:
        model = User
        fields = ("email",)


class PersonForm(forms.ModelForm):  # type: ignore[type-arg]
    """What an administrator changes of an account."""

    role = RoleField()

    class Meta:
        model = Account
        fields = ("role", *Limit.values)
        labels: ClassVar = dict(Limit.choices)


def password_form(person: User, data: Any = None) -> "SetPasswordForm[User]":
    """A new password, and the old one of whoever has one: a person of the sign-in link has none yet."""
    kind = PasswordChangeForm if person.has_usable_password() else SetPasswordForm
    form: SetPasswordForm[User] = kind(person, data)
    prepare_passwords(form)
    for field in form.fields.values():
        field.widget.attrs.pop("autofocus", None)  # the page is about more than this form
    return form
