"""The API's operations for agents: workspaces on other machines report here and fetch their exports."""

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from ninja import Router
from pydantic import ValidationError

from studio.access.audit import Event, record
from studio.api.answers import answer
from studio.api.gate import MACHINE, ApiRequest
from studio.api.machine_shapes import (
    BatchHead,
    CommitSent,
    DigestsShown,
    FilesSent,
    MachineSent,
    MachineShown,
    Noted,
    OrderShown,
    OrdersShown,
    ReceiptSent,
)
from studio.api.problems import Refusal
from studio.machines.mirror import SEPARATOR
from studio.machines.models import LEASE, RemoteBatch, RemoteWorkspace
from studio.machines.reports import (
    AnotherAccount,
    AnotherAgent,
    BadReport,
    BeginAgain,
    SentFile,
    commit,
    end_lease,
    keep_batch,
    keep_files,
    registered,
    require_owner,
    take_lease,
)
from studio.models import Export, ExportReceipt, Workspace
from studio.shell.addresses import free_slug
from studio.shell.requests import person_of
from studio.workspaces.exports.models import Outcome

router = Router(tags=[gettext_noop("Machines")])

MOST_BATCH = 32 * 1024 * 1024
AGENT = "Prompt-Studio-Agent"
"""The header that tells one agent of a workspace from another."""


@router.put("/machines", auth=MACHINE, response=MachineShown, summary=gettext_noop("Register a workspace"))
def put_machine(request: ApiRequest, body: MachineSent) -> HttpResponse:
    """Puts the workspace on the list, or finds it there, and takes the lease. Batches that were not
    committed are forgotten."""
    path = f"{body.machine}{SEPARATOR}{body.folder}"
    person, now = person_of(request), timezone.now()
    name = body.name or f"{body.folder.rstrip('/').rpartition('/')[2] or body.machine} ({body.machine})"
    workspace = Workspace.objects.filter(path=path).first()
    _require_listed(workspace)
    if workspace is None:
        try:
            with transaction.atomic():
                slug = free_slug(Workspace.objects.all(), name, "workspace")
                workspace = Workspace.objects.create(slug=slug, name=name[:120], path=path, created_at=now)
                record(Event.WORKSPACE_REGISTERED, workspace, after={"path": path})
        except IntegrityError:
            raise Refusal(409, "conflict") from None
    with _reported():
        remote = registered(
            workspace.pk,
            machine=body.machine,
            folder=body.folder,
            facts=body.facts.model_dump(),
            agent=_agent(request),
            by=person,
            at=now,
        )
    return answer(_shown(remote))


@router.get(
    "/machines/{word:slug}", auth=MACHINE, response=MachineShown, summary=gettext_noop("Keep the lease")
)
def read_machine(request: ApiRequest, slug: str) -> HttpResponse:
    """What the studio has, and how many exports wait. An agent asks this once in a while."""
    return answer(_shown(_leased(request, slug)))


@router.delete(
    "/machines/{word:slug}/lease", auth=MACHINE, response={204: None}, summary=gettext_noop("Stop")
)
def delete_lease(request: ApiRequest, slug: str) -> HttpResponse:
    """The agent stops; the next one need not wait."""
    end_lease(_leased(request, slug), _agent(request), timezone.now())
    return HttpResponse(status=204)


@router.get(
    "/machines/{word:slug}/digests",
    auth=MACHINE,
    response=DigestsShown,
    summary=gettext_noop("Read what the studio has of the database"),
)
def read_digests(request: ApiRequest, slug: str) -> HttpResponse:
    """An execution with another hash is sent again."""
    return answer(DigestsShown(digests=_leased(request, slug).digests))


@router.post(
    "/machines/{word:slug}/files", auth=MACHINE, response=Noted, summary=gettext_noop("Report files")
)
def post_files(request: ApiRequest, slug: str, body: FilesSent) -> HttpResponse:
    """Configuration and logs that changed since the last report."""
    remote = _leased(request, slug)
    with _reported():
        try:
            files = [
                SentFile(file.name, base64.b64decode(file.data, validate=True), file.modified_at, file.sha256)
                for file in body.files
            ]
        except binascii.Error:
            raise BadReport("not Base64") from None
        keep_files(remote, files, body.gone)
    return answer(Noted(new=True))


@router.post(
    "/machines/{word:slug}/batches/{number:sequence}",
    auth=MACHINE,
    response=Noted,
    summary=gettext_noop("Send a batch of rows"),
)
def post_batch(request: ApiRequest, slug: str, sequence: int) -> HttpResponse:
    """The body (`application/octet-stream`) is a line of JSON with “table” and “replaces”, the executions
    whose rows of before go, and then a Parquet file. Sent again it changes nothing."""
    remote = _leased(request, slug)
    body = request.read(MOST_BATCH + 1)
    if len(body) > MOST_BATCH:
        raise Refusal(413, "too-large")
    head, _end, data = body.partition(b"\n")
    try:
        said = BatchHead.model_validate_json(head)
    except ValidationError:
        raise Refusal(400, "bad-request") from None
    with _reported():
        batch = RemoteBatch(sequence=sequence, table=said.table, replaces=said.replaces, at=timezone.now())
        new = keep_batch(remote, batch, data, generation=said.generation, texts=said.texts)
    return answer(Noted(new=new))


