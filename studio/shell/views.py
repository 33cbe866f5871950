"""Views of the shell: preferences kept in cookies, pages about the studio, and the health check."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.i18n import set_language

from studio.shell.charts import Series, Words, line_chart
from studio.shell.forms import KeysForm, ThemeForm
from studio.shell.layout import KEYS_COOKIE, THEME_COOKIE
from studio.shell.layout import shortcuts as all_shortcuts
from studio.shell.requests import Request, valid_or_refuse, way_back

_YEAR = 365 * 24 * 60 * 60


@login_not_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Switch the language; open to all, since sign-in has the switch too."""
    return set_language(request)


@login_not_required
@require_POST
def theme(request: Request) -> HttpResponse:
    """Switch between light, dark and what the system says."""
    return _keep(request, THEME_COOKIE, valid_or_refuse(ThemeForm(request.POST)).cleaned_data["theme"])


@require_POST
def keys(request: Request) -> HttpResponse:
    """Switch the keyboard shortcuts off or on."""
    return _keep(request, KEYS_COOKIE, valid_or_refuse(KeysForm(request.POST)).cleaned_data["keys"])


def _keep(request: Request, cookie: str, value: str) -> HttpResponse:
    # htmx has changed the page already; a plain form wants its page again.
    part = bool(request.htmx)
    response = HttpResponse(status=204) if part else HttpResponseRedirect(way_back(request))
    response.set_cookie(
        cookie, value, max_age=_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
    )
    return response


@require_safe
def shortcuts(request: Request) -> HttpResponse:
    """Every key of the studio, as a page or for the overlay."""
    template = "shell/_overlay.html" if request.htmx else "shell/shortcuts.html"
    return render(request, template, {"groups": all_shortcuts()})


@require_safe
def design(request: HttpRequest) -> HttpResponse:
    """Every component once; only in debug."""
    if not settings.DEBUG:
        raise Http404
    series = [
        Series(f"チーム {number}", ((1, 60.0 + number), (2, 71.0 - 2 * number), (3, 70.0 + number)))
        for number in range(1, 10)
    ]
    context = {
        "now": timezone.now(),
        "text": "# {{ user_prompt }}\n\n順位\n",
        "chart": line_chart("d-lines", series, Words(_("Chart"), _("Score by round and team"))),
    }
    return render(request, "shell/design.html", context)


@never_cache
@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 where the database answers, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "error", "database": "unavailable"}, status=503)
    return JsonResponse({"status": "ok", "database": connection.vendor})
