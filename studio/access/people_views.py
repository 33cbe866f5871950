"""Views of people: invitations, roles and limits, switching off and removing accounts."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from studio.access.accounts import Account, Role
from studio.access.forms import InvitationForm, JoinForm, PersonForm
from studio.access.people import Invitation, change, remove, switch_off, switch_on
from studio.access.roles import LOWEST_ROLE, Action, needs
from studio.models import Draft, DraftCopy
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of

_METHODS = ["GET", "HEAD", "POST"]


@require_safe
def role_list(request: HttpRequest) -> HttpResponse:
    """The table of actions and roles, and who has which."""
    people = Account.objects.active().select_related("user").order_by("user__username")
    names: dict[int, list[str]] = {}
    for account in people:
        names.setdefault(account.role, []).append(account.user.get_username())
    context = {
        "roles": [(role.label, names.get(role, [])) for role in Role],
        "rows": [(action.label, [role >= LOWEST_ROLE[action] for role in Role]) for action in Action],
        "mine": Role(person_of(request).account.role).label,
    }
    return render(request, "access/roles.html", context)


@require_safe
@needs(Action.PEOPLE)
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, and invitations that nobody followed yet."""
    return _people_page(request, InvitationForm())


@require_POST
@needs(Action.PEOPLE)
def person_invite(request: HttpRequest) -> HttpResponse:
    """Make a link; this answer is the only one that shows it."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _people_page(request, form, status=422)
    clean = form.cleaned_data
    token = Invitation.objects.invite(clean["role"], clean["note"], by=person_of(request), at=timezone.now())
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    return _people_page(request, InvitationForm(), link=link, role=clean["role"].label)


def _people_page(
    request: HttpRequest, form: InvitationForm, *, status: int = 200, **more: str
) -> HttpResponse:
    used = models.Max("user__sessions__used_at")
    accounts = Account.objects.filter(left_at=None).select_related("user").annotate(used_at=used)
    context = {
        "accounts": accounts.order_by("-user__is_active", "user__username"),
        "invitations": Invitation.objects.filter(expires_at__gte=timezone.now()).select_related("made_by"),
        "form": form,
        **more,
    }
    return render(request, "access/people.html", context, status=status)


@require_POST
@needs(Action.PEOPLE)
def invitation_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """The link is good no longer."""
    Invitation.objects.withdraw(pk)
    messages.success(request, _("Invitation withdrawn."))
    return redirect("people")


@require_http_methods(_METHODS)
@needs(Action.PEOPLE)
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Role and limits of one account."""
    account = _account(pk)
    form = PersonForm(request.POST if request.method == "POST" else None, instance=account)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "access/person.html", {"form": form, "account": account}, status=status)
    change(account.user, form.cleaned_data)
    messages.success(request, _("Saved: %(name)s.") % {"name": account.user.get_username()})
    return redirect("people")


@require_POST
@needs(Action.PEOPLE)
def person_switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch an account off, or on again."""
    user = _account(pk).user
    name = {"name": user.get_username()}
    if request.POST.get("active") == "1":
        switch_on(user)
        messages.success(request, _("%(name)s can sign in again.") % name)
    else:
        switch_off(user)
        messages.success(request, _("%(name)s is disabled and signed out everywhere.") % name)
    return redirect("people")


@require_http_methods(_METHODS)
@needs(Action.PEOPLE)
def person_remove(request: HttpRequest, pk: int) -> HttpResponse:
    """What stays and what goes; then the removal."""
    user = _account(pk).user
    drafts = Draft.objects.filter(person=user)
    if request.method != "POST":
        return render(request, "access/remove.html", {"person": user, "drafts": drafts.count()})
    with transaction.atomic():
        remove(user, at=timezone.now())
        DraftCopy.objects.filter(person=user).delete()
        drafts.delete()
    messages.success(request, _("%(name)s removed.") % {"name": user.get_username()})
    return redirect("people")


def _account(pk: int) -> Account:
    account: Account = get_object_or_404(Account.objects.select_related("user"), pk=pk, left_at=None)
    return account


@sensitive_variables("form")
@sensitive_post_parameters()
@never_cache
@login_not_required
@require_http_methods(_METHODS)
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Somebody who was invited chooses a name and a password, and is signed in."""
    found = Invitation.objects.good(token, timezone.now())
    if found is None:
        raise _used_up()
    form = JoinForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        clean = form.cleaned_data
        try:
            user = Invitation.objects.accept(found, clean["username"], clean["password1"], clean["email"])
        except IntegrityError:
            form.add_error("username", User._meta.get_field("username").error_messages["unique"])
        else:
            if user is None:
                raise _used_up()
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return redirect("home")
    context = {"form": form, "role": Role(found.role).label, "by": found.made_by.get_username()}
    return render(request, "access/invitation.html", context, status=422 if form.is_bound else 200)


def _used_up() -> RequestRefused:
    return RequestRefused(
        410,
        _("This invitation was used already, was withdrawn, or is older than 7 days."),
        _("Ask an administrator of this studio for another one."),
    )
