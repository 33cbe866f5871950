"""Imports: a file, uploaded or out of a workspace, looked at and then made a version."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from builder.errors import JailError
from studio.access.roles import Action, may, needs
from studio.compare.versions import View
from studio.editor.sets import reason
from studio.models import Label, PromptSet, PromptVersion, Upload, Workspace
from studio.preview.saving import Refused
from studio.prompts.file_kinds import FileKind
from studio.prompts.models import NothingChanged, VersionConflict
from studio.shell.jail import status_of
from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of, valid_or_refuse, way_back
from studio.shell.turns import heavy
from studio.workspaces.changing import follow
from studio.workspaces.exports.page import continue_address
from studio.workspaces.file_kinds import kind_of_file
from studio.workspaces.imports.forms import AdoptForm, ImportForm, ImportViewForm, TargetForm, UploadForm
from studio.workspaces.imports.importing import (
    AlreadyKept,
    FileChanged,
    NotWhole,
    adopt,
    import_as_version,
    import_into_editor,
    propose,
)
from studio.workspaces.imports.incoming import (
    IncomingFile,
    NoFile,
    WorkspaceFile,
    file_of,
    other_file,
    uploaded_file,
)
from studio.workspaces.imports.page import SETS_OFFERED, ImportPage
from studio.workspaces.models import LABELLED

Moved = str
"""What changed between looking and confirming: the file or the set; empty where nothing did."""


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.EDIT)
def prompt_import(request: HttpRequest) -> HttpResponseBase:
    """Choose a file, of one's own or a workspace's."""
    if request.method != "POST":
        target = valid_or_refuse(TargetForm(request.GET)).cleaned_data["set"]
        return _upload_page(request, UploadForm(initial={"set": target}))
    return _uploaded(request)


@heavy
def _uploaded(request: HttpRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _upload_page(request, form, status=422)
    file = form.cleaned_data["file"]
    kept = Upload.objects.keep(person_of(request), file.name, file.read(), at=timezone.now())
    return redirect(_with_query(kept.get_absolute_url(), set=form.cleaned_data["set"]))


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EDIT)
def upload_import(request: HttpRequest, number: int) -> HttpResponse:
    """A file that was uploaded: what it would make of a set, and making it so."""
    upload = get_object_or_404(Upload, pk=number, person=person_of(request))
    slug = valid_or_refuse(ImportViewForm(request.GET)).cleaned_data["set"]
    file = uploaded_file(upload.name, bytes(upload.data), upload.at, _chosen(slug) if slug else None)
    return _import(request, file, default=None)


@require_http_methods(["GET", "HEAD", "POST"])
@heavy
@needs(Action.EDIT)
def workspace_import(request: HttpRequest, slug: str) -> HttpResponse:
    """The same for a workspace's own file, as it is now."""
    workspace, view = _workspace(slug), valid_or_refuse(ImportViewForm(request.GET)).cleaned_data
    held = _held(workspace, view["file"] or (_chosen(view["set"]).holds if view["set"] else ""))
    label = held.label_of(workspace)
    try:
        file = file_of(workspace, held)
    except NoFile as problem:
        messages.error(request, str(problem))
        return redirect(workspace)
    except JailError as error:
        raise _not_now(error) from error
    return _import(request, file, default=label.prompt_set if label else None, held=held)


