"""Every route that changes something leaves an entry in the audit; a new one has to be added here."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.signals import post_save
from django.test import Client, RequestFactory
from django.urls import URLPattern
from django.utils import timezone

from builder.files.reading import PROMPT_FILE, sha256
from studio.access.accounts import Role
from studio.access.audit import AuditEntry, Event
from studio.access.audit_forms import KINDS
from studio.access.signin import reset_link
from studio.access.tokens import ApiToken
from studio.home.demo import load_demo
from studio.models import (
    Export,
    Invitation,
    LanguageModel,
    Proposal,
    RemoteWorkspace,
    RoundResult,
    SampleContext,
    WebhookDelivery,
    WebhookEndpoint,
    Workspace,
)
from studio.operations.watching import Watch
from studio.prompts.language_models import add_missing
from tests.studio.clock import NOW
from tests.studio.contexts.context_forms import round_five
from tests.studio.editing import fields
from tests.studio.routes import every_route
from tests.studio.sent_forms import send_form

NOTHING_SHARED = {
    "a private draft": "prompt-draft prompt-copy prompt-conflict prompt-cacheable-prefix-take prompt-import",
    "a mail": "password-reset",
    "a preference in a cookie": "language theme keys",
    "a question, asked with a text": "prompt-preview prompt-rounds prompt-costs prompt-cacheable-prefix"
    " prompt-coverage run-replay run-replay-all",
}

SET, OWN, TEAM = "/prompts/research-team/", "/prompts/own/", "/workspaces/research/"
PASSWORD = "a longer battery"


class Studio:
    """The demo in a browser, and what a step needs to know of it."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.get, self.post = client.get, client.post

    def send(self, page: str, action: str = "", **changes: Any) -> Any:
        return send_form(self.client, page, action or page.partition("?")[0], **changes)

    def edit_by_hand(self) -> Path:
        file = self.folder / "data" / "demo" / "research" / PROMPT_FILE
        file.write_text(file.read_text().replace("{{ user_prompt }}", "{{ user_prompt }} by hand"))
        return file

    def webhook(self) -> str:
        return WebhookEndpoint.objects.get().get_absolute_url()

    @property
    def person(self) -> str:
        return f"/people/{User.objects.get(username='new').pk}/"

    def model(self, name: str) -> str:
        return f"/models/{LanguageModel.objects.get(name=name).pk}/"


def _upload_import(studio: Studio) -> Any:
    data = (studio.folder / "data" / "demo" / "research" / PROMPT_FILE).read_bytes()
    kept = studio.post("/prompts/import/", {"set": "", "file": SimpleUploadedFile("p.toml", data)})
    return studio.send(kept["Location"], name="Uploaded", message="m", into="version")


def _round_context(studio: Studio) -> Any:
    result = RoundResult.objects.select_related("run__workspace").order_by("pk")[0]
    run = f"/workspaces/{result.run.workspace.slug}/runs/{result.run.execution_id}/"
    return studio.send(f"{run}teams/{result.team_id}/rounds/1/context/", name="From a run")


def _adopt(studio: Studio) -> Any:
    file = studio.edit_by_hand()
    return studio.post(f"{TEAM}adopt/", {"sha256": sha256(file.read_bytes()), "set": "research-team"})


def _export(studio: Studio) -> Any:
    return studio.send(f"{SET}export/?version=4&chosen=on&workspace=research")


def _new_model(studio: Studio) -> Any:
    figures = {"name": "own:model", "as_of": "2026-01-01", "cache_step": 1}
    return studio.post("/models/new/", figures)


def _shipped(studio: Studio) -> Any:
    LanguageModel.objects.filter(name="openai:gpt-4o").delete()
    return studio.post("/models/shipped/")


def _end_session(studio: Studio) -> Any:
    Client().post("/signin/", {"username": "yuki", "password": "correct horse battery"})
    return studio.post("/account/sessions/end/")


def _discard(studio: Studio) -> Any:
    studio.post(f"{OWN}draft/", fields(team="{{ user_prompt }}!", base=1))
    return studio.send(f"{OWN}discard/")


APPROVED = {"protected_labels": "staging", "needs_approval": "on"}
WEBHOOK = {"name": "chat", "url": "https://a.example/", "events": ["label.moved"], "active": "on"}


def _send_again(studio: Studio) -> Any:
    endpoint = WebhookEndpoint.objects.get()
    delivery = WebhookDelivery.objects.create(endpoint=endpoint, event="label.moved", made_at=NOW)
    return studio.post(f"/deliveries/{delivery.pk}/again/")


def _join(studio: Studio) -> Any:
    by = User.objects.get(username="yuki")
    token = Invitation.objects.invite(Role.EDITOR, "", by=by, at=timezone.now())
    return Client().post(
        f"/invitation/{token}/", {"username": "new", "password1": PASSWORD, "password2": PASSWORD}
    )


