"""What stands in the way of a workspace's prompt file: which file, what is the matter, what to do next."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.utils.translation import gettext as _

from builder.errors import BuilderError
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE
from builder.template.variables import FIELDS
from studio.models import Workspace
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused
from studio.workspaces.file_kinds import DOTENV_FILE, dotenv_variables

if TYPE_CHECKING:
    from studio.workspaces.state import PromptFileState


@dataclass(frozen=True)
class Health:
    """One thing to know about a workspace. An error keeps MixSeek or the studio from using the file."""

    severity: Literal["error", "warning", "note"]
    file: str
    """The path inside the workspace, or what else is meant: a folder, a variable."""
    what: str
    next_step: str = ""
    line: int | None = None


def of_refusal(workspace: Workspace, refusal: RequestRefused) -> Health:
    """A folder that the studio does not touch."""
    return Health("error", workspace.path, refusal.what, refusal.advice)


def of_error(error: BuilderError, file: str) -> Health:
    """What the builder says about a file."""
    language = reader_language()
    return Health("error", file, error.text(language), error.advice(language), error.line)


def health_of(state: "PromptFileState") -> list[Health]:
    """Everything to know about a workspace's file, the worst first."""
    if state.refusal is not None:
        return [of_refusal(state.workspace, state.refusal)]
    errors = [of_error(state.error, state.relative)] if state.error else []
    if state.folder is None or state.found is None:
        return errors
    overrides = _overrides(state.workspace, state.folder) if state.file.overridable else ()
    found = [*errors, *_named(state), *overrides, *_obstacles(state, state.folder), *_content(state)]
    return sorted(found, key=lambda health: ("error", "warning", "note").index(health.severity))


def _named(state: "PromptFileState") -> Iterator[Health]:
    if state.named is None or state.folder is None:
        return
    orchestrator, line = str(ORCHESTRATOR_FILE), state.named.line
    if state.data is None:
        yield Health(
            "error",
            orchestrator,
            _("Line %(line)d names %(file)s, which does not exist: a run would fail to start.")
            % {"line": line, "file": state.relative},
            _("Export a version, which makes the file, or correct the line."),
            line,
        )
        return
    yield Health(
        "note",
        orchestrator,
        _("Line %(line)d sets `prompt_builder_config`: MixSeek reads %(file)s.")
        % {"line": line, "file": state.relative},
        _("So do this page, imports and exports."),
        line,
    )
    usual = state.folder / PROMPT_FILE
    if usual != state.path and usual.exists():
        yield Health(
            "warning",
            str(PROMPT_FILE),
            _("MixSeek does not read this file, because %(file)s names another one.")
            % {"file": state.named_by},
            _("Remove it, so that nobody edits it in vain, or take the line out."),
        )


def _overrides(workspace: Workspace, folder: Path) -> Iterator[Health]:
    names = {workspace.spoken.environment_prefix + field.upper(): field for field in FIELDS}
    for name in settings.STUDIO_MIXSEEK_VARIABLES:
        if name in names:
            yield Health(
                "warning",
                f"${name}",
                _(
                    "This environment variable is set where the studio runs; a MixSeek started with it takes "
                    "%(field)s from there and not from the file."
                )
                % {"field": names[name]},
                _("Unset it where MixSeek is started, or move its text into the file."),
            )
    for name, line in dotenv_variables(folder):
        if name in names:
            yield Health(
                "warning",
                str(DOTENV_FILE),
                _(
                    "Line %(line)d sets %(name)s; a MixSeek started in this folder takes %(field)s "
                    "from there and not from the file."
                )
                % {"line": line, "name": name, "field": names[name]},
                _("Take the line out, or move its text into the file."),
                line,
            )


def _obstacles(state: "PromptFileState", folder: Path) -> Iterator[Health]:
    language, name = reader_language(), state.relative
    if state.obstacle is not None:
        yield Health("warning", name, state.obstacle.text(language), state.obstacle.advice(language))
    elif not _writable(state.path, folder):
        yield Health(
            "warning",
            name,
            _("The studio may not write into %(folder)s, so an export would fail.")
            % {"folder": state.path.parent},
            _("Let the user that the studio runs as write there, or export from an account that may."),
        )
    if state.found and (owner := state.found.owner_warning):
        yield Health("warning", name, owner.text(language), owner.advice(language))


def _writable(path: Path, folder: Path) -> bool:
    """Whether a file could be made beside it: a replacement is a new file with the old name."""
    at = path.parent
    while at != folder and not at.exists():
        at = at.parent
    return os.access(at, os.W_OK | os.X_OK)


def _content(state: "PromptFileState") -> Iterator[Health]:
    if state.content is None:
        return
    if missing := ", ".join(state.missing_fields):
        yield Health(
            "warning",
            state.relative,
            _("The file lacks %(fields)s; MixSeek uses its own default.") % {"fields": missing},
            _("An export writes all three templates."),
            state.content.table_line,
        )
    if unknown := state.content.unknown:
        keys = ", ".join(f"{key.name} ({key.line})" for key in unknown[:5])
        yield Health(
            "note",
            state.relative,
            _("MixSeek ignores what else the file has, by line: %(keys)s.") % {"keys": keys},
            _("An export keeps it, and every comment."),
        )
