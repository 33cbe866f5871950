"""What stands in the way of a workspace's prompt file: which file, what is the matter, what to do next."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.utils.translation import gettext as _

from builder.errors import BuilderError
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE
from builder.template.variables import FIELDS
from studio.models import Workspace
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused
from studio.workspaces.files import DOTENV_FILE, Location, ReadFile, variables_in_dotenv


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


def health_of(
    workspace: Workspace, folder: Path, location: Location, file: ReadFile, *, overridable: bool
) -> list[Health]:
    """Everything to know about a file that could be looked at, the worst first."""
    found = [
        *([of_error(file.error, file.name)] if file.error else []),
        *_named(folder, location, file),
        *(_overrides(workspace, folder) if overridable else ()),
        *_obstacles(location.path, folder, file),
        *_content(file),
    ]
    return sorted(found, key=lambda each: ("error", "warning", "note").index(each.severity))


def _named(folder: Path, location: Location, file: ReadFile) -> Iterator[Health]:
    if location.named is None:
        return
    orchestrator, line = str(ORCHESTRATOR_FILE), location.named.line
    if file.state.data is None:
        yield Health(
            "error",
            orchestrator,
            _("Line %(line)d names %(file)s, which does not exist: a run would fail to start.")
            % {"line": line, "file": file.name},
            _("Export a version, which makes the file, or correct the line."),
            line,
        )
        return
    yield Health(
        "note",
        orchestrator,
        _("Line %(line)d sets `prompt_builder_config`: MixSeek reads %(file)s.")
        % {"line": line, "file": file.name},
        _("So do this page, imports and exports."),
        line,
    )
    usual = folder / PROMPT_FILE
    if usual != location.path and usual.exists():
        yield Health(
            "warning",
            str(PROMPT_FILE),
            _("MixSeek does not read this file, because %(file)s names another one.")
            % {"file": f"{orchestrator}:{line}"},
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
    for found in variables_in_dotenv(folder):
        if found.name in names:
            yield Health(
                "warning",
                str(DOTENV_FILE),
                _(
                    "Line %(line)d sets %(name)s; a MixSeek started in this folder takes %(field)s "
                    "from there and not from the file."
                )
                % {"line": found.line, "name": found.name, "field": names[found.name]},
                _("Take the line out, or move its text into the file."),
                found.line,
            )


def _obstacles(path: Path, folder: Path, file: ReadFile) -> Iterator[Health]:
    language = reader_language()
    if file.obstacle is not None:
        yield Health("warning", file.name, file.obstacle.text(language), file.obstacle.advice(language))
    elif not _writable(path, folder):
        yield Health(
            "warning",
            file.name,
            _("The studio may not write into %(folder)s, so an export would fail.") % {"folder": path.parent},
            _("Let the user that the studio runs as write there, or export from an account that may."),
        )
    if owner := file.state.owner_warning:
        yield Health("warning", file.name, owner.text(language), owner.advice(language))


def _writable(path: Path, folder: Path) -> bool:
    """Whether a file could be made beside it: a replacement is a new file with the old name."""
    at = path.parent
    while at != folder and not at.exists():
        at = at.parent
    return os.access(at, os.W_OK | os.X_OK)


def _content(file: ReadFile) -> Iterator[Health]:
    content = file.content
    if content is None:
        return
    missing = [name for name in FIELDS if name not in content.values]
    if missing:
        yield Health(
            "warning",
            file.name,
            _("The file lacks %(fields)s; MixSeek uses its own default.") % {"fields": ", ".join(missing)},
            _("An export writes all three templates."),
            content.table_line,
        )
    if content.unknown:
        keys = ", ".join(f"{key.name} ({key.line})" for key in content.unknown[:5])
        yield Health(
            "note",
            file.name,
            _("MixSeek ignores what else the file has, by line: %(keys)s.") % {"keys": keys},
            _("An export keeps it, and every comment."),
        )
