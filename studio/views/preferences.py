"""Language and theme: kept in cookies, open to all, since the sign-in page needs them too."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from studio.forms import ThemeForm, clean_or_refuse
from studio.layout import THEME_COOKIE

_YEAR = 365 * 24 * 60 * 60


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Switch the language."""
    return set_language(request)


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Switch between light, dark and what the system says."""
    chosen = clean_or_refuse(ThemeForm, request.POST)["theme"]
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure()):
        back = "/"
    # htmx has changed the page already; a plain form wants its page again.
    part = request.headers.get("HX-Request") == "true"
    response = HttpResponse(status=204) if part else HttpResponseRedirect(back)
    response.set_cookie(
        THEME_COOKIE, chosen, max_age=_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
    )
    return response
