"""The page about another release of MixSeek: what it makes of a set's templates, and how to move there."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from django.contrib.auth.models import User

from builder.errors import JailError
from builder.template.defaults import default_templates
from builder.template.dialect import DIALECTS, MIXSEEK, Dialect
from builder.template.dialect_table import differences
from builder.template.formatters import NeutralisedTag
from builder.template.release_hints import is_based_on_default, release_hints
from builder.template.variables import KINDS, PromptKind
from studio.compare.releases import ReleaseMatrix
from studio.compare.rendered import PromptComparison
from studio.compare.versions import Panel, View
from studio.contexts.at_round import ContextAtRound, dialect_of
from studio.editor.conflicts import TemplateConflict, merged_template
from studio.editor.forms import EditorView
from studio.editor.page import EditorPage, open_editor
from studio.models import PromptSet, Workspace
from studio.prompts.findings import Finding
from studio.prompts.texts import Templates, user_prompts
from studio.shell.language import reader_language


class FormatDifference(NamedTuple):
    """A row of the table of what differs between the two."""

    title: str
    old: str
    new: str


class Side(NamedTuple):
    """A side of the comparison, as its partials name it."""

    title: str


@dataclass(frozen=True)
class ReleasePage:
    """A set's templates in two formats; the page before it is rendered."""

    editor: EditorPage
    person: User
    old: Side
    new: Side
    before: Dialect
    after: Dialect
    view: View
    asked: EditorView
    followers: Sequence[Workspace]

    @property
    def prompt_set(self) -> PromptSet:
        return self.editor.prompt_set

    @property
    def templates(self) -> Templates:
        """The person's draft where it holds changes, else the newest version."""
        return user_prompts(self.editor.sent.templates)

    @property
    def is_same(self) -> bool:
        return self.before == self.after

    @property
    def formats(self) -> list[Dialect]:
        return list(DIALECTS.values())

    @property
    def owner(self) -> str:
        return str(self.person.pk)

    @property
    def differences(self) -> list[FormatDifference]:
        """What differs between the two formats, in general."""
        language, names = reader_language(), list(DIALECTS)
        old, new = names.index(self.before.name), names.index(self.after.name)
        return [
            FormatDifference(row.title.fill(language, {}), *(cell.fill(language, {}) for cell in pair))
            for row in differences()
            for pair in [(row.cells[old], row.cells[new])]
            if pair[0] != pair[1]
        ]

    @cached_property
    def matrix(self) -> ReleaseMatrix:
        return ReleaseMatrix(self.prompt_set, self.templates, self.before, self.after)

    @property
    def kind(self) -> PromptKind:
        return self.asked.kind

    @property
    def at_round(self) -> ContextAtRound:
        return self.editor.at_round

    @cached_property
    def _compared(self) -> tuple[Panel | None, JailError | None]:
        compared = PromptComparison(
            self.templates, self.templates, self.after, self.at_round, self.view, self.owner, self.before
        )
        try:
            return compared.panel(self.kind), None
        except JailError as refusal:
            return None, refusal

    @property
    def panel(self) -> Panel | None:
        """The prompt of the chosen template in both formats."""
        return self._compared[0]

    @property
    def refusal(self) -> JailError | None:
        return self._compared[1]

    @property
    def neutralised(self) -> list[NeutralisedTag]:
        """Tags of the chosen context that the new format neutralises."""
        return self.at_round.neutralised(self.kind, self.after, self.templates.by_kind[self.kind])

    @cached_property
    def hints(self) -> list[Finding]:
        """What to change, or to look at."""
        return [
            Finding.of(problem, kind)
            for kind, text in self.templates.by_kind.items()
            for problem in release_hints(kind, text, self.before, self.after)
        ]

    @cached_property
    def merges(self) -> list[TemplateConflict]:
        """The new defaults, put together with templates that carry the old ones. Raises the jail's errors."""
        old, new = default_templates(self.before), default_templates(self.after)
        return [
            merged_template(kind, old[kind], self.templates.by_kind[kind], new[kind], owner=self.owner)
            for kind in KINDS
            if old[kind] != new[kind] and self.templates.by_kind[kind] != new[kind]
            if is_based_on_default(kind, self.templates.by_kind[kind], self.before)
        ]

    @property
    def pin(self) -> str:
        """Stands for what could be chosen: a choice made on another text is not taken."""
        told = (
            f"{self.templates.content_hash} {self.before.name} {self.after.name} {self.editor.sent.revision}"
        )
        return hashlib.sha256(told.encode()).hexdigest()[:32]

    @property
    def merging(self) -> list[TemplateConflict]:
        """``merges``, none where the jail takes no jobs."""
        try:
            return self.merges
        except JailError:
            return []

    @property
    def most_changed(self) -> EditorView:
        """The first cell of the table that changes, for whoever asks for none."""
        for row in self.matrix.rows:
            for group in row.groups:
                if group.worst.state == "changed":
                    return replace(
                        self.asked, kind=row.kind, context=group.column.slug, round=group.worst.round
                    )
        return self.asked


def release_page(
    prompt_set: PromptSet,
    person: User,
    asked: EditorView,
    before: Dialect | None,
    after: Dialect | None,
    view: View,
) -> ReleasePage:
    """From the set's own format to the newest, unless other ones are asked for. A set that has the newest
    is held against what a workspace that follows it runs, if that is another."""
    followers = list(
        Workspace.objects.filter(label__prompt_set=prompt_set, archived=False).select_related("label")
    )
    old = before or dialect_of(prompt_set)
    if after is None:
        others = [each.spoken for each in followers if each.spoken != old]
        after = MIXSEEK if old != MIXSEEK else others[0] if others else MIXSEEK
    editor = open_editor(prompt_set, person, asked)
    sides = Side(old.name), Side(after.name)
    return ReleasePage(editor, person, *sides, old, after, view, asked, followers)
