"""A prompt against its budget: how full it is, which part takes how much, what the levels would leave out.

Used by the preview and the matrix.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from pydantic import ValidationError

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.contract.budget import FittedPrompt, fit_round_prompt
from builder.contract.round_context import round_context_of
from builder.contract.round_prompt import PlainTextPromptBuilder, RoundPromptConfig
from builder.template.formatters import Values
from builder.template.models import RoundPromptContext
from builder.template.rounds import seen_at
from builder.template.variables import PromptKind
from studio.contexts.at_round import ContextAtRound
from studio.models import LanguageModel, PromptSet
from studio.preview.cacheable_prefix import counter_of
from studio.preview.costs import Cost, cost_of
from studio.shell.language import reader_language

Fill = Literal["none", "within", "close", "over"]
"""Without a budget; within it; too near to it for an estimate to say; over it."""
Levels = Literal["", "not_round", "no_context", "fits", "left_out", "level_one"]
"""What the priority levels would do: nothing to say, or why they do not apply, or what they come to."""

PartName = Literal["task", "history", "ranking", "submission", "own"]
PARTS: tuple[PartName, ...] = get_args(PartName)

_PART_OF: Mapping[str, PartName] = {
    "user_prompt": "task",
    "submission_history": "history",
    "ranking_table": "ranking",
    "team_position_message": "ranking",
    "submission": "submission",
}
MOST_PLACES = 64
"""Of one value; a template that repeats it more often has its own text to think of."""

_USUAL = RoundPromptConfig()


def config_of(prompt_set: PromptSet) -> RoundPromptConfig:
    """The set's round prompts; what nobody set, or what an older studio stored, is as usual."""
    try:
        return _config(tuple(sorted(prompt_set.round_config.items())))
    except (ValidationError, TypeError, AttributeError):
        return _USUAL


@lru_cache(maxsize=64)
def _config(stored: tuple[tuple[str, Any], ...]) -> RoundPromptConfig:
    return RoundPromptConfig(**dict(stored))


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


def fill_of(counted: TokenCount, budget: int | None) -> Fill:
    """Whether a prompt is within its budget, as far as that can be said."""
    if budget is None:
        return "none"
    if counted.tokens * (1 - counted.margin) <= budget < counted.tokens * (1 + counted.margin):
        return "close"
    return "over" if counted.tokens > budget else "within"


@dataclass(frozen=True)
class BudgetView:
    """One prompt against its budget."""

    kind: PromptKind
    counted: TokenCount
    parts: dict[PartName, int]
    """The tokens of each."""
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

    @property
    def mark(self) -> float | None:
        """Where the budget ends on the bar; None where that is the bar's end, or there is no budget."""
        return None if not self.budget or self.budget >= self.length else 100 * self.budget / self.length

    @property
    def length(self) -> int:
        """Tokens that the bar is long: the longer of prompt and budget."""
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


def parts_of(
    prompt: str, template: str, values: Values, total: int, model: str = "o200k_base"
) -> dict[PartName, int]:
    """The tokens of every part that the prompt has, its own text last; together exactly ``total``.

    A value is looked for in the prompt as it stands. What a filter changed, or what the template says in the
    very words of a value, is not told from the template's own text and counts as that.
    """
    sizes: dict[PartName, int] = {}
    for part, start, end in _places(prompt, template, values):
        sizes[part] = sizes.get(part, 0) + _size(prompt[start:end], model)
    # Where two texts meet, one token may hold the end of one and the beginning of the other.
    too_many = sum(sizes.values()) - total
    while too_many > 0:
        largest = max(sizes, key=lambda part: sizes[part])
        taken = min(too_many, sizes[largest])
        sizes[largest] -= taken
        too_many -= taken
    sizes["own"] = total - sum(sizes.values())
    return {part: sizes[part] for part in PARTS if sizes.get(part)}


def _places(prompt: str, template: str, values: Values) -> list[tuple[PartName, int, int]]:
    """Where the values stand, each with its start and end; of two that overlap, the longer one."""
    wanted = [
        (str(value).strip(), part)
        for name, part in _PART_OF.items()
        if (value := values.get(name)) and name in template
    ]
    free = [(0, len(prompt))]
    places: list[tuple[PartName, int, int]] = []
    for text, part in sorted(wanted, key=lambda value: len(value[0]), reverse=True):
        if not text or text in template:
            continue
        left, room = MOST_PLACES, list[tuple[int, int]]()
        for start, end in free:
            while left and (at := prompt.find(text, start, end)) >= 0:
                places.append((part, at, at + len(text)))
                room.append((start, at))
                start = at + len(text)
                left -= 1
            room.append((start, end))
        free = [(start, end) for start, end in room if start < end]
    return places


@lru_cache(maxsize=64)
def _size(text: str, model: str) -> int:
    """Cached: while somebody writes, the values stay what they are."""
    return tokens.recount(text, model).tokens
