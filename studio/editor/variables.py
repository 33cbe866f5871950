"""The variables of a template with the values that they have in a context: the panel below the editor."""

from dataclasses import dataclass

from builder.template.variables import VARIABLES, PromptKind
from studio.contexts.at_round import ContextAtRound, dialect_of
from studio.models import PromptSet
from studio.shell.language import reader_language

MOST_SHOWN = 1_000
"""Characters of a value; the prompt beside it has all of them."""


@dataclass(frozen=True)
class VariableRow:
    """One variable and what it stands for."""

    name: str
    type: str
    about: str
    value: str
    characters: int

    @property
    def is_cut(self) -> bool:
        return self.characters > MOST_SHOWN


def variable_rows(prompt_set: PromptSet, kind: PromptKind, at_round: ContextAtRound) -> list[VariableRow]:
    """In the order that help tells them: the task first, the clock last."""
    values, language = at_round.values(kind, dialect_of(prompt_set), ""), reader_language()
    rows = []
    for variable in VARIABLES[kind]:
        value = str(values[variable.name])
        about = variable.description.fill(language, {})
        rows.append(VariableRow(variable.name, variable.type, about, value[:MOST_SHOWN], len(value)))
    return rows
