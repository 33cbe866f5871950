"""The preview of one workspace: what its teams would receive, in its MixSeek's dialect."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from builder.errors import JailError
from builder.template.formatters import NeutralisedTag
from builder.template.variables import KINDS, PromptKind, field_name
from studio.contexts.at_round import ContextAtRound, context_at
from studio.models import Label, SampleContext, Workspace
from studio.preview.examinations import examine, findings_of
from studio.prompts.findings import Finding
from studio.shell.jail import status_of
from studio.workspaces.file_kinds import WorkspaceFile
from studio.workspaces.state import PromptFileState, states_of_files


@dataclass(frozen=True)
class PromptPanel:
    """One prompt; without a text, the findings say why. Both are empty where the file lacks the template."""

    kind: PromptKind
    text: str | None = None
    findings: tuple[Finding, ...] = ()
    neutralised: Sequence[NeutralisedTag] = ()
    """Tags in the context that MixSeek spells differently here."""

    @property
    def field(self) -> str:
        return field_name(self.kind)


@dataclass(frozen=True)
class WorkspacePreview:
    """The page before it is rendered."""

    state: PromptFileState
    at_round: ContextAtRound
    contexts: Sequence[SampleContext]
    panels: tuple[PromptPanel, ...] = ()
    refusal: JailError | None = None

    @property
    def status(self) -> int:
        """The answer's status: an error in a template is no error of the request."""
        return status_of(self.refusal)


def preview_of(
    workspace: Workspace, file: WorkspaceFile, context: str, round_number: int | None, owner: User
) -> WorkspacePreview:
    """The three prompts of a prompt file of the workspace under a sample context, at one of its rounds."""
    contexts = list(_contexts(file.label_of(workspace)))
    first = contexts[0] if contexts else None
    chosen = next((sample for sample in contexts if sample.slug == context), first)
    seen, (state,) = context_at(chosen, round_number), states_of_files([(workspace, file)])
    try:
        panels = tuple(_panel(kind, state, seen, owner) for kind in KINDS) if state.content else ()
    except JailError as refusal:
        return WorkspacePreview(state, seen, contexts, refusal=refusal)
    return WorkspacePreview(state, seen, contexts, panels)


def _contexts(label: Label | None) -> Iterable[SampleContext]:
    if label is None:
        return SampleContext.objects.filter(prompt_set=None)
    return SampleContext.objects.for_set(label.prompt_set)


def _panel(kind: PromptKind, state: PromptFileState, seen: ContextAtRound, owner: User) -> PromptPanel:
    text = state.content.values.get(field_name(kind)) if state.content else None
    if text is None:
        return PromptPanel(kind)
    dialect = state.workspace.spoken
    examination = examine(kind, text, seen.values(kind, dialect, text), dialect, owner=str(owner.pk))
    findings = findings_of(kind, examination, errors_only=True)
    return PromptPanel(kind, examination.text, findings, seen.neutralised(kind, dialect, text))
