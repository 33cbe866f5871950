"""The page of a comparison: two texts of a set as they are written or rendered. Used by its views."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from builder.errors import JailError
from studio.compare.forms import CompareForm
from studio.compare.rendered import PromptComparison
from studio.compare.versions import (
    Panel,
    SideName,
    VersionOrDraft,
    View,
    changes_in,
    sides,
    unified_text,
    written_panel,
)
from studio.contexts.at_round import ContextAtRound, chosen_context, context_at, dialect_of
from studio.models import Draft, PromptSet, SampleContext
from studio.prompts.findings import Finding
from studio.prompts.texts import TextKind, user_prompts
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused

VERSIONS_OFFERED = 50
"""The newest; labelled ones and those on the page are offered beside them."""
LONGEST_MESSAGE = 60


@dataclass(frozen=True)
class Offer:
    """One side that can be chosen: a version with its message and labels, or the draft."""

    name: SideName
    title: str


def offers(prompt_set: PromptSet, person: User, *shown: SideName) -> list[Offer]:
    """What a comparison of the set can be made of, the draft first, then the newest."""
    labelled: dict[int, list[str]] = {}
    for label, number in sorted(prompt_set.pointers.items()):
        labelled.setdefault(number, []).append(label)
    others = {name for name in shown if name != "draft"}.union(labelled)
    versions = prompt_set.versions.filter(
        Q(number__gt=prompt_set.revision - VERSIONS_OFFERED) | Q(number__in=others)
    )
    has_draft = "draft" in shown or Draft.objects.unsaved(prompt_set, person)
    offered = [Offer("draft", _("Draft"))] if has_draft else []
    for number, message in versions.order_by("-number").values_list("number", "message"):
        title = f"v{number} ({_(', ').join(labelled[number])})" if number in labelled else f"v{number}"
        offered.append(Offer(number, f"{title} · {Truncator(message).chars(LONGEST_MESSAGE)}"))
    return offered


@dataclass(frozen=True)
class ComparePage:
    """A comparison before it is rendered."""

    prompt_set: PromptSet
    old: VersionOrDraft
    new: VersionOrDraft
    form: CompareForm
    contexts: Sequence[SampleContext]
    asked: ContextAtRound
    """The context at the round of the address, or at its last one."""
    person: User

    @property
    def is_rendered(self) -> bool:
        return bool(self.form.cleaned_data["rendered"]) and self.prompt_set.file_kind.has_templates

    @property
    def is_same(self) -> bool:
        """Whether there is nothing to compare, be it one version twice or a restored one."""
        return self.old.templates == self.new.templates

    @cached_property
    def view(self) -> View:
        return View.of(self.form.cleaned_data)

    @cached_property
    def prompts(self) -> PromptComparison | None:
        if not self.is_rendered:
            return None
        return PromptComparison(
            user_prompts(self.old.templates),
            user_prompts(self.new.templates),
            dialect_of(self.prompt_set),
            self.asked,
            self.view,
            owner=str(self.person.pk),
        )

    @cached_property
    def at_round(self) -> ContextAtRound:
        """The context at the round that is shown: where nobody chose one, the first that changes."""
        if self.prompts is None or self.form.cleaned_data["round"]:
            return self.asked
        return replace(self.asked, round=self.prompts.first_changed[0])

    @cached_property
    def panels(self) -> list[Panel]:
        """The texts; where the jail is off, as they are written."""
        panels: list[Panel] = []
        if self.prompts:
            chosen = self.form.cleaned_data["round"]
            panels = list(self.prompts.rendered[0] if chosen else self.prompts.first_changed[1])
        for kind in self.prompt_set.kinds[len(panels) :]:
            panels.append(self._written(kind, panels))
        return panels

    @property
    def changes(self) -> int:
        return changes_in(self.panels)

    @property
    def status(self) -> int:
        """The answer's status: an error in a template is no error of the request."""
        return status_of(self.prompts.refusal) if self.prompts else 200

    @property
    def offers(self) -> list[Offer]:
        return offers(self.prompt_set, self.person, self.old.name, self.new.name)

    def panel(self, kind: TextKind) -> Panel:
        """One text alone; what keeps it from being there is a problem of the request."""
        if kind not in self.prompt_set.kinds:
            raise RequestRefused(404, _("There are no such rows."))
        if self.prompts is None or kind == "system":
            return self._written(kind)
        try:
            return self.prompts.panel(kind, self.at_round.round)
        except JailError as error:
            said = Finding.of(error)
            raise RequestRefused(status_of(error), said.text, said.advice) from error

    def unified(self) -> str:
        """The texts, or their prompts, as ``diff -u`` prints them."""
        return "".join(self._unified(self.panel(kind)) for kind in self.prompt_set.kinds)

    def _unified(self, panel: Panel) -> str:
        for side, findings in ((self.old, panel.old_findings), (self.new, panel.new_findings)):
            if findings:
                raise RequestRefused(422, f"{side.title}, {panel.field}: {findings[0].text}")
        if panel.text is None:
            return ""
        where = f" ({self.at_round.title})" if self.is_rendered else ""
        old, new = (
            f"{self.prompt_set.slug}/{side.file_name}/{panel.field}{where}" for side in (self.old, self.new)
        )
        return unified_text(panel.text, old, new)

    def _written(self, kind: TextKind, above: Sequence[Panel] = ()) -> Panel:
        return written_panel(self.old.templates, self.new.templates, kind, self.view, above)


def compare_page(slug: str, person: User, old: SideName, new: SideName, form: CompareForm) -> ComparePage:
    """The page of two sides, seen as the form says."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    left, right = sides(prompt_set, person, old, new)
    # A system prompt needs no context.
    named = form.cleaned_data["context"]
    known = SampleContext.objects.for_set(prompt_set).defer("submission", *(["data"] if named else []))
    contexts = list(known) if prompt_set.file_kind.has_templates else []
    chosen = chosen_context(prompt_set, named) if named else _telling(contexts)
    seen = context_at(chosen, form.cleaned_data["round"])
    return ComparePage(prompt_set, left, right, form, contexts, seen, person)


def _telling(contexts: Sequence[SampleContext]) -> SampleContext | None:
    """Where nobody chose: one of the set's own before the shared ones, that with the most rounds."""
    own = [context for context in contexts if context.prompt_set_id is not None]
    return max(own or contexts, key=lambda context: context.round_context.round_number, default=None)
