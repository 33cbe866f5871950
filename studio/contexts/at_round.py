"""Sample contexts at one of their rounds: the values that a template is rendered with.

Used by previews, saves, comparisons, the matrix and costs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.utils.translation import gettext as _

from builder.template.dialect import MIXSEEK, Dialect, dialect_named
from builder.template.formatters import NeutralisedTag, Template, Values, neutralised_tags, tags_of, variables
from builder.template.models import RoundPromptContext
from builder.template.rounds import rounds_of, seen_at
from builder.template.variables import CURRENT_DATETIME, PromptKind, sample_values
from studio.contexts.models import SampleContext
from studio.prompts.models import PromptSet
from studio.shell.refusal import RequestRefused

SAMPLE_TIME = datetime.fromisoformat(str(CURRENT_DATETIME.sample))
"""`current_datetime` of every preview: with the clock's own time no two of them could be compared."""


@dataclass(frozen=True, eq=False)
class ContextAtRound:
    """A context at a round. Without a context, every variable has its sample value.

    Two are equal where they have the same ``whole`` object, so that they can be keys of a cache; a key keeps
    its object, so no other one has the same id meanwhile.
    """

    context: SampleContext | None = None
    whole: RoundPromptContext | None = None
    """The context at its own round, read once."""
    round: int = 1
    rounds: tuple[int, ...] = ()
    """Those that the context can be seen at."""

    @property
    def is_shared(self) -> bool:
        """Whether all sets have it, whoever made it."""
        return self.context is not None and self.context.prompt_set_id is None

    @property
    def title(self) -> str:
        """The context's name with the round, for a sentence about it."""
        if self.context is None:
            return _("Sample values")
        return _("%(context)s, round %(round)d") % {"context": self.context.title, "round": self.round}

    def values(self, kind: PromptKind, dialect: Dialect, template: str) -> Values:
        """What each variable of the template stands for."""
        return _kept_values(self, kind, dialect, tags_of(template, dialect))

    def neutralised(self, kind: PromptKind, dialect: Dialect, template: str) -> list[NeutralisedTag]:
        """The tags in the context that MixSeek would neutralise, for the template has them itself."""
        if self.context is None or self.whole is None or not dialect.neutralises_tags:
            return []
        seen = seen_at(kind, self.whole, self.context.submission, self.round)
        return neutralised_tags(kind, seen, None, dialect, template)

    @property
    def _key(self) -> tuple[int, int, str]:
        return id(self.whole), self.round, self.context.submission if self.context else ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextAtRound) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def values_at(at_round: ContextAtRound, kind: PromptKind, dialect: Dialect, template: Template) -> Values:
    """``ContextAtRound.values``, worked out anew."""
    if at_round.context is None or at_round.whole is None:
        return sample_values(kind)
    seen = seen_at(kind, at_round.whole, at_round.context.submission, at_round.round)
    return variables(kind, seen, None, SAMPLE_TIME, dialect, template)


_kept_values = lru_cache(maxsize=32)(values_at)
"""The next preview is mostly of the same context, and to write out a history takes long."""


def dialect_of(prompt_set: PromptSet) -> Dialect:
    """The dialect that the set is rendered in."""
    return dialect_named(prompt_set.dialect) or MIXSEEK


def context_at(
    context: SampleContext | None, number: int | None = None, whole: RoundPromptContext | None = None
) -> ContextAtRound:
    """The context at that round, or at its own where it has no such round.

    ``whole`` spares reading the context's data where that is done already.
    """
    if context is None:
        return ContextAtRound()
    whole = whole or context.round_context
    rounds = tuple(rounds_of(whole))
    return ContextAtRound(
        context, whole, number if number is not None and number in rounds else rounds[-1], rounds
    )


def chosen_context(prompt_set: PromptSet, slug: str) -> SampleContext:
    """The context of that address, if it is the set's or shared."""
    context = SampleContext.objects.for_set(prompt_set).filter(slug=slug).first()
    if context is None:
        raise RequestRefused(
            404,
            _("This set no longer has this sample context."),
            _("Choose another context on the page."),
        )
    return context


def usual_context(prompt_set: PromptSet) -> ContextAtRound:
    """The one that the editor opens with: of the set's own contexts the first, else of the shared ones."""
    contexts = SampleContext.objects.for_set(prompt_set).defer("submission", "data")
    first = min(contexts, key=lambda context: context.prompt_set_id is None, default=None)
    return context_at(SampleContext.objects.get(pk=first.pk) if first else None)


def contexts_at_rounds(prompt_set: PromptSet) -> Iterator[ContextAtRound]:
    """Every context of the set, its own and the shared ones, at each round: a version must render in all."""
    contexts = list(SampleContext.objects.for_set(prompt_set))
    for context in contexts:
        own = context_at(context)
        for number in reversed(own.rounds):
            yield ContextAtRound(context, own.whole, number, own.rounds)
    if not contexts:
        yield ContextAtRound()
