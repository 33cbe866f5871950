"""The API's exports: the plan, its confirmation, and the receipts."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import BaseModel, Field

from studio.api.answers import Cursor, Limit, Page, Word, answer, number_of, page_of
from studio.api.gate import EXPORT, ApiRequest
from studio.api.idempotency import batch_of
from studio.api.problems import ProblemShown, Refusal, refuse_invalid, shown
from studio.api.text_views import unified_or_none
from studio.api.version_views import version_named
from studio.api.workspace_views import VersionNamed
from studio.models import Export, PromptSet, Workspace
from studio.shell.requests import person_of
from studio.shell.turns import PLACES
from studio.workspaces.exports.confirming import NothingChosen, confirm_seen
from studio.workspaces.exports.forms import PlanForm
from studio.workspaces.exports.page import export_page
from studio.workspaces.exports.plan import Target
from studio.workspaces.exports.receipts import listed, with_receipts

router = Router(tags=[gettext_noop("Exports")])

Key = Annotated[str, Field(pattern=r"^[-\w]{1,80}(@[0-9a-f]{12})?$")]
Hash = Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]


class PlanSent(BaseModel):
    """What goes where."""

    set: str = Field(max_length=80)
    version: str = Field("", max_length=40, description="A number, a label or “latest”; else what is usual.")
    files: list[Key] = Field([], max_length=200, description="Keys; those that follow the label without any.")


class TargetShown(BaseModel):
    """What would become of one file."""

    key: str
    workspace: str
    file: str
    standing: Literal["new", "ready", "same", "edited", "refused"]
    sha256: str = Field(description="Of the file as it is, to be sent with the confirmation; empty for none.")
    reason: str
    advice: str
    diff: str | None
    leaves_label: bool


class Planned(BaseModel):
    """A plan: nothing is written yet."""

    set: str
    version: int
    label: str
    targets: list[TargetShown]
    errors: list[ProblemShown] = Field(description="They make the export impossible.")
    warnings: list[ProblemShown]


class FileSeen(BaseModel):
    """A file to be written, as the plan showed it."""

    key: Key
    sha256: Hash
    overwrite: bool = Field(
        False, description="Knowingly over a hand edit, which is kept as a version first."
    )


class Confirmation(BaseModel):
    """A plan that shall be carried out."""

    set: str = Field(max_length=80)
    version: int = Field(ge=1, le=10**9)
    label: str = Field("", max_length=40, pattern=r"^[-\w]*$")
    files: list[FileSeen] = Field(min_length=1, max_length=200)
    batch: UUID | None = Field(None, description="One's own id: the same one is carried out once.")


class ReceiptShown(BaseModel):
    """One file of an export, and what came of it."""

    id: int
    batch: UUID
    workspace: str
    file: str
    version: VersionNamed | None
    label: str
    by: str
    at: datetime
    outcome: Literal["written", "unchanged", "failed", "unclear"] | None
    sha256_before: str
    sha256_after: str
    failure: str
    advice: str
    kept_as: VersionNamed | None = Field(description="The version that holds an overwritten hand edit.")
    undoes: int | None


class ExportShown(BaseModel):
    """What came of a confirmation."""

    batch: UUID
    receipts: list[ReceiptShown]


@router.post("/exports/plan", auth=EXPORT, response=Planned, summary=gettext_noop("Plan an export"))
def plan_export(request: ApiRequest, body: PlanSent) -> HttpResponse:
    """What each file would become. Nothing is written."""
    prompt_set = get_object_or_404(PromptSet, slug=body.set)
    source = body.version
    if source == "latest" or source.isdigit():
        source = f"v{version_named(body.set, source).number}"
    form = PlanForm({"source": source, "workspace": body.files, "chosen": bool(body.files)})
    refuse_invalid(form)
    person = person_of(request)
    with PLACES.taken(str(person.pk)):
        page = export_page(prompt_set, form.cleaned_data, person, timezone.localdate())
        planned = Planned(
            set=body.set,
            version=page.version.number,
            label=page.label_name,
            targets=[_target(target) for target in page.targets],
            errors=shown(page.errors),
            warnings=shown(page.warnings),
        )
    return answer(planned)


@router.post("/exports", auth=EXPORT, response={201: ExportShown}, summary=gettext_noop("Confirm an export"))
def confirm_export(request: ApiRequest, body: Confirmation) -> HttpResponse:
    """Written where a file is still what the plan showed; its receipt says what came of each."""
    prompt_set, person = get_object_or_404(PromptSet, slug=body.set), person_of(request)
    batch = body.batch or batch_of(request)
    targets = [(file.key, file.sha256) for file in body.files if not file.overwrite]
    overwrite = [(file.key, file.sha256) for file in body.files if file.overwrite]
    with PLACES.taken(str(person.pk)):
        try:
            confirm_seen(
                prompt_set,
                body.version,
                body.label,
                targets,
                overwrite,
                batch=batch,
                by=person,
                at=timezone.now(),
            )
        except NothingChosen:
            raise Refusal(422, "input-invalid") from None
    return answer(_export(batch), 201, location=f"/api/v1/exports/{batch}")


@router.get("/exports", response=Page[ReceiptShown], summary=gettext_noop("List exports"))
def list_exports(
    request: ApiRequest, workspace: Word = "", limit: Limit = 50, cursor: Cursor = ""
) -> HttpResponse:
    """The newest first."""
    before = number_of(cursor)
    exports = listed().filter(Q(pk__lt=before) if before else Q())
    if workspace:
        exports = exports.filter(workspace=get_object_or_404(Workspace, slug=workspace))
    rows = with_receipts(exports[: limit + 1], timezone.now())
    return page_of(rows, limit, _receipt, lambda row: row.pk)


@router.get("/exports/{uuid:batch}", response=ExportShown, summary=gettext_noop("Read an export"))
def read_export(request: ApiRequest, batch: UUID) -> HttpResponse:
    """What came of a confirmation, file by file."""
    return answer(_export(batch))


def _export(batch: UUID) -> ExportShown:
    rows = with_receipts(listed().filter(batch=batch).order_by("workspace__name", "pk"), timezone.now())
    if not rows:
        raise Refusal(404, "not-found")
    return ExportShown(batch=batch, receipts=[_receipt(row) for row in rows])


def _target(target: Target) -> TargetShown:
    path, diff = target.state.relative, None
    if target.standing not in ("same", "refused"):
        diff = unified_or_none(target.diff, path if target.before is not None else "/dev/null", path)
    return TargetShown(
        key=target.state.key,
        workspace=target.workspace.slug,
        file=path,
        standing=target.standing,
        sha256=target.hash_before,
        reason=target.reason,
        advice=target.advice,
        diff=diff,
        leaves_label=target.leaves_label,
    )


def _receipt(export: Export) -> ReceiptShown:
    receipt = getattr(export, "receipt", None)
    return ReceiptShown(
        id=export.pk,
        batch=export.batch,
        workspace=export.workspace.slug,
        file=export.file,
        version=VersionNamed.of(export.version),
        label=export.label_name,
        by=export.by.get_username(),
        at=export.at,
        outcome=receipt.outcome if receipt else None,
        sha256_before=export.hash_before,
        sha256_after=export.hash_after,
        failure=receipt.failure if receipt and receipt.error_code else "",
        advice=receipt.failure_advice if receipt and receipt.error_code else "",
        kept_as=VersionNamed.of(export.kept_as),
        undoes=export.undoes_id,
    )