def _set_password(studio: Studio) -> Any:
    link = urlsplit(reset_link(User.objects.get(username="yuki"))).path
    form = studio.get(link)["Location"]
    return studio.post(form, {"new_password1": PASSWORD, "new_password2": PASSWORD})


STEPS: dict[str, Callable[[Studio], Any]] = {
    "prompt-new": lambda at: at.send("/prompts/new/", name="Own"),
    "prompt-discard": _discard,
    "prompt-save": lambda at: at.send(
        f"{OWN}edit/", f"{OWN}save/", team_user_prompt="{{ user_prompt }}", message="m"
    ),
    "version-restore": lambda at: at.send(f"{OWN}versions/1/", f"{OWN}versions/1/restore/"),
    "label-move": lambda at: at.post(f"{OWN}labels/", {"name": "staging", "version": 1}),
    "prompt-settings": lambda at: at.send(f"{OWN}settings/", name="Mine"),
    "prompt-budgets": lambda at: at.send(f"{OWN}settings/", f"{OWN}budgets/", team="900"),
    "prompt-release": lambda at: at.post(
        f"{OWN}release/", {"old": "mixseek-0.1.0a19", "new": "mixseek-0.1.0a15", "switch": "on"}
    ),
    "prompt-duplicate": lambda at: at.post(f"{OWN}duplicate/", {"name": "Copy"}),
    "prompt-protection": lambda at: at.post(f"{OWN}protection/", APPROVED),
    "proposal-new": lambda at: at.post(f"{OWN}proposals/", {"name": "staging", "version": 2}),
    "proposal-detail": lambda at: at.post(Proposal.objects.get().get_absolute_url(), {"decision": "decline"}),
    "prompt-archive": lambda at: at.post(f"{OWN}archive/", {"archived": "yes"}),
    "upload-import": _upload_import,
    "workspace-import": lambda at: at.send(
        f"{TEAM}import/?set=", name="Imported", message="m", into="version"
    ),
    "context-new": lambda at: at.post("/contexts/new/", round_five()),
    "context-edit": lambda at: at.post(
        "/contexts/third-of-four/edit/", round_five(name="Fourth", revision=1)
    ),
    "context-duplicate": lambda at: at.post("/contexts/third-of-four/duplicate/", round_five(name="Copied")),
    "context-new-json": lambda at: at.post(
        "/contexts/new/json/",
        {"name": "J", "json": SampleContext.objects.get(slug="third-of-four").values.document},
    ),
    "context-edit-json": lambda at: at.send("/contexts/j/edit/json/", description="d"),
    "context-delete": lambda at: at.send("/contexts/j/delete/"),
    "context-samples": lambda at: (
        SampleContext.objects.filter(author=None)[0].delete(),
        at.post("/contexts/new/samples/"),
    )[1],
    "run-round-context": _round_context,
    "model-new": _new_model,
    "model-edit": lambda at: at.send(at.model("openai:gpt-5"), input_price="9"),
    "model-reset": lambda at: at.send(at.model("openai:gpt-5"), at.model("openai:gpt-5") + "reset/"),
    "model-delete": lambda at: at.send(at.model("own:model") + "delete/"),
    "model-shipped": _shipped,
    "workspace-adopt": _adopt,
    "prompt-export": _export,
    "export-undo": lambda at: at.send(f"/exports/{Export.objects.order_by('-pk')[0].pk}/undo/"),
    "system-keep": lambda at: at.post(f"{TEAM}system/keep/", {"mode": "full", "note": "as it was"}),
    "workspace-database": lambda at: at.post(f"{TEAM}database/"),
    "workspace-settings": lambda at: at.send(f"{TEAM}settings/", name="Team"),
    "workspace-release": lambda at: at.post(f"{TEAM}release/"),
    "workspace-archive": lambda at: at.post(f"{TEAM}archive/", {"archived": "yes"}),
    "folder-allow": lambda at: at.post("/workspaces/new/allow/", {"folder": str(at.folder / "lab")}),
    "workspace-new": lambda at: at.post("/workspaces/new/", {"path": str(at.folder / "lab" / "w")}),
    "folder-take-back": lambda at: at.post("/workspaces/new/take-back/", {"folder": str(at.folder / "lab")}),
    "machine-texts": lambda at: (make_remote(), at.post("/workspaces/far/machine/texts/", {"texts": "yes"}))[
        1
    ],
    "machine-forget": lambda at: at.post("/workspaces/far/machine/forget/"),
    "everything": lambda at: at.post("/everything/"),
    "demo-remove": lambda at: at.send("/demo/"),
    "webhook-list": lambda at: at.post("/webhooks/", WEBHOOK),
    "webhook-detail": lambda at: at.post(at.webhook(), WEBHOOK | {"name": "board"}),
    "webhook-secret": lambda at: at.post(at.webhook() + "secret/"),
    "delivery-again": _send_again,
    "webhook-delete": lambda at: at.post(at.webhook() + "delete/"),
    "account-tokens": lambda at: at.send("/account/tokens/", name="laptop", scopes="read"),
    "account-token-end": lambda at: at.post(f"/account/tokens/{ApiToken.objects.get(name='laptop').pk}/end/"),
    "service-tokens": lambda at: at.send("/tokens/", name="CI", scopes="read"),
    "service-token-end": lambda at: at.post(f"/tokens/{ApiToken.objects.get(name='CI').pk}/end/"),
    "person-invite": lambda at: at.send("/people/", "/people/invite/", note="n"),
    "invitation-withdraw": lambda at: at.post(f"/people/withdraw/{Invitation.objects.get().pk}/"),
    "invitation": _join,
    "person": lambda at: at.send(at.person, role="1"),
    "person-switch": lambda at: at.post(f"{at.person}switch/", {"active": "0"}),
    "person-remove": lambda at: at.post(f"{at.person}remove/"),
    "account-email": lambda at: at.post("/account/email/", {"email": "yuki@example.org"}),
    "account-sessions-end": _end_session,
    "account-password": lambda at: at.post(
        "/account/password/",
        {"old_password": "correct horse battery", "new_password1": PASSWORD, "new_password2": PASSWORD},
    ),
    "signout": lambda at: at.post("/signout/"),
    "password-reset-confirm": _set_password,
    "signin": lambda at: at.post("/signin/", {"username": "yuki", "password": PASSWORD}),
}


