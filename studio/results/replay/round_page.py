"""A stored round once more: what a version or a draft would have sent, beside what was really sent."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from django.utils.translation import gettext as _

from builder.errors import BuilderError, JailError, TaskUnknown, UnknownRound
from builder.leaderboard import AggregationStore, RebuiltRound, RoundRecord
from builder.results.attribution import rebuilt_for
from builder.template.dialect import Dialect
from builder.template.formatters import Values, variables
from builder.template.models import EvaluatorPromptContext
from builder.template.variables import PromptKind, field_name
from studio.compare.versions import TemplateDiff, TextDiff, View
from studio.models import PromptVersion, Workspace
from studio.preview.examinations import examine, findings_of
from studio.preview.rendering import compare_prompts
from studio.prompts.findings import Finding
from studio.results.replay.rebuilt import Candidate, Nearest, Place, candidates, rebuilt_round
from studio.runs.round_page import StoredText
from studio.shell.jail import pool, status_of
from studio.workspaces.state import state_of


@dataclass(frozen=True)
class Replayed:
    """One template with the context of a stored round."""

    kind: PromptKind
    sent: str | None
    """What was delivered; MixSeek keeps the prompts of teams only."""
    text: str | None = None
    findings: tuple[Finding, ...] = ()
    """Why there is no text."""
    comparison: TextDiff | None = None
    refusal: JailError | None = None
    """Why nothing could be rendered just now."""

    @property
    def field(self) -> str:
        return field_name(self.kind)

    @property
    def is_exact(self) -> bool:
        """Whether it is what was sent, to the byte."""
        return self.text is not None and self.text == self.sent

    @property
    def shown(self) -> TemplateDiff | None:
        """As the tables of comparisons ask for it."""
        return None if self.comparison is None else TemplateDiff(self.kind, self.comparison, 0)

    @cached_property
    def given(self) -> StoredText | None:
        return None if self.text is None else StoredText(self.text)

    @cached_property
    def delivered(self) -> StoredText | None:
        return None if self.sent is None else StoredText(self.sent)

    @property
    def tokens_more(self) -> int | None:
        """By how many tokens it is longer than what was sent."""
        if self.given is None or self.delivered is None:
            return None
        return self.given.tokens.tokens - self.delivered.tokens.tokens

    @property
    def status(self) -> int:
        """The answer's status: an error in a template is no error of the request."""
        return status_of(self.refusal)


@dataclass(frozen=True)
class Played:
    """A stored round, ready to be rendered with anything."""

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

    def values(self, kind: PromptKind, dialect: Dialect) -> Values | None:
        """What each variable stood for; None where this prompt was never made."""
        if kind == "team":
            return variables(kind, self.rebuilt.context, None, self.rebuilt.delivered_at, dialect)
        if self.judged is None:
            return None
        moment: datetime = self.judged.delivered_at.astimezone(self.rebuilt.delivered_at.tzinfo)
        if kind == "judgment":
            return variables(kind, self.judged.context, None, moment, dialect)
        if not (self.record.submission or "").strip():
            return None
        asked = EvaluatorPromptContext(
            user_query=self.rebuilt.context.user_prompt, submission=self.record.submission or ""
        )
        return variables(kind, asked, None, moment, dialect)


def read_played(
    store: AggregationStore,
    workspace: Workspace,
    record: RoundRecord,
    likely: Sequence[PromptVersion],
    *,
    is_certain: bool = False,
    task: str = "",
    owner: str,
) -> Played:
    """The round out of the database; ``likely`` are versions that it may have been made with, and
    ``is_certain`` says that the first of them gave its prompt to the byte.

    Raises ``TaskUnknown`` where the task is neither stored nor given nor to be read out of a prompt, and
    ``ContextError`` for rows that no prompt could be made from.
    """
    place = Place(record.execution_id, record.team_id, record.round_number)
    try:
        rebuilt, task_from = rebuilt_round(store, place, (), workspace.spoken, task, owner)
    except TaskUnknown:
        # Only a run that is not over needs templates to read its task out of a prompt.
        known = templates_of(workspace, likely)
        rebuilt, task_from = rebuilt_round(store, place, known, workspace.spoken, task, owner)
    if is_certain and rebuilt.delivered is not None and rebuilt.is_in_doubt:
        rebuilt = _as_seen_by(likely[0], store, place, rebuilt)
    try:
        judged = store.rebuild(
            place.execution_id,
            place.team_id,
            place.round_number,
            "judgment",
            task=rebuilt.context.user_prompt,
        )
    except UnknownRound:
        judged = None
    return Played(record, rebuilt, task_from, judged)


def _as_seen_by(
    version: PromptVersion, store: AggregationStore, place: Place, rebuilt: RebuiltRound
) -> RebuiltRound:
    """Clock and ranking by what the version made of them."""
    with suppress(BuilderError):
        for stored in store.delivered_rounds(place.execution_id).rounds:
            if (stored.team_id, stored.round_number) == (place.team_id, place.round_number):
                return rebuilt_for(stored, rebuilt.context.user_prompt, version.team_user_prompt, pool())
    return rebuilt


def templates_of(workspace: Workspace, likely: Sequence[PromptVersion]) -> tuple[Candidate, ...]:
    """What the run may have been made with, the likeliest first."""
    first = [Candidate(each.team_user_prompt, (each,)) for each in likely]
    known = {each.text for each in first}
    content = state_of(workspace).content
    in_file = None if content is None else content.values.get(field_name("team"))
    return (*first, *(each for each in candidates(workspace, in_file) if each.text not in known))


def replayed(
    played: Played, kind: PromptKind, template: str, dialect: Dialect, view: View, *, owner: str
) -> Replayed:
    """The template with the round's own context, beside what was sent."""
    sent = played.sent if kind == "team" else None
    blank = Replayed(kind, sent)
    values = played.values(kind, dialect)
    if values is None:
        return blank
    try:
        examined = examine(kind, template, values, dialect, owner=owner)
    except JailError as refusal:
        return replace(blank, refusal=refusal)
    if examined.text is None:
        return replace(blank, findings=findings_of(kind, examined, errors_only=True))
    if sent is None:
        return replace(blank, text=examined.text)
    beside = view.compared_prompts(kind, sent, examined.text)
    return replace(blank, text=examined.text, comparison=beside)


def difference(
    store: AggregationStore, workspace: Workspace, record: RoundRecord, nearest: PromptVersion, *, owner: str
) -> Nearest | None:
    """What was sent, held against what the nearest version gives; None where that cannot be told."""
    try:
        played = read_played(store, workspace, record, [nearest], owner=owner)
        values = played.values("team", workspace.spoken)
        if played.sent is None or values is None:
            return None
        given = examine("team", nearest.team_user_prompt, values, workspace.spoken, owner=owner)
    except BuilderError:
        return None
    diff = compare_prompts(given.text, played.sent)
    return None if diff is None else Nearest(Candidate(nearest.team_user_prompt, (nearest,)), diff)


@dataclass(frozen=True)
class Heading:
    """A side of the comparison, as the table's head names it."""

    title: str


@dataclass(frozen=True)
class Headings:
    """Both sides."""

    old: Heading
    new: Heading


def headings(title: str) -> Headings:
    """What was sent stands on the left."""
    return Headings(Heading(_("Really sent")), Heading(title))
