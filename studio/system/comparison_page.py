"""The page that compares two builds of a system prompt: what a cache would keep, and what differs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from django.utils import formats, timezone
from django.utils.translation import gettext as _

from builder.system.built_prompt import BuiltPrompt
from builder.system.cache_report import CACHE_MINIMUMS, CONTEXT, CacheMinimum, CacheReport
from builder.system.input import MODES, PromptMode
from studio.compare.versions import TextDiff, text_diff
from studio.models import LanguageModel, SystemBuild, Workspace
from studio.prompts.findings import Finding
from studio.shell.refusal import RequestRefused
from studio.system.building import BuiltNow, build_now
from studio.system.builds import build_before, kept_builds

NOW = "now/"
"""How the name of a present build begins; its mode follows. A kept one's name is its number."""


class Choice(NamedTuple):
    """A build that can be picked."""

    name: str
    title: str


@dataclass(frozen=True)
class ComparedBuild:
    """One of the two builds; without ``built`` where the folder gives none now."""

    name: str
    built: BuiltPrompt | None
    kept: SystemBuild | None = None

    @property
    def title(self) -> str:
        return kept_title(self.kept) if self.kept else now_title(self.name.removeprefix(NOW))


class Around(NamedTuple):
    """The text before the first difference, and what follows it on either side."""

    before: str
    old: str
    new: str


@dataclass(frozen=True)
class SystemComparison:
    """The page before it is rendered."""

    workspace: Workspace
    now: BuiltNow
    old: ComparedBuild
    new: ComparedBuild
    view: dict[str, Any]
    """What the address says of the rows: folded how, and which are open."""
    nothing_earlier: bool = False
    """Nobody chose, and there is no earlier build to begin with."""

    # The partial that draws rows asks for what they belong to.
    kind = "text"

    @property
    def obstacles(self) -> Sequence[Finding]:
        """Why there is no comparison."""
        return () if self.report else self.now.obstacles

    @cached_property
    def report(self) -> CacheReport | None:
        if self.old.built is None or self.new.built is None:
            return None
        return CacheReport(self.old.built, self.new.built, cache_minimums())

    @cached_property
    def same_parts(self) -> list[str]:
        """The sections, and the files of the one that differs, that are the same from the start on."""
        if self.report is None:
            return []
        names = []
        for one, other in zip(self.report.previous.sections, self.report.next.sections, strict=False):
            if one.text == other.text:
                names += [] if other.reason else [other.title]
                continue
            if other.id == "project_context":
                names += _same_files(self.report.previous, self.report.next)
            break
        return names

    @property
    def reaches(self) -> str:
        """The last part that is whole in the common beginning."""
        return self.same_parts[-1] if self.same_parts else ""

    @cached_property
    def around(self) -> Around | None:
        """Some characters on both sides of the first difference."""
        if self.report is None or self.report.is_same:
            return None
        at = self.report.common_chars
        old, new = self.report.previous.text, self.report.next.text
        return Around(new[max(at - CONTEXT, 0) : at], old[at : at + CONTEXT], new[at : at + CONTEXT])

    @cached_property
    def diff(self) -> TextDiff | None:
        if self.report is None:
            return None
        return text_diff(
            self.report.previous.text,
            self.report.next.text,
            ignore_whitespace=self.view["w"],
            opened=self.view["open"],
            unfold=self.view["all"],
        )

    @cached_property
    def present(self) -> list[Choice]:
        return [Choice(f"{NOW}{mode}", now_title(mode)) for mode in MODES]

    @cached_property
    def kept(self) -> list[Choice]:
        return [Choice(str(build.pk), kept_title(build)) for build in kept_builds(self.workspace)]


def system_comparison(workspace: Workspace, view: dict[str, Any], at: datetime) -> SystemComparison:
    """The two builds that the address names; a side that it does not name is the most telling one."""
    now = build_now(workspace)
    wanted_old, wanted_new = view["from"], view["to"]
    mode = _mode(workspace, wanted_new or wanted_old) or now.mode
    new = wanted_new or f"{NOW}{mode}"
    nothing_earlier = False
    if not wanted_old:
        present = now.builds.get(mode)
        earlier = build_before(workspace, mode, present.sha256 if present else "", at)
        nothing_earlier = earlier is None and not wanted_new
        # Without a past there are still the modes to be compared.
        wanted_old = str(earlier.pk) if earlier else f"{NOW}full"
        if nothing_earlier:
            new = f"{NOW}minimal"
    sides = _side(workspace, now, wanted_old), _side(workspace, now, new)
    return SystemComparison(workspace, now, *sides, view, nothing_earlier)


def cache_minimums() -> Sequence[CacheMinimum]:
    """From how many tokens on vendors keep a beginning: the studio's table, else the builder's."""
    models = LanguageModel.objects.filter(cache_minimum__isnull=False).order_by(
        "provider", "cache_minimum", "cache_step", "as_of", "name"
    )
    groups = groupby(
        models, lambda model: (model.provider, model.cache_minimum or 0, model.cache_step, model.as_of)
    )
    minimums = [
        CacheMinimum(
            provider or "–", _(", ").join(model.name for model in group), tokens, max(step, 1), as_of
        )
        for (provider, tokens, step, as_of), group in groups
    ]
    return minimums or CACHE_MINIMUMS


def now_title(mode: str) -> str:
    """A present build in a list."""
    return _("now, %(mode)s") % {"mode": mode}


def kept_title(build: SystemBuild) -> str:
    """A kept build in a list: its mode, when, and what somebody noted."""
    at = formats.date_format(timezone.localtime(build.at), "DATETIME_FORMAT")
    return " · ".join(part for part in (at, build.mode, build.note) if part)


def _side(workspace: Workspace, now: BuiltNow, name: str) -> ComparedBuild:
    for mode in MODES:
        if name == f"{NOW}{mode}":
            return ComparedBuild(name, now.builds.get(mode))
    kept = workspace.system_builds.filter(pk=int(name)).first()
    if kept is None:
        raise RequestRefused(
            404,
            _("This workspace has no such saved build."),
            _("It may have been deleted to make room for newer ones. Choose another one."),
        )
    # What may not be looked into any more is not shown from memory either.
    return ComparedBuild(name, None if now.refusal else kept.prompt, kept)


def _mode(workspace: Workspace, name: str) -> PromptMode | None:
    """The mode of a build that was named."""
    if name and not name.startswith(NOW):
        name = NOW + (
            workspace.system_builds.filter(pk=int(name)).values_list("mode", flat=True).first() or ""
        )
    return next((mode for mode in MODES if name == f"{NOW}{mode}"), None)


def _same_files(old: BuiltPrompt, new: BuiltPrompt) -> list[str]:
    names = []
    for one, other in zip(old.files, new.files, strict=False):
        if (one.name, one.injected) != (other.name, other.injected):
            break
        names.append(other.name)
    return names
