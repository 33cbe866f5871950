"""Signing in by link or by name and password, and out again."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from studio.shell.forms import SignInForm
from studio.shell.refusal import RequestRefused
from studio.shell.requests import way_back
from studio.shell.signin import SignInAttempt, SignInLink


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
        return render(request, "signin/signin.html", {"form": SignInForm(request), "next": target})
    attempt = SignInAttempt.objects.begin(
        request.POST.get("username", ""), request.META.get("REMOTE_ADDR", ""), timezone.now()
    )
    if attempt is None:
        raise RequestRefused(429, _("There were too many attempts to sign in with this name."))
    form = SignInForm(request, request.POST)
    if not form.is_valid():
        return render(request, "signin/signin.html", {"form": form, "next": target}, status=401)
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
