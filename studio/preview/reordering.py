"""A suggested order, taken into the draft: what the draft held before is put aside."""

from dataclasses import replace
from datetime import datetime

from builder.template.variables import PromptKind, field_name
from studio.contexts.at_round import ContextAtRound
from studio.models import Draft
from studio.preview.stability import Hint, guaranteed
from studio.prompts.drafts import CopyReason
from studio.prompts.texts import user_prompts


class NoSuchHint(Exception):
    """The text is another one by now, or the suggestion is."""


def take_order(draft: Draft, kind: PromptKind, at_round: ContextAtRound, key: str, *, at: datetime) -> Draft:
    """The draft with that template in the suggested order.

    Raises ``NoSuchHint``, ``StaleRevision`` where the draft was written to meanwhile, or the jail's errors.
    """
    texts = user_prompts(draft.templates)
    found = guaranteed(draft.prompt_set, kind, texts.by_kind[kind], at_round, str(draft.person_id))
    suggestion = _suggested(found.hints if found else (), key)
    templates = replace(texts, **{field_name(kind): suggestion})
    chosen = replace(draft.sent, templates=templates)
    return Draft.objects.replace(draft, chosen, reason=CopyReason.REORDERED, at=at)


def _suggested(hints: tuple[Hint, ...], key: str) -> str:
    for hint in hints:
        if hint.key == key and hint.lint.replacement is not None:
            return hint.lint.replacement
    raise NoSuchHint
