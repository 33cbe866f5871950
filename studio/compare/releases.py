"""What changes in each context and round between two formats of the same templates, or between two versions.

Used by the page about moving to a release, by the export page and by the page of a proposal."""

from dataclasses import dataclass
from functools import cached_property

from builder.errors import JailError
from builder.template.dialect import Dialect
from builder.template.variables import KINDS, PromptKind
from studio.compare.matrix import Column, Group, Table, columns_of, contexts_of
from studio.models import PromptSet
from studio.preview.cacheable_prefix import counter_of
from studio.prompts.texts import Templates


@dataclass(frozen=True)
class KindRow:
    """One template in all contexts; ``refusal`` says why there are no cells."""

    kind: PromptKind
    groups: tuple[Group, ...] = ()
    refusal: JailError | None = None


@dataclass(frozen=True)
class ReleaseMatrix:
    """Templates × contexts: what another format makes of the same text."""

    prompt_set: PromptSet
    templates: Templates
    old: Dialect
    new: Dialect
    before: Templates | None = None
    """The text to compare with, where it is another one."""

    @cached_property
    def _columns(self) -> tuple[list[Column], int]:
        return columns_of(contexts_of(self.prompt_set))

    @property
    def columns(self) -> list[Column]:
        return self._columns[0]

    @property
    def left_out(self) -> int:
        """Contexts that the table has no room for."""
        return self._columns[1]

    @cached_property
    def rows(self) -> list[KindRow]:
        return [self._row(kind) for kind in KINDS]

    def _row(self, kind: PromptKind) -> KindRow:
        text, before = self.templates.by_kind[kind], (self.before or self.templates).by_kind[kind]
        if (text, self.new) == (before, self.old):
            return KindRow(kind)
        table = Table(kind, self.new, self.columns, before, counter_of(self.prompt_set), self.old)
        try:
            return KindRow(kind, table.row(text))
        except JailError as refusal:
            return KindRow(kind, refusal=refusal)

    @property
    def changed(self) -> list[Column]:
        """The contexts in which any of the prompts changes."""
        return [column for column, groups in self.by_context if any(map(_is_changed, groups.values()))]

    @cached_property
    def by_context(self) -> list[tuple[Column, dict[PromptKind, Group]]]:
        """The same by context: the templates that are not the same, in all rounds of it."""
        return [
            (column, {row.kind: row.groups[number] for row in self.rows if row.groups})
            for number, column in enumerate(self.columns)
        ]

    @property
    def unchanged(self) -> list[Column]:
        """The contexts in which every prompt was tried and is the same."""
        return [
            column
            for column, groups in self.by_context
            if all(cell.state == "same" for group in groups.values() for cell in group.cells)
        ]

    @property
    def refusal(self) -> JailError | None:
        """Why one of the templates was not tried."""
        return next((row.refusal for row in self.rows if row.refusal), None)

    @property
    def is_complete(self) -> bool:
        """Whether everything was tried."""
        return all(
            row.groups and all(cell.state != "unknown" for group in row.groups for cell in group.cells)
            for row in self.rows
        )


def _is_changed(group: Group) -> bool:
    return any(cell.state not in ("same", "unknown") for cell in group.cells)
