"""What a view reads from a request: who made it, its checked form, where to go back to."""

from typing import TypeVar
from urllib.parse import unquote_to_bytes

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from studio.shell.refusal import RequestRefused

AnyForm = TypeVar("AnyForm", bound=forms.Form)

_REPLACEMENT = "\ufffd"


class Request(HttpRequest):
    """A request as views get it: django-htmx has read what htmx says of itself."""

    htmx: HtmxDetails


def person_of(request: HttpRequest) -> User:
    """The person who is signed in; every view that asks needs a session."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def way_back(request: HttpRequest) -> str:
    """The path in ``next``; the start page for anything that is not a path on this server."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    # A bare word is no path, and a redirect would take it for the name of a view.
    return wanted if ours and wanted.startswith("/") else "/"


def valid_or_refuse(form: AnyForm) -> AnyForm:
    """The form with its clean values; one that no page or link of ours sends is a 400."""
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        if name not in form.fields:
            raise RequestRefused(400, str(errors[0]))
        raise RequestRefused(400, f"{form[name].label}: {errors[0]}")
    return form


def refuse_other_encodings(request: HttpRequest) -> None:
    """A body that is not UTF-8, or holds half of a surrogate pair, is a 400.

    Django reads what it cannot decode as U+FFFD or Latin-1, which would change a person's text
    without a word.
    """
    encoded = request.content_type == "application/x-www-form-urlencoded"
    doubtful = any(_REPLACEMENT in value for _, values in request.POST.lists() for value in values)
    if (doubtful or (encoded and not request.body.isascii())) and not (encoded and _is_utf8(request.body)):
        raise RequestRefused(400, _("The text is not UTF-8."), _("Use the form on the page."))


def _is_utf8(body: bytes) -> bool:
    try:
        unquote_to_bytes(body).decode()
    except UnicodeDecodeError:
        return False
    return True
