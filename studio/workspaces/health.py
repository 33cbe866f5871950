"""The health of a workspace's file: what stands in its way, and what to do next. Used by the file's state.

An error keeps MixSeek or the studio from using the file.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from django.utils.translation import gettext as _

from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE
from builder.problems import Severity
from builder.template.dialect import MIXSEEK
from studio.models import Workspace
from studio.prompts.findings import Finding
from studio.workspaces.file_kinds import DOTENV_FILE, dotenv_variables
from studio.workspaces.roots import FolderRefused

if TYPE_CHECKING:
    from studio.workspaces.state import PromptFileState


def of_refusal(workspace: Workspace, refusal: FolderRefused) -> Finding:
    """A folder that the studio does not touch."""
    return Finding("error", refusal.what, refusal.advice, file=workspace.path)


def health_of(state: "PromptFileState") -> list[Finding]:
    """Everything to know about a workspace's file, the worst first."""
    if state.refusal is not None:
        return [of_refusal(state.workspace, state.refusal)]
    errors = [Finding.of(state.error, file=state.relative)] if state.error else []
    if state.folder is None or state.on_disk is None:
        return errors
    around = [*_readers(state), *_overrides(state, state.folder)] if state.file.overridable else []
    findings = [*errors, *_named(state), *around, *_obstacles(state, state.folder), *_content(state)]
    return sorted(findings, key=lambda finding: get_args(Severity).index(finding.severity))


def _named(state: "PromptFileState") -> Iterator[Finding]:
    if state.named is None or state.folder is None:
        return
    orchestrator, line = str(ORCHESTRATOR_FILE), state.named.line
    if state.data is None:
        yield Finding(
            "error",
            _("Line %(line)d refers to %(file)s, which does not exist: a run would fail to start.")
            % {"line": line, "file": state.relative},
            _("Export a version to create the file, or correct the line."),
            file=orchestrator,
            line=line,
        )
        return
    yield Finding(
        "hint",
        _("Line %(line)d sets `prompt_builder_config`: MixSeek reads %(file)s.")
        % {"line": line, "file": state.relative},
        _("This page, imports and exports use the same file."),
        file=orchestrator,
        line=line,
    )
    usual = state.folder / PROMPT_FILE
    if usual != state.path and usual.exists():
        yield Finding(
            "warning",
            _("MixSeek does not read this file, because %(file)s refers to another one.")
            % {"file": state.named_by},
            _("Remove the file, or remove the line."),
            file=str(PROMPT_FILE),
        )


def _readers(state: "PromptFileState") -> Iterator[Finding]:
    """Which orchestrator files read a prompt file, where that is not plain."""
    names = [one.name for one in state.readers]
    if state.data is None and names and state.file.mark:
        yield Finding(
            "error",
            _("%(orchestrators)s: a run would fail to start, because this file does not exist.")
            % {"orchestrators": _(", ").join(names)},
            _("Export a version to create the file, or correct the line."),
            file=state.relative,
        )
    elif names != [str(ORCHESTRATOR_FILE)] and names:
        yield Finding(
            "hint",
            _("Read by runs of %(orchestrators)s.") % {"orchestrators": _(", ").join(names)},
            file=state.relative,
        )
    elif not names and state.data is not None and state.orchestrators:
        yield Finding(
            "warning",
            _("No orchestrator file of this workspace reads this file."),
            _("Set it in one with `prompt_builder_config`, or remove it."),
            file=state.relative,
        )


def _overrides(state: "PromptFileState", folder: Path) -> Iterator[Finding]:
    workspace = state.workspace
    said = set[str]()
    for one in state.readers:
        for field, source in one.fields.items():
            if source in ("environment", "dotenv") and field not in said:
                said.add(field)
                yield Finding(
                    "warning",
                    _("According to the settings, runs are started with a variable that overrides %(field)s.")
                    % {"field": field},
                    _("Remove it where MixSeek is started, or move its text into the file."),
                    file="$" + MIXSEEK.environment_prefix + field.upper()
                    if source == "environment"
                    else f"{workspace.working_directory}/{DOTENV_FILE}",
                )
    if workspace.working_directory or workspace.run_variables:
        return
    for name, line in dotenv_variables(folder):
        yield Finding(
            "warning",
            _("Line %(line)d sets %(name)s, which overrides the file when MixSeek is started in this folder.")
            % {"line": line, "name": name},
            _("Remove the line, or move its text into the file."),
            file=str(DOTENV_FILE),
            line=line,
        )


def _obstacles(state: "PromptFileState", folder: Path) -> Iterator[Finding]:
    if state.obstacle is not None:
        yield replace(Finding.of(state.obstacle, file=state.relative), severity="warning")
    elif not state.workspace.is_remote and not _writable(state.path, folder):
        yield Finding(
            "warning",
            _("The studio has no write access to %(folder)s, so an export would fail.")
            % {"folder": state.path.parent},
            _("Give the user that runs the studio write access, or export from an account that has it."),
            file=state.relative,
        )
    if state.on_disk and not state.workspace.is_remote and (owner := state.on_disk.owner_warning):
        yield replace(Finding.of(owner, file=state.relative), line=None)


def _writable(path: Path, folder: Path) -> bool:
    """Whether a file could be made beside it: a replacement is a new file with the old name."""
    at = path.parent
    while at != folder and not at.exists():
        at = at.parent
    return os.access(at, os.W_OK | os.X_OK)


def _content(state: "PromptFileState") -> Iterator[Finding]:
    if state.content is None:
        return
    if missing := _(", ").join(state.missing_fields):
        yield Finding(
            "warning",
            _("The file has no %(fields)s; MixSeek uses its default.") % {"fields": missing},
            _("An export writes all three templates."),
            file=state.relative,
            line=state.content.table_line,
        )
    if unknown := state.content.unknown:
        keys = _(", ").join(f"{key.name} ({key.line})" for key in unknown[:5])
        yield Finding(
            "hint",
            _("MixSeek ignores other keys of the file (by line): %(keys)s.") % {"keys": keys},
            _("An export keeps them, and all comments."),
            file=state.relative,
        )
