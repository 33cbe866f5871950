"""The orchestrator files of a workspace and what scores are measured with there.

Used by the workspace's page, its health, exports and attribution. Files are read by the jail, each text once.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from builder.errors import PromptFileInvalid
from builder.jail import PromptFile
from builder.orchestrators.finder import Orchestrator, Part, find, orchestrator_files
from builder.orchestrators.scoring_settings import ScoringSettings, scoring_settings
from studio.models import ScoringRecord, Workspace
from studio.shell.jail import pool
from studio.workspaces.jail_answers import once_per_file
from studio.workspaces.roots import LONGEST_PATH, FolderRefused, require_allowed, roots

MOST_SHOWN = 50
Answer = TypeVar("Answer")


def orchestrators_of(workspace: Workspace) -> list[Orchestrator]:
    """Every orchestrator file with the files that a run of it reads, as the settings say runs are started.

    Raises the jail's errors; a folder that may not be looked into has none.
    """
    try:
        folder = require_allowed(workspace)
    except FolderRefused:
        return []
    return orchestrators_in(workspace, folder)


def orchestrators_in(workspace: Workspace, folder: Path) -> list[Orchestrator]:
    """The same where the folder is known to be allowed."""
    listed = orchestrator_files(folder, roots=roots())
    names = [name for name in listed if len(name) <= LONGEST_PATH][:MOST_SHOWN]
    found = (find(folder, name, workspace.surroundings, reader=_reader, roots=roots()) for name in names)
    return [orchestrator for orchestrator in found if orchestrator.is_one]


def readers_of(path: Path, orchestrators: Sequence[Orchestrator]) -> list[str]:
    """The orchestrator files, by name, whose runs read this prompt file."""
    return [orchestrator.name for orchestrator in orchestrators if orchestrator.prompts.path == path]


# --- what scores are measured with -------------------------------------------------------


def scoring_of_run(
    orchestrators: Sequence[Orchestrator], teams: Collection[str], prompts: Collection[Path]
) -> tuple[str, ScoringSettings] | None:
    """The orchestrator file that a run of these teams was started with, and its settings as they are now.

    The database does not name it: it is the one with these teams and, among several, one whose prompt file
    made the prompts. None where files with different settings remain. The release is left out, for a run's
    prompts tell it.
    """
    fitting = [one for one in orchestrators if set(teams) and set(teams) <= one.team_ids]
    closest = [one for one in fitting if one.team_ids == set(teams)] or fitting
    of_prompts = [one for one in closest if one.prompts.path in prompts] or closest
    settings = {one.name: scoring_settings(one) for one in of_prompts}
    if len({some.sha256 for some in settings.values()}) != 1:
        return None
    name = next(iter(settings)) if len(settings) == 1 else ""
    return name, next(iter(settings.values()))


def kept(settings: ScoringSettings, at: datetime) -> ScoringRecord:
    """The record of these settings, stored once."""
    record: ScoringRecord
    record, _made = ScoringRecord.objects.get_or_create(
        sha256=settings.sha256, defaults={"content": settings.as_json(), "at": at}
    )
    return record


# --- through the jail, each text once ----------------------------------------------------


class _Reader:
    def read(self, data: bytes, name: str) -> PromptFile:
        return _answered("prompt file", data, name, lambda: pool().read(data, name))

    def config_table(self, data: bytes, name: str, part: Part) -> dict[str, Any] | None:
        return _answered(part, data, name, lambda: pool().config_table(data, name, part))


_reader = _Reader()


def _answered(job: str, data: bytes, name: str, ask: Callable[[], Answer]) -> Answer:
    def answer() -> Answer | PromptFileInvalid:
        try:
            return ask()
        except PromptFileInvalid as error:
            return error

    answered = once_per_file(f"{job} of an orchestrator", data, name, answer)
    if isinstance(answered, PromptFileInvalid):
        raise answered
    return answered
