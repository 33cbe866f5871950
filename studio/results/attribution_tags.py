"""Which version made a run, in a word, for lists of runs."""

from collections.abc import Mapping, Sequence

from django import template

from builder.leaderboard import Execution
from studio.models import Workspace
from studio.results.attribution_page import Brief, briefs_of

register = template.Library()


@register.simple_tag
def briefs(workspace: Workspace, executions: Sequence[Execution]) -> Mapping[str, Brief]:
    """Those of all the runs of a list, read at once."""
    return briefs_of(workspace, [each.execution_id for each in executions])


@register.inclusion_tag("attributions/_brief.html")
def made_with(known: Mapping[str, Brief], execution: Execution) -> dict[str, Brief | None]:
    """The line of one run; nothing where it was not examined yet."""
    return {"brief": known.get(execution.execution_id)}
