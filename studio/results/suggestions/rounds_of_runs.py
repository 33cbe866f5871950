"""Rounds of the real runs that a set's versions made, and what each becomes as a sample context.

Used by the suggestions, and by the views that save a round as a sample context.
"""

from dataclasses import dataclass

from django.db.models import Count, Max, Q, QuerySet
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from builder.template.models import RoundPromptContext
from studio.contexts.pasted_json import write_json
from studio.models import PromptSet, RunResult, SampleContext, Workspace
from studio.workspaces.stores import store_of

Mark = tuple[int, int]
"""How many runs there are, and the newest: other runs, other answers."""

_LONGEST_NAME = 120
_LONGEST_DESCRIPTION = 300


@dataclass(frozen=True)
class RealRound:
    """One round of one team, as it was played."""

    run: RunResult
    team_id: str
    team_name: str
    number: int

    @property
    def workspace(self) -> Workspace:
        return self.run.workspace

    @property
    def name(self) -> str:
        """For the sample context that it may become."""
        return proposed_name(self.team_name, self.number, self.run.task)

    @property
    def description(self) -> str:
        return proposed_description(self.workspace, self.run.execution_id)


def runs_of(prompt_set: PromptSet) -> QuerySet[RunResult]:
    """Those that a version of the set explains, also where it is one of several or was edited by hand."""
    either = RunResult.candidates.through.objects.filter(promptversion__prompt_set=prompt_set)
    explained = Q(version__prompt_set=prompt_set) | Q(pk__in=either.values("runresult_id"))
    return RunResult.objects.filter(explained, workspace__archived=False)


def mark_of(runs: QuerySet[RunResult]) -> Mark:
    """What tells whether there are other runs by now: one that has gone on gets a new key."""
    figures = runs.aggregate(count=Count("pk"), newest=Max("pk"))
    return figures["count"], figures["newest"] or 0


def context_of(run: RunResult, team_id: str, number: int) -> RoundPromptContext:
    """What the team knew when the round began. Raises ``BuilderError`` where its rows do not tell."""
    # Where MixSeek has stored no task yet, the rest is told all the same.
    made = store_of(run.workspace).rebuild(run.execution_id, team_id, number, task=run.task or "-")
    return made.context


# --- as a sample context ------------------------------------------------------------------


def proposed_name(team: str, number: int, task: str) -> str:
    """Team, round and the beginning of the task; numbered where a context has that name already."""
    words = {
        "team": Truncator(_one_line(team)).chars(40),
        "round": number,
        "task": Truncator(_one_line(task)).chars(50),
    }
    stem = _("%(team)s, round %(round)d: %(task)s") % words
    taken = set(SampleContext.objects.filter(name__startswith=stem[:60]).values_list("name", flat=True))
    name, copies = stem, 1
    while name in taken:
        copies += 1
        name = f"{stem} ({copies})"
    return name[:_LONGEST_NAME]


def proposed_description(workspace: Workspace, execution_id: str) -> str:
    """Where it comes from."""
    words = {"workspace": workspace.name, "execution": execution_id}
    return (_("From the runs of %(workspace)s, execution %(execution)s.") % words)[:_LONGEST_DESCRIPTION]


def document_of(context: RoundPromptContext, submission: str | None) -> str:
    """The JSON that a pasted context would have; a blank submission is none."""
    told = context.model_dump(mode="json")
    if submission and submission.strip():
        told["submission"] = submission
    return write_json(told)


def _one_line(text: str) -> str:
    return " ".join(text.split())
