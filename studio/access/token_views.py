"""Views of API tokens: one's own, and those of services. A new token is on the page that answers, and never
again."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from studio.access.accounts import Role
from studio.access.roles import Action, needs
from studio.access.tokens import ApiToken, Scope
from studio.prompts.forms import LineField
from studio.shell.requests import person_of

_DAYS = (7, 30, 90, 365)


class TokenForm(forms.Form):
    """What a token is for, and for how long."""

    name = LineField(
        max_length=80,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("What uses it, such as “laptop” or “CI”."),
    )
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=["read"],
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("May be used to"),
    )
    days = forms.TypedChoiceField(
        choices=lambda: [(days, ngettext("%(n)d day", "%(n)d days", days) % {"n": days}) for days in _DAYS],
        coerce=int,
        initial=90,
        label=gettext_lazy("Valid for"),
    )


class ServiceTokenForm(TokenForm):
    """The same of a program, which has a role of its own."""

    role = forms.TypedChoiceField(
        choices=[(role.value, role.label) for role in Role if role is not Role.ADMINISTRATOR],
        coerce=int,
        initial=Role.EDITOR,
        label=gettext_lazy("Role"),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account_tokens(request: HttpRequest) -> HttpResponse:
    """One's own tokens, and a new one."""
    person, key = person_of(request), ""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        _token, key = ApiToken.objects.make(person, at=timezone.now(), **form.cleaned_data)
    return _page(request, form, key, of_services=False)


@require_POST
def account_token_end(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own."""
    return _ended(
        request, get_object_or_404(ApiToken.objects.of(person_of(request)), pk=pk), "account-tokens"
    )


@never_cache
@needs(Action.SERVICE)
@require_http_methods(["GET", "HEAD", "POST"])
def service_tokens(request: HttpRequest) -> HttpResponse:
    """The tokens of services, and a new one."""
    form, key = ServiceTokenForm(request.POST if request.method == "POST" else None), ""
    if form.is_valid():
        _token, key = ApiToken.objects.make_for_service(
            by=person_of(request), at=timezone.now(), **form.cleaned_data
        )
    return _page(request, form, key, of_services=True)


@needs(Action.SERVICE)
@require_POST
def service_token_end(request: HttpRequest, pk: int) -> HttpResponse:
    """End a service's."""
    return _ended(request, get_object_or_404(ApiToken.objects.of_services(), pk=pk), "service-tokens")


def _page(request: HttpRequest, form: TokenForm, key: str, *, of_services: bool) -> HttpResponse:
    tokens = ApiToken.objects.of_services() if of_services else ApiToken.objects.of(person_of(request))
    context = {
        "form": type(form)() if key else form,
        "key": key,
        "tokens": tokens,
        "now": timezone.now(),
        "of_services": of_services,
        "title": _("Service tokens") if of_services else _("Your tokens"),
        "end": "service-token-end" if of_services else "account-token-end",
        "base": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "access/tokens.html", context, status=422 if form.errors else 200)


def _ended(request: HttpRequest, token: ApiToken, back: str) -> HttpResponse:
    token.end()
    messages.success(request, _("Token “%(name)s” revoked.") % {"name": token.name})
    return redirect(back)
