"""Limits: how much one account may make. Generous: they stop a script that runs wild, not a person."""

from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.shell.refusal import RequestRefused


class Limit(models.TextChoices):
    """What is counted; the value is the column of `Account`."""

    SETS = "most_sets", gettext_lazy("Prompt sets")
    CONTEXTS = "most_contexts", gettext_lazy("Sample contexts")
    DRAFTS = "most_drafts", gettext_lazy("Drafts")


class LimitReached(RequestRefused):
    """403 with what is counted and who can raise it."""

    def __init__(self, limit: Limit, most: int) -> None:
        super().__init__(
            403,
            _("Your account has reached its limit: %(what)s, %(most)d.")
            % {"what": limit.label, "most": most},
            _("Delete what you no longer need, or ask an administrator to raise the limit."),
            title=_("Limit reached"),
        )


def require_room(person: User, limit: Limit, made: "models.QuerySet[models.Model]") -> None:
    """Raise `LimitReached` where the person has ``made`` as many as they may."""
    most: int = getattr(person.account, limit)
    if made.count() >= most:
        raise LimitReached(limit, most)
