"""Exports that were confirmed: the receipts and the way back."""

from uuid import UUID, uuid4

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from studio.access.roles import Action, needs
from studio.compare.versions import text_diff
from studio.models import Export, Workspace
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse
from studio.shell.turns import heavy
from studio.workspaces.exports.forms import ExportListForm, OpenedRowsForm, UndoForm
from studio.workspaces.exports.plan import readable
from studio.workspaces.exports.receipts import listed, steps_of, with_receipts
from studio.workspaces.exports.undoing import CannotUndo, require_undoable, stored, undo
from studio.workspaces.state import prompt_states_of

EXPORTS_PER_PAGE = 50


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
    context = {"exports": exports, "first": exports[0], "there": there, "steps": steps_of(exports[0])}
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
