"""Who is there."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.validators import MaxLengthValidator


class SignInForm(AuthenticationForm):
    """Name and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Nobody's name or password is longer, and hashing megabytes would be work for nothing.
        self.fields["password"].validators.append(MaxLengthValidator(4096))
        self.fields["password"].widget.attrs["maxlength"] = 4096
