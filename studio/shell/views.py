"""Views of the shell: sign-in, preferences kept in cookies, pages about the studio, and the health check."""

from django.conf import settings
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django.views.i18n import set_language

from studio.shell.charts import Series, Words, line_chart
from studio.shell.forms import KeysForm, SignInForm, ThemeForm
from studio.shell.layout import KEYS_COOKIE, THEME_COOKIE
from studio.shell.layout import shortcuts as all_shortcuts
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, valid_or_refuse, way_back
from studio.shell.signin import SignInAttempt, SignInLink

_YEAR = 365 * 24 * 60 * 60


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def signin(request: HttpRequest) -> HttpResponse:
    """Name and password; after five wrong ones, a pause."""
    target = way_back(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(target)
    if request.method != "POST":
        return render(request, "shell/signin.html", {"form": SignInForm(request), "next": target})
    attempt = SignInAttempt.objects.begin(
        request.POST.get("username", ""), request.META.get("REMOTE_ADDR", ""), timezone.now()
    )
    if attempt is None:
        raise RequestRefused(429, _("There were too many attempts to sign in with this name."))
    form = SignInForm(request, request.POST)
    if not form.is_valid():
        return render(request, "shell/signin.html", {"form": form, "next": target}, status=401)
    SignInAttempt.objects.forgive(attempt)
    login(request, form.get_user())
    return HttpResponseRedirect(target)


@never_cache
@login_not_required
@require_GET
def signin_link(request: HttpRequest, token: str) -> HttpResponse:
    """Follow a one-time link. GET alone: a HEAD from a link checker must not spend it."""
    if request.user.is_authenticated:
        return redirect("home")
    user = SignInLink.objects.redeem(token, timezone.now())
    if user is None:
        raise RequestRefused(410, _("This sign-in link was used already, or it is too old."))
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    """Forget the session."""
    logout(request)
    return redirect("signin")


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
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Every key of the studio."""
    return render(request, "shell/shortcuts.html", {"groups": all_shortcuts()})


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