@require_POST
@heavy
@needs(Action.ADOPT)
def workspace_adopt(request: HttpRequest, slug: str) -> HttpResponse:
    """One click: the file in the workspace is the next version of the set that it follows."""
    workspace, now = _workspace(slug), timezone.now()
    clean = valid_or_refuse(AdoptForm(request.POST)).cleaned_data
    held = _held(workspace, clean["file"])
    label = held.label_of(workspace)
    followed = label.prompt_set if label else None
    which = held.holds if FileKind(held.holds).is_system else held.mark
    prompt_set = _chosen(clean["set"]) if clean["set"] else followed
    if prompt_set is None:
        messages.info(request, _("This workspace follows no label: choose the set to import into."))
        return redirect(_with_query(reverse("workspace-import", args=[slug]), file=which))
    look = _with_query(reverse("workspace-import", args=[slug]), file=which, set=prompt_set.slug)
    if prompt_set.holds != held.holds:
        return redirect(look)
    try:
        file = file_of(workspace, held)
        message = _("Adopt what was edited in %(workspace)s") % {"workspace": workspace.name}
        version = adopt(
            file, prompt_set, seen=clean["sha256"], message=message, by=person_of(request), at=now
        )
    except NoFile as problem:
        messages.error(request, str(problem))
        return redirect(workspace)
    except Refused as refused:
        messages.error(request, _("Not adopted. %(why)s") % {"why": reason(refused)})
        return redirect(look)
    except (FileChanged, NotWhole, VersionConflict) as obstacle:
        said = {
            FileChanged: _(
                "The file has changed since you opened the page, so nothing was adopted. This is the "
                "current content."
            ),
            NotWhole: _("Not adopted: check the file first."),
            VersionConflict: _("Someone else saved a version at the same time: check again, then adopt."),
        }[type(obstacle)]
        messages.warning(request, said)
        return redirect(look)
    except AlreadyKept as kept:
        said = _("The file of %(workspace)s is already v%(number)d of «%(set)s»; no version was created.")
        messages.info(request, said % _names(workspace, kept.version))
        return redirect(_after_adopting(request, kept.version, label))
    except JailError as error:
        raise _not_now(error) from error
    said = _("Adopted: the file of %(workspace)s is now v%(number)d of «%(set)s».")
    messages.success(request, said % _names(workspace, version))
    return redirect(_after_adopting(request, version, label))


def _names(workspace: Workspace, version: PromptVersion) -> dict[str, object]:
    return {"workspace": workspace.name, "number": version.number, "set": version.prompt_set.name}


# --- one file ----------------------------------------------------------------------------


def _import(
    request: HttpRequest, file: IncomingFile, *, default: PromptSet | None, held: WorkspaceFile | None = None
) -> HttpResponse:
    view = valid_or_refuse(ImportViewForm(request.GET)).cleaned_data
    prompt_set = default if "set" not in request.GET else _chosen(view["set"]) if view["set"] else None
    if prompt_set is not None and prompt_set.holds != file.holds:
        said = _("«%(set)s» is a set for another kind of file: choose another set, or create one.")
        messages.warning(request, said % {"set": prompt_set.name})
        prompt_set = None
    try:
        proposal = propose(file, prompt_set, view["fill"] or "latest", owner=person_of(request))
        may_link = may(request.user, Action.WORKSPACE)
        page = ImportPage(proposal, View.of(view), held if may_link else None)
        if view["rows"] and proposal.latest and proposal.templates:
            return _rows(request, page, view)
        if request.method == "POST":
            return _confirmed(request, page)
        first = {"message": file.message, "name": file.title[:120], "follow": page.usual_label}
        return _page(request, page, ImportForm(initial=first, labels=page.labels))
    except JailError as error:
        raise _not_now(error) from error


def _rows(request: HttpRequest, page: ImportPage, view: dict[str, Any]) -> HttpResponse:
    wanted = view["rows"][0]
    panel = page.panel(wanted.kind)
    stretches = panel.text.within(wanted.rows) if panel.text else []
    return render(request, "compare/_rows.html", {"page": page, "panel": panel, "stretches": stretches})


def _confirmed(request: HttpRequest, page: ImportPage) -> HttpResponse:
    proposal = page.proposal
    form = ImportForm(request.POST, is_new=proposal.prompt_set is None, labels=page.labels)
    if not form.is_valid():
        if set(form.errors) - {"name", "message"}:
            valid_or_refuse(form)
        return _page(request, page, form, status=422)
    clean = form.cleaned_data
    if clean["sha256"] != proposal.file.sha256:
        return _page(request, page, form, status=409, moved="file")
    if clean["base"] != proposal.base:
        return _page(request, page, form, status=409, moved="set")
    try:
        if clean["into"] == "link":
            return _linked(request, page, proposal.latest, clean["follow"])
        return _made(request, page, clean)
    except VersionConflict:
        # Between reading the set above and writing to it.
        raise RequestRefused(
            409,
            _("Someone else saved a version at the same time, so nothing was imported."),
            _("Go back and check the comparison again."),
        ) from None
    except (NotWhole, Refused):
        return _page(request, page, form, status=422)
    except NothingChanged:
        messages.info(request, _("Nothing changed: the newest version already has this text."))
        return redirect(page.prompt_set or "prompt-list")


