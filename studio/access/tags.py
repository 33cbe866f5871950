"""Tags of roles: what a page says where it hides an action. `{% load access %}`."""

from typing import Any

from django import template

from studio.access.roles import LOWEST_ROLE, Action

register = template.Library()


@register.inclusion_tag("access/_who_may.html", takes_context=True)
def who_may(context: template.RequestContext, *names: str) -> dict[str, Any]:
    """A line about those of the actions that the person may not do, and which role may."""
    denied = [Action(name) for name in names if not context["may"][name]]
    return {"rows": [(action.label, LOWEST_ROLE[action].label) for action in denied]}