@router.post(
    "/machines/{word:slug}/commit",
    auth=MACHINE,
    response=MachineShown,
    summary=gettext_noop("Commit batches"),
)
def post_commit(request: ApiRequest, slug: str, body: CommitSent) -> HttpResponse:
    """Pages see the rows from now on."""
    remote = _leased(request, slug)
    with _reported():
        commit(remote, body.up_to, body.digests, body.gone, generation=body.generation, texts=body.texts)
    remote.refresh_from_db()
    return answer(_shown(remote))


@router.get(
    "/machines/{word:slug}/orders", auth=MACHINE, response=OrdersShown, summary=gettext_noop("Fetch exports")
)
def read_orders(request: ApiRequest, slug: str) -> HttpResponse:
    """Exports that were confirmed and wait for the machine."""
    remote = _leased(request, slug)
    return answer(
        OrdersShown(
            orders=[
                OrderShown(
                    export=export.pk,
                    file=export.file,
                    sha256_before=export.hash_before,
                    data=None if export.after is None else base64.b64encode(bytes(export.after)).decode(),
                )
                for export in _waiting(remote)[:20]
            ]
        )
    )


@router.post(
    "/machines/{word:slug}/receipts", auth=MACHINE, response=Noted, summary=gettext_noop("Report an export")
)
def post_receipt(request: ApiRequest, slug: str, body: ReceiptSent) -> HttpResponse:
    """What came of an order; the second report of one changes nothing."""
    remote = _leased(request, slug)
    export = Export.objects.filter(pk=body.export, workspace=remote.workspace_id).first()
    if export is None:
        raise Refusal(404, "not-found")
    failed = body.outcome == Outcome.FAILED
    try:
        with transaction.atomic():
            ExportReceipt.objects.create(
                export=export,
                outcome=Outcome(body.outcome),
                hash_found=body.sha256,
                error_code=body.error_code if failed else "",
                error_params=body.error_params if failed else {},
                owner_kept=body.owner_kept,
                durable=body.durable,
                at=timezone.now(),
            )
    except IntegrityError:
        return answer(Noted(new=False))
    return answer(Noted(new=True))


def _waiting(remote: RemoteWorkspace) -> "list[Export]":
    return list(
        Export.objects.filter(workspace=remote.workspace_id, receipt=None)
        .select_related("workspace")
        .order_by("pk")
    )


def _shown(remote: RemoteWorkspace) -> MachineShown:
    return MachineShown(
        workspace=remote.workspace.slug,
        texts=remote.texts,
        lease_seconds=int(LEASE.total_seconds()),
        tag=f"{remote.generation}.{remote.committed}.{int(remote.texts)}",
        generation=remote.generation,
        next_batch=remote.committed + 1,
        files=dict(remote.files.values_list("name", "sha256")),
        orders=Export.objects.filter(workspace=remote.workspace_id, receipt=None).count(),
    )


def _agent(request: ApiRequest) -> str:
    agent = request.headers.get(AGENT, "")
    if not (agent.isascii() and agent.isalnum() and len(agent) == 32):
        raise Refusal(
            400, "bad-request", _("An agent names itself in the header %(name)s.") % {"name": AGENT}
        )
    return agent


def _leased(request: ApiRequest, slug: str) -> RemoteWorkspace:
    found = RemoteWorkspace.objects.select_related("workspace", "registered_by")
    remote = get_object_or_404(found, workspace__slug=slug)
    _require_listed(remote.workspace)
    with _reported():
        require_owner(remote, person_of(request))
        take_lease(remote, _agent(request), timezone.now())
    return remote


def _require_listed(workspace: Workspace | None) -> None:
    """What was taken off the list, or deleted, must not come back by itself."""
    if workspace is not None and workspace.archived:
        raise Refusal(
            409,
            "conflict",
            _("The workspace was removed from the list in the studio. An administrator can restore it."),
        )


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except AnotherAgent as other:
        wait = max(1, int((other.until - timezone.now()).total_seconds()) + 1)
        raise Refusal(
            409,
            "another-agent",
            _("Another agent reports this workspace; its lease ends in %(seconds)d seconds.")
            % {"seconds": wait},
            headers={"Retry-After": str(wait)},
        ) from None
    except AnotherAccount as other:
        raise Refusal(
            403,
            "not-allowed",
            _("This workspace is reported by the account %(name)s. Use a token of that account.")
            % {"name": other},
        ) from None
    except BeginAgain:
        raise Refusal(409, "begin-again") from None
    except BadReport as error:
        raise Refusal(422, "report-refused", str(error)) from None
