"""Language, theme and keys: kept in cookies; the first two are open to all, since sign-in needs them too."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from studio.forms import KeysForm, ThemeForm, clean_or_refuse
from studio.htmx import Request
from studio.layout import KEYS_COOKIE, THEME_COOKIE
from studio.way_back import way_back

_YEAR = 365 * 24 * 60 * 60


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Switch the language."""
    return set_language(request)


@login_not_required
@require_POST
def theme(request: Request) -> HttpResponse:
    """Switch between light, dark and what the system says."""
    return _keep(request, THEME_COOKIE, clean_or_refuse(ThemeForm, request.POST)["theme"])


@require_POST
def keys(request: Request) -> HttpResponse:
    """Switch the keyboard shortcuts off or on."""
    return _keep(request, KEYS_COOKIE, clean_or_refuse(KeysForm, request.POST)["keys"])


def _keep(request: Request, cookie: str, value: str) -> HttpResponse:
    # htmx has changed the page already; a plain form wants its page again.
    response = HttpResponse(status=204) if request.htmx else HttpResponseRedirect(way_back(request))
    response.set_cookie(
        cookie, value, max_age=_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
    )
    return response
