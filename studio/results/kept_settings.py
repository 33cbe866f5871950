"""Kept settings: what a run was scored with, and which of its teams did not finish. Used by attribution.

MixSeek reads its files once, when a run starts, and stores nothing of them: they are kept when the studio
first sees the run, under way or just over. Of older runs it is not known.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from django.conf import settings

from builder.leaderboard import AggregationStore, Execution
from builder.orchestrators.finder import Orchestrator
from studio.models import RunResult, Workspace
from studio.prompts.texts import unix_line_ends
from studio.results.origins import is_id
from studio.workspaces.orchestrators import kept, orchestrators_of, scoring_of_run

JUST_NOW = timedelta(minutes=5)
"""A run that ended since then was seen to end."""


@dataclass(frozen=True)
class RunSettings:
    """For the runs of one workspace."""

    workspace: Workspace
    now: datetime

    def recognise(
        self, result: RunResult, execution: Execution, teams: Collection[str], templates: Collection[str]
    ) -> None:
        """Note on a new result what is known; ``templates``: the team templates that gave its prompts."""
        if known := self._known.get(result.execution_id):
            result.scoring_id, result.orchestrator = known
        elif self._is_seen(execution):
            prompts = [
                one.prompts.path
                for one in self._orchestrators
                if unix_line_ends(one.templates.get("team_user_prompt", "")) in templates
            ]
            found = scoring_of_run(self._orchestrators, teams, prompts)
            if found and self._is_what_ran(found[0], result.started_at):
                result.orchestrator, scoring = found
                result.scoring = kept(scoring, self.now)

    def _is_what_ran(self, orchestrator: str, started: datetime | None) -> bool:
        """Whether nobody has touched the files since the run began: MixSeek reads them at its start."""
        if self._is_demo:
            return True
        one = next(each for each in self._orchestrators if each.name == orchestrator)
        files = (one.file, one.evaluator, one.judgment, *one.teams, *one.members.values())
        return started is not None and all(_modified(file.path) <= started.timestamp() for file in files)

    def _is_seen(self, execution: Execution) -> bool:
        if execution.state == "running" or self._is_demo:
            return True
        return execution.last_at is not None and abs(self.now - execution.last_at) <= JUST_NOW

    @cached_property
    def _is_demo(self) -> bool:
        """The demo's runs are made with its files: in its story, the studio saw each of them end."""
        return self.workspace.folder.is_relative_to(settings.STUDIO_DATA.resolve() / "demo")

    @cached_property
    def _known(self) -> dict[str, tuple[int, str]]:
        """What was kept before with the workspace's runs."""
        kept = RunResult.objects.filter(workspace=self.workspace, scoring__isnull=False)
        rows = kept.values_list("execution_id", "scoring_id", "orchestrator")
        return {execution_id: (scoring, orchestrator) for execution_id, scoring, orchestrator in rows}

    @cached_property
    def _orchestrators(self) -> list[Orchestrator]:
        return orchestrators_of(self.workspace)


def _modified(path: Path) -> float:
    """When a file was written; one that is not there has not been."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def note_unfinished_teams(workspace: Workspace, store: AggregationStore) -> None:
    """Keep with the runs which of their teams did not finish; of those examined long ago, too."""
    unfinished = store.across.unfinished()
    if not unfinished:
        return
    results = RunResult.objects.filter(workspace=workspace).only(
        "execution_id", "partial_teams", "whole_score"
    )
    for result in results:
        teams, best = unfinished.get(result.execution_id, ([], None))
        teams = sorted(filter(is_id, teams))
        if (teams, best) != (result.partial_teams, result.whole_score):
            result.partial_teams, result.whole_score = teams, best
            result.save(update_fields=["partial_teams", "whole_score"])
