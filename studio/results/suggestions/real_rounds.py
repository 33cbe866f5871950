"""Rounds of real runs that were made with versions of a set."""

from dataclasses import dataclass

from django.db.models import Count, Max, Q, QuerySet

from builder.template.models import RoundPromptContext
from studio.models import PromptSet, RunResult, Workspace
from studio.results.suggestions.round_contexts import proposed_description, proposed_name
from studio.workspaces.stores import store_of

Mark = tuple[int, int]
"""How many runs there are, and the newest: other runs, other answers."""


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
    found = runs.aggregate(count=Count("pk"), newest=Max("pk"))
    return found["count"], found["newest"] or 0


def context_of(run: RunResult, team_id: str, number: int) -> RoundPromptContext:
    """What the team knew when the round began. Raises ``BuilderError`` where its rows do not tell."""
    # Where MixSeek has stored no task yet, the rest is told all the same.
    made = store_of(run.workspace).rebuild(run.execution_id, team_id, number, task=run.task or "-")
    return made.context
