"""Forms of accounts: signing in, and one's own password."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _


def _bound_length(form: forms.Form) -> None:
    """Nobody's password is longer, and hashing megabytes would be work for nothing."""
    for field in form.fields.values():
        if isinstance(field.widget, forms.PasswordInput):
            field.validators.append(MaxLengthValidator(4096))
            field.widget.attrs["maxlength"] = 4096


class SignInForm(AuthenticationForm):
    """Name and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _bound_length(self)


def password_form(person: User, data: Any = None) -> "SetPasswordForm[User]":
    """A new password, and the old one of whoever has one: a person of the sign-in link has none yet."""
    kind = PasswordChangeForm if person.has_usable_password() else SetPasswordForm
    form: SetPasswordForm[User] = kind(person, data)
    _bound_length(form)
    form.fields["new_password1"].help_text = _("At least 8 characters, and not a common password.")
    form.fields["new_password2"].help_text = ""
    for field in form.fields.values():
        field.widget.attrs.pop("autofocus", None)  # the page is about more than this form
    return form
