"""Views of proposals: making one, and the page on which another releaser compares and answers."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from studio.access.roles import Action, needs
from studio.compare.forms import CompareForm
from studio.compare.page import ComparePage, compare_page
from studio.compare.releases import ReleaseMatrix
from studio.compare.views import comparison, rows_of
from studio.contexts.at_round import dialect_of
from studio.models import PromptSet, Proposal
from studio.prompts.forms import LineField
from studio.prompts.proposals import ProposalState
from studio.prompts.protection import protection_of
from studio.prompts.texts import user_prompts
from studio.shell.refusal import RequestRefused
from studio.shell.requests import Request, person_of, valid_or_refuse
from studio.shell.turns import heavy
from studio.workspaces.exports.page import Offer, offers_of


class ProposalForm(forms.Form):
    """Which label shall point where, and why."""

    name = forms.SlugField(max_length=40, allow_unicode=True, label=gettext_lazy("Label"))
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, label=gettext_lazy("Version"))
    message = LineField(max_length=500, required=False, label=gettext_lazy("Message"))


class AnswerForm(forms.Form):
    """Yes or no, and why."""

    decision = forms.ChoiceField(choices=[("approve", "approve"), ("decline", "decline")])
    answer = LineField(max_length=500, required=False, label=pgettext_lazy("proposal", "Answer"))


@require_POST
@needs(Action.PROTECTED_LABEL)
def proposal_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Propose that a label be moved."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    clean = valid_or_refuse(ProposalForm(request.POST)).cleaned_data
    if not protection_of(prompt_set, clean["name"]).approval:
        raise RequestRefused(409, _("%(label)s needs no approval: move it.") % {"label": clean["name"]})
    version = get_object_or_404(prompt_set.versions, number=clean["version"])
    made = Proposal.objects.propose(
        clean["name"], version, by=person_of(request), at=timezone.now(), message=clean["message"]
    )
    messages.success(request, _("Proposed. Another releaser can approve it now."))
    return redirect(made)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.PROTECTED_LABEL, posts=True)
def proposal_detail(request: Request, slug: str, pk: int) -> HttpResponseBase:
    """What would change, in full; a POST answers."""
    rows = Proposal.objects.select_related("prompt_set", "version", "from_version", "by", "answered_by")
    proposal = get_object_or_404(rows, prompt_set__slug=slug, pk=pk)
    if request.method != "POST":
        return _page(request, proposal, request.htmx.target or "")
    clean = valid_or_refuse(AnswerForm(request.POST)).cleaned_data
    person, now = person_of(request), timezone.now()
    if clean["decision"] == "approve":
        proposal.approve(by=person, at=now, answer=clean["answer"])
        said = _("Approved: %(label)s now points to v%(number)d.")
        messages.success(request, said % {"label": proposal.label, "number": proposal.version.number})
        offer = _offer(proposal)
        return redirect(offer.address if offer else proposal.version)
    proposal.decline(by=person, at=now, answer=clean["answer"])
    messages.success(request, f"{proposal}: {proposal.state_label}")
    return redirect(proposal)


def _offer(proposal: Proposal) -> Offer | None:
    """The export that an approval is for: to the workspaces that follow the label and lack the version."""
    if proposal.state != ProposalState.APPROVED:
        return None
    offers = offers_of(proposal.version)
    return next((offer for offer in offers if offer.label.name == proposal.label), None)


@heavy
def _page(request: HttpRequest, proposal: Proposal, part: str) -> HttpResponse:
    """The page, or the part of it that htmx asks for."""
    new = proposal.version.number
    # Of a label that is new: with the version before, or of the first one with itself.
    old = proposal.from_version.number if proposal.from_version else max(1, new - 1)
    form = valid_or_refuse(CompareForm(request.GET))
    page = compare_page(proposal.prompt_set.slug, person_of(request), old, new, form)
    if form.cleaned_data["rows"]:
        return rows_of(request, page, form)
    if part.startswith("in-"):
        place = f"in-{form.cleaned_data['context']}-"
        return render(request, "compare/_panels.html", {"page": page, "place": place}, status=page.status)
    if part == "contexts":
        return render(request, "compare/_contexts.html", {"matrix": _every_context(page)})
    context = comparison(page, form) | {
        "proposal": proposal,
        "own": proposal.by_id == person_of(request).pk,
        "offer": _offer(proposal),
        # With scripts the page asks for it by itself.
        "matrix": _every_context(page) if "contexts" in request.GET else None,
    }
    return render(request, "compare/proposal.html", context, status=page.status)


def _every_context(page: ComparePage) -> ReleaseMatrix | None:
    """What changes in which context and round; None for a text that is not rendered."""
    if page.is_same or not page.prompt_set.file_kind.has_templates:
        return None
    dialect = dialect_of(page.prompt_set)
    old, new = user_prompts(page.old.templates), user_prompts(page.new.templates)
    return ReleaseMatrix(page.prompt_set, new, dialect, dialect, old)
