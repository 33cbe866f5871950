"""The page of suggestions: rounds to keep, lines that nothing tries, variables that are never used."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from builder.errors import JailError
from builder.template.variables import PromptKind
from studio.contexts.at_round import dialect_of
from studio.models import Draft, PromptSet
from studio.preview.coverage import Reached, reached, unused
from studio.prompts.texts import Templates, user_prompts
from studio.results.suggestions.reaching_rounds import Reaching, reaching_rounds
from studio.results.suggestions.suggested_rounds import FromRuns, from_runs
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused

MOST_LINES = 300
"""Of one template that the page lists."""


@dataclass(frozen=True)
class IdleVariable:
    """One that a template could use, and how."""

    name: str
    description: str
    snippet: str


@dataclass(frozen=True)
class TemplateLine:
    """A line of a template."""

    number: int
    text: str


@dataclass(frozen=True)
class Advice:
    """One template: the lines that no sample context reaches, and the variables that it never names."""

    kind: PromptKind
    text: str
    reached: Reached
    idle: tuple[IdleVariable, ...]
    reaching: tuple[Reaching, ...] = ()
    """Real rounds that reach some of those lines; of the team's template alone."""

    @property
    def stretches(self) -> list[list[TemplateLine]]:
        """The unreached lines, those that follow each other together."""
        texts = self.text.split("\n")
        stretches: list[list[TemplateLine]] = []
        for number in self.reached.unreached[:MOST_LINES]:
            if not stretches or any(text.strip() for text in texts[stretches[-1][-1].number : number - 1]):
                stretches.append([])
            stretches[-1].append(TemplateLine(number, texts[number - 1] if number <= len(texts) else ""))
        return stretches

    @property
    def lines_left(self) -> int:
        """How many more there are than the page lists."""
        return max(len(self.reached.unreached) - MOST_LINES, 0)


@dataclass(frozen=True)
class SuggestionPage:
    """All of it. What the jail could not look at is missing, and said."""

    prompt_set: PromptSet
    version: int | None
    """Whose templates these are; ``None`` for the reader's draft, 0 for MixSeek's defaults."""
    from_runs: FromRuns
    templates: tuple[Advice, ...]
    refusal: JailError | None = None
    has_draft: bool = False

    @property
    def unreached(self) -> int:
        """Lines, in all templates."""
        return sum(len(advice.reached.unreached) for advice in self.templates)

    @property
    def idle(self) -> int:
        return sum(len(advice.idle) for advice in self.templates)

    @property
    def rounds(self) -> int:
        return len(self.from_runs.suggestions)

    @property
    def contexts(self) -> int:
        return self.templates[0].reached.contexts if self.templates else 0

    @property
    def is_cut(self) -> bool:
        return any(advice.reached.cut for advice in self.templates)


def suggestions_for(prompt_set: PromptSet, person: User, wanted: str) -> SuggestionPage:
    """Of a version (its number), of the reader's ``draft``, or of the newest version."""
    version, templates = _templates(prompt_set, person, wanted)
    advices: tuple[Advice, ...] = ()
    refusal = None
    try:
        advices = tuple(_advices(prompt_set, templates))
    except JailError as error:
        refusal = error
    has_draft = wanted == "draft" or Draft.objects.unsaved(prompt_set, person) is not None
    return SuggestionPage(prompt_set, version, from_runs(prompt_set), advices, refusal, has_draft)


def _advices(prompt_set: PromptSet, templates: Templates) -> Iterator[Advice]:
    dialect = dialect_of(prompt_set)
    for kind, text in templates.by_kind.items():
        idle = tuple(
            IdleVariable(
                variable.name,
                variable.description.fill(reader_language(), {}),
                "{{ " + variable.name + " }}",
            )
            for variable in unused(kind, text, dialect)
        )
        lines = reached(prompt_set, kind, text)
        real = reaching_rounds(prompt_set, text, lines.unreached) if kind == "team" else ()
        yield Advice(kind, text, lines, idle, real)


def _templates(prompt_set: PromptSet, person: User, wanted: str) -> tuple[int | None, Templates]:
    if wanted == "draft":
        draft = Draft.objects.unsaved(prompt_set, person)
        if draft is None:
            raise RequestRefused(
                404,
                _("You have no unsaved draft of this set."),
                _("Take the draft out of the address to see the newest version."),
            )
        return None, user_prompts(draft.templates)
    if not wanted:
        saved = prompt_set.latest
        return (saved.number if saved else 0), user_prompts(prompt_set.starting_text(saved))
    version = prompt_set.versions.filter(number=int(wanted)).first()
    if version is None:
        raise RequestRefused(404, _("This set has no such version."))
    return version.number, user_prompts(version.templates)
