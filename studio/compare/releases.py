"""What changes between two formats for the same templates: each context and round, as a matrix whose axis is
the release. Used by the page about moving to a release, and by the export page."""

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
        text = self.templates.by_kind[kind]
        table = Table(kind, self.new, self.columns, text, counter_of(self.prompt_set), self.old)
        try:
            return KindRow(kind, table.row(text))
        except JailError as refusal:
            return KindRow(kind, refusal=refusal)

    @property
    def changed(self) -> list[Column]:
        """The contexts in which any of the prompts changes."""
        slugs = {
            group.column.slug
            for row in self.rows
            for group in row.groups
            if any(cell.state not in ("same", "unknown") for cell in group.cells)
        }
        return [column for column in self.columns if column.slug in slugs]

    @property
    def is_complete(self) -> bool:
        """Whether everything was tried."""
        return all(
            row.groups and all(cell.state != "unknown" for group in row.groups for cell in group.cells)
            for row in self.rows
        )
