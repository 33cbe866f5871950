"""The editor's page: the draft or the newest version, its contexts, and a preview.

Used by the views of the editor and of previews.
"""

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User

from builder.errors import JailError, Superseded
from builder.template.variables import VARIABLES
from studio.contexts.at_round import ContextAtRound, context_at
from studio.editor.conflicts import is_changed, version_of
from studio.editor.forms import ViewOf
from studio.editor.variables import VariableRow, variable_rows
from studio.editor.words import editor_words
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion, SampleContext, Workspace
from studio.preview.examinations import check_errors
from studio.preview.rendering import Preview, preview
from studio.prompts.drafts import CopyReason, SentDraft
from studio.prompts.findings import Finding, in_order
from studio.prompts.texts import TEXT_FIELDS, TEXT_NAMES, TextKind
from studio.system.preview_page import SystemPreview, WorkspaceChoice, preview_text, workspace_choice
from studio.workspaces.release import other_releases


@dataclass(frozen=True)
class Panel:
    """One text of a version, in its tab."""

    kind: TextKind
    field: str
    name: str
    text: str
    variables: str
    """JSON for the editor's completion: what this template may use."""


@dataclass(frozen=True)
class EditorPage:
    """The page before it is rendered."""

    prompt_set: PromptSet
    saved: PromptVersion | None
    """The newest version."""
    sent: SentDraft
    changed: bool
    """Whether the text differs from the version it starts from."""
    kept: bool
    """Whether the server holds the text; a plain form's preview shows one that it does not."""
    kind: TextKind
    at_round: ContextAtRound
    contexts: Sequence[SampleContext]
    copies: Sequence[DraftCopy]
    workspaces: WorkspaceChoice = field(default_factory=WorkspaceChoice)
    """For which a system prompt is built."""
    context_gone: bool = False
    """Whether the context that was asked for is not there, so that another one is shown."""
    preview: Preview | SystemPreview | None = None
    findings: Sequence[Finding] = ()
    """Why the last save was refused."""
    elsewhere: Sequence[Finding] = ()
    """Errors of the templates in the other tabs."""
    message_error: str = ""
    message_kept: bool = False
    """Whether the message was written for an earlier attempt to save, or on an earlier visit."""

    @property
    def panels(self) -> list[Panel]:
        return [
            Panel(kind, TEXT_FIELDS[kind], TEXT_NAMES[kind], text, _variables(kind))
            for kind, text in self.sent.templates.parts.items()
        ]

    @property
    def words(self) -> str:
        """JSON for the editor: what may be completed, and its own words."""
        return editor_words()

    @property
    def variables(self) -> list[VariableRow]:
        """Of the template that is shown, with their values in the context that is chosen."""
        return [] if self.kind == "system" else variable_rows(self.prompt_set, self.kind, self.at_round)

    @property
    def has_draft(self) -> bool:
        """Whether a draft with changes is on the server, to be compared or discarded."""
        return self.changed and self.kept

    @property
    def is_shown_only(self) -> bool:
        """Whether there are changes that would be lost with this page."""
        return self.changed and not self.kept and not self.is_beside

    @property
    def is_beside(self) -> bool:
        """Whether the text is kept beside the draft that another tab wrote."""
        return not self.kept and any(copy.templates == self.sent.templates for copy in self.other_tabs)

    @property
    def base_moved(self) -> bool:
        """Whether somebody saved a version since the one this text starts from."""
        return self.sent.base != self.prompt_set.revision

    @cached_property
    def other_releases(self) -> list[Workspace]:
        """Workspaces that follow the set and run another release than its previews are made for."""
        return other_releases(self.prompt_set) if self.prompt_set.file_kind.has_templates else []

    @property
    def other_tabs(self) -> list[DraftCopy]:
        return [copy for copy in self.copies if copy.reason == CopyReason.OTHER_TAB]

    @property
    def put_aside(self) -> list[DraftCopy]:
        """The newest of those; older ones are kept too, but nobody looks for them here."""
        return [copy for copy in self.copies if copy.reason != CopyReason.OTHER_TAB][:5]

    @property
    def all_findings(self) -> list[Finding]:
        """Those of a refused save first, then the preview's own, then those of the other templates."""
        known = {(finding.kind, finding.code, finding.line) for finding in self.findings}
        more = [*(self.preview.findings if self.preview else ()), *self.elsewhere]
        return [
            *self.findings,
            *(finding for finding in more if (finding.kind, finding.code, finding.line) not in known),
        ]

    @property
    def listed_findings(self) -> list[Finding]:
        """Those below the editor: an error that stands above the prompt stands there alone."""
        errors = self.preview.errors if self.preview else ()
        shown = {(error.kind, error.code, error.line) for error in errors}
        return in_order(
            finding
            for finding in self.all_findings
            if (finding.kind, finding.code, finding.line) not in shown
        )

    @property
    def elsewhere_json(self) -> str:
        """For the gutters of the editors that are not shown: the problems of each template."""
        shown = self.preview.kind if self.preview else self.kind
        problems: dict[TextKind, list[dict[str, Any]]] = {}
        for finding in self.all_findings:
            if finding.kind is not None and finding.kind != shown:
                problems.setdefault(finding.kind, []).append(finding.as_json)
        return json.dumps(problems, ensure_ascii=False)


