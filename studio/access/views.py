"""Views of accounts: signing in and out, one's own password and sessions."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from studio.access.audit import Event, record, record_refused_signin
from studio.access.forms import EmailForm, SignInForm, password_form
from studio.access.page import account_page
from studio.access.sessions import end_session, end_sessions
from studio.access.signin import SignInLink, TooManyAttempts, count_attempt, forgive_attempts
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, way_back


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def signin(request: HttpRequest) -> HttpResponse:
    """Name and password; after five wrong ones, growing pauses."""
    target = way_back(request)
    if request.user.is_authenticated:
        return HttpResponseRedirect(target)
    if request.method != "POST":
        return _signin_page(request, SignInForm(request), target)
    name = request.POST.get("username", "")
    try:
        count_attempt(request, name)
    except TooManyAttempts as pause:
        record_refused_signin(name, "pause")
        answer = _signin_page(request, SignInForm(request), target, status=429, seconds=pause.seconds)
        answer["Retry-After"] = str(pause.seconds)
        return answer
    form = SignInForm(request, request.POST)
    if not form.is_valid():
        return _signin_page(request, form, target, status=401)
    forgive_attempts(request, name)
    login(request, form.get_user())
    return HttpResponseRedirect(target)


def _signin_page(
    request: HttpRequest, form: SignInForm, target: str, *, status: int = 200, seconds: int = 0
) -> HttpResponse:
    context = {
        "form": form,
        "next": target,
        "seconds": seconds,
        "mail": settings.STUDIO_MAIL,
        "provider": settings.STUDIO_OIDC,
    }
    return render(request, "access/signin.html", context, status=status)


@never_cache
@login_not_required
@require_GET
def signin_link(request: HttpRequest, token: str) -> HttpResponse:
    """Follow a one-time link. GET alone: a HEAD from a link checker must not spend it."""
    if request.user.is_authenticated:
        return redirect("home")
    user = SignInLink.objects.redeem(token, timezone.now())
    if user is None:
        record_refused_signin("", "link")
        raise RequestRefused(410, _("This sign-in link was used already, or it is too old."))
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    """Forget the session."""
    logout(request)
    return redirect("signin")


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """One's own password and sessions."""
    return render(request, "access/account.html", {"page": account_page(request)})


@sensitive_post_parameters()
@require_POST
def account_password(request: HttpRequest) -> HttpResponse:
    """Change the password; every other session ends."""
    form = password_form(person_of(request), request.POST)
    if not form.is_valid():
        return render(request, "access/account.html", {"page": account_page(request, form)}, status=422)
    with transaction.atomic():
        person = form.save()
        end_sessions(person, but=request.session.session_key)
        record(Event.PASSWORD_CHANGED, person)
    update_session_auth_hash(request, person)
    messages.success(request, _("Password changed. All other sessions were signed out."))
    return redirect("account")


@require_POST
def account_email(request: HttpRequest) -> HttpResponse:
    """Where a link goes when the password is forgotten."""
    form = EmailForm(request.POST, instance=person_of(request))
    if not form.is_valid():
        page = account_page(request, email_form=form)
        return render(request, "access/account.html", {"page": page}, status=422)
    with transaction.atomic():
        record(Event.EMAIL_CHANGED, form.save())
    messages.success(request, _("Address saved."))
    return redirect("account")


@require_POST
def account_sessions_end(request: HttpRequest) -> HttpResponse:
    """End one of one's own sessions, or all but this one."""
    person = person_of(request)
    if "session" in request.POST:
        ended = end_session(person, request.POST["session"])
    else:
        ended = end_sessions(person, but=request.session.session_key)
    text = ngettext("%(count)d session signed out.", "%(count)d sessions signed out.", ended)
    messages.success(request, text % {"count": ended})
    return redirect("account")
