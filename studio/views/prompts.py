"""Prompt sets: the list, a set with its history, a version with its three templates."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from studio.forms import HistoryForm, PromptSearchForm, clean_or_refuse
from studio.models import PromptSet, PromptVersion, Tag

VERSIONS_PER_PAGE = 50


@require_safe
def prompt_list(request: HttpRequest) -> HttpResponse:
    """All sets, or those that match a search or a tag."""
    wanted = clean_or_refuse(PromptSearchForm, request.GET)
    sets = PromptSet.objects.filter(archived=False).search(wanted["q"]).for_list()
    if wanted["tag"]:
        sets = sets.filter(tags__name=wanted["tag"])
    context = {
        "sets": sets,
        "q": wanted["q"],
        "tag": wanted["tag"],
        "tags": Tag.objects.filter(prompt_sets__archived=False).distinct(),
    }
    part = request.headers.get("HX-Target") == "prompts"
    return render(request, "prompts/_list.html" if part else "prompts/list.html", context)


@require_safe
def prompt_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """A set: its labels and its versions, the newest first."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    before = clean_or_refuse(HistoryForm, request.GET)["before"]
    versions = (
        prompt_set.versions.select_related("author")
        .prefetch_related("labels")
        .defer("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")
    )
    if before:
        versions = versions.filter(number__lt=before)
    # One row more than shown tells whether there is an older page, without counting them all.
    page = list(versions[: VERSIONS_PER_PAGE + 1])
    context = {
        "prompt_set": prompt_set,
        "labels": prompt_set.labels.select_related("version"),
        "versions": page[:VERSIONS_PER_PAGE],
        "older": page[VERSIONS_PER_PAGE - 1].number if len(page) > VERSIONS_PER_PAGE else None,
        "before": before,
        "contexts": prompt_set.contexts.all(),
    }
    return render(request, "prompts/detail.html", context)


@require_safe
def version_detail(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version: its three templates as they are."""
    version = get_object_or_404(
        PromptVersion.objects.select_related("prompt_set", "author", "parent"),
        prompt_set__slug=slug,
        number=number,
    )
    context = {
        "prompt_set": version.prompt_set,
        "version": version,
        "templates": version.templates.by_kind.items(),
    }
    return render(request, "prompts/version.html", context)
