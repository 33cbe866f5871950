"""A prompt against its budget: how full it is, which part takes how much, what the levels would leave out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from pydantic import ValidationError

from builder.cache.tokens import TokenCount
from builder.contract.budget import FittedPrompt, fit_round_prompt
from builder.contract.round_context import round_context_of
from builder.contract.round_history import DEFAULT_MODEL
from builder.contract.round_prompt import PlainTextPromptBuilder, RoundPromptConfig
from builder.template.formatters import Values
from builder.template.models import RoundPromptContext
from builder.template.rounds import seen_at
from builder.template.variables import PromptKind
from studio.contexts.at_round import ContextAtRound
from studio.models import LanguageModel, PromptSet
from studio.preview.costs import Cost, cost_of
from studio.preview.prompt_parts import Part, PartName, parts_of
from studio.shell.language import reader_language

Fill = Literal["none", "within", "close", "over"]
"""Without a budget; within it; too near to it for an estimate to say; over it."""
Levels = Literal["", "not_round", "no_context", "fits", "left_out", "level_one"]
"""What the priority levels would do: nothing to say, or why they do not apply, or what they come to."""

_USUAL = RoundPromptConfig()


def config_of(prompt_set: PromptSet) -> RoundPromptConfig:
    """The set's round prompts; what nobody set, or what an older studio stored, is as usual."""
    try:
        return _config(tuple(sorted(prompt_set.round_config.items())))
    except (ValidationError, TypeError, AttributeError):
        return _USUAL


@lru_cache(maxsize=64)
def _config(stored: tuple[tuple[str, Any], ...]) -> RoundPromptConfig:
    return RoundPromptConfig.model_validate(dict(stored))


def budget_of(prompt_set: PromptSet, kind: PromptKind) -> int | None:
    """Tokens that a template's prompt may have; ``None`` where nobody has said.

    Of a team's prompt, the tokens of the set's round prompts count where it has no budget of its own.
    """
    own = _whole(prompt_set.budgets, kind)
    return (
        _whole(prompt_set.round_config, "estimated_prompt_tokens") if own is None and kind == "team" else own
    )


def _whole(stored: Mapping[str, Any], name: str) -> int | None:
    value = stored.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def counter_of(prompt_set: PromptSet) -> str:
    """Whose tokens are counted: those of the set's model, else of the newest OpenAI models."""
    model = prompt_set.language_model
    return model.name if model else DEFAULT_MODEL


def fill_of(counted: TokenCount, budget: int | None) -> Fill:
    """Whether a prompt is within its budget, as far as that can be said."""
    if budget is None:
        return "none"
    if counted.tokens * (1 - counted.margin) <= budget < counted.tokens * (1 + counted.margin):
        return "close"
    return "over" if counted.tokens > budget else "within"


@dataclass(frozen=True)
class Stretch:
    """A part as a bar shows it, in hundredths of the bar."""

    part: PartName
    start: float
    width: float


@dataclass(frozen=True)
class BudgetView:
    """One prompt against its budget."""

    kind: PromptKind
    counted: TokenCount
    parts: tuple[Part, ...]
    budget: int | None
    model: LanguageModel | None
    levels: Levels = ""
    fitted: FittedPrompt | None = None
    """What a round prompt made by the levels would be; only where this one is too long."""
    config: RoundPromptConfig = _USUAL
    """What it is made by."""

    @property
    def fill(self) -> Fill:
        return fill_of(self.counted, self.budget)

    @property
    def over_by(self) -> int:
        return max(0, self.counted.tokens - (self.budget or self.counted.tokens))

    @property
    def notes(self) -> list[str]:
        """What the levels would leave out, level 3 first."""
        if self.fitted is None:
            return []
        said = self.fitted.notes(reader_language())
        first, rest = (said[:1], said[1:]) if self.fitted.over_budget else ([], said)
        return [*first, *reversed(rest)]

    @property
    def context_share(self) -> float | None:
        """The share of the model's context length, from 0 to 1."""
        most = self.model.context_tokens if self.model else None
        return self.counted.tokens / most if most else None

    @cached_property
    def cost(self) -> Cost | None:
        """Without a look at what a cache would keep."""
        return cost_of(self.model, self.counted, None) if self.model else None

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The parts side by side; the bar is as long as the longer of prompt and budget."""
        start, found = 0.0, []
        for part in self.parts:
            width = 100 * part.tokens / self._length
            found.append(Stretch(part.name, start, width))
            start += width
        return tuple(found)

    @property
    def mark(self) -> float | None:
        """Where the budget ends on the bar; None where that is the bar's end, or there is no budget."""
        return None if not self.budget or self.budget >= self._length else 100 * self.budget / self._length

    @property
    def _length(self) -> int:
        return max(self.counted.tokens, self.budget or 0, 1)


def budget_view(
    prompt_set: PromptSet,
    kind: PromptKind,
    at_round: ContextAtRound,
    *,
    template: str,
    prompt: str,
    values: Values,
    counted: TokenCount,
) -> BudgetView:
    """The prompt that a template gave, against the set's budget for it."""
    budget = budget_of(prompt_set, kind)
    model = prompt_set.language_model
    parts = parts_of(prompt, template, values, counted.tokens, counter_of(prompt_set))
    if budget is None or fill_of(counted, budget) == "within":
        return BudgetView(kind, counted, parts, budget, model)
    levels, fitted = _by_levels(prompt_set, kind, at_round, budget)
    return BudgetView(kind, counted, parts, budget, model, levels, fitted, config_of(prompt_set))


def _by_levels(
    prompt_set: PromptSet, kind: PromptKind, at_round: ContextAtRound, budget: int
) -> tuple[Levels, FittedPrompt | None]:
    """The priority levels are about what a team's leader receives."""
    if kind != "team":
        return "not_round", None
    if at_round.context is None or at_round.whole is None:
        return "no_context", None
    fitted = _fitted(at_round, config_of(prompt_set), budget, counter_of(prompt_set))
    if fitted.over_budget:
        return "level_one", fitted
    return ("left_out" if fitted.left_out else "fits"), fitted


@lru_cache(maxsize=32)
def _fitted(at_round: ContextAtRound, config: RoundPromptConfig, budget: int, model: str) -> FittedPrompt:
    """Cached: it depends on the context alone, not on what somebody writes in the template."""
    assert at_round.whole is not None
    seen = seen_at("team", at_round.whole, "", at_round.round)
    assert isinstance(seen, RoundPromptContext)
    context = round_context_of(seen, teams=config.max_leaderboard_display_teams)
    return fit_round_prompt(context, PlainTextPromptBuilder(config), budget=budget, model=model)
