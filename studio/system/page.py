"""The page of a system prompt: three texts, their sections, files, skills, kept builds. Used by its view."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.utils import formats
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from builder.system.builder import SkillCost
from builder.system.built_prompt import SEPARATOR, BuiltPrompt, ChangesWith, FileUse, Section, SkillUse
from builder.system.input import MODES, PromptMode
from studio.models import PromptSet, SystemBuild, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.findings import Finding
from studio.shell.charts.sections import Segment, patterns, section_bar
from studio.shell.charts.svg import Chart, Words
from studio.system.building import MOST_SKILLS, BuiltNow, build_now
from studio.system.builds import MOST_KEPT, keep_changes, kept_builds, newest_builds

MOST_SHOWN = 200_000
"""Characters of one text on the page; the file has them all."""
MOST_REMARKS = 50
NEWEST_KEPT = 10
MOST_SETS = 5


class Part(NamedTuple):
    """A section's text where it stands in the prompt, and what stands between it and the next one."""

    section: Section
    text: str
    after: str


@dataclass(frozen=True)
class Column:
    """The prompt in one mode: as it is now, or as it was last kept."""

    mode: PromptMode
    built: BuiltPrompt
    kept: SystemBuild | None = None

    @property
    def title(self) -> str:
        return mode_title(self.mode)

    @property
    def about(self) -> str:
        about: dict[PromptMode, str] = {
            "full": _("All sections with content."),
            "minimal": _("For subagents: tools, workspace, files, runtime."),
            "none": _("Only the identity line."),
        }
        return about[self.mode]

    @property
    def parts(self) -> Iterator[Part]:
        """Joined they are the text, as far as it is shown."""
        left, included = MOST_SHOWN, self.built.included
        for section in included:
            if left <= 0:
                return
            yield Part(section, section.text[:left], "" if section is included[-1] else SEPARATOR)
            left -= len(section.text)

    @property
    def is_cut(self) -> bool:
        return self.built.chars > MOST_SHOWN


@dataclass(frozen=True)
class SectionRow:
    """A section in the table."""

    section: Section
    share: float | None
    """Share of the prompt's bytes; none where it was left out."""

    @property
    def stability(self) -> str:
        words: dict[ChangesWith, str] = {
            "static": _("static"),
            "workspace": _("workspace"),
            "session": _("session"),
        }
        return words[self.section.stability]


@dataclass(frozen=True)
class FileRow:
    """A bootstrap file, and where it lies."""

    use: FileUse
    path: str


@dataclass(frozen=True)
class SkillRow:
    """A skill, and what it costs where that is known."""

    use: SkillUse
    cost: SkillCost | None


@dataclass(frozen=True)
class Sections:
    """The sections of one of several builds: a bar, a table, and what is to know."""

    now: BuiltNow
    mode: PromptMode
    """Whose sections are listed."""
    columns: Sequence[Column]

    @property
    def chosen(self) -> Column | None:
        return next((column for column in self.columns if column.mode == self.mode), None)

    @cached_property
    def rows(self) -> list[SectionRow]:
        return section_rows(self.chosen.built) if self.chosen else []

    @cached_property
    def bar(self) -> Chart:
        return _bar(self.mode, self.rows)

    @property
    def patterns(self) -> SafeString:
        return patterns()

    @property
    def stabilities(self) -> list[tuple[ChangesWith, str]]:
        """The legend of the bar."""
        known: tuple[ChangesWith, ...] = ("static", "workspace", "session")
        return [(changes_with, stability_title(changes_with)) for changes_with in known]

    @property
    def remarks(self) -> list[Finding]:
        return self.now.remarks[:MOST_REMARKS]

    @property
    def remarks_left(self) -> int:
        return max(len(self.now.remarks) - MOST_REMARKS, 0)


