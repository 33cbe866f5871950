"""Exports: the plan and its confirmation, the receipts, the way back."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from builder.errors import JailError
from studio.access.roles import Action, needs
from studio.compare.versions import text_diff
from studio.editor.sets import reason
from studio.models import Export, PromptSet, Workspace
from studio.preview.saving import Refused
from studio.prompts.file_kinds import FileKind
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.shell.turns import heavy
from studio.workspaces.exports.forms import (
    ConfirmForm,
    ExportListForm,
    OpenedRowsForm,
    PlanForm,
    UndoForm,
)
from studio.workspaces.exports.page import export_page
from studio.workspaces.exports.plan import chosen_version, readable
from studio.workspaces.exports.receipts import listed, with_receipts
from studio.workspaces.exports.undoing import CannotUndo, require_undoable, stored, undo
from studio.workspaces.exports.writing import Order, confirm
from studio.workspaces.file_kinds import kind_of_file, prompt_files_of
from studio.workspaces.models import LABELLED
from studio.workspaces.state import prompt_states_of

EXPORTS_PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EXPORT)
def prompt_export(request: HttpRequest, slug: str) -> HttpResponse:
    """What an export would write where; confirmed, it is carried out."""
    prompt_set = get_object_or_404(PromptSet, slug=slug)
    query = valid_or_refuse(PlanForm(request.GET)).cleaned_data
    try:
        if request.method == "POST":
            return _confirmed(request, prompt_set, query)
        if query["rows"]:
            return _rows(request, prompt_set, query)
        return _plan_page(request, prompt_set, query)
    except JailError as error:
        advice = _("Nothing was written. Try again in a moment.")
        raise RequestRefused(status_of(error), reason(error), advice) from error


@require_safe
def export_list(request: HttpRequest) -> HttpResponse:
    """Every export with its receipt, the newest first."""
    clean = valid_or_refuse(ExportListForm(request.GET)).cleaned_data
    exports = listed()
    workspace = None
    if clean["workspace"]:
        workspace = get_object_or_404(Workspace, slug=clean["workspace"])
        exports = exports.filter(workspace=workspace)
    if clean["before"]:
        exports = exports.filter(pk__lt=clean["before"])
    page = with_receipts(exports[: EXPORTS_PER_PAGE + 1], timezone.now())
    context = {
        "exports": page[:EXPORTS_PER_PAGE],
        "older": page[EXPORTS_PER_PAGE - 1].pk if len(page) > EXPORTS_PER_PAGE else None,
        "before": clean["before"],
        "workspace": workspace,
    }
    return render(request, "workspaces/exports/list.html", context)


@require_safe
def export_detail(request: HttpRequest, batch: UUID) -> HttpResponse:
    """What came of one confirmation, workspace by workspace."""
    of_batch = listed().filter(batch=batch).prefetch_related("scorings__record")
    exports = with_receipts(of_batch.order_by("workspace__name", "pk"), timezone.now())
    if not exports:
        raise Http404
    there = sum(hasattr(export, "receipt") and export.receipt.reached for export in exports)
    context = {"exports": exports, "first": exports[0], "there": there}
    return render(request, "workspaces/exports/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EXPORT)
def export_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """What stood there before an export comes back."""
    export = get_object_or_404(Export.objects.select_related("workspace", "version__prompt_set"), pk=pk)
    now = timezone.now()
    try:
        if request.method == "POST":
            batch = valid_or_refuse(UndoForm(request.POST)).cleaned_data["batch"]
            undo(export, batch=batch, by=person_of(request), at=now)
            return redirect("export-detail", batch)
        require_undoable(export, now)
    except CannotUndo as error:
        raise RequestRefused(
            409,
            str(error),
            _("Check the file in its workspace, then import it or export a version again."),
            title=error.title,
            ways=(
                (_("Open the workspace"), export.workspace.get_absolute_url()),
                (_("Back to the export"), export.get_absolute_url()),
            ),
        ) from error
    return _undo_page(request, export)


def _plan_page(
    request: HttpRequest, prompt_set: PromptSet, query: dict[str, Any], status: int = 200
) -> HttpResponse:
    page = export_page(prompt_set, query, person_of(request), timezone.localdate())
    context = {"page": page, "prompt_set": prompt_set}
    return render(request, "workspaces/exports/plan.html", context, status=422 if page.errors else status)


def _undo_page(request: HttpRequest, export: Export) -> HttpResponse:
    clean = valid_or_refuse(OpenedRowsForm(request.GET)).cleaned_data
    opened = [rows for _slug, rows in (*clean["open"], *clean["rows"])]
    diff = text_diff(readable(stored(export.after)), readable(stored(export.before)), opened=opened)
    states = prompt_states_of([export.workspace], export.holds)
    context = {
        "export": export,
        "diff": diff,
        "batch": uuid4(),
        "panel": {"kind": export.workspace.slug},
        "reads_instead": ""
        if str(export.place) in {str(state.path) for state in states}
        else states[0].relative,
    }
    if clean["rows"]:
        context["stretches"] = diff.within(clean["rows"][0][1])
        return render(request, "compare/_rows.html", context)
    return render(request, "workspaces/exports/undo.html", context)


def _rows(request: HttpRequest, prompt_set: PromptSet, query: dict[str, Any]) -> HttpResponse:
    """Some rows of one workspace's comparison, for a page that is open already."""
    slug, rows = query["rows"][0]
    only = {**query, "workspace": [slug]}
    targets = export_page(prompt_set, only, person_of(request), timezone.localdate()).targets
    if not targets:
        raise Http404
    stretches = targets[0].diff.within(rows)
    return render(request, "compare/_rows.html", {"panel": targets[0], "stretches": stretches})


def _confirmed(request: HttpRequest, prompt_set: PromptSet, query: dict[str, Any]) -> HttpResponse:
    clean = valid_or_refuse(ConfirmForm(request.POST)).cleaned_data
    version, label_name = chosen_version(prompt_set, clean["version"], clean["label"])
    if version.number != clean["version"]:
        raise RequestRefused(
            409,
            _("%(label)s points at v%(number)d now, so nothing was written.")
            % {"label": label_name, "number": version.number},
            _("Go back and check the changes again."),
        )
    orders = _orders(clean["target"], clean["overwrite"], prompt_set.holds)
    if not orders:
        messages.error(request, _("Nothing is selected. Select what to write."))
        return _plan_page(request, prompt_set, query, status=422)
    try:
        confirm(
            version,
            orders,
            batch=clean["batch"],
            by=person_of(request),
            at=timezone.now(),
            label_name=label_name,
        )
    except Refused:
        return _plan_page(request, prompt_set, query)
    return redirect("export-detail", clean["batch"])


def _orders(targets: list[tuple[str, str]], overwrite: list[tuple[str, str]], holds: str) -> list[Order]:
    seen, knowingly = dict([*targets, *overwrite]), dict(overwrite)
    slugs = {key.partition("@")[0] for key in seen}
    workspaces = Workspace.objects.filter(archived=False, slug__in=slugs).select_related(*LABELLED)
    files = {
        workspace.slug + file.mark: (workspace, file)
        for workspace in workspaces
        for file in (prompt_files_of(workspace) if FileKind(holds).has_templates else [kind_of_file(holds)])
    }
    if missing := seen.keys() - files.keys():
        raise RequestRefused(404, _("There is no workspace «%(slug)s».") % {"slug": min(missing)})
    return [
        Order(workspace, sha256, key in knowingly, file)
        for key, sha256 in seen.items()
        for workspace, file in [files[key]]
    ]
