"""Lists of contexts: a page of one; and in which rounds the newest version of a set gives no prompt."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from builder.errors import JailError
from builder.template.variables import KINDS, PromptKind
from studio.contexts.models import SampleContextQuerySet
from studio.models import PromptSet, PromptVersion
from studio.preview.all_rounds import AllRounds, all_rounds

CONTEXTS_PER_PAGE = 50


@dataclass(frozen=True)
class Failing:
    """Rounds of a context in which one template gives no prompt."""

    kind: PromptKind
    rounds: list[int]


@dataclass(frozen=True)
class ContextState:
    """A context against the newest version."""

    failing: list[Failing]
    was_tried: bool
    """Whether every template was rendered in it."""


@dataclass(frozen=True)
class CheckedContexts:
    """What rendering the newest version in all contexts says; nothing where the jail takes no jobs."""

    found: tuple[AllRounds, ...] = ()
    refusal: JailError | None = None

    @classmethod
    def against(cls, version: PromptVersion | None) -> "CheckedContexts":
        if version is None:
            return cls()
        prompt_set: PromptSet = version.prompt_set
        texts = version.templates.parts
        try:
            return cls(
                tuple(
                    all_rounds(prompt_set, kind, texts[kind], ("", None), is_wanted=lambda: True)
                    for kind in KINDS
                )
            )
        except JailError as refusal:
            return cls(refusal=refusal)

    def state(self, slug: str) -> ContextState | None:
        """Of one context."""
        if not self.found:
            return None
        failing = [Failing(each.kind, each.fails[slug]) for each in self.found if slug in each.fails]
        return ContextState(failing, all(slug in each.tried for each in self.found))


def listed(
    contexts: SampleContextQuerySet,
    asked: dict[str, str],
    after: int | None,
    checked: CheckedContexts | None = None,
) -> dict[str, Any]:
    """A page of a list, for its template; ``asked`` is what the addresses of its other pages say."""
    # One row more than shown tells whether there is another page, without counting them all.
    rows = list(contexts.filter(pk__gt=after or 0)[: CONTEXTS_PER_PAGE + 1])
    shown, more = rows[:CONTEXTS_PER_PAGE], len(rows) > CONTEXTS_PER_PAGE
    return {
        "rows": [(each, checked.state(each.slug) if checked else None) for each in shown],
        "first_url": "?" + urlencode(asked) if after else "",
        "next_url": "?" + urlencode({**asked, "after": shown[-1].pk}) if more else "",
    }
