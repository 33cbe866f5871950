"""Actors: who is acting, and from where. Set by the middleware, the API and commands; read by the audit.

A domain function needs no argument for it: what it records names whoever the thread is working for.
"""

import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand
from django.db import models
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _


class Via(models.TextChoices):
    """From where something was done."""

    PAGE = "page", _("Page")
    API = "api", "API"
    COMMAND = "command", _("Command")
    STUDIO = "studio", _("The studio itself")
    """Its background work."""


@dataclass(frozen=True)
class Actor:
    """Whoever acts."""

    via: Via
    account: int | None = None
    name: str = ""
    """The account's name as it is now; of a command, whoever runs it."""
    source: str = ""
    """The page's route, the token's name or the command's."""
    address: str = ""


_BACKGROUND = Actor(Via.STUDIO)
_current: ContextVar[Callable[[], Actor] | None] = ContextVar("actor", default=None)


def current_actor() -> Actor:
    """Whoever this thread works for; the studio itself where nobody was named."""
    tell = _current.get()
    return tell() if tell else _BACKGROUND


@contextmanager
def acting(tell: Callable[[], Actor]) -> Iterator[None]:
    """For as long as this lasts; ``tell`` is asked when something is recorded."""
    before = _current.set(tell)
    try:
        yield
    finally:
        _current.reset(before)


def actor_of(request: HttpRequest) -> Actor:
    """The person of a request now: one who signs in during it is named by what follows.

    The API sets `request.actor`, because it knows the token.
    """
    if isinstance(known := getattr(request, "actor", None), Actor):
        return known
    person = request.user if isinstance(request.user, User) else None
    match = request.resolver_match
    return Actor(
        Via.PAGE,
        person.pk if person else None,
        person.get_username() if person else "",
        # Not the path: that of a sign-in link is a secret.
        match.view_name if match else "",
        request.META.get("REMOTE_ADDR", ""),
    )


def account_of_process() -> str:
    """The account of the machine that runs this process."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class Actors:
    """The middleware: what a request changes is its person's doing. After Django's authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        from studio.access.audit import record_refusal

        with acting(lambda: actor_of(request)):
            response = self.get_response(request)
            if response.status_code == 403:
                match = request.resolver_match
                record_refusal(match.view_name if match else "")
        return response


class StudioCommand(BaseCommand):
    """A command whose changes are recorded as those of whoever runs it."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """As Django, with the actor set."""
        name = type(self).__module__.rpartition(".")[2]
        with acting(lambda: Actor(Via.COMMAND, None, account_of_process(), name)):
            return super().execute(*args, **options)