def _linked(request: HttpRequest, page: ImportPage, version: PromptVersion | None, name: str) -> HttpResponse:
    """The workspace that the file lies in follows a label of the set that has its text."""
    workspace, held = page.file.workspace, page.held
    if version is None:
        raise RequestRefused(404, _("This set has no version yet."))
    if not name or workspace is None or held is None:
        return redirect(version.prompt_set)
    label = version.prompt_set.labels.filter(name=name).first()
    if label is None:
        Label.objects.move(name, version, by=person_of(request), at=timezone.now())
        label = version.prompt_set.labels.get(name=name)
    follow(workspace, held, label)
    said = _("%(workspace)s follows %(label)s of «%(set)s» now.")
    messages.success(request, said % {**_names(workspace, version), "label": name})
    return redirect(version.prompt_set)


def _made(request: HttpRequest, page: ImportPage, clean: dict[str, Any]) -> HttpResponse:
    """A version or, where that was asked for, a draft."""
    proposal = page.proposal
    base, name, now = clean["base"], clean["name"], timezone.now()
    message = clean["message"] or proposal.file.message
    if clean["into"] != "draft":
        version = import_as_version(proposal, base=base, name=name, message=message, at=now)
        messages.success(request, _("Imported as v%(number)d.") % {"number": version.number})
        return _linked(request, page, version, clean["follow"])
    prompt_set, copy = import_into_editor(proposal, base=base, name=name, message=message, at=now)
    if copy is not None:
        messages.info(request, _("You have an unsaved draft of this set. Both texts are saved; choose one."))
        return redirect(_with_query(reverse("prompt-conflict", args=[prompt_set.slug]), copy=copy.pk))
    messages.success(request, _("The file is now your draft. Save it as a version when it is ready."))
    return redirect("prompt-edit", prompt_set.slug)


# --- pages -------------------------------------------------------------------------------


def _page(
    request: HttpRequest, page: ImportPage, form: ImportForm, *, status: int = 200, moved: Moved = ""
) -> HttpResponse:
    # Tried before the page is made: a template would take a jail that does not answer for a text without
    # problems.
    tried = page.proposal.findings
    context = {
        "page": page,
        "proposal": page.proposal,
        "prompt_set": page.prompt_set,
        "form": form,
        "view": valid_or_refuse(ImportViewForm(request.GET)),
        "findings": tried,
        "moved": moved,
    }
    return render(request, "workspaces/imports/page.html", context, status=status)


def _upload_page(request: HttpRequest, form: UploadForm, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "prompt_set": PromptSet.objects.filter(slug=form["set"].value() or "").first(),
        "sets": PromptSet.objects.filter(archived=False).order_by("-changed_at", "pk")[:SETS_OFFERED],
        "workspaces": Workspace.objects.filter(archived=False),
    }
    return render(request, "workspaces/imports/upload.html", context, status=status)


def _workspace(slug: str) -> Workspace:
    workspace: Workspace = get_object_or_404(Workspace.objects.select_related(*LABELLED), slug=slug)
    return workspace


def _held(workspace: Workspace, reference: str) -> WorkspaceFile:
    """A file of the workspace by its kind or its mark; the main prompt file where nobody says."""
    if reference.startswith("@"):
        return other_file(workspace, reference)
    return kind_of_file(reference or FileKind.PROMPTS)


def _chosen(slug: str) -> PromptSet:
    prompt_set: PromptSet = get_object_or_404(PromptSet, slug=slug)
    return prompt_set


def _not_now(error: JailError) -> RequestRefused:
    return RequestRefused(status_of(error), reason(error))


def _after_adopting(request: HttpRequest, version: PromptVersion, label: Label | None) -> str:
    """From an export page on to the export of the adopted version; else back to where the person was."""
    if request.POST.get("then") == "export":
        return continue_address(version, label)
    back = way_back(request)
    return back if back != "/" else version.get_absolute_url()


def _with_query(path: str, **values: object) -> str:
    query = QueryDict(mutable=True)
    query.update({name: str(value) for name, value in values.items() if value != ""})
    return f"{path}?{query.urlencode()}" if query else path
