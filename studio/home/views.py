"""The home page, and removing the demo."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from studio.access.roles import Action, needs
from studio.home.demo.removal import planned_removal, remove_demo
from studio.home.page import changes_page, home_page
from studio.runs.forms import PageForm
from studio.shell.requests import valid_or_refuse


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What needs attention, what runs, what changed; of an empty studio what to do first."""
    return render(request, "home/home.html", {"page": home_page(timezone.now(), request.user)})


@require_safe
def score_changes(request: HttpRequest) -> HttpResponse:
    """The last score change of every set."""
    number = valid_or_refuse(PageForm(request.GET)).cleaned_data["page"] or 1
    return render(request, "home/changes.html", {"page": changes_page(number)})


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.WORKSPACE)
def demo_remove(request: HttpRequest) -> HttpResponse:
    """What goes and what stays; then the removal of what the person saw."""
    changed = False
    if request.method == "POST":
        if remove_demo(request.POST.get("mark", ""), settings.STUDIO_DATA) is not None:
            messages.success(request, _("Demo data removed."))
            return redirect("home")
        changed = True
    context = {"removal": planned_removal(), "changed": changed}
    return render(request, "home/demo.html", context, status=409 if changed else 200)
