"""Roles: who may do what. Views, commands and the API ask `may`; `LOWEST_ROLE` is the whole table."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.access.accounts import Account, Role
from studio.shell.refusal import RequestRefused

View = TypeVar("View", bound=Callable[..., Any])

_MOST_NAMES = 5


class Action(models.TextChoices):
    """What somebody may do or not; the value is the name that templates use: `{% if may.export %}`."""

    READ = "read", gettext_lazy("Read everything but drafts of others")
    EDIT = (
        "edit",
        gettext_lazy("Write drafts and versions, create and change prompt sets"),
    )
    CONTEXT = "context", gettext_lazy("Create and change sample contexts")
    LABEL = "label", gettext_lazy("Move ordinary labels")
    PROTECTED_LABEL = "protected_label", gettext_lazy("Move protected labels, propose and approve releases")
    PROTECT = "protect", gettext_lazy("Decide which labels are protected and need approval")
    EXPORT = "export", gettext_lazy("Export versions into workspaces, and undo it")
    ADOPT = "adopt", gettext_lazy("Adopt what was edited by hand in a workspace")
    WORKSPACE = "workspace", gettext_lazy("Register and change workspaces, remove the demo")
    MACHINE = "machine", gettext_lazy("Report a workspace of another machine")
    FOLDER = "folder", gettext_lazy("Decide which folders the studio uses")
    PEOPLE = "people", gettext_lazy("Invite people, change their roles and limits")
    SERVICE = "service", gettext_lazy("Create service tokens and webhooks")
    TAKE_OUT = "take_out", gettext_lazy("Download everything as files")


LOWEST_ROLE: dict[Action, Role] = {
    Action.READ: Role.VIEWER,
    Action.EDIT: Role.EDITOR,
    Action.CONTEXT: Role.EDITOR,
    Action.LABEL: Role.EDITOR,
    Action.PROTECTED_LABEL: Role.RELEASER,
    Action.PROTECT: Role.ADMINISTRATOR,
    Action.EXPORT: Role.RELEASER,
    Action.ADOPT: Role.RELEASER,
    Action.WORKSPACE: Role.ADMINISTRATOR,
    Action.MACHINE: Role.ADMINISTRATOR,
    Action.FOLDER: Role.ADMINISTRATOR,
    Action.PEOPLE: Role.ADMINISTRATOR,
    Action.SERVICE: Role.ADMINISTRATOR,
    Action.TAKE_OUT: Role.ADMINISTRATOR,
}


class Actor(Protocol):
    """Somebody or something with a role of its own: a service's token is one."""

    @property
    def role(self) -> int: ...


def role_of(actor: Any) -> Role | None:
    """The role of a user or an actor; None for nobody and for an account that is switched off."""
    if hasattr(actor, "role"):
        return Role(cast(Actor, actor).role)
    if not getattr(actor, "is_active", False):
        return None
    return Role(actor.account.role)


def may(actor: Any, action: Action, thing: Any = None) -> bool:
    """Whether a user, or anything with a ``role``, may do it; to that ``thing`` where it matters.

    A label that is ``protected`` needs more than an ordinary one.
    """
    if action is Action.LABEL and getattr(thing, "protected", False):
        action = Action.PROTECTED_LABEL
    role = role_of(actor)
    return role is not None and role >= LOWEST_ROLE[action]


class NotAllowed(RequestRefused):
    """403 with a page that says who may."""

    def __init__(self, actor: Any, action: Action) -> None:
        role = role_of(actor)
        what = _("Your role (%(role)s) does not include this: %(action)s.") % {
            "role": role.label if role else "–",
            "action": action.label,
        }
        super().__init__(403, what, who_may(action))
        self.action = action


def who_may(action: Action) -> str:
    """The sentence about who may do it, with a few names; whose role is too low can ask one of them."""
    lowest = LOWEST_ROLE[action]
    names = list(
        Account.objects.active()
        .filter(role__gte=lowest)
        .order_by("-role", "user__username")
        .values_list("user__username", flat=True)[: _MOST_NAMES + 1]
    )
    listed = _(", ").join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
    if lowest is Role.ADMINISTRATOR:
        return _("Administrators may: %(names)s.") % {"names": listed}
    return _("%(role)s or higher may: %(names)s. Administrators change roles.") % {
        "role": lowest.label,
        "names": listed,
    }


def require(actor: Any, action: Action, thing: Any = None) -> None:
    """Go on, or raise `NotAllowed`."""
    if not may(actor, action, thing):
        stricter = action is Action.LABEL and getattr(thing, "protected", False)
        raise NotAllowed(actor, Action.PROTECTED_LABEL if stricter else action)


def needs(action: Action, *, posts: bool = False) -> Callable[[View], View]:
    """For a view: who may not gets `NotAllowed`; with ``posts`` everybody sees the page, and POST asks."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            if not posts or request.method == "POST":
                require(request.user, action)
            return view(request, *args, **kwargs)

        return cast(View, guarded)

    return decorate


class Permissions:
    """`may` of templates: `{% if may.export %}`. Asks the database once, and not before it is used."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getitem__(self, name: str) -> bool:
        return may(self._actor, Action(name))


def permissions(request: HttpRequest) -> dict[str, Any]:
    """The context processor."""
    return {"may": Permissions(getattr(request, "user", None))}
