"""The export plan: the file that each workspace would get, and what speaks against it.

Used by the export page before anybody confirms, by the confirmation itself, and by `manage.py export`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Literal

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.errors import (
    BuilderError,
    LimitExceeded,
    PromptFileError,
    PromptFileInvalid,
    PromptFileRefused,
    WorkspaceMissing,
)
from builder.messages import message
from builder.template.variables import FIELDS
from studio.compare.versions import TextDiff, text_diff
from studio.contexts.at_round import dialect_of
from studio.models import Label, PromptSet, PromptVersion, Workspace
from studio.preview.branches import branch_findings
from studio.preview.saving import Refused, shortcomings
from studio.prompts.findings import Finding, errors_of
from studio.prompts.texts import Templates
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused
from studio.workspaces.exports.models import hash_of
from studio.workspaces.roots import FolderRefused
from studio.workspaces.state import PromptFileState

Standing = Literal["new", "ready", "same", "edited", "refused"]
"""What is to be done at a workspace: make the file, change it, nothing, ask first, or nothing can be done."""

USUAL_LABEL = "production"
PROBLEMS_SHOWN = 5

NOT_TOML = message(
    "export-not-toml",
    "`prompt_builder_config` names {file}, which is no TOML file",
    "`prompt_builder_config` が指す {file} はTOMLファイルではありません",
    fix_en="Let it name a file that ends in `.toml`.",
    fix_ja="`.toml` で終わるファイルを指定してください。",
)
SAME_FILE = message(
    "export-same-file",
    "{file} is the file of {workspace}, too, which this export writes",
    "{file} は、このエクスポートで書き込む {workspace} のファイルでもあります",
    fix_en="Export to one of the two, or let `prompt_builder_config` name a file of its own.",
    fix_ja="どちらか一方にエクスポートするか、`prompt_builder_config` で別のファイルを指定してください。",
)


@dataclass(frozen=True)
class Target:
    """One workspace of a plan, with its file as it is and as it would be."""

    state: PromptFileState
    after: bytes | None = field(default=None, repr=False)
    refusal: BuilderError | FolderRefused | None = None
    """Why nothing can be written here."""
    unmergeable: PromptFileInvalid | None = None
    """Why the file cannot take templates as it is, so that all of it would be replaced."""
    opened: Sequence[range] = ()
    """Rows of the comparison that a person asked to see."""
    leaves_label: bool = False
    """Whether the workspace follows a label that points at another version."""

    @property
    def workspace(self) -> Workspace:
        return self.state.workspace

    @property
    def kind(self) -> str:
        """What the comparison's rows are called by in addresses."""
        return self.state.key

    @property
    def before(self) -> bytes | None:
        return self.state.data

    @property
    def hash_before(self) -> str:
        return hash_of(self.before)

    @property
    def standing(self) -> Standing:
        if self.refusal is not None:
            return "refused"
        if self.before is None:
            return "new"
        if self.before == self.after:
            return "same"
        return "edited" if self._holds_an_edit else "ready"

    @property
    def _holds_an_edit(self) -> bool:
        """Whether something would be lost that no version has: templates or, where the whole file would be
        replaced, what else stands in it."""
        if self.unmergeable is not None:
            return True
        if self.state.version is not None:
            return False
        return self.state.kind == "broken" or set(self.state.missing_fields) != set(FIELDS)

    @property
    def reason(self) -> str:
        """Why nothing can be written here, in the reader's language."""
        if isinstance(self.refusal, FolderRefused):
            return self.refusal.what
        return self.refusal.text(reader_language()) if self.refusal else ""

    @property
    def advice(self) -> str:
        if isinstance(self.refusal, FolderRefused):
            return self.refusal.advice
        return self.refusal.advice(reader_language()) if self.refusal else ""

    @cached_property
    def diff(self) -> TextDiff:
        """The file as it is beside the file as it would be."""
        return text_diff(readable(self.before), readable(self.after), opened=self.opened)

    @property
    def problems(self) -> list[Finding]:
        """The first problems of a file that no version equals."""
        return [Finding.of(problem) for problem in self.state.problems[:PROBLEMS_SHOWN]]

    @property
    def new_text(self) -> str:
        """The whole file as it would be."""
        return readable(self.after)

    @cached_property
    def edit(self) -> TextDiff | None:
        """What was changed by hand since the studio's own last write, where there was one."""
        last = self.state.last_export
        if self.standing != "edited" or last is None or last.after is None:
            return None
        diff = text_diff(readable(bytes(last.after)), readable(self.before))
        return diff if diff.state == "changed" else None

    @property
    def kept_in(self) -> PromptSet | None:
        """The set that an edit is kept in: the one that the workspace follows; None for the exported one."""
        return self.state.label.prompt_set if self.state.label else None


