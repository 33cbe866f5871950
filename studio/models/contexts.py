"""Sample contexts: named situations that a template is tried in."""

from typing import Any, Self

import pydantic
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import pgettext

from builder.errors import CONTEXT_INVALID, ContextError
from builder.models import EvaluatorPromptContext, RoundPromptContext
from studio.language import reader_language
from studio.models.prompts import PromptSet


def validate_round_context(data: Any) -> None:
    """Whether the builder accepts the data as a round's context; a refusal names the field."""
    try:
        RoundPromptContext.model_validate(data)
    except pydantic.ValidationError as error:
        problem = ContextError.wrap(error, CONTEXT_INVALID)
        raise ValidationError(problem.text(reader_language()), code=problem.code) from error


class SampleContextQuerySet(models.QuerySet["SampleContext"]):
    """Contexts as pages need them."""

    def for_set(self, prompt_set: PromptSet) -> Self:
        """Those of a set and the shared ones."""
        return self.filter(Q(prompt_set=prompt_set) | Q(prompt_set=None))

    def search(self, text: str) -> list["SampleContext"]:
        """Those whose name or description, as the page shows them, contains the text.

        Not in SQL: the shipped contexts are stored in English and shown in the reader's language.
        """
        wanted = text.casefold()
        return [each for each in self if wanted in f"{each.title} {each.about}".casefold()]


class SampleContext(models.Model):
    """A round that a template can be rendered for, of one set or shared by all."""

    slug = models.SlugField(max_length=80, unique=True, allow_unicode=True)
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=300, blank=True)
    prompt_set = models.ForeignKey(
        PromptSet, on_delete=models.PROTECT, null=True, blank=True, related_name="contexts"
    )
    # What team and judgment see, as the JSON of `RoundPromptContext`.
    data = models.JSONField(validators=[validate_round_context])
    # What the team hands in during this round: the evaluator sees it, with the task from `data`.
    submission = models.TextField()
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    objects = SampleContextQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=["prompt_set", "name"], name="context_name_once_per_set"),
            models.UniqueConstraint(
                fields=["name"], condition=Q(prompt_set=None), name="context_name_once_among_shared"
            ),
        )

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("context-detail", args=[self.slug])

    @property
    def title(self) -> str:
        """The name; that of a shipped context in the reader's language."""
        return pgettext("sample context", self.name)

    @property
    def about(self) -> str:
        """The description, likewise."""
        return pgettext("sample context", self.description) if self.description else ""

    @property
    def round_context(self) -> RoundPromptContext:
        """What team and judgment prompts are made from."""
        return RoundPromptContext.model_validate(self.data)

    @property
    def evaluator_context(self) -> EvaluatorPromptContext:
        """What the evaluator prompt is made from."""
        return EvaluatorPromptContext(user_query=self.round_context.user_prompt, submission=self.submission)
