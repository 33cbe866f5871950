"""The reports of `manage.py drift`: which workspaces are out of step.

As text for a person, as JSON for a program, or as annotations of a code host.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from studio.models import PromptVersion, Workspace
from studio.prompts.findings import Finding
from studio.workspaces.models import LABELLED
from studio.workspaces.state import PromptFileState


class UnknownWorkspace(Exception):
    """What was named is no registered workspace."""

    def __init__(self, named: str) -> None:
        super().__init__(
            f"{named} is no registered workspace: name one by its address or its folder, or none for all."
        )


def chosen(names: Sequence[str]) -> list[Workspace]:
    """The workspaces that are named by address or folder; all on the list where none is."""
    everything = list(Workspace.objects.select_related(*LABELLED))
    if not names:
        return [workspace for workspace in everything if not workspace.archived]
    return list(dict.fromkeys(_named(name, everything) for name in names))


def _named(name: str, among: Sequence[Workspace]) -> Workspace:
    by_slug = [workspace for workspace in among if workspace.slug == name]
    by_path = [workspace for workspace in among if workspace.path == os.path.realpath(name)]
    if not by_slug and not by_path:
        raise UnknownWorkspace(name)
    return (by_slug or by_path)[0]


# --- for a person ------------------------------------------------------------------------


def as_text(states: Sequence[PromptFileState], here: Path) -> str:
    """One line for each workspace, and below it what is wrong and where."""
    lines = [line for state in states for line in _text_of(state, here)]
    drifted = sum(not state.in_step for state in states)
    if not states:
        lines.append("No workspace is registered.")
    elif drifted:
        lines.append(f"Out of sync: {drifted} of {len(states)}.")
    else:
        lines.append(f"In sync: all {len(states)}." if len(states) > 1 else "In sync.")
    return "".join(f"{_visible(line)}\n" for line in lines)


def _text_of(state: PromptFileState, here: Path) -> list[str]:
    mark = "✓" if state.in_step else "✗"
    lines = [f"{mark} {_name(state)}: {state.title}. {state.summary}"]
    if not state.in_step:
        lines.append(f"    {_place(state, here)}")
    for problem in _errors(state):
        lines.append(f"    line {problem['line']}: {problem['message']}")
    for finding in _loud(state):
        lines.append(f"    {finding.severity}: {finding.file}: {finding.text} {finding.advice}".rstrip())
    return lines


# --- for a program -----------------------------------------------------------------------


def as_json(states: Sequence[PromptFileState], here: Path) -> str:
    """A list of documents, one for each workspace."""
    return json.dumps([_document(state) for state in states], ensure_ascii=False, indent=2) + "\n"


def _document(state: PromptFileState) -> dict[str, Any]:
    label = state.label
    return {
        "workspace": state.workspace.slug,
        "name": state.workspace.name,
        "folder": state.workspace.path,
        "file": str(state.path),
        "read_by": [one.name for one in state.readers],
        "line": _line(state),
        "state": state.kind,
        "in_step": state.in_step,
        "summary": state.summary,
        "holds": _version(state.version) or None,
        "follows": {"label": label.name, **_version(label.version)} if label else None,
        "differs_in": list(state.changed_fields),
        "dialect": state.workspace.spoken.name,
        "sha256": state.sha256,
        "modified_at": state.modified_at.isoformat() if state.modified_at else None,
        "errors": _errors(state),
        "health": [
            {
                "severity": "note" if finding.severity == "hint" else finding.severity,
                "file": finding.file,
                "line": finding.line,
                "message": finding.text,
                "suggestion": finding.advice,
            }
            for finding in state.health
        ],
    }


def _version(version: PromptVersion | None) -> dict[str, Any]:
    return {} if version is None else {"set": version.prompt_set.slug, "version": version.number}


# --- for a code host ---------------------------------------------------------------------


def as_annotations(states: Sequence[PromptFileState], here: Path) -> str:
    """Errors and warnings that a code host shows on the line; nothing for what is in step."""
    return "".join(line for state in states for line in _annotations(state, here))


def _annotations(state: PromptFileState, here: Path) -> list[str]:
    slug, file = _name(state), _shown(state.path, here)
    lines = []
    if not state.in_step:
        lines.append(_annotation("error", file, _line(state), f"{slug}: {state.title}. {state.summary}"))
    for problem in _errors(state):
        lines.append(_annotation("error", file, problem["line"], f"{slug}: {problem['message']}"))
    for finding in _loud(state):
        # A variable stands in no file; it is the prompt file that it overrides.
        named = finding.file.startswith("$")
        place = file if named else _shown(Path(state.workspace.path) / finding.file, here)
        sentence = f"{slug}: {finding.file}: {finding.text} {finding.advice}".rstrip()
        lines.append(_annotation(finding.severity, place, finding.line or 1, sentence))
    return lines


def _annotation(level: str, file: str, line: int, sentence: str) -> str:
    return f"::{level} file={_escaped(file, ',:')},line={line}::{_escaped(_visible(sentence))}\n"


def _escaped(text: str, more: str = "") -> str:
    """A workflow command ends at a newline and its properties at a comma: both travel as %XX."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: dict[str, Callable[[Sequence[PromptFileState], Path], str]] = {
    "text": as_text,
    "json": as_json,
    "github": as_annotations,
}


# --- what all of them say ----------------------------------------------------------------


def _name(state: PromptFileState) -> str:
    """The workspace; with its file, where that is not the main one."""
    return f"{state.workspace.slug} ({state.relative})" if state.file.mark else state.workspace.slug


def _line(state: PromptFileState) -> int:
    """Where the file begins to differ: the first template that is another one, or the first error."""
    if errors := _errors(state):
        return int(errors[0]["line"])
    if state.content is None:
        return (state.error and state.error.line) or 1
    places = [
        state.content.places[name].line for name in state.changed_fields if name in state.content.places
    ]
    return min(places, default=state.content.table_line)


def _loud(state: PromptFileState) -> list[Finding]:
    return [finding for finding in state.health if finding.severity != "hint"]


def _errors(state: PromptFileState) -> list[dict[str, Any]]:
    return [
        {"line": problem.line, "column": problem.column, "code": problem.code, "message": problem.text()}
        for problem in state.errors
    ]


def _place(state: PromptFileState, here: Path) -> str:
    return f"{_shown(state.path, here)}:{_line(state)}"


def _shown(path: Path, here: Path) -> str:
    """As the person, or the code host, would write it: from where the command runs."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _visible(text: str) -> str:
    """Names out of a folder must not drive a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)
