"""Views of forgotten passwords: a link by mail, and the page behind it; a new password ends all sessions."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from studio.access.audit import Event, record
from studio.access.forms import prepare_passwords
from studio.access.sessions import end_sessions
from studio.access.signin import TooManyAttempts, count_attempt, studio_address
from studio.shell.refusal import RequestRefused


class AskForReset(PasswordResetView):
    """An address is typed, a link goes there; the answer is the same where nobody has the address."""

    template_name = "access/forgotten.html"
    email_template_name = "access/reset_mail.html"
    subject_template_name = "access/reset_subject.html"
    success_url = reverse_lazy("signin")

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        """A few mails, then growing pauses; apart from those of passwords."""
        try:
            count_attempt(self.request, f"mail:{form.cleaned_data['email']}")
        except TooManyAttempts as pause:
            wait = _("Try again in %(seconds)d seconds.") % {"seconds": pause.seconds}
            raise RequestRefused(429, wait) from None
        self.extra_email_context = {"studio": studio_address()}
        messages.success(self.request, _("If an account has this address, a link is on its way there."))
        return super().form_valid(form)


class SetPassword(PasswordResetConfirmView):
    """The page behind the link."""

    template_name = "access/new_password.html"
    success_url = reverse_lazy("signin")

    def get_form(self, form_class: Any = None) -> Any:
        """With the hint and the bound of every form for passwords."""
        form = super().get_form(form_class)
        prepare_passwords(form)
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        """The new password counts from now on, and whoever was signed in no longer is."""
        with transaction.atomic():
            answer = super().form_valid(form)
            end_sessions(form.user)
            record(Event.PASSWORD_CHANGED, form.user, by=form.user)
        messages.success(self.request, _("The password is set. Sign in with it."))
        return answer


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def password_reset(request: HttpRequest) -> HttpResponseBase:
    """Ask for a link; only where a mail server is set."""
    if not settings.STUDIO_MAIL:
        raise Http404
    return AskForReset.as_view()(request)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def password_reset_confirm(request: HttpRequest, uidb64: str, token: str) -> HttpResponseBase:
    """Follow a link."""
    return SetPassword.as_view()(request, uidb64=uidb64, token=token)
