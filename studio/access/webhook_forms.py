"""The form of a webhook's endpoint."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.access.webhooks import LONGEST_ADDRESS, Told
from studio.prompts.forms import LineField


class WebhookForm(forms.Form):
    """Where to, and of what."""

    name = LineField(max_length=80, label=gettext_lazy("Name"))
    url = forms.CharField(
        max_length=LONGEST_ADDRESS,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "Begins with https://. Addresses of this machine and of private networks, also with http://, "
            "only where `STUDIO_WEBHOOK_NETWORKS` allows them."
        ),
    )
    events = forms.MultipleChoiceField(
        choices=Told.choices, widget=forms.CheckboxSelectMultiple, label=gettext_lazy("Events")
    )

    active = forms.BooleanField(required=False, initial=True)

    def clean_url(self) -> Any:
        """An address that a request can be sent to; where it leads is judged when it is called."""
        url: str = self.cleaned_data["url"]
        try:
            parts = urlsplit(url)
            odd = "@" in parts.netloc or parts.fragment or parts.port == 0 or not re.fullmatch(r"[!-~]+", url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and not odd
        except ValueError:
            good = False
        if not good:
            raise ValidationError(_("Write an address such as https://example.org/hooks/studio."))
        return url
