"""Template tags of results: differences between versions in words, and a run's version in lists of runs."""

from collections.abc import Mapping, Sequence

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.leaderboard import Execution
from builder.results.power import MOST_RUNS
from builder.results.statistics import Difference
from studio.models import Workspace
from studio.results.origins import RunOrigin, brief_origins
from studio.results.plans import Plan
from studio.results.version_scores import Change
from studio.shell.numbers import signed

register = template.Library()


@register.filter
def in_words(difference: Difference, within: str = "tasks") -> str:
    """How sure a difference is, and how that was found; rounds are compared within runs instead of tasks."""
    figures = {"low": signed(difference.low), "high": signed(difference.high), "p": f"{difference.p:.3f}"}
    sure = _("95 %% interval %(low)s to %(high)s, p = %(p)s") % figures
    if difference.method == "welch":
        return sure + _("; ") + _("Welch’s t-test")
    number = difference.tasks
    same = (
        ngettext("compared within %(n)d run", "compared within %(n)d runs", number)
        if within == "runs"
        else ngettext(
            "compared within %(n)d task that both ran", "compared within %(n)d tasks that both ran", number
        )
    )
    return sure + _("; ") + same % {"n": number}


@register.filter
def shapes(change: Change) -> str:
    """Teams and rounds on either side of a comparison."""
    if change.shapes is None:
        return ""
    (old_teams, old_rounds), (new_teams, new_rounds) = change.shapes
    if old_teams == new_teams:
        return _("%(new)d rounds, before %(old)d") % {"old": old_rounds, "new": new_rounds}
    if old_rounds == new_rounds:
        return _("%(new)d teams, before %(old)d") % {"old": old_teams, "new": new_teams}
    return _("%(teams)d teams × %(rounds)d rounds, before %(old_teams)d × %(old_rounds)d") % {
        "teams": new_teams,
        "rounds": new_rounds,
        "old_teams": old_teams,
        "old_rounds": old_rounds,
    }


@register.inclusion_tag("results/_plan.html")
def plan(change: Change | None, detect: float | str = "") -> dict[str, Plan | int | None]:
    """What the runs of both versions can show; ``detect`` is the difference that a reader chose, if any."""
    return {"plan": Plan.of(change, float(detect) if detect else None), "most": MOST_RUNS}


@register.simple_tag
def briefs(workspace: Workspace, executions: Sequence[Execution]) -> Mapping[str, RunOrigin]:
    """Which versions made the runs of a list, read at once."""
    return brief_origins(workspace, [execution.execution_id for execution in executions])


@register.inclusion_tag("results/attribution/_brief.html")
def made_with(known: Mapping[str, RunOrigin], execution: Execution) -> dict[str, RunOrigin | None]:
    """The line of one run; nothing where it was not examined yet."""
    return {"brief": known.get(execution.execution_id)}
