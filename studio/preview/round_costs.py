"""What a version's prompts cost a team in one round: rendered, counted, and priced for the set's model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from builder.cache import tokens
from builder.cache.tokens import TokenCount
from builder.errors import JailError
from builder.template.variables import KINDS, PromptKind
from studio.contexts.at_round import ContextAtRound, dialect_of, usual_context
from studio.models import LanguageModel, PromptSet, PromptVersion
from studio.preview.costs import Cost, cost_of, total
from studio.preview.examinations import examine
from studio.preview.stability import guaranteed
from studio.prompts.texts import user_prompts


@dataclass(frozen=True)
class PromptCost:
    """One template's prompt."""

    kind: PromptKind
    counted: TokenCount
    stable: TokenCount | None
    """What is the same in every round of a task; None where it could not be told."""
    cost: Cost


@dataclass(frozen=True)
class RoundCosts:
    """The prompts of one team in one round; without rows where the jail takes no jobs now."""

    model: LanguageModel
    at_round: ContextAtRound
    rows: Sequence[PromptCost] = ()

    @cached_property
    def total(self) -> Cost:
        return total(row.cost for row in self.rows)

    @property
    def is_whole(self) -> bool:
        """Whether every template gave a prompt."""
        return len(self.rows) == len(KINDS)


def version_costs(version: PromptVersion, *, owner: str) -> RoundCosts | None:
    """In the context that the editor opens with; None for a set that names no model."""
    prompt_set = version.prompt_set
    if prompt_set.language_model is None or not prompt_set.file_kind.has_templates:
        return None
    seen = usual_context(prompt_set)
    try:
        found = [
            prompt_cost(prompt_set, kind, text, seen, owner=owner)
            for kind, text in user_prompts(version.templates).by_kind.items()
        ]
    except JailError:
        found = []
    return RoundCosts(prompt_set.language_model, seen, [each for each in found if each])


def prompt_cost(
    prompt_set: PromptSet, kind: PromptKind, text: str, at_round: ContextAtRound, *, owner: str
) -> PromptCost | None:
    """None for a text that gives no prompt, or a set without a model. Raises the jail's ``JailError``."""
    model, dialect = prompt_set.language_model, dialect_of(prompt_set)
    if model is None:
        return None
    values = at_round.values(kind, dialect)
    prompt = examine(kind, text, values, dialect, owner=owner).text
    if prompt is None:
        return None
    counted = tokens.recount(prompt, model.name)
    beginnings = guaranteed(prompt_set, kind, text, at_round, owner)
    stable = beginnings.task.tokens if beginnings else None
    return PromptCost(kind, counted, stable, cost_of(model, counted, stable))