def make_remote() -> None:
    """A workspace on another machine."""
    far = Workspace.objects.create(slug="far", name="Far", path="gpu-1:/srv/ws", created_at=NOW)
    RemoteWorkspace.objects.create(workspace=far, machine="gpu-1", folder="/srv/ws", heard_at=NOW)


def changes_something(route: URLPattern) -> bool:
    """Whether it takes a POST: the decorators answer for themselves, before anything is looked up."""
    parts = dict.fromkeys(route.pattern.converters, "1")
    request = RequestFactory().options("/")
    request.user = SimpleNamespace(role=Role.ADMINISTRATOR)  # type: ignore[assignment]
    answer = route.callback(request, **parts)
    return "POST" in answer.headers.get("Allow", "")


def test_every_route_that_changes_something_is_listed() -> None:
    listed = {*STEPS, *" ".join(NOTHING_SHARED.values()).split()}
    assert {route.name for route in every_route() if changes_something(route)} == listed


@pytest.fixture
def studio(
    signed_in: Client, demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Studio]:
    """The demo in a data folder of its own, examined; entries are written within a change's transaction."""
    load_demo(demo_folder)
    add_missing()  # a test that empties all tables may have run before
    User.objects.create_user("second")  # of one person alone no label is protected
    data = tmp_path / "data"
    (tmp_path / "lab" / "w").mkdir(parents=True)
    for workspace in Workspace.objects.all():
        own = data / "demo" / workspace.slug
        shutil.copytree(workspace.path, own)
        Workspace.objects.filter(pk=workspace.pk).update(path=str(own))
    monkeypatch.setattr(settings, "STUDIO_DATA", data)
    monkeypatch.setattr(settings, "STUDIO_WORKSPACE_ROOTS", [])
    Watch().look()
    yield Studio(signed_in, tmp_path)


def test_each_leaves_an_entry_in_the_transaction_of_its_change(studio: Studio) -> None:
    missing, alone = [], set()

    def look(instance: AuditEntry, **_: object) -> None:
        # The test itself is in a transaction; a change of its own adds a savepoint.
        if not connection.savepoint_ids:
            alone.add(instance.action)

    post_save.connect(look, sender=AuditEntry)
    try:
        for name, step in STEPS.items():
            answer = step(studio)
            if not AuditEntry.objects.filter(source=name, via="page", name__in=["yuki", "new"]).exists():
                missing.append(f"{name}: {answer.status_code}, {answer.get('Location', '')}")
    finally:
        post_save.disconnect(look, sender=AuditEntry)
    assert not missing
    kinds = set(AuditEntry.objects.values_list("thing_kind", flat=True))
    assert kinds <= {"", *KINDS}, "the audit's page has no filter for them"
    signing = {Event.SIGNED_IN, Event.SIGNED_OUT, Event.LINK_MADE}
    unchanging = signing | {Event.WORKSPACE_RETRIED, Event.EVERYTHING_WRITTEN}
    assert alone <= unchanging, "they change no other row"