def open_editor(prompt_set: PromptSet, person: User, view: ViewOf[TextKind]) -> EditorPage:
    """The person's draft where it holds changes, else the newest version."""
    saved = prompt_set.latest
    draft = Draft.objects.of(prompt_set, person)
    if draft is not None and is_changed(draft, saved):
        page = _page(prompt_set, person, view, saved, draft.sent, changed=True)
        return replace(page, message_kept=bool(draft.message))
    # A message may be written before anything is changed.
    revision, message = (draft.revision, draft.message) if draft else (0, "")
    sent = SentDraft(prompt_set.starting_text(saved), prompt_set.revision, revision, message)
    page = _page(prompt_set, person, view, saved, sent, changed=False)
    return replace(page, message_kept=bool(message))


def editor_with(prompt_set: PromptSet, person: User, view: ViewOf[TextKind], sent: SentDraft) -> EditorPage:
    """The page with a text that was just sent."""
    saved = prompt_set.latest
    base = version_of(prompt_set, sent.base, saved)
    changed = base is None or base.templates != sent.templates
    draft = Draft.objects.of(prompt_set, person)
    kept = draft is not None and draft.templates == sent.templates
    return _page(prompt_set, person, view, saved, sent, changed=changed, kept=kept)


def with_preview(page: EditorPage, person: User) -> EditorPage:
    """The page with what the shown template gives, and what is wrong with the others."""
    text = page.sent.templates.parts[page.kind]
    if page.kind == "system":
        return replace(page, preview=preview_text(text, page.workspaces, owner=str(person.pk)))
    owner, tab = str(person.pk), page.sent.tab
    try:
        shown = preview(page.prompt_set, page.saved, page.kind, text, page.at_round, owner=owner, tab=tab)
    except Superseded:
        return page
    return replace(page, preview=shown, elsewhere=() if shown.refusal else _elsewhere(page, owner))


def _elsewhere(page: EditorPage, owner: str) -> list[Finding]:
    """Errors of the templates that are not shown; what a version holds has none."""
    saved = page.saved.templates.parts if page.saved else {}
    others = {
        kind: text
        for kind, text in page.sent.templates.parts.items()
        if kind != "system" and kind != page.kind and text != saved.get(kind)
    }
    findings: list[Finding] = []
    with suppress(JailError):
        for finding in check_errors(others, owner=owner):
            findings.append(finding)
    return findings


def not_saved(
    page: EditorPage, person: User, *, findings: Sequence[Finding] = (), refusal: JailError | None = None
) -> EditorPage:
    """The page after a save that was refused: it turns to the template that has the problem.

    What met a limit is not rendered again, for it would meet it once more. Otherwise the round that is shown
    may well have a prompt: a save is refused for any round of any context.
    """
    kinds = [finding.kind for finding in findings if finding.kind]
    kind = kinds[0] if kinds and page.kind not in kinds else page.kind
    page = replace(page, kind=kind, findings=findings, message_kept=bool(page.sent.message))
    if refusal is None and not any(finding.is_limit for finding in findings):
        return with_preview(page, person)
    of_kind = tuple(finding for finding in findings if finding.kind == kind)
    shown = (
        SystemPreview(findings=of_kind, refusal=refusal)
        if kind == "system"
        else Preview(page.prompt_set, kind, page.at_round, findings=of_kind, refusal=refusal)
    )
    return replace(page, preview=shown)


def _page(
    prompt_set: PromptSet,
    person: User,
    view: ViewOf[TextKind],
    saved: PromptVersion | None,
    sent: SentDraft,
    *,
    changed: bool,
    kept: bool = True,
) -> EditorPage:
    known = SampleContext.objects.for_set(prompt_set)
    if not prompt_set.file_kind.has_templates:
        known = known.none()  # a system prompt needs no context
    contexts = list(known.defer("submission", "data"))
    # The set's own before the shared ones.
    first = min(contexts, key=lambda context: context.prompt_set_id is None, default=None)
    slug = view.context or (first.slug if first else "")
    chosen = known.filter(slug=slug).first()
    # Deleted while somebody wrote: what they wrote matters more than what they looked at it in.
    is_gone = bool(slug) and chosen is None
    if is_gone and first is not None:
        chosen = SampleContext.objects.get(pk=first.pk)
    return EditorPage(
        prompt_set=prompt_set,
        saved=saved,
        sent=replace(sent, tab=sent.tab or secrets.token_urlsafe(9)),
        changed=changed,
        kept=kept,
        kind=view.kind,
        at_round=context_at(chosen, None if is_gone else view.round),
        contexts=contexts,
        workspaces=(
            workspace_choice(prompt_set, view.workspace)
            if prompt_set.file_kind.is_system
            else WorkspaceChoice()
        ),
        context_gone=is_gone,
        copies=list(DraftCopy.objects.filter(prompt_set=prompt_set, person=person)),
    )


def _variables(kind: TextKind) -> str:
    if kind == "system":
        return "[]"
    variables = [{"name": variable.name, "type": variable.type} for variable in VARIABLES[kind]]
    return json.dumps(variables, ensure_ascii=False)
