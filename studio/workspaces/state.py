"""Is a file of a workspace in step: which version it holds, and which one it should."""

import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from django.db.models import Max, Q
from django.utils.translation import gettext as _

from builder.errors import BuilderError, JailError, PromptFileInvalid
from builder.files.reading import ORCHESTRATOR_FILE
from builder.jail import MISSING_FIELD, PromptFile
from builder.problems import Problem
from builder.template.variables import FIELDS
from studio.models import Export, Label, PromptVersion, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import Texts, unix_line_ends
from studio.workspaces.exports.models import Outcome
from studio.workspaces.file_kinds import HeldFile, held_file
from studio.workspaces.files import Location, ReadFile
from studio.workspaces.health import Health, health_of, of_error, of_refusal
from studio.workspaces.roots import FolderMissing, FolderRefused, require_allowed

Kind = Literal["in_sync", "behind", "edited", "unknown", "missing", "broken", "unchecked"]


@dataclass(frozen=True)
class PromptFileState:
    """One file of a workspace at this moment, beside the versions that the studio has."""

    workspace: Workspace
    kind: Kind
    path: Path
    """The file that MixSeek reads; it need not exist."""
    relative: str
    """The same, as seen from the workspace."""
    named_by: str = ""
    """`configs/orchestrator.toml:4` where that file says where the prompt file is."""
    data: bytes | None = field(default=None, repr=False)
    sha256: str | None = None
    modified_at: datetime | None = None
    owner: str = ""
    content: PromptFile | None = field(default=None, repr=False)
    """What a prompt file says, where it can be understood at all."""
    templates: Texts | None = field(default=None, repr=False)
    """What a version would hold, where all of it is there."""
    version: PromptVersion | None = None
    """The version whose text this is: of the set that is followed, else of any."""
    labels: tuple[Label, ...] = ()
    """Those that point at that version."""
    expected: PromptVersion | None = None
    """Where the label points that the workspace follows."""
    last_export: Export | None = None
    """The newest one that has reached the file."""
    problems: tuple[Problem, ...] = ()
    """Of a file that no version equals: errors and warnings by line."""
    error: BuilderError | None = None
    """Why nothing is known about the templates: unreadable, refused, or the jail has stopped."""
    health: tuple[Health, ...] = ()
    holds: str = FileKind.PROMPTS
    """Which of the workspace's files it is."""

    @property
    def label(self) -> Label | None:
        """The one that the workspace follows with this file."""
        return held_file(self.holds).label_of(self.workspace)

    @property
    def size(self) -> int | None:
        return None if self.data is None else len(self.data)

    @property
    def missing_fields(self) -> tuple[str, ...]:
        """Those that MixSeek fills in with its own default."""
        return (
            () if self.content is None else tuple(name for name in FIELDS if name not in self.content.values)
        )

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What keeps MixSeek from using the templates; that one is missing does not, for it has defaults."""
        return _errors_in(self.problems)

    @property
    def in_step(self) -> bool:
        """Whether there is nothing to do: what is followed is there, or nothing is followed at all."""
        return self.kind == "in_sync" or (
            self.label is None and self.kind in ("unknown", "missing") and self.last_export is None
        )

    @property
    def is_of_use(self) -> bool:
        """Whether there is anything to say: a file, one that was written, or a label that is followed."""
        return self.data is not None or self.label is not None or self.last_export is not None

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """The templates that differ from those of the expected version, or of the last export."""
        wanted = self.expected or (self.last_export and self.last_export.version)
        if self.content is None or wanted is None:
            return ()
        found = {name: unix_line_ends(text) for name, text in self.content.values.items()}
        return tuple(name for name in FIELDS if found.get(name) != getattr(wanted, name))

    @property
    def is_elsewhere(self) -> bool:
        """The file holds a version of another set than the one that it should."""
        if self.kind != "behind" or self.version is None or self.expected is None:
            return False
        return bool(self.version.prompt_set_id != self.expected.prompt_set_id)

    @property
    def is_ahead(self) -> bool:
        """The file holds a newer version than the label points at."""
        if self.kind != "behind" or self.version is None or self.expected is None or self.is_elsewhere:
            return False
        return bool(self.version.number > self.expected.number)

    @property
    def title(self) -> str:
        """The state in one or two words."""
        if self.is_elsewhere:
            return _("Another set")
        if self.is_ahead:
            return _("Ahead")
        titles: dict[Kind, str] = {
            "in_sync": _("In sync"),
            "behind": _("Behind"),
            "edited": _("Edited by hand"),
            "unknown": _("Unknown"),
            "missing": _("Missing"),
            "broken": _("Broken"),
            "unchecked": _("Not checked"),
        }
        return titles[self.kind]

    @property
    def worst(self) -> Health | None:
        """What the list says beside the state, because MixSeek or the studio cannot go on."""
        return next((each for each in self.health if each.severity == "error"), None)

    @property
    def summary(self) -> str:
        """The state in one sentence."""
        version, expected, label = self.version, self.expected, self.label
        if version is not None:
            holds = {"set": version.prompt_set.name, "number": version.number}
            if label is None or expected is None:
                return _("The file holds v%(number)d of «%(set)s».") % holds
            if self.kind == "in_sync":
                return _("The file holds v%(number)d of «%(set)s», where %(label)s points.") % {
                    **holds,
                    "label": label.name,
                }
            pointed = {"label": label.name, "wanted": expected.number, "followed": label.prompt_set.name}
            if version.prompt_set_id == expected.prompt_set_id:
                return _("The file holds v%(number)d; %(label)s points at v%(wanted)d.") % {
                    **holds,
                    **pointed,
                }
            return _(
                "The file holds v%(number)d of «%(set)s»; %(label)s of «%(followed)s» points at v%(wanted)d."
            ) % {**holds, **pointed}
        if self.kind == "edited" and self.last_export and self.last_export.hash_after == self.sha256:
            return _("The file is as the last undo left it: no version has this text.")
        sentences: dict[Kind, str] = {
            "edited": _("Somebody has edited the file since the last export: no version has this text."),
            "unknown": _("No version has this text, and the studio has never written here."),
            "missing": _("There is no system prompt's file.")
            if self.holds == FileKind.SYSTEM
            else _("There is no prompt file."),
            "broken": _("This file could not be used.")
            if self.holds == FileKind.SYSTEM
            else _("MixSeek could not use this file."),
            "unchecked": _("The studio has not read the file."),
        }
        return sentences.get(self.kind, "")


def state_of(workspace: Workspace, holds: str = FileKind.PROMPTS) -> PromptFileState:
    """The state of one file; whatever is found on disk is told, not raised."""
    return states_of([workspace], holds)[0]


def states_of(workspaces: Iterable[Workspace], holds: str = FileKind.PROMPTS) -> list[PromptFileState]:
    """The states of many, for the price of a few queries; a file that stayed as it was is not read again."""
    held = held_file(holds)
    looks = [_look(workspace, held) for workspace in workspaces]
    versions = _Versions([look for look in looks if look.content_hash])
    exports = _last_exports([look.workspace for look in looks], held)
    return [_state(look, versions, exports.get(look.workspace.pk)) for look in looks]


def every_state_of(workspaces: Sequence[Workspace]) -> list[PromptFileState]:
    """Each prompt file's, and after it the system prompt's where the workspace has to do with one."""
    systems = states_of(workspaces, FileKind.SYSTEM)
    found: list[PromptFileState] = []
    for state, system in zip(states_of(workspaces), systems, strict=True):
        found.append(state)
        if system.is_of_use:
            found.append(system)
    return found


# --- what is on disk ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    workspace: Workspace
    held: HeldFile
    location: Location
    folder: Path | None = None
    file: ReadFile | None = None
    refusal: FolderRefused | None = None
    error: BuilderError | None = None

    @property
    def name(self) -> str:
        """How the file is called inside its workspace."""
        path, folder = self.location.path, self.folder or self.workspace.folder
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

    @cached_property
    def content_hash(self) -> str:
        """Of the texts; empty where they are not all there."""
        return self.texts.content_hash if self.texts else ""

    @cached_property
    def texts(self) -> Texts | None:
        return self.held.texts(self.file) if self.file else None

    @property
    def label(self) -> Label | None:
        return self.held.label_of(self.workspace)


def _look(workspace: Workspace, held: HeldFile) -> _Look:
    location = Location(workspace.folder / held.usual)
    try:
        folder = require_allowed(workspace)
    except FolderRefused as refusal:
        return _Look(workspace, held, location, refusal=refusal)
    try:
        location = held.locate(folder)
        return _Look(workspace, held, location, folder, held.read(location.path, folder))
    except BuilderError as error:
        return _Look(workspace, held, location, folder, error=error)


# --- what the studio has -----------------------------------------------------------------


class _Versions:
    """The versions that the files found hold, looked up together."""

    def __init__(self, looks: Sequence[_Look]) -> None:
        hashes = {look.content_hash for look in looks}
        followed = {label.prompt_set_id for look in looks if (label := look.label)}
        matching = PromptVersion.objects.filter(content_hash__in=hashes)
        # The default templates may be version 1 of a thousand sets: the newest will do.
        newest = matching.values("content_hash").annotate(newest=Max("pk")).values_list("newest", flat=True)
        of_followed = (
            matching.filter(prompt_set__in=followed)
            .values("content_hash", "prompt_set")
            .annotate(newest=Max("pk"))
            .values_list("newest", flat=True)
        )
        wanted = {label.version_id for look in looks if (label := look.label)}
        found = (
            PromptVersion.objects.filter(
                Q(pk__in=newest) | Q(pk__in=of_followed) | Q(pk__in=wanted, content_hash__in=hashes)
            )
            .select_related("prompt_set")
            .prefetch_related("labels")
            .order_by("pk")
        )
        self._found = list(found) if hashes else []

    def of(self, look: _Look) -> PromptVersion | None:
        equal = [version for version in self._found if version.content_hash == look.content_hash]
        label = look.label
        if label is not None:
            of_set = [version for version in equal if version.prompt_set_id == label.prompt_set_id]
            pointed_at = [version for version in of_set if version.pk == label.version_id]
            equal = pointed_at or of_set or equal
        return equal[-1] if equal else None


def _last_exports(workspaces: Sequence[Workspace], held: HeldFile) -> dict[int, Export]:
    reached = Export.objects.filter(
        workspace__in=[each.pk for each in workspaces],
        holds=held.holds,
        receipt__outcome__in=(Outcome.WRITTEN, Outcome.UNCHANGED),
    )
    newest = reached.values("workspace").annotate(newest=Max("pk")).values_list("newest", flat=True)
    found = (
        Export.objects.filter(pk__in=newest)
        .select_related("version__prompt_set", "receipt", "by")
        .defer("before", "after")
    )
    return {export.workspace_id: export for export in found}


# --- the two beside each other -----------------------------------------------------------


def _state(look: _Look, versions: _Versions, last_export: Export | None) -> PromptFileState:
    file, label, location = look.file, look.label, look.location
    version = versions.of(look) if look.content_hash else None
    problems: tuple[Problem, ...] = ()
    error = look.error or (file.error if file else None)
    if version is None and file is not None and file.error is None and file.state.data is not None:
        try:
            problems = tuple(look.held.problems(file))
        except JailError as stopped:
            error = stopped
    found = file.state if file and file.state.data is not None else None
    return PromptFileState(
        workspace=look.workspace,
        kind=_kind(look, version, problems, error, last_export),
        path=location.path,
        relative=look.name,
        named_by=f"{ORCHESTRATOR_FILE}:{location.named.line}" if location.named else "",
        data=found.data if found else None,
        sha256=found.sha256 if found else None,
        modified_at=datetime.fromtimestamp(found.modified_ns / 1e9, UTC) if found else None,
        owner=_user(found.uid) if found else "",
        content=file.content if file else None,
        templates=look.texts,
        version=version,
        labels=tuple(version.labels.all()) if version else (),
        expected=label.version if label else None,
        last_export=last_export,
        problems=problems,
        error=error,
        health=tuple(_health(look, error)),
        holds=look.held.holds,
    )


def _kind(
    look: _Look,
    version: PromptVersion | None,
    problems: Sequence[Problem],
    error: BuilderError | None,
    last_export: Export | None,
) -> Kind:
    label = look.label
    if look.refusal is not None:
        return "missing" if isinstance(look.refusal, FolderMissing) else "unchecked"
    if error is not None:
        return "broken" if isinstance(error, PromptFileInvalid) else "unchecked"
    if look.file is None or look.file.state.data is None:
        return "missing"
    if version is not None:
        return "in_sync" if label is None or version.pk == label.version_id else "behind"
    if _errors_in(problems):
        return "broken"
    return "edited" if last_export is not None else "unknown"


def _errors_in(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    return tuple(each for each in problems if each.severity == "error" and each.code != MISSING_FIELD)


def _health(look: _Look, error: BuilderError | None) -> list[Health]:
    if look.refusal is not None:
        return [of_refusal(look.workspace, look.refusal)]
    if look.folder is None or look.file is None:
        return [of_error(error, look.name)] if error else []
    found = health_of(
        look.workspace, look.folder, look.location, look.file, overridable=look.held.overridable
    )
    return [of_error(error, look.name), *found] if isinstance(error, JailError) else found


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
