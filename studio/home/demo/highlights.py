"""The demo's story in a few steps, with links. Used by the home page."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from builder.messages import Language
from studio.access.roles import Action
from studio.home.demo.story import STORIES
from studio.home.demo.workspaces import WORKSPACES
from studio.models import PromptVersion, Workspace


@dataclass(frozen=True)
class Highlight:
    """Something to look at in the demo, and where."""

    title: str
    url: str
    action: Action = Action.READ
    """What one does there."""


def highlights(language: Language) -> list[Highlight]:
    """Of the set in the reader's language, or of the other one; nothing where the demo is gone."""
    stories = sorted(STORIES, key=lambda story: story.language != language)
    first = PromptVersion.objects.filter(
        number=1,
        author__is_active=False,
        prompt_set__slug__in=[story.slug for story in stories],
        prompt_set__archived=False,
    )
    names = dict(first.values_list("prompt_set__slug", "prompt_set__name"))
    story = next((story for story in stories if story.slug in names), None)
    if story is None:
        return []
    runs = {n: reverse("version-runs", args=[story.slug, n]) for n in (story.helped, story.did_not_help)}
    name = {"set": names[story.slug]}
    steps = [
        Highlight(
            _("Start here: change a word of %(set)s and watch the prompt") % name,
            reverse("prompt-edit", args=[story.slug]),
            Action.EDIT,
        ),
        Highlight(
            _("%(set)s v%(n)d helped: significantly higher scores") % (name | {"n": story.helped}),
            runs[story.helped],
        ),
        Highlight(
            _("v%(n)d did not help: no significant difference") % {"n": story.did_not_help},
            runs[story.did_not_help],
        ),
        Highlight(
            _("v%(n)d changed the evaluator: its scores are not comparable") % {"n": story.not_comparable},
            reverse("prompt-scores", args=[story.slug]),
        ),
    ]
    slugs = [demo.slug for demo in WORKSPACES if demo.story is story and demo.edit]
    edited = Workspace.objects.filter(slug__in=slugs, archived=False).first()
    if edited is not None:
        adopt = _("%(workspace)s: its prompt file was edited by hand; adopt the edit as a version")
        steps.append(Highlight(adopt % {"workspace": edited.name}, edited.get_absolute_url(), Action.ADOPT))
    return steps
