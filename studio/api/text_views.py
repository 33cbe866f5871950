"""The API's texts at work: rendered in a context, compared, checked. Nothing is stored."""

from typing import Annotated, Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from builder.template.variables import KINDS
from studio.api.answers import Word, answer
from studio.api.gate import ApiRequest
from studio.api.problems import FieldError, ProblemShown, Refusal, refuse_invalid, shown
from studio.api.version_views import TextsShown, draft_form, version_named
from studio.compare.forms import CompareForm
from studio.compare.page import compare_page
from studio.compare.versions import Panel, SideName, TextDiff, unified_text
from studio.contexts.at_round import ContextAtRound, chosen_context, context_at, dialect_of
from studio.editor.sets import require_templates
from studio.models import PromptSet
from studio.preview.examinations import examine, findings_of
from studio.preview.saving import shortcomings
from studio.prompts.findings import Finding, errors_of, in_order
from studio.prompts.system_text import read_text
from studio.prompts.texts import MOST_CHARACTERS, TEXT_FIELDS, user_prompts
from studio.shell.requests import person_of
from studio.shell.turns import PLACES

router = Router(tags=[gettext_noop("Render, compare, check")])

Round = Annotated[int | None, Field(ge=1, le=2**63 - 1)]


class RenderSent(BaseModel):
    """What to render: a version or texts, in a context at a round."""

    set: str = Field(max_length=80)
    version: str = Field("latest", max_length=40, description="A number, a label or “latest”.")
    texts: TextsShown | None = Field(None, description="Instead of a version; one template or more.")
    context: str = Field("", max_length=80, description="Without one, variables have their sample values.")
    round: Round = Field(None, description="A round of the context; its last one without it.")


class PromptShown(BaseModel):
    """The prompt of one template; null where it has errors."""

    text: Literal["team", "evaluator", "judgment"]
    prompt: str | None
    problems: list[ProblemShown]


class Rendered(BaseModel):
    """Prompts in one context at one round."""

    set: str
    version: int | None = Field(description="null where texts were sent.")
    context: str | None
    round: int
    rounds: list[int] = Field(description="Those that the context can be seen at.")
    prompts: list[PromptShown]


class TextCompared(BaseModel):
    """How one text, or its prompt, differs."""

    text: Literal["team", "evaluator", "judgment", "system"]
    state: Literal["same", "changed", "problems", "unknown"]
    changes: int
    diff: str | None = Field(description="As `diff -u` prints it; null where there is none or too much.")
    old_problems: list[ProblemShown]
    new_problems: list[ProblemShown]


class Compared(BaseModel):
    """Two versions of a set, or a version and one's own draft."""

    set: str
    old: str
    new: str
    context: str | None
    round: int | None
    changed_rounds: list[int]
    texts: list[TextCompared]


class CheckSent(BaseModel):
    """Texts that might become a version of a set."""

    set: str = Field(max_length=80)
    texts: TextsShown


class Checked(BaseModel):
    """Whether the texts could be saved, and what there is to know about them."""

    ok: bool
    problems: list[ProblemShown]


@router.post("/render", response=Rendered, summary=gettext_noop("Render prompts"))
def render_prompts(request: ApiRequest, body: RenderSent) -> HttpResponse:
    """A version, or texts that are sent, in a context at a round."""
    prompt_set = get_object_or_404(PromptSet, slug=body.set)
    require_templates(prompt_set)
    number = None
    if body.texts is None:
        version = version_named(body.set, body.version)
        number, texts = version.number, user_prompts(version.templates).by_kind
    else:
        sent = body.texts.model_dump()
        texts = {kind: text for kind in KINDS if (text := sent[TEXT_FIELDS[kind]]) is not None}
        if not texts or max(map(len, texts.values())) > MOST_CHARACTERS:
            error = FieldError(field="texts", message=f"1 – {MOST_CHARACTERS}")
            raise Refusal(422, "input-invalid", errors=[error])
    context = chosen_context(prompt_set, body.context) if body.context else None
    at_round = context_at(context, body.round)
    if body.round is not None and body.round != at_round.round:
        raise Refusal(422, "input-invalid", errors=[FieldError(field="round", message=_rounds(at_round))])
    dialect, owner = dialect_of(prompt_set), str(person_of(request).pk)
    prompts = []
    for kind, text in texts.items():
        examined = examine(kind, text, at_round.values(kind, dialect, text), dialect, owner=owner)
        problems = shown(findings_of(kind, examined))
        prompts.append(PromptShown(text=kind, prompt=examined.text, problems=problems))
    made = Rendered(
        set=body.set,
        version=number,
        context=context.slug if context else None,
        round=at_round.round,
        rounds=list(at_round.rounds),
        prompts=prompts,
    )
    return answer(made)


