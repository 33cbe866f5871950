"""The page of the matrix: the versions, baseline and contexts that its address names, and its download."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from builder.cache.tokens import ESTIMATE, encoding_for
from builder.errors import JailError
from builder.template.variables import PromptKind, field_name
from studio.compare.forms import Picked
from studio.compare.matrix import Column, Group, MatrixCell, Table, columns_of, contexts_of
from studio.compare.versions import NoDraft, SideName, VersionOrDraft, known_range, missing_side
from studio.contexts.at_round import dialect_of
from studio.models import Draft, PromptSet, PromptVersion, SampleContext
from studio.preview.budgets import budget_of
from studio.preview.cacheable_prefix import counter_of
from studio.shell import downloads
from studio.shell.jail import status_of
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused

MOST_VERSIONS = 50
NEWEST = 8
"""Versions that are shown where nobody chose."""
OFFERED = 20
PLAIN_ROWS = 10
PLAIN_SECONDS = 4.0
"""Of a page without scripts; the next rows are a link away."""
ERRORS_SHOWN = 2
BASELINE_LABEL = "production"


@dataclass(frozen=True)
class Row:
    """A version of the table, and its cells once they are known."""

    side: VersionOrDraft
    text: str
    is_baseline: bool = False
    same_template: bool = False
    groups: tuple[Group, ...] | None = None
    refusal: JailError | None = None
    """Why there are no cells."""

    @property
    def id(self) -> str:
        return f"row-{self.side.name}"

    @property
    def version(self) -> PromptVersion | None:
        return self.side.version

    @property
    def is_partial(self) -> bool:
        return any(cell.state == "unknown" for group in self.groups or () for cell in group.cells)

    @property
    def errors(self) -> list[MatrixCell]:
        """Cells whose errors are not the same, a few of them."""
        cells = (cell for group in self.groups or () for cell in group.cells if cell.trouble)
        return list({(cell.line, cell.why): cell for cell in cells}.values())[:ERRORS_SHOWN]

    @property
    def status(self) -> int:
        return status_of(self.refusal)


@dataclass(frozen=True)
class MatrixPage:
    """A matrix before it is rendered."""

    prompt_set: PromptSet
    person: User
    clean: dict[str, Any]

    @property
    def kind(self) -> PromptKind:
        kind: PromptKind = self.clean["kind"] or "team"
        return kind

    @cached_property
    def draft(self) -> VersionOrDraft | None:
        draft = Draft.objects.unsaved(self.prompt_set, self.person)
        return VersionOrDraft(draft) if draft else None

    @cached_property
    def labels(self) -> dict[str, PromptVersion]:
        labels = self.prompt_set.labels.select_related("version").defer(
            *(f"version__{field_name(kind)}" for kind in ("team", "evaluator", "judgment"))
        )
        return {label.name: label.version for label in labels}

    # --- which versions ------------------------------------------------------------------

    @property
    def _versions(self) -> QuerySet[PromptVersion]:
        wanted = ("number", "message", "prompt_set", "created_at", field_name(self.kind))
        return self.prompt_set.versions.only(*wanted).prefetch_related("labels")

    @cached_property
    def baseline(self) -> VersionOrDraft:
        """What is asked for; else what `production` points at; else the newest version, else the draft."""
        chosen = self.clean["baseline"]
        if chosen == "draft" or (chosen is None and not self.prompt_set.revision):
            if self.draft is None:
                raise NoDraft
            return self.draft
        if isinstance(chosen, str) and chosen not in self.labels:
            raise RequestRefused(
                404, _("This set has no label “%(name)s”.") % {"name": chosen}, known_range(self.prompt_set)
            )
        label = chosen if isinstance(chosen, str) else BASELINE_LABEL if chosen is None else ""
        number = self.labels[label].number if label in self.labels else chosen or self.prompt_set.revision
        version = self._versions.filter(number=number).first()
        if version is None:
            raise missing_side(self.prompt_set, number)
        return VersionOrDraft(version)

    @property
    def baseline_label(self) -> str:
        """The label that the baseline was chosen by."""
        chosen = self.clean["baseline"]
        name = BASELINE_LABEL if chosen is None else chosen
        return name if isinstance(name, str) and name in self.labels and self.baseline.version else ""

    @cached_property
    def _found(self) -> list[PromptVersion]:
        """The versions of the table, the newest first; one more than shown tells that there are more."""
        picked: Picked = self.clean["versions"]
        wanted = Q(
            number__in=[version.number for name, version in self.labels.items() if name in picked.labels]
        )
        if picked:
            for span in picked.spans:
                wanted |= Q(number__gte=span.start, number__lt=span.stop)
        else:
            wanted |= Q(number__gt=self.prompt_set.revision - NEWEST)
            wanted |= Q(number__in=[version.number for version in self.labels.values()])
        versions = self._versions.filter(wanted)
        if (baseline := self.baseline.version) is not None:
            versions = versions.exclude(number=baseline.number)
        return list(versions[: MOST_VERSIONS + 1])

    @property
    def is_cut(self) -> bool:
        return len(self._found) > MOST_VERSIONS

    @cached_property
    def missing(self) -> list[str]:
        """What was asked for and is not there."""
        picked: Picked = self.clean["versions"]
        newest = self.prompt_set.revision
        spans = [f"v{span.start}" for span in picked.spans if span.start > newest]
        labels = [name for name in picked.labels if name not in self.labels]
        contexts = sorted({*self.clean["contexts"]} - {context.slug for context in self.contexts})
        return spans + labels + contexts + ([_("your draft")] if picked.draft and self.draft is None else [])

    @cached_property
    def sides(self) -> list[VersionOrDraft]:
        """The rows below the baseline: the draft, then the newest first."""
        picked: Picked = self.clean["versions"]
        sides = [VersionOrDraft(version) for version in self._found[:MOST_VERSIONS]]
        if self.draft and (picked.draft or not picked) and self.baseline.version:
            sides.insert(0, self.draft)
        return sides

    @cached_property
    def offered(self) -> list[PromptVersion]:
        """Versions to choose from: the newest, the labelled and those of the table."""
        numbers = [version.number for version in (*self.labels.values(), *self._found[:MOST_VERSIONS])]
        wanted = Q(number__gt=self.prompt_set.revision - OFFERED) | Q(number__in=numbers)
        versions = self.prompt_set.versions.filter(wanted).only("number", "message", "prompt_set")
        return list(versions.prefetch_related("labels"))

    @property
    def shown(self) -> set[int]:
        return {side.version.number for side in self.sides if side.version}

    @property
    def checked(self) -> set[int]:
        """Those chosen, the baseline with them: once another one is, it has its row."""
        return self.shown | ({self.baseline.version.number} if self.baseline.version else set())

    # --- the table -----------------------------------------------------------------------

    @cached_property
    def contexts(self) -> list[SampleContext]:
        """Contexts to choose from."""
        return contexts_of(self.prompt_set)

    @cached_property
    def chosen(self) -> list[SampleContext]:
        """Contexts of the table: all where none that is there was chosen."""
        wanted = set(self.clean["contexts"])
        return [context for context in self.contexts if context.slug in wanted] or self.contexts

    @cached_property
    def _columns(self) -> tuple[list[Column], int]:
        return columns_of(self.chosen)

    @property
    def columns(self) -> list[Column]:
        return self._columns[0]

    @property
    def left_out(self) -> int:
        """Contexts that the table has no room for."""
        return self._columns[1]

    @property
    def round_count(self) -> int:
        return sum(len(column.at_rounds) for column in self.columns)

    @cached_property
    def signature(self) -> str:
        """Of the columns: a row of others does not stand below them."""
        told = "\n".join(f"{column.slug} {len(column.at_rounds)}" for column in self.columns)
        return hashlib.sha256(told.encode()).hexdigest()[:12]

    @cached_property
    def opened(self) -> set[str]:
        """Contexts whose rounds have a column each."""
        if self.clean["all"]:
            return {column.slug for column in self.columns}
        return set(self.clean["open"])

    @property
    def any_open(self) -> bool:
        return any(column.slug in self.opened and len(column.at_rounds) > 1 for column in self.columns)

    @cached_property
    def table(self) -> Table:
        dialect = dialect_of(self.prompt_set)
        return Table(self.kind, dialect, self.columns, self._text(self.baseline), counter_of(self.prompt_set))

    @cached_property
    def budget(self) -> int | None:
        """Tokens that each prompt of the table may have."""
        return budget_of(self.prompt_set, self.kind)

    @property
    def tokenizer(self) -> str:
        """The vocabulary that the tokens are counted with; empty where they are an estimate."""
        return encoding_for(self.table.counter) or ""

    def _text(self, side: VersionOrDraft) -> str:
        return str(getattr(side.source, field_name(self.kind)))

    def _row(self, side: VersionOrDraft) -> Row:
        text = self._text(side)
        is_baseline = side.name == self.baseline.name
        return Row(side, text, is_baseline, not is_baseline and text == self.table.baseline)

    @cached_property
    def rows(self) -> list[Row]:
        """The baseline and the versions, with the cells that are known from before."""
        rows = [self._row(side) for side in (self.baseline, *self.sides)]
        return [replace(row, groups=self.table.known(row.text)) for row in rows]

    def worked_out(self, row: Row) -> Row:
        """The row with its cells, or why it has none."""
        try:
            return replace(row, groups=self.table.row(row.text), refusal=None)
        except JailError as refusal:
            return replace(row, groups=None, refusal=refusal)

    def one_row(self, name: SideName) -> Row:
        """One row of the table, worked out; 404 where there is no such version."""
        if name == self.baseline.name:
            return self.worked_out(self._row(self.baseline))
        if name == "draft" and self.draft:
            return self.worked_out(self._row(self.draft))
        version = None if name == "draft" else self._versions.filter(number=name).first()
        if version is None:
            raise missing_side(self.prompt_set, name)
        return self.worked_out(self._row(VersionOrDraft(version)))

    def some_rows(self, after: int) -> list[Row]:
        """Rows for a page without scripts: the baseline, and as many as there is time for."""
        until = time.monotonic() + PLAIN_SECONDS
        rows = [self.worked_out(self.rows[0])]
        for row in self.rows[1 + after : 1 + after + PLAIN_ROWS]:
            if len(rows) > 1 and time.monotonic() > until:
                break
            rows.append(self.worked_out(row))
        return rows

    def compare_url(self, row: Row, group: Group, cell: MatrixCell) -> str:
        """The rendered comparison that the cell is about."""
        address = reverse("prompt-compare", args=[self.prompt_set.slug, self.baseline.name, row.side.name])
        query: dict[str, str | int] = {"rendered": "on"}
        if group.column.context is not None:
            query |= {"context": group.column.slug, "round": cell.round}
        return f"{address}?{urlencode(query)}#{self.kind}"

    # --- the file ------------------------------------------------------------------------

    def download(self) -> downloads.Table:
        """One line for each version, context and round, worked out as the file is sent."""
        columns = (
            "version", "baseline", "template", "context", "round", "state", "lines_added", "lines_removed",
            "tokens", "tokens_difference", "tokenizer", "budget", "over_budget", "error",
        )  # fmt: skip
        name = f"{self.prompt_set.slug}-matrix-{self.kind}"
        return downloads.Table(name, columns, self._lines(), is_cut=False)

    def _lines(self) -> Iterator[Sequence[downloads.Cell]]:
        for row in self.rows:
            done = row if row.groups else self.worked_out(row)
            about = (done.side.file_name, self.baseline.file_name, self.kind)
            if done.refusal is not None:
                why = done.refusal.text(reader_language())
                yield (*about, None, None, "unknown", *[None] * 7, why)
            for group in done.groups or ():
                for cell in group.cells:
                    counted = (cell.added, cell.removed, cell.tokens, cell.tokens_more, *self._against(cell))
                    yield (*about, group.column.slug, cell.round, cell.state, *counted, cell.why or None)

    def _against(self, cell: MatrixCell) -> tuple[str, int | None, bool | None]:
        """Who counted, the budget, and whether the cell is over it; None where an estimate cannot say."""
        fill = cell.fill(self.budget)
        return self.tokenizer or ESTIMATE, self.budget, fill == "over" if fill in ("over", "within") else None
