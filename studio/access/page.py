"""The account page: one's own sessions and the form for the password."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from studio.access.accounts import digest
from studio.access.forms import EmailForm, password_form
from studio.access.sessions import own_sessions
from studio.shell.requests import person_of

_MOST = 200  # sessions listed; "sign out everywhere else" ends all
# By the first word that an agent's line holds: Chrome's also says Safari, Android's also Linux.
_BROWSERS = (("Edge", "Edg/"), ("Firefox", "Firefox/"), ("Chrome", "Chrome/"), ("Safari", "Safari/"))
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("macOS", "Mac OS X"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True)
class SessionRow:
    """A session in the list."""

    key: str
    """The stored hash, which no cookie can carry."""
    current: bool
    address: str
    agent: str
    used_at: datetime

    @property
    def browser(self) -> str:
        """«Firefox, Linux» where the agent's line tells it, else the line's beginning."""
        name = next((name for name, word in _BROWSERS if word in self.agent), "")
        system = next((name for name, word in _SYSTEMS if word in self.agent), "")
        return _(", ").join(filter(None, (name, system))) or self.agent[:40]


@dataclass(frozen=True)
class AccountPage:
    """What the page shows."""

    form: "SetPasswordForm[User]"
    email_form: EmailForm | None
    """Where mails can be sent."""
    sessions: list[SessionRow]


def account_page(
    request: HttpRequest,
    form: "SetPasswordForm[User] | None" = None,
    email_form: EmailForm | None = None,
) -> AccountPage:
    """The signed-in person's page; a form where one was sent with mistakes."""
    person = person_of(request)
    mine = digest(request.session.session_key or "")
    rows = []
    for session in own_sessions(person, timezone.now())[:_MOST]:
        origin = session.origin
        rows.append(
            SessionRow(
                key=session.session_key,
                current=session.session_key == mine,
                address=origin.get("address", ""),
                agent=origin.get("agent", ""),
                used_at=session.used_at,
            )
        )
    if email_form is None and settings.STUDIO_MAIL:
        email_form = EmailForm(instance=person)
    return AccountPage(form or password_form(person), email_form, rows)
