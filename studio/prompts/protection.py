"""Protected labels: who may move them, and whether somebody else has to approve. Asked by `Label.objects`."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from studio.access.accounts import Account
from studio.access.roles import Action, may, require
from studio.prompts.models import PromptSet
from studio.shell.refusal import RequestRefused


@dataclass(frozen=True)
class Protection:
    """What moving a label takes."""

    protected: bool
    """A releaser has to do it."""
    approval: bool
    """A releaser proposes it, and another one approves."""


def protection_of(prompt_set: PromptSet, name: str) -> Protection:
    """Nothing is protected where there is only one person."""
    protected = name in prompt_set.protected_labels and Account.objects.active()[:2].count() > 1
    return Protection(protected, protected and prompt_set.needs_approval)


class ApprovalNeeded(RequestRefused):
    """The label moves by an approved proposal alone."""

    def __init__(self, prompt_set: PromptSet, name: str) -> None:
        super().__init__(
            409,
            _("%(label)s of “%(set)s” moves only with an approval.")
            % {"label": name, "set": prompt_set.name},
            _("Propose the version on its page; another releaser approves it."),
            title=_("Approval needed"),
            ways=[(_("To the versions"), reverse("prompt-detail", args=[prompt_set.slug]))],
        )


def require_movable(prompt_set: PromptSet, name: str, who: Any) -> None:
    """Go on, or raise `NotAllowed` or `ApprovalNeeded`. Everybody who gets here may move ordinary labels."""
    protection = protection_of(prompt_set, name)
    if protection.protected:
        require(who, Action.PROTECTED_LABEL)
    if protection.approval:
        raise ApprovalNeeded(prompt_set, name)


@dataclass(frozen=True)
class MovableLabel:
    """A label as a version's page offers it to a person."""

    name: str
    number: int | None
    """Where it points now."""
    protection: Protection
    allowed: bool


def movable_label(prompt_set: PromptSet, name: str, number: int | None, who: Any) -> MovableLabel:
    """Whether the person may move, or propose to move it."""
    protection = protection_of(prompt_set, name)
    return MovableLabel(name, number, protection, may(who, Action.LABEL, protection))
