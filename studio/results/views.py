"""Views of what runs say about versions: the scores of a set's versions, and the runs of one."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from studio.editor.sets import require_templates, template_set
from studio.models import PromptVersion
from studio.results import scores_page
from studio.results.forms import VersionRunsForm, VersionScoresForm
from studio.shell.downloads import download
from studio.shell.requests import valid_or_refuse


@require_safe
def prompt_scores(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Score over versions, split where they were measured differently."""
    prompt_set = template_set(slug)
    wanted = valid_or_refuse(VersionScoresForm(request.GET)).cleaned_data
    as_file = "format" in request.GET
    most = scores_page.VERSIONS_IN_A_FILE if as_file else scores_page.VERSIONS_PER_PAGE
    page = scores_page.score_page(
        prompt_set, before=wanted["before"], anyway=wanted["anyway"], partial=wanted["partial"], most=most
    )
    if (file := download(request, scores_page.score_tables(prompt_set, page, wanted["detect"]))) is not None:
        return file
    asked = {name: "1" for name in ("anyway", "partial") if wanted[name]}
    if request.GET.get("detect"):
        asked["detect"] = str(wanted["detect"])
    context = {
        "prompt_set": prompt_set,
        "page": page,
        "anyway": wanted["anyway"],
        "partial": wanted["partial"],
        "detect": wanted["detect"],
        "before": wanted["before"],
        "older_url": "?" + urlencode({**asked, "before": page.older}) if page.older else "",
        "newest_url": "?" + urlencode(asked),
    }
    return render(request, "results/scores.html", context)


@require_safe
def version_runs(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The runs that a version made, and how their rounds went."""
    versions = PromptVersion.objects.select_related("prompt_set", "parent")
    version = get_object_or_404(versions, prompt_set__slug=slug, number=number)
    require_templates(version.prompt_set)
    wanted = valid_or_refuse(VersionRunsForm(request.GET)).cleaned_data
    page = scores_page.version_runs(
        version, page=wanted["page"], anyway=wanted["anyway"], partial=wanted["partial"]
    )
    if (file := download(request, scores_page.run_tables(version, page))) is not None:
        return file
    context = {
        "prompt_set": version.prompt_set,
        "version": version,
        "page": page,
        "score": page.score,
        "anyway": wanted["anyway"],
        "partial": wanted["partial"],
        "detect": wanted["detect"],
    }
    return render(request, "results/version_runs.html", context)
