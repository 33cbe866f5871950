"""Views of webhooks: endpoints, their deliveries and sending one again."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from studio.access.audit import Event, record
from studio.access.roles import Action, needs
from studio.access.webhooks import LONGEST_ADDRESS, Told, WebhookDelivery, WebhookEndpoint, new_secret
from studio.prompts.forms import LineField, MovesForm
from studio.shell.requests import valid_or_refuse

PER_PAGE = 50
_METHODS = ["GET", "HEAD", "POST"]


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


@never_cache
@require_http_methods(_METHODS)
@needs(Action.SERVICE)
def webhook_list(request: HttpRequest) -> HttpResponse:
    """Every endpoint, and a new one."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with transaction.atomic():
            made = WebhookEndpoint.objects.create(**form.cleaned_data)
            record(Event.WEBHOOK_MADE, made, after=form.cleaned_data)
        return _page(request, made, WebhookForm(initial=_stored(made)), secret=made.secret)
    context = {"endpoints": WebhookEndpoint.objects.all(), "form": form}
    return render(request, "access/webhooks.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(_METHODS)
@needs(Action.SERVICE)
def webhook_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One endpoint: its settings and what was sent to it."""
    endpoint = get_object_or_404(WebhookEndpoint, pk=pk)
    stored = _stored(endpoint)
    form = WebhookForm(request.POST if request.method == "POST" else None, initial=stored)
    if form.is_valid():
        with transaction.atomic():
            WebhookEndpoint.objects.filter(pk=pk).update(**form.cleaned_data)
            record(Event.WEBHOOK_CHANGED, endpoint, before=stored, after=form.cleaned_data)
        messages.success(request, _("Settings saved."))
        return redirect("webhook-detail", pk)
    return _page(request, endpoint, form)


@never_cache
@require_POST
@needs(Action.SERVICE)
def webhook_secret(request: HttpRequest, pk: int) -> HttpResponse:
    """A new key for signatures; the old one is good no longer."""
    endpoint = get_object_or_404(WebhookEndpoint, pk=pk)
    with transaction.atomic():
        endpoint.secret = new_secret()
        endpoint.save(update_fields=["secret"])
        record(Event.WEBHOOK_CHANGED, endpoint, after={"secret": "new"})
    return _page(request, endpoint, WebhookForm(initial=_stored(endpoint)), secret=endpoint.secret)


@require_POST
@needs(Action.SERVICE)
def webhook_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget an endpoint, and what is on its way to it."""
    endpoint = get_object_or_404(WebhookEndpoint, pk=pk)
    with transaction.atomic():
        record(Event.WEBHOOK_DELETED, endpoint, before={"url": endpoint.url})
        endpoint.delete()
    messages.success(request, _("“%(name)s” deleted.") % {"name": endpoint.name})
    return redirect("webhook-list")


@require_POST
@needs(Action.SERVICE)
def delivery_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a message once more, with the same id."""
    delivery = get_object_or_404(WebhookDelivery.objects.select_related("endpoint"), pk=pk)
    with transaction.atomic():
        delivery.send_again()
        record(Event.WEBHOOK_SENT_AGAIN, delivery.endpoint, after={"message": delivery.message_id})
    messages.success(request, _("It is sent again."))
    return redirect(f"{delivery.endpoint.get_absolute_url()}#deliveries")


def _stored(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {name: getattr(endpoint, name) for name in WebhookForm.base_fields}


def _page(
    request: HttpRequest, endpoint: WebhookEndpoint, form: WebhookForm, *, secret: str = ""
) -> HttpResponse:
    before = valid_or_refuse(MovesForm(request.GET)).cleaned_data["before"]
    rows = endpoint.deliveries.filter(pk__lt=before) if before else endpoint.deliveries.all()
    page = list(rows[: PER_PAGE + 1])
    context = {
        "endpoint": endpoint,
        "form": form,
        "secret": secret,
        "deliveries": page[:PER_PAGE],
        "before": before,
        "older": page[PER_PAGE - 1].pk if len(page) > PER_PAGE else None,
    }
    return render(request, "access/webhook.html", context, status=422 if form.errors else 200)
