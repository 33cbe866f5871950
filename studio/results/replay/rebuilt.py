"""A stored round made anew: what its prompt was made from, and which templates give it again."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from builder.diff.lines import Diff, Section
from builder.errors import BuilderError, JailError, TaskUnknown, UnknownRound
from builder.invalid_input import ContextError
from builder.leaderboard import AggregationStore, RebuiltRound
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from builder.template.models import RoundPromptContext
from studio.models import PromptVersion, Workspace
from studio.preview.rendering import compare_prompts
from studio.shell.jail import pool

MOST_TRIED = 40
"""Versions that a round is held against, the newest first."""
_MOST_LIKELY = 6


@dataclass(frozen=True)
class Candidate:
    """A team template that a round may have been sent with."""

    text: str
    versions: tuple[PromptVersion, ...] = ()
    """Those with this very text, the newest first."""
    in_file: bool = False
    """Whether the workspace's prompt file holds it now."""

    @property
    def version(self) -> PromptVersion | None:
        return self.versions[0] if self.versions else None


@dataclass(frozen=True)
class Nearest:
    """A template that gives another prompt, and how that differs from the one that was sent."""

    candidate: Candidate
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
class Place:
    """Which round of which team."""

    execution_id: str
    team_id: str
    round_number: int


@dataclass(frozen=True)
class Replay:
    """A round with its context, and how sure that is."""

    rebuilt: RebuiltRound
    context: RoundPromptContext
    """With the round itself in its history, where it is over: the judgment looks back at it."""
    task_from: str
    """``stored``, ``typed``, or ``prompt`` where it was read out of what was sent."""
    tried: int = 0
    exact: tuple[Candidate, ...] = ()
    """Those templates that give the prompt that was sent, to the byte."""
    nearest: "Nearest | None" = None
    """Where none does, the one that comes closest."""
    refusal: JailError | None = None
    """Why no template could be tried."""

    @property
    def delivered(self) -> bool:
        return self.rebuilt.delivered is not None

    @property
    def in_history(self) -> int:
        """Finished rounds before this one."""
        return len(self.rebuilt.context.round_history)


def candidates(workspace: Workspace, file_text: str | None = None) -> tuple[Candidate, ...]:
    """The file's own template, and those of the set that the workspace follows, or of all sets."""
    templates = PromptVersion.objects.filter(system_prompt=None)
    versions = templates.select_related("prompt_set").order_by("-created_at", "-pk")
    if workspace.label is not None:
        versions = versions.filter(prompt_set=workspace.label.prompt_set)
    found: dict[str, Candidate] = {}
    if file_text is not None:
        found[file_text] = Candidate(file_text, in_file=True)
    for version in versions.prefetch_related("labels")[: MOST_TRIED * 2]:
        text = version.team_user_prompt
        known = found.get(text, Candidate(text))
        found[text] = replace(known, versions=(*known.versions, version))
    return tuple(found.values())[:MOST_TRIED]


def rebuild_round(
    store: AggregationStore,
    place: Place,
    templates: Sequence[Candidate],
    dialect: Dialect,
    *,
    task: str = "",
    owner: str,
) -> Replay:
    """The round's context out of the database, tried with each template.

    Raises ``TaskUnknown`` where the task is neither stored nor given nor to be read out of a prompt,
    ``ContextError`` for rows that no prompt could be made from, or what else the store cannot tell.
    """
    rebuilt, task_from = rebuilt_round(store, place, templates, dialect, task, owner)
    replay = Replay(rebuilt, _with_own_round(store, place, rebuilt), task_from)
    return _tried(replay, templates, dialect)


def rebuilt_round(
    store: AggregationStore,
    place: Place,
    templates: Sequence[Candidate],
    dialect: Dialect,
    task: str,
    owner: str,
) -> tuple[RebuiltRound, str]:
    """The round, and where its task is from: ``stored``, ``typed`` or ``prompt``. Raises ``TaskUnknown``."""
    where = (place.execution_id, place.team_id, place.round_number)
    try:
        # What is stored counts more than what was typed.
        return store.rebuild(*where), "stored"
    except TaskUnknown:
        if task:
            return store.rebuild(*where, task=task), "typed"
        for each in templates:
            try:
                return store.rebuild(*where, renderer=_renderer(each.text, dialect, owner)), "prompt"
            except JailError:
                break
            except TaskUnknown:
                continue
            except ContextError:
                raise
            except BuilderError:
                # A template that cannot be rendered is not the one that was.
                continue
        raise


def _renderer(text: str, dialect: Dialect, owner: str) -> Callable[[Values], str]:
    return lambda values: pool().render("team", text, values, dialect, owner=owner)


def _with_own_round(store: AggregationStore, place: Place, rebuilt: RebuiltRound) -> RoundPromptContext:
    try:
        judged = store.rebuild(
            place.execution_id,
            place.team_id,
            place.round_number,
            "judgment",
            task=rebuilt.context.user_prompt,
        )
    except UnknownRound:
        return rebuilt.context
    return rebuilt.context.model_copy(update={"round_history": judged.context.round_history})


def _tried(replay: Replay, templates: Sequence[Candidate], dialect: Dialect) -> Replay:
    if replay.rebuilt.delivered is None or not templates:
        return replay
    sent = hashlib.sha256(replay.rebuilt.delivered.text.encode()).hexdigest()
    values = variables("team", replay.rebuilt.context, None, replay.rebuilt.delivered_at, dialect)
    try:
        matches = pool().match("team", [each.text for each in templates], values, dialect, [sent])
    except JailError as refusal:
        return replace(replay, refusal=refusal)
    exact = tuple(templates[match.index] for match in matches)
    near = None if exact else _nearest(replay.rebuilt.delivered.text, templates, values, dialect)
    return replace(replay, tried=len(templates), exact=exact, nearest=near)


def _nearest(sent: str, templates: Sequence[Candidate], values: Values, dialect: Dialect) -> Nearest | None:
    """Of the few that are most likely: the file's, and the newest versions."""
    likely = templates[:_MOST_LIKELY]
    best: Nearest | None = None
    for candidate, outcome in zip(
        likely, pool().render_many("team", [each.text for each in likely], values, dialect), strict=True
    ):
        diff = None if outcome.text is None else compare_prompts(outcome.text, sent)
        if diff is not None:
            found = Nearest(candidate, diff)
            if best is None or found.added + found.removed < best.added + best.removed:
                best = found
    return best
