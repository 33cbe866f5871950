"""Tags of roles: what a page says where it hides an action. `{% load access %}`."""

from typing import Any

from django import template
from django.utils.translation import gettext as _

from studio.access.accounts import Role
from studio.access.roles import LOWEST_ROLE, Action

register = template.Library()


@register.inclusion_tag("access/_who_may.html", takes_context=True)
def who_may(context: template.RequestContext, *names: str) -> dict[str, Any]:
    """A line about those of the actions that the person may not do, and which role may."""
    denied = [Action(name) for name in names if not context["may"][name]]
    return {"rows": [(action.label, _needed(LOWEST_ROLE[action])) for action in denied]}


def _needed(role: Role) -> str:
    if role is Role.ADMINISTRATOR:
        return str(role.label)
    return _("%(role)s or higher") % {"role": role.label}
