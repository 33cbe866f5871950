"""A set with one version, and the fields that the editor's page sends."""

from typing import Any

from django.contrib.auth.models import User

from builder.template.models import RoundPromptContext, RoundState
from studio.models import PromptSet, SampleContext
from studio.prompts.drafts import SentDraft
from studio.prompts.texts import Templates
from tests.studio.clock import NOW

TEAM = "# Task\n{{ user_prompt }}\nRound {{ round_number }}\n"
TEXTS = Templates(TEAM, "Judge:\n{{ submission }}\n", "Go on?\n{{ submission_history }}\n")
EDIT = "/prompts/set/edit/"
SAVE = "/prompts/set/save/"
DRAFT = "/prompts/set/draft/"
PREVIEW = "/prompts/set/preview/"
HTMX = {"HX-Request": "true"}


def make_set(author: User, slug: str = "set") -> PromptSet:
    made = PromptSet.objects.create(slug=slug, name=slug.title(), created_at=NOW, changed_at=NOW)
    made.save_version(TEXTS, base=0, message="first", author=author, at=NOW)
    return made


def make_context(
    slug: str, rounds: int = 1, prompt_set: PromptSet | None = None, **data: Any
) -> SampleContext:
    context = RoundPromptContext.model_validate(
        {
            "user_prompt": "count the stars",
            "round_number": rounds,
            "round_history": [
                RoundState(round_number=number, submission_content=f"text {number}", evaluation_score=50.0)
                for number in range(1, rounds)
            ],
            "team_id": "t",
            "team_name": "T",
            "execution_id": "run",
        }
        | data
    )
    return SampleContext.objects.create(
        slug=slug,
        name=slug.title(),
        prompt_set=prompt_set,
        data=context.model_dump(mode="json"),
        submission="handed in",
        created_at=NOW,
        changed_at=NOW,
    )


def fields(texts: Templates = TEXTS, *, team: str | None = None, **more: Any) -> dict[str, Any]:
    """The form; a revision of 0 is that of a person without a draft."""
    sent = {"base": 1, "revision": 0, "tab": "tab-a", "seq": 1, "message": "", **vars(texts)}
    return sent | ({"team_user_prompt": team} if team is not None else {}) | more


def sent(team: str = TEAM, **more: Any) -> SentDraft:
    texts = Templates(team, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    return SentDraft(**({"templates": texts, "base": 1, "revision": 0, "tab": "tab-a", "seq": 1} | more))
