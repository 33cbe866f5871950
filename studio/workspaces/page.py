"""The page of one workspace: its files, its database, its health, its newest runs and exports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from builder.errors import LeaderboardError
from builder.leaderboard import DATABASE_NAME
from builder.orchestrators.scoring_settings import scoring_settings
from studio.models import Export, RunResult, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.results.stored_runs import stored_runs
from studio.runs.reading import Runs, read_runs
from studio.workspaces.exports.receipts import newest_of
from studio.workspaces.glance import DatabaseGlance, database_of
from studio.workspaces.models import FoundBy
from studio.workspaces.state import PromptFileState, prompt_states_of, state_of
from studio.workspaces.stores import store_of

NEWEST_RUNS = 10
NEWEST_EXPORTS = 5
PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class WorkspacePage:
    """The page before it is rendered."""

    workspace: Workspace
    state: PromptFileState
    database: DatabaseGlance
    health: Sequence[Finding]
    others: Sequence[PromptFileState]
    """Prompt files beside the main one, which other orchestrator files read."""
    runs: Runs | None
    """None where the folder is not looked at."""
    exports: Sequence[Export]
    system: PromptFileState | None = None
    """The system prompt's file, where the workspace has to do with one."""
    stored_runs: Sequence[RunResult] = ()
    """What is known of its runs where the folder is not looked at."""

    @property
    def release_reason(self) -> str:
        """How the release that it runs is known."""
        workspace = self.workspace
        if workspace.dialect:
            return _("set in the settings")
        if workspace.found_by == FoundBy.PACKAGE:
            return _("from the installed package, %(version)s") % {"version": workspace.found_in}
        if workspace.found_by == FoundBy.PROMPTS:
            run = workspace.results.filter(execution_id=workspace.found_in).first()
            told = {"run": workspace.found_in[:8]}
            if run is not None and len(run.formats or ()) > 1:
                return _("from the prompts of run %(run)s: this release or the previous one") % told
            return _("from the prompts of run %(run)s") % told
        return _("newest known release: not detected from runs or an installed package")

    @property
    def proposes_release(self) -> bool:
        """Whether what was found out is another release than the one that somebody fixed."""
        workspace = self.workspace
        return bool(workspace.dialect and workspace.found_by and workspace.found.name != workspace.dialect)

    @property
    def problems(self) -> list[Finding]:
        """What is wrong with the templates; a file that cannot be read at all says so in its health."""
        return self.state.findings

    @property
    def is_started_unknown(self) -> bool:
        """Whether nobody has said what runs are started with: it could override every prompt file."""
        return not (self.workspace.working_directory or self.workspace.run_variables)

    @property
    def moving_models(self) -> list[str]:
        """Settings with a model name that is an alias, which moves on to the next model."""
        lines = (line for one in self.state.orchestrators for line in scoring_settings(one).moving_models)
        return sorted(set(lines))[:PROBLEMS_SHOWN]


def detail_page(workspace: Workspace, now: datetime) -> WorkspacePage:
    """Everything about one workspace; whatever is found on disk is shown, not raised."""
    (state, *others), database = prompt_states_of([workspace]), database_of(workspace, now)
    system = state_of(workspace, FileKind.SYSTEM)
    return WorkspacePage(
        workspace=workspace,
        state=state,
        database=database,
        # The first thing on the page says why a folder is not used.
        health=[] if state.refusal else [*state.health, *_database_health(workspace, database)],
        others=others,
        runs=None if state.refusal else read_runs(workspace, NEWEST_RUNS, now),
        exports=newest_of(workspace, NEWEST_EXPORTS, now),
        system=system if system.is_of_use else None,
        stored_runs=list(stored_runs(workspace)[:NEWEST_RUNS]) if state.refusal else (),
    )


def _database_health(workspace: Workspace, database: DatabaseGlance) -> list[Finding]:
    if database.error is not None:
        return [replace(Finding.of(database.error, file=DATABASE_NAME), severity="warning", line=None)]
    if database.activity is None or not database.file.present:
        return []
    try:
        gaps = _(", ").join(map(str, store_of(workspace).gaps()))
    except LeaderboardError:
        return []
    if not gaps:
        return []
    return [
        Finding(
            "warning",
            _("The database is missing %(gaps)s.") % {"gaps": gaps},
            _("What can be read is shown. A current MixSeek creates what is missing with its next run."),
            file=DATABASE_NAME,
        )
    ]
