"""One round of one team: its page, and its texts as files."""

from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from studio.models import Workspace
from studio.results.attribution_page import round_attribution_of
from studio.results.replay.choice import drafted_set
from studio.results.replay.round_page import difference
from studio.runs.problems import reading
from studio.runs.round_forms import RoundViewForm
from studio.runs.round_page import Round, read_round
from studio.runs.tables import metrics_table
from studio.shell.downloads import download
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse

TextKind = Literal["prompt", "submission"]


@require_safe
def run_round(request: HttpRequest, slug: str, execution: str, team: str, number: int) -> HttpResponseBase:
    """What the team was sent, what it handed in, and how that was judged."""
    workspace = get_object_or_404(Workspace, slug=slug)
    shown = valid_or_refuse(RoundViewForm(request.GET)).cleaned_data
    found = _round(workspace, execution, team, number)
    tables = {"metrics": lambda: metrics_table(f"round-{execution[:8]}-{team}-{number}", [found.record])}
    if (file := download(request, tables)) is not None:
        return file
    attribution = round_attribution_of(workspace, execution, team, number)
    context = {
        "workspace": workspace,
        "execution": execution,
        "team": team,
        "round": found,
        "raw": shown["raw"],
        "attribution": attribution,
        "draft_of": drafted_set(attribution.version, person_of(request)),
    }
    if attribution.state in ("edited", "unlike") and attribution.version is not None:
        with reading(workspace) as store:
            owner = str(person_of(request).pk)
            near = difference(store, workspace, found.record, attribution.version, owner=owner)
        context["difference"] = near
    return render(request, "rounds/detail.html", context)


@require_safe
def run_round_text(
    request: HttpRequest, slug: str, execution: str, team: str, number: int, kind: TextKind
) -> HttpResponse:
    """The prompt or the submission to the byte, as a file."""
    workspace = get_object_or_404(Workspace, slug=slug)
    found = _round(workspace, execution, team, number)
    text = found.prompt if kind == "prompt" else found.submission
    if text is None:
        raise RequestRefused(404, found.not_delivered or _("Nothing was handed in in this round."))
    # Plain text for every browser: what a model wrote must not become a page of this site.
    answer = HttpResponse(text.text.encode(errors="replace"), content_type="text/plain; charset=utf-8")
    name = (
        f"{kind}-{slugify(team, allow_unicode=True) or 'team'}-{number}.{'txt' if kind == 'prompt' else 'md'}"
    )
    disposition = content_disposition_header(as_attachment=True, filename=name)
    answer.headers["Content-Disposition"] = disposition or "attachment"
    return answer


def _round(workspace: Workspace, execution: str, team: str, number: int) -> Round:
    with reading(workspace) as store:
        found = read_round(store, execution, team, number)
    if found is None:
        raise RequestRefused(404, _("The team has no such round in this run."))
    return found