@router.get("/sets/{word:slug}/compare", response=Compared, summary=gettext_noop("Compare two versions"))
def compare_versions(
    request: ApiRequest,
    slug: str,
    old: Word,
    new: Word,
    rendered: bool = False,
    context: Word = "",
    round: Round = None,
) -> HttpResponse:
    """By number, label, “latest” or “draft”, one's own; as written, or as prompts in a context at a round."""
    person = person_of(request)
    form = CompareForm({"rendered": rendered, "context": context, "round": round})
    refuse_invalid(form)
    with PLACES.taken(str(person.pk)):
        page = compare_page(slug, person, _side(slug, old), _side(slug, new), form)
        if page.prompts and page.prompts.refusal:
            raise page.prompts.refusal
        files = [f"{slug}/{side.file_name}" for side in (page.old, page.new)]
        compared = Compared(
            set=slug,
            old=str(page.old.name),
            new=str(page.new.name),
            context=page.at_round.context.slug if page.prompts and page.at_round.context else None,
            round=page.at_round.round if page.prompts else None,
            changed_rounds=page.prompts.changed_rounds if page.prompts else [],
            texts=[_compared(panel, *files) for panel in page.panels],
        )
    return answer(compared)


@router.post("/check", response=Checked, summary=gettext_noop("Check texts"))
def check_texts(request: ApiRequest, body: CheckSent) -> HttpResponse:
    """By the rules of saving a version, with warnings and hints; nothing is stored."""
    prompt_set, person = get_object_or_404(PromptSet, slug=body.set), person_of(request)
    texts, owner = draft_form(prompt_set, body.texts).sent.templates, str(person.pk)
    if prompt_set.file_kind.is_system:
        findings = list(read_text(texts.parts["system"], owner=owner).findings)
    else:
        dialect, findings = dialect_of(prompt_set), []
        for kind, text in user_prompts(texts).by_kind.items():
            values = ContextAtRound().values(kind, dialect, text)
            problems = examine(kind, text, values, dialect, owner=owner).problems
            findings += [Finding.of(problem, kind) for problem in problems]
        if not errors_of(findings):
            findings += shortcomings(prompt_set, texts, owner=person)
    return answer(Checked(ok=not errors_of(findings), problems=shown(in_order(findings))))


def _rounds(at_round: ContextAtRound) -> str:
    return ", ".join(map(str, at_round.rounds)) or "–"


def _side(slug: str, name: str) -> SideName:
    return "draft" if name == "draft" else version_named(slug, name).number


def unified_or_none(text: TextDiff | None, old: str, new: str) -> str | None:
    """As ``diff -u`` prints it; none where there is nothing, or too much to be compared."""
    return unified_text(text, old, new) if text is not None and text.diff is not None else None


def _compared(panel: Panel, old: str, new: str) -> TextCompared:
    diff = unified_or_none(panel.text, f"{old}/{panel.field}", f"{new}/{panel.field}")
    return TextCompared(
        text=panel.kind,
        state=panel.state,
        changes=panel.text.changes if panel.text else 0,
        diff=diff,
        old_problems=shown(panel.old_findings),
        new_problems=shown(panel.new_findings),
    )