@dataclass(frozen=True)
class SystemPage(Sections):
    """The page before it is rendered."""

    workspace: Workspace
    kept: Sequence[SystemBuild]
    sets: Sequence[PromptSet]
    """Sets that hold a system prompt's settings."""

    @property
    def is_kept(self) -> bool:
        """Whether the page shows the past, because there is no build now."""
        return not self.now.builds and bool(self.columns)

    @property
    def modes(self) -> Sequence[PromptMode]:
        return MODES

    @property
    def most_kept(self) -> int:
        return MOST_KEPT

    @property
    def longest(self) -> BuiltPrompt | None:
        """The build whose files and skills are listed."""
        return next((column.built for column in self.columns if column.mode == "full"), None)

    @cached_property
    def files(self) -> list[FileRow]:
        folder, shown = self.now.folder or self.workspace.folder, self.workspace.shown_path
        return [
            FileRow(use, shown(folder / use.name)) for use in (self.longest.files if self.longest else ())
        ]

    @cached_property
    def skills(self) -> list[SkillRow]:
        if self.longest is None:
            return []
        costs = self.now.skill_costs(self.longest)
        return [SkillRow(use, costs.get(use.name)) for use in self.longest.skills[:MOST_SKILLS]]

    @property
    def skills_left(self) -> int:
        """How many more there are than the page lists."""
        return max(len(self.longest.skills) - MOST_SKILLS, 0) if self.longest else 0

    @property
    def skills_uncounted(self) -> bool:
        """Whether some of those listed were left uncounted, because others are so long."""
        return bool(self.now.builds) and any(row.use.reference and row.cost is None for row in self.skills)

    @cached_property
    def total(self) -> "Saving | None":
        costs = [row.cost for row in self.skills if row.cost]
        if not costs:
            return None
        return Saving(
            sum(cost.reference.tokens for cost in costs),
            sum(cost.inlined.tokens for cost in costs),
            all(cost.reference.exact and cost.inlined.exact for cost in costs),
        )


class Saving(NamedTuple):
    """What all skills cost together: as references, and with their whole texts."""

    reference: int
    inlined: int
    exact: bool

    @property
    def tokens(self) -> int:
        return self.inlined - self.reference

    @property
    def share(self) -> float:
        return 1 - self.reference / self.inlined if self.inlined else 0.0


def system_page(workspace: Workspace, mode: PromptMode | None, at: datetime, *, keep: bool) -> SystemPage:
    """The page; with ``keep``, what was not seen before is kept for later comparisons."""
    now = build_now(workspace)
    if keep:
        keep_changes(workspace, now.builds.values(), at)
    mode = mode or now.mode
    return SystemPage(
        now,
        mode,
        _columns(workspace, now),
        workspace,
        list(kept_builds(workspace, mode)[:NEWEST_KEPT]),
        list(PromptSet.objects.filter(holds=FileKind.SYSTEM, archived=False).order_by("name")[:MOST_SETS]),
    )


def section_rows(built: BuiltPrompt) -> list[SectionRow]:
    """Every section of a build, with its share of the bytes."""
    total = built.bytes
    return [
        SectionRow(section, None if section.reason else section.bytes / total if total else 0.0)
        for section in built.sections
    ]


def percent(value: float | None) -> str:
    """A share of one with a decimal, by locale; also less than nothing, where something costs more."""
    if value is None:
        return "–"
    figure = formats.number_format(round(value * 100, 1) or 0.0, decimal_pos=1, use_l10n=True)
    return f"{figure} %".replace("-", "−", 1)


def mode_title(mode: PromptMode) -> str:
    """A mode in a word."""
    titles: dict[PromptMode, str] = {
        "full": _("Full"),
        "minimal": _("Minimal"),
        "none": _("None (identity only)"),
    }
    return titles[mode]


def stability_title(stability: ChangesWith) -> str:
    """What makes a section change."""
    titles: dict[ChangesWith, str] = {
        "static": _("static: changes with the settings alone"),
        "workspace": _("workspace: changes with an edit of its files"),
        "session": _("session: changes with machine, model or session"),
    }
    return titles[stability]


def _columns(workspace: Workspace, now: BuiltNow) -> list[Column]:
    if now.builds:
        return [Column(mode, built) for mode, built in now.builds.items()]
    # What may not be looked into any more is not shown from memory either.
    if now.refusal is not None:
        return []
    return [Column(mode, kept.prompt, kept) for mode, kept in newest_builds(workspace).items()]


def _bar(mode: PromptMode, rows: Sequence[SectionRow]) -> Chart:
    shown = [(row.section, row.share) for row in rows if row.share is not None]
    said = [f"{section.title} {percent(share)}" for section, share in shown]
    words = Words(
        _("Sections of the system prompt in the mode “%(mode)s”") % {"mode": mode}, _(", ").join(said)
    )
    segments = [
        Segment(
            "–" if section.number is None else str(section.number),
            section.title,
            share,
            section.stability,
            f"{section.title}: {percent(share)} · {stability_title(section.stability)}",
        )
        for section, share in shown
    ]
    return section_bar("sections", segments, words)