def chosen_version(prompt_set: PromptSet, number: int | None, label_name: str) -> tuple[PromptVersion, str]:
    """By label, by number, or what is usual: where `production` points, else the newest version."""
    labels = prompt_set.labels.select_related("version")
    if label_name:
        label = labels.filter(name=label_name).first()
        if label is None:
            raise RequestRefused(
                404,
                _("This set has no label «%(label)s».") % {"label": label_name},
                _("Move the label to a version first."),
            )
    else:
        label = labels.filter(name=USUAL_LABEL).first() if number is None else None
    version = (
        label.version if label else prompt_set.versions.filter(number=number or prompt_set.revision).first()
    )
    if version is None:
        raise RequestRefused(
            404,
            _("This set has no version %(number)d.") % {"number": number}
            if number
            else _("This set has no version yet, so there is nothing to export."),
            _("Look up the version's number in the history."),
        )
    # One object for both, so that the set is read once.
    version.prompt_set = prompt_set
    return version, label.name if label else ""


def plan(
    version: PromptVersion,
    states: Sequence[PromptFileState],
    *,
    owner: User,
    today: date,
    opened: Mapping[str, Sequence[range]] | None = None,
    moving: str = "",
) -> list[Target]:
    """Put the version's text into each of the files, in memory. ``moving`` is a label that moves along.

    Raises ``Refused`` for a version that may not be exported, since contexts may be newer than it is; and
    the jail's errors where nothing can be read or merged right now.
    """
    trial(version, states, owner=owner)
    rows = opened or {}
    targets = [_target(version, state, str(owner.pk), today, rows.get(state.key, ())) for state in states]
    return _each_file_once(
        [
            each if each.refusal else replace(each, leaves_label=_leaves(version, each.state.label, moving))
            for each in targets
        ]
    )


def _leaves(version: PromptVersion, label: Label | None, moving: str) -> bool:
    if label is None or (label.name == moving and label.prompt_set_id == version.prompt_set_id):
        return False
    return bool(label.version.content_hash != version.content_hash)


def trial(version: PromptVersion, states: Sequence[PromptFileState], *, owner: User) -> list[Finding]:
    """What is to know about the version in the formats of these workspaces: how it does in contexts that all
    sets share, and lines that nothing leads to. Raises ``Refused`` and the jail's errors."""
    dialects = {state.workspace.spoken for state in states}
    if not dialects or version.pk is None:
        # What is not saved yet has to pass what a save asks for, too.
        dialects.add(dialect_of(version.prompt_set))
    texts, found = version.templates, dict[Finding, None]()
    for dialect in sorted(dialects, key=lambda dialect: dialect.name):
        findings = shortcomings(version.prompt_set, texts, owner=owner, dialect=dialect)
        if isinstance(texts, Templates) and not errors_of(findings):
            findings += branch_findings(version.prompt_set, texts, dialect)
        if errors := errors_of(findings):
            raise Refused(errors)
        found |= dict.fromkeys(findings)
    return list(found)


def readable(data: bytes | None) -> str:
    """A file's text; bytes that are no UTF-8 show as what they are."""
    return (data or b"").decode("utf-8", "backslashreplace")


def _target(
    version: PromptVersion, state: PromptFileState, owner: str, today: date, opened: Sequence[range]
) -> Target:
    if refusal := _refusal(state):
        return Target(state, refusal=refusal)
    written, texts = state.file.written, version.templates
    unmergeable = None
    try:
        after = written(state.data, texts, today, state.relative, owner)
    except LimitExceeded as error:
        return Target(state, refusal=error)
    except PromptFileInvalid as error:
        unmergeable = error
        after = written(None, texts, today, state.relative, owner)
    return Target(state, after, None, unmergeable, opened)


def _refusal(state: PromptFileState) -> BuilderError | FolderRefused | None:
    """Why the file cannot be replaced, as far as a look at it tells; the write itself looks again."""
    if state.refusal is not None:
        return state.refusal
    if state.path.suffix.lower() != ".toml":
        # By mistake it may name the database itself; that is nothing to overwrite, not even knowingly.
        return PromptFileRefused(NOT_TOML, file=state.relative)
    if state.error is not None and state.data is None:
        # Where MixSeek looks is not known, or what stands there cannot be read.
        if not isinstance(state.error, PromptFileError | WorkspaceMissing):
            raise state.error
        return state.error
    return state.obstacle


def _each_file_once(targets: Sequence[Target]) -> list[Target]:
    """One workspace may lie within another, and both may name the same file."""
    first: dict[Path, Target] = {}
    for target in targets:
        if target.refusal is None:
            first.setdefault(target.state.path, target)
    return [
        target
        if target.refusal is not None or (known := first[target.state.path]) is target
        else replace(
            target,
            refusal=PromptFileRefused(SAME_FILE, file=str(target.state.path), workspace=known.workspace.name),
        )
        for target in targets
    ]
