"""The replay of one round: what a version or a draft would have sent, beside what was really sent.

Used by the view of the replay, and by the round's own page for the nearest version.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from builder.diff.lines import with_line_end
from builder.errors import BuilderError, JailError
from builder.leaderboard import AggregationStore, RoundRecord
from builder.leaderboard.rebuild import team_values
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind, field_name
from studio.compare.versions import TextDiff, View
from studio.models import PromptVersion, Workspace
from studio.preview.examinations import examine, findings_of
from studio.preview.rendering import compare_prompts
from studio.prompts.findings import Finding
from studio.results.replay.round_rebuilding import KnownTemplate, NearestTemplate, PlayedRound, rebuild_round
from studio.runs.round_page import StoredText
from studio.shell.jail import status_of


@dataclass(frozen=True)
class Replayed:
    """One template rendered with the context of a stored round, beside what was sent."""

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


def replayed(
    played: PlayedRound, kind: PromptKind, template: str, dialect: Dialect, view: View, *, owner: str
) -> Replayed:
    """The template with the round's own context, beside what was sent."""
    sent = played.sent if kind == "team" else None
    blank = Replayed(kind, sent)
    values = played.values(kind, dialect, template)
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
    beside = view.compared(kind, with_line_end(sent), with_line_end(examined.text))
    return replace(blank, text=examined.text, comparison=beside)


def difference(
    store: AggregationStore, workspace: Workspace, record: RoundRecord, nearest: PromptVersion, *, owner: str
) -> NearestTemplate | None:
    """What was sent, held against what the nearest version gives; None where that cannot be told."""
    try:
        played = rebuild_round(store, workspace, record, [nearest], owner=owner)
        if played.sent is None:
            return None
        dialect, template = played.format(workspace.spoken), nearest.team_user_prompt
        values = team_values(played.rebuilt, dialect, template)
        given = examine("team", template, values, dialect, owner=owner)
    except BuilderError:
        return None
    diff = compare_prompts(given.text, played.sent)
    known = KnownTemplate(nearest.team_user_prompt, (nearest,))
    return None if diff is None else NearestTemplate(known, diff)
