"""A workspace's system prompt: what an agent is told there, builds that are kept, and any two compared."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from builder.system.input import MODES
from studio.access.roles import Action, needs
from studio.models import Workspace
from studio.shell.downloads import attachment
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.shell.turns import heavy
from studio.system.building import build_now
from studio.system.builds import keep
from studio.system.comparison_page import system_comparison
from studio.system.forms import KeepBuildForm, SystemCompareForm, SystemPageForm
from studio.system.page import system_page


@require_safe
@heavy
def system_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """The prompt in its three modes, what each part costs, and the builds that were kept."""
    workspace = get_object_or_404(Workspace, slug=slug)
    mode = valid_or_refuse(SystemPageForm(request.GET)).cleaned_data["mode"]
    page = system_page(workspace, mode or None, timezone.now(), keep=request.method == "GET")
    form = KeepBuildForm(initial={"mode": page.mode})
    return render(request, "system/detail.html", {"page": page, "workspace": workspace, "form": form})


@require_safe
@heavy
def system_text(request: HttpRequest, slug: str, mode: str) -> HttpResponse:
    """The prompt in one mode to the byte, as a file."""
    workspace = get_object_or_404(Workspace, slug=slug)
    wanted = [known for known in MODES if known == mode]
    if not wanted:
        raise RequestRefused(
            404, _("A system prompt has the modes %(modes)s.") % {"modes": _(", ").join(MODES)}
        )
    now = build_now(workspace, wanted)
    if not now.builds:
        raise _unbuilt(now.obstacles[0].text, now.obstacles[0].advice)
    answer = HttpResponse(now.builds[wanted[0]].text, content_type="text/plain; charset=utf-8")
    name = f"{workspace.slug}-system-{mode}.txt"
    answer.headers["Content-Disposition"] = attachment(name)
    return answer


@require_POST
@heavy
@needs(Action.EDIT)
def system_keep(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the present build of one mode, with a note."""
    workspace = get_object_or_404(Workspace, slug=slug)
    form = KeepBuildForm(request.POST)
    if not form.is_valid():
        page = system_page(workspace, None, timezone.now(), keep=False)
        context = {"page": page, "workspace": workspace, "form": form}
        return render(request, "system/detail.html", context, status=422)
    mode, note = form.cleaned_data["mode"], form.cleaned_data["note"]
    now = build_now(workspace, [mode])
    if not now.builds:
        raise _unbuilt(now.obstacles[0].text, now.obstacles[0].advice)
    outcome = keep(workspace, now.builds[mode], at=timezone.now(), note=note, by=person_of(request))
    if outcome == "too_long":
        messages.error(request, _("This build is too long to be saved; its text can be downloaded."))
    elif outcome == "unwritable":
        messages.error(request, _("This build contains a NUL character and cannot be stored."))
    elif outcome == "noted" and not note:
        messages.success(request, _("This build is already saved: it is the newest one."))
    else:
        messages.success(request, _("Build saved."))
    return redirect(f"{reverse('system-detail', args=[workspace.slug])}?mode={mode}#kept")


@require_safe
@heavy
def system_compare(request: HttpRequest, slug: str) -> HttpResponse:
    """What the cache keeps between any two builds, and both texts; only some of the rows where asked for."""
    workspace = get_object_or_404(Workspace, slug=slug)
    view = valid_or_refuse(SystemCompareForm(request.GET)).cleaned_data
    page = system_comparison(workspace, view, timezone.now())
    if view["rows"]:
        stretches = page.diff.within(view["rows"][0]) if page.diff else []
        return render(request, "compare/_rows.html", {"panel": page, "stretches": stretches})
    context = {"page": page, "workspace": workspace, "view": view}
    return render(request, "system/compare.html", context)


def _unbuilt(what: str, advice: str) -> RequestRefused:
    return RequestRefused(404, _("Can't build: %(what)s") % {"what": what}, advice)
