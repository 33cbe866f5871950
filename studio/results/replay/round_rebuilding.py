"""Rebuilding a stored round: the context that its prompt was made from, and the templates that give it again.

Used by the pages of replays, of rounds, and of sample contexts made from rounds.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from builder.diff.lines import Diff, Section
from builder.errors import BuilderError, JailError, TaskUnknown, UnknownRound
from builder.invalid_input import ContextError
from builder.leaderboard import AggregationStore, RebuiltRound, Renderer, RoundRecord
from builder.leaderboard.rebuild import team_values
from builder.leaderboard.release import likeliest, shown_formats
from builder.results.attribution import made_by, rebuilt_for, rendered_by
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from builder.template.models import EvaluatorPromptContext, RoundPromptContext
from builder.template.variables import PromptKind, field_name
from studio.models import PromptVersion, Workspace
from studio.preview.rendering import compare_prompts
from studio.shell.jail import pool
from studio.workspaces.state import state_of

MOST_TRIED = 40
"""Versions that a round is held against, the newest first."""
_MOST_LIKELY = 6


@dataclass(frozen=True)
class KnownTemplate:
    """A team template that a round may have been sent with."""

    text: str
    versions: tuple[PromptVersion, ...] = ()
    """Those with this very text, the newest first."""
    in_file: bool = False
    """Whether the workspace's prompt file holds it now."""


@dataclass(frozen=True)
class NearestTemplate:
    """A template that gives another prompt, and how that differs from the one that was sent."""

    candidate: KnownTemplate
    diff: Diff

    @property
    def added(self) -> int:
        """Lines that were sent and that the template does not give."""
        return self.diff.added

    @property
    def removed(self) -> int:
        return self.diff.removed

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.diff.sections(context=2)


@dataclass(frozen=True)
class PlayedRound:
    """A stored round with its context, ready to be rendered with any template."""

    record: RoundRecord
    rebuilt: RebuiltRound
    task_from: str
    """``stored``, ``typed``, or ``prompt`` where it was read out of what was sent."""
    judged: RebuiltRound | None
    """As the judgment saw it; None while the round is not over."""

    @property
    def in_history(self) -> int:
        """Finished rounds before this one."""
        return len(self.rebuilt.context.round_history)

    @property
    def sent(self) -> str | None:
        return self.rebuilt.delivered.text if self.rebuilt.delivered is not None else None

    def format(self, usual: Dialect) -> Dialect:
        """The format that it was sent in, as far as its bytes tell."""
        return likeliest(shown_formats(self.rebuilt), usual)

    @property
    def context(self) -> RoundPromptContext:
        """With the round itself in its history, where it is over: the judgment looks back at it."""
        if self.judged is None:
            return self.rebuilt.context
        return self.rebuilt.context.model_copy(update={"round_history": self.judged.context.round_history})

    def values(self, kind: PromptKind, dialect: Dialect, template: str) -> Values | None:
        """What each variable stood for; None where this prompt was never made."""
        if kind == "team":
            return team_values(self.rebuilt, dialect, template)
        if self.judged is None:
            return None
        moment = self.judged.delivered_at.astimezone(self.rebuilt.delivered_at.tzinfo)
        if kind == "judgment":
            return variables(kind, self.judged.context, None, moment, dialect, template)
        submission = self.record.submission or ""
        if not submission.strip():
            return None
        asked = EvaluatorPromptContext(user_query=self.rebuilt.context.user_prompt, submission=submission)
        return variables(kind, asked, None, moment, dialect, template)


def known_templates(workspace: Workspace, likely: Sequence[PromptVersion] = ()) -> tuple[KnownTemplate, ...]:
    """What a round may have been made with: the likely versions, the template that the workspace's file
    holds now, and those of the set that the workspace follows, or of all sets."""
    first = {
        version.team_user_prompt: KnownTemplate(version.team_user_prompt, (version,)) for version in likely
    }
    templates: dict[str, KnownTemplate] = {}
    content = state_of(workspace).content
    in_file = None if content is None else content.values.get(field_name("team"))
    if in_file is not None:
        templates[in_file] = KnownTemplate(in_file, in_file=True)
    versions = PromptVersion.objects.filter(system_prompt=None).select_related("prompt_set")
    if workspace.label is not None:
        versions = versions.filter(prompt_set=workspace.label.prompt_set)
    newest = versions.order_by("-created_at", "-pk").prefetch_related("labels")
    for version in newest[: MOST_TRIED * 2]:
        known = templates.get(version.team_user_prompt, KnownTemplate(version.team_user_prompt))
        templates[known.text] = replace(known, versions=(*known.versions, version))
    others = list(templates.values())[:MOST_TRIED]
    return (*first.values(), *(template for template in others if template.text not in first))


