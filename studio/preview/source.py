"""What a preview is made from, in one query: it is asked for at every pause of somebody who types."""

import json
from dataclasses import dataclass
from functools import lru_cache

from django.db import connection
from django.http import Http404

from builder.template.models import RoundPromptContext
from studio.contexts.models import SampleContext
from studio.prompts.language_models import LanguageModel
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.texts import Templates, user_prompts

# By hand: to build these joins out of querysets takes longer than to run them.
_SQL = """\
SELECT s.id, s.name, s.dialect, s.revision, v.content_hash, c.id, c.slug, c.name, c.submission, c.data,
  s.round_config, s.budgets, m.id, m.revision
FROM studio_promptset s
LEFT JOIN studio_languagemodel m ON m.id = s.language_model_id
LEFT JOIN studio_promptversion v ON v.prompt_set_id = s.id AND v.number = s.revision
LEFT JOIN studio_samplecontext c ON c.slug = %s AND (c.prompt_set_id = s.id OR c.prompt_set_id IS NULL)
WHERE s.slug = %s AND s.holds = 'prompts'
"""


@dataclass(frozen=True)
class SavedText:
    """The newest version, as far as a preview needs it."""

    number: int
    templates: Templates


@dataclass(frozen=True)
class PreviewSource:
    """A set, its newest version, and the context that was chosen."""

    prompt_set: PromptSet
    saved: SavedText | None
    context: SampleContext | None
    whole: RoundPromptContext | None


def preview_source(slug: str, context_slug: str) -> PreviewSource:
    """The set of that address; a 404 where it does not exist or the context is none of its own."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, [context_slug, slug])
        row = cursor.fetchone()
    if row is None or (context_slug and row[5] is None):
        raise Http404
    key, name, dialect, revision, content_hash, context_key, context_slug, title, submission, data = row[:10]
    prompt_set = PromptSet(pk=key, slug=slug, name=name, dialect=dialect, revision=revision)
    _add_budgets(prompt_set, *row[10:])
    saved = SavedText(revision, _templates(key, revision, content_hash)) if content_hash else None
    if context_key is None:
        return PreviewSource(prompt_set, saved, None, None)
    context = SampleContext(pk=context_key, slug=context_slug, name=title, submission=submission)
    return PreviewSource(prompt_set, saved, context, _context(data))


def _add_budgets(
    prompt_set: PromptSet, config: str, budgets: str, model: int | None, model_revision: int
) -> None:
    prompt_set.round_config, prompt_set.budgets = json.loads(config), json.loads(budgets)
    if model is not None:
        prompt_set.language_model = _model(model, model_revision)


@lru_cache(maxsize=32)
def _model(key: int, revision: int) -> LanguageModel | None:
    """Its revision tells one state from the next."""
    return LanguageModel.objects.filter(pk=key, revision=revision).first()


@lru_cache(maxsize=32)
def _templates(prompt_set: int, number: int, content_hash: str) -> Templates:
    """Versions never change, and the hash tells them apart."""
    return user_prompts(PromptVersion.objects.get(prompt_set=prompt_set, number=number).templates)


@lru_cache(maxsize=32)
def _context(data: str) -> RoundPromptContext:
    return RoundPromptContext.model_validate_json(data)
