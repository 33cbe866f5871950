"""A round prompt within a budget of tokens: what fits, and what goes first.

Level 1 is never left out: the task, the team's rank, its latest score. Level 2 is the latest feedback, the
three leading teams and the score trend; level 3 all past submissions, the other teams, and details. As long
as anything of level 2 is left out, nothing of level 3 is shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from builder.cache.tokens import TokenCount, count
from builder.contract.round_context import RoundContext
from builder.contract.round_history import DEFAULT_MODEL, latest, latest_that_fit
from builder.contract.round_prompt import Kept, PlainTextPromptBuilder, ReducibleBuilder, build_prompt
from builder.errors import TemplateFailure
from builder.messages import Language, message, say

LEADERS = 3

Part = Literal["feedback", "leaders", "trend", "submissions", "teams", "earlier_results", "metrics"]
"""In the order in which they are given room."""

LEVELS: Mapping[Part, Literal[2, 3]] = {
    part: 2 if part in ("feedback", "leaders", "trend") else 3 for part in get_args(Part)
}

_LEFT_OUT: Mapping[Part, str] = {
    "feedback": message("budget-feedback", "the feedback on the latest round", "前ラウンドのフィードバック"),
    "leaders": message("budget-leaders", "the three leading teams", "上位3チームのランキング"),
    "trend": message("budget-trend", "the score trend", "スコア推移"),
    "submissions": message(
        "budget-submissions", "the submissions, by round: {rounds}", "ラウンド {rounds} のSubmission"
    ),
    "teams": message("budget-teams", "the teams from rank 4 on", "4位以下のランキング"),
    "earlier_results": message(
        "budget-earlier-results",
        "scores and feedback of earlier rounds",
        "過去のラウンドのスコアとフィードバック",
    ),
    "metrics": message("budget-metrics", "the scores of each metric", "各メトリクスの詳細スコア"),
}
NOTE = message("budget-left-out", "Left out (level {level}): {part}", "省略（レベル{level}）：{part}")
OVER = message(
    "budget-over",
    "The parts that are never left out need {tokens} tokens; the budget is {budget}.",
    "省略できない情報だけで{tokens}トークンになり、予算の{budget}トークンを超えています。",
    fix_en="Shorten the task, or raise the budget.",
    fix_ja="タスクを短くするか、予算を増やしてください。",
)


@dataclass(frozen=True)
class LeftOut:
    """A part of the prompt for which there was no room."""

    part: Part
    rounds: tuple[int, ...] = ()

    @property
    def level(self) -> Literal[2, 3]:
        return LEVELS[self.part]

    def text(self, language: Language = "en") -> str:
        part = say(_LEFT_OUT[self.part], {"rounds": ", ".join(map(str, self.rounds))}, language)
        return say(NOTE, {"level": self.level, "part": part}, language)


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt, how long it is, and what its budget left no room for, level 2 before level 3."""

    text: str = field(repr=False)
    tokens: TokenCount
    budget: int
    left_out: tuple[LeftOut, ...] = ()

    @property
    def over_budget(self) -> bool:
        """Level 1 alone, or a template that can do with nothing less, is too long."""
        return self.tokens.tokens > self.budget

    def notes(self, language: Language = "en") -> list[str]:
        """What a person should know about it."""
        over = say(OVER, {"tokens": self.tokens.tokens, "budget": self.budget}, language)
        return [*([over] if self.over_budget else []), *(part.text(language) for part in self.left_out)]


def fit_round_prompt(
    context: RoundContext,
    builder: ReducibleBuilder | None = None,
    *,
    budget: int | None = None,
    model: str = DEFAULT_MODEL,
    metadata: dict[str, Any] | None = None,
) -> FittedPrompt:
    """The prompt of a round in at most ``budget`` tokens, else the ``estimated_prompt_tokens`` of the config.

    Raises ``TemplateFailure`` where the builder's own template fails with everything in it.

    >>> fitted = fit_round_prompt(context, budget=800)
    >>> fitted.text, fitted.left_out, fitted.over_budget
    """
    builder = builder or PlainTextPromptBuilder()
    most = builder.config.estimated_prompt_tokens if budget is None else budget
    text = build_prompt(context, builder, metadata)
    whole = FittedPrompt(text, count(text, model), most)
    if not whole.over_budget or context.round_number == 1:
        return whole
    try:
        return _Fitting(context, builder, most, model, metadata).result()
    except TemplateFailure:
        # A template that counts on a team or a text being there has nothing that could be left out.
        return whole


class _Fitting:
    """Begins with level 1 alone and puts in what fits, the most important first."""

    def __init__(
        self,
        context: RoundContext,
        builder: ReducibleBuilder,
        budget: int,
        model: str,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        self.context, self.builder, self.budget = context, builder, budget
        self.model, self.metadata = model, metadata
        shown = latest(context.submission_history, builder.config.max_submission_history_items)
        self._newest_first = [record.round_number for record in reversed(shown)]
        self._latest_round = self._newest_first[0] if shown else 0
        room_for = latest_that_fit(shown, max_items=len(shown), model=model)
        self._room_for = {record.round_number for record in room_for}
        self.kept = Kept()
        self.text = self._render(self.kept)
        self.tokens = count(self.text, model)

    def result(self) -> FittedPrompt:
        missing: dict[Part, tuple[int, ...]] = {}
        for part, rounds, more in self._parts():
            # Beyond a round that does not fit there is none further back, and no level 3 without level 2.
            closed = part in missing or (LEVELS[part] == 3 and any(LEVELS[other] == 2 for other in missing))
            if not self._put_in(more, closed or not self._room_for.issuperset(rounds)):
                missing[part] = (*rounds, *missing.get(part, ()))
        if len(missing.get("submissions", ())) > (self._latest_round in missing.get("submissions", ())):
            missing.setdefault("earlier_results", ())  # they went with their rounds
        left_out = tuple(LeftOut(part, missing[part]) for part in LEVELS if part in missing)
        return FittedPrompt(self.text, self.tokens, self.budget, left_out)

    def _parts(self) -> Iterator[tuple[Part, tuple[int, ...], Mapping[str, Any]]]:
        """Each part with the rounds that it is about, and what of ``Kept`` it changes."""
        config, ranking = self.builder.config, self.context.leaderboard_ranking
        teams = min(len(ranking), config.max_leaderboard_display_teams)
        yield "feedback", (), {"feedback": True}
        yield "leaders", (), {"teams": min(teams, LEADERS)}
        if config.enable_trend_analysis:
            yield "trend", (), {"trend": True}
        for number in self._newest_first:
            yield "submissions", (number,), {"submissions": self.kept.submissions | {number}}
        yield "teams", (), {"teams": teams}
        yield "earlier_results", (), {"earlier_results": True}
        if config.show_metric_scores:
            yield "metrics", (), {"metrics": True}

    def _put_in(self, more: Mapping[str, Any], closed: bool) -> bool:
        """Whether it is shown now, or would show nothing anyway."""
        kept = replace(self.kept, **more)
        text = self._render(kept)
        if text == self.text:
            return True
        tokens = count(text, self.model)
        if closed or tokens.tokens > self.budget:
            return False
        self.kept, self.text, self.tokens = kept, text, tokens
        return True

    def _render(self, kept: Kept) -> str:
        return self.builder.build_reduced_prompt(self.context, kept, self.metadata)