def rebuild_round(
    store: AggregationStore,
    workspace: Workspace,
    record: RoundRecord,
    likely: Sequence[PromptVersion] = (),
    *,
    is_certain: bool = False,
    task: str = "",
    owner: str,
) -> PlayedRound:
    """The round's context out of the database; ``likely`` are versions that it may have been made with, and
    ``is_certain`` says that the first of them gave its prompt to the byte.

    Raises ``TaskUnknown`` where the task is neither stored nor given nor to be read out of a prompt,
    ``ContextError`` for rows that no prompt could be made from, or what else the store cannot tell.
    """
    where = (record.execution_id, record.team_id, record.round_number)
    try:
        # What is stored counts more than what was typed.
        rebuilt, task_from = store.rebuild(*where), "stored"
    except TaskUnknown:
        if task:
            rebuilt, task_from = store.rebuild(*where, task=task), "typed"
        else:
            read = _with_task_of_prompt(store, workspace, record, likely, owner)
            if read is None:
                raise
            rebuilt, task_from = read, "prompt"
    if is_certain and rebuilt.delivered is not None and rebuilt.is_in_doubt:
        rebuilt = _as_seen_by(likely[0], store, record, rebuilt)
    try:
        judged = store.rebuild(*where, "judgment", task=rebuilt.context.user_prompt)
    except UnknownRound:
        judged = None
    return PlayedRound(record, rebuilt, task_from, judged)


def _with_task_of_prompt(
    store: AggregationStore,
    workspace: Workspace,
    record: RoundRecord,
    likely: Sequence[PromptVersion],
    owner: str,
) -> RebuiltRound | None:
    """The round with the task that stands in its prompt; None where no template shows where."""
    where = (record.execution_id, record.team_id, record.round_number)
    for template in known_templates(workspace, likely):
        try:
            return store.rebuild(*where, renderer=renderer(template.text, owner))
        except JailError:
            return None
        except ContextError:
            raise
        except BuilderError:
            # A template that cannot be rendered, or shows another task, is not the one that was.
            continue
    return None


def renderer(template: str, owner: str) -> Renderer:
    """Renders a team template in the jail."""
    return lambda rebuilt, dialect: pool().render(
        "team", template, team_values(rebuilt, dialect, template), dialect, owner=owner
    )


def _as_seen_by(
    version: PromptVersion, store: AggregationStore, record: RoundRecord, rebuilt: RebuiltRound
) -> RebuiltRound:
    """Clock and ranking by what the version made of them."""
    with suppress(BuilderError):
        for stored in store.delivered_rounds(record.execution_id).rounds:
            if (stored.team_id, stored.round_number) == (record.team_id, record.round_number):
                return rebuilt_for(stored, rebuilt.context.user_prompt, version.team_user_prompt, pool())
    return rebuilt


@dataclass(frozen=True)
class TemplateSearch:
    """Which templates give the prompt of a round that was sent."""

    tried: int = 0
    exact: tuple[KnownTemplate, ...] = ()
    """Those that give it to the byte."""
    nearest: NearestTemplate | None = None
    """Where none does, the one that comes closest."""
    refusal: JailError | None = None
    """Why no template could be tried."""


def search_templates(played: PlayedRound, templates: Sequence[KnownTemplate]) -> TemplateSearch:
    """Try each template with the round's context, in the formats that the prompt may be in."""
    if played.sent is None or not templates:
        return TemplateSearch()
    try:
        made = made_by(dict(enumerate(template.text for template in templates)), played.rebuilt, pool())
    except JailError as refusal:
        return TemplateSearch(refusal=refusal)
    exact = tuple(templates[number] for number in sorted(made))
    near = None if exact else _nearest(played.sent, templates, played.rebuilt)
    return TemplateSearch(len(templates), exact, near)


def _nearest(sent: str, templates: Sequence[KnownTemplate], rebuilt: RebuiltRound) -> NearestTemplate | None:
    """Of the few that are most likely: the file's, and the newest versions."""
    likely = templates[:_MOST_LIKELY]
    outcomes = rendered_by([template.text for template in likely], rebuilt, pool())
    near = [
        NearestTemplate(template, diff)
        for template, outcome in zip(likely, outcomes, strict=True)
        if outcome.text is not None and (diff := compare_prompts(outcome.text, sent)) is not None
    ]
    return min(near, key=lambda nearest: nearest.added + nearest.removed, default=None)
