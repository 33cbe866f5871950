"""The conventions that hold for every request: tokens, scopes, roles, rate, idempotency, problems."""

import multiprocessing
import os
import re
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from studio.access.accounts import Role
from studio.access.roles import LOWEST_ROLE
from studio.access.tokens import ApiToken, RequestCounter, Scope, TooManyRequests, end_tokens
from studio.api import gate, set_views
from studio.api.all_views import api as studio_api
from studio.api.document import FILE, written
from studio.api.gate import SCOPES
from studio.api.models import StoredAnswer
from studio.api.set_views import SetMade
from studio.editor.sets import create_set
from studio.models import AuditEntry, Export, PromptSet
from tests.studio.api.client import Api, Refused, problem_of
from tests.studio.api.conftest import MakeApi
from tests.studio.api.test_versions import CONTEXT, texts
from tests.studio.clock import NOW, stop_clock

NEW = {"name": "Kyoto", "start": "empty"}


def operations() -> list[tuple[str, str, str]]:
    """Method, address and the name of the action of every operation."""
    return [
        (method, re.sub("{uuid.*?}", str(UUID(int=1)), re.sub("{(?!uuid).*?}", "1", path))[1:], each)
        for router in studio_api._get_bound_routers()
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
        for each in [operation.auth_callbacks[0].action]
    ]


def test_the_document_is_as_committed() -> None:
    message = "the API changed: look at the difference, then run manage.py openapi"
    assert FILE.read_text(encoding="utf-8") == written(studio_api), message


@pytest.mark.parametrize("role", Role)
def test_every_operation_asks_for_its_role_and_scope(make_api: MakeApi, role: Role) -> None:
    for method, path, action in operations():
        api = make_api(*Scope, role=role)
        answer = api.send(method, path, {})
        assert (answer.status_code == 403) == (role < LOWEST_ROLE[action]), (method, path)
        others = make_api(*(scope for scope in Scope if scope != SCOPES[action]))
        refused = others.send(method, path, {})
        assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing"), (method, path)


@pytest.mark.parametrize("sent", ["", "Basic eTp5", "Bearer", "Bearer pst_unknown", "Bearer \x7f"])
def test_without_a_token_there_is_a_problem_and_no_sign_in_page(client: Client, db: None, sent: str) -> None:
    answer = client.get("/api/v1/sets", headers={"Authorization": sent} if sent else {})
    assert problem_of(answer).code in ("token-missing", "token-invalid")
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")


def test_a_session_is_no_token(signed_in: Client) -> None:
    assert signed_in.get("/api/v1/sets").status_code == 401
    assert signed_in.post("/api/v1/sets", NEW, content_type="application/json").status_code == 401


def test_a_token_ends_with_its_time_its_account_and_by_hand(
    make_api: MakeApi, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired, ended, off = make_api(), make_api(), make_api()
    ApiToken.objects.order_by("pk")[1].delete()
    assert (expired.send("GET", "sets").status_code, ended.send("GET", "sets").status_code) == (200, 401)
    person.is_active = False
    person.save()
    assert off.send("GET", "sets").status_code == 401
    person.is_active = True
    person.save()
    assert off.send("GET", "sets").status_code == 200
    assert end_tokens(person) == 2 and off.send("GET", "sets").status_code == 401
    late = make_api()
    stop_clock(monkeypatch, timezone.now() + timedelta(days=1, seconds=1))
    assert late.send("GET", "sets").status_code == 401


def test_a_service_has_its_own_role_and_name(person: User) -> None:
    _token, key = ApiToken.objects.make_for_service(
        "ci", role=Role.EDITOR, scopes=list(Scope), days=1, at=timezone.now(), by=person
    )
    api = Api(key)
    api.post(SetMade, "sets", {"name": "Kyoto"})
    assert api.send("GET", "sets/kyoto/versions/1").json()["author"] == "service:ci"
    end_tokens(person)
    assert api.send("GET", "sets").status_code == 200
    assert not User.objects.get(username="service:ci").is_active


def test_the_database_has_no_token_that_could_be_sent(make_api: MakeApi) -> None:
    key = make_api().key
    row = ApiToken.objects.values().get()
    assert key not in str(row) and Api(row["digest"]).send("GET", "sets").status_code == 401


def test_a_protected_label_needs_a_releaser_the_release_scope_and_an_approval(
    make_api: MakeApi, research: PromptSet, person: User
) -> None:
    User.objects.create_user("ken")  # with one person alone nothing is protected
    path, body = "sets/research/labels/production", {"version": 1}
    assert make_api("read", "write").send("PUT", path, body).json()["code"] == "scope-missing"
    assert make_api(*Scope, role=Role.EDITOR).send("PUT", path, body).json()["code"] == "not-allowed"
    _token, key = ApiToken.objects.make_for_service(
        "ci", role=Role.RELEASER, scopes=list(Scope), days=1, at=timezone.now(), by=person
    )
    assert Api(key).send("PUT", path, body).status_code == 200
    PromptSet.objects.update(needs_approval=True)
    for method, sent in (("PUT", body), ("DELETE", None)):
        refused = Api(key).send(method, path, sent)
        assert (refused.status_code, refused.json()["code"]) == (409, "approval-needed")
    assert research.pointers == {"production": 1}


def test_a_token_that_is_refused_is_in_the_audit_once_a_minute(api: Api, make_api: MakeApi) -> None:
    for _request in range(3):
        Api("pst_guessed").send("GET", "sets")
        make_api("read").send("POST", "sets", NEW)
    entries = AuditEntry.objects.filter(action__endswith=".refused").order_by("pk")
    assert [(entry.action, entry.thing_name, entry.source) for entry in entries] == [
        ("signin.refused", "", "api-make_set"),
        ("action.refused", "api-make_set", "test"),
    ]


# --- idempotency ---------------------------------------------------------------------------


def test_a_write_sent_twice_happens_once(api: Api) -> None:
    first = api.send("POST", "sets", NEW, Idempotency_Key="k1")
    again = api.send("POST", "sets", NEW, Idempotency_Key="k1")
    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (201, 201, "true")
    assert first.content == again.content and first["Location"] == again["Location"]
    assert PromptSet.objects.count() == 1


def test_a_refusal_is_replayed_and_another_body_refused(api: Api, make_api: MakeApi) -> None:
    wrong = {"name": ""}
    assert api.send("POST", "sets", wrong, Idempotency_Key="k").status_code == 422
    assert api.send("POST", "sets", wrong, Idempotency_Key="k")["Idempotent-Replayed"] == "true"
    assert api.send("POST", "sets", NEW, Idempotency_Key="k").json()["code"] == "idempotency-key-reused"
    # A key belongs to its token.
    assert make_api().send("POST", "sets", NEW, Idempotency_Key="k").status_code == 201


def test_a_key_under_way_is_told_apart_from_one_whose_server_died(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.send("POST", "sets", NEW, Idempotency_Key="k")
    StoredAnswer.objects.update(status=None)
    busy = api.send("POST", "sets", NEW, Idempotency_Key="k")
    assert (busy.json()["code"], busy["Retry-After"]) == ("idempotency-in-progress", "1")
    stop_clock(monkeypatch, timezone.now() + timedelta(minutes=3))
    assert api.send("POST", "sets", NEW, Idempotency_Key="k").status_code == 201
    stop_clock(monkeypatch, timezone.now() + timedelta(hours=20))
    assert "Idempotent-Replayed" in api.send("POST", "sets", NEW, Idempotency_Key="k").headers


WRITES: dict[str, tuple[str, str, Any]] = {
    "a set": ("POST", "sets", {"name": "Kyoto"}),
    "a version": ("POST", "sets/research/versions", {"base": 1, "message": "m", "texts": texts(team="New")}),
    "a context": ("POST", "contexts", {"name": "Kyoto", "context": {**CONTEXT, "submission": "Done"}}),
    "a label": ("PUT", "sets/research/labels/staging", {"version": 1}),
    "a draft": ("PUT", "sets/research/draft", {"base": 1, "texts": texts(team="New")}),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("before_commit", [True, False])
@pytest.mark.parametrize("what", WRITES)
def test_a_server_that_dies_leaves_the_write_and_its_answer_or_neither(
    api: Api, research: PromptSet, monkeypatch: pytest.MonkeyPatch, what: str, before_commit: bool
) -> None:
    method, path, body = WRITES[what]

    def serve() -> None:
        connections.close_all()
        updates = 0

        def die(execute: Any, sql: str, *rest: Any) -> Any:
            nonlocal updates
            updates += sql.startswith('UPDATE "studio_storedanswer"')
            if updates == (1 if before_commit else 2):
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(sql, *rest)

        with connection.execute_wrapper(die):
            api.send(method, path, body, Idempotency_Key="k")

    connections.close_all()
    server = multiprocessing.get_context("fork").Process(target=serve)
    server.start()
    server.join()
    assert server.exitcode == -signal.SIGKILL
    entries = AuditEntry.objects.filter(via="api").count()
    assert not (before_commit and entries)
    stop_clock(monkeypatch, timezone.now() + timedelta(minutes=3))
    again = api.send(method, path, body, Idempotency_Key="k")
    assert again.status_code < 300 and ("Idempotent-Replayed" in again.headers) == (not before_commit)
    assert before_commit or AuditEntry.objects.filter(via="api").count() == entries
    assert PromptSet.objects.count() <= 2 and research.versions.count() <= 2


@pytest.mark.django_db(transaction=True)
def test_an_export_of_a_server_that_died_is_carried_out_once(
    api: Api, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = api.send("POST", "exports/plan", {"set": "research-team", "version": "3", "files": ["research"]})
    file = plan.json()["targets"][0]
    seen = {"key": file["key"], "sha256": file["sha256"], "overwrite": True}
    body = {"set": "research-team", "version": 3, "files": [seen]}
    before = Export.objects.count()
    first = api.send("POST", "exports", body, Idempotency_Key="k")
    StoredAnswer.objects.update(status=None)
    stop_clock(monkeypatch, timezone.now() + timedelta(minutes=3))
    again = api.send("POST", "exports", body, Idempotency_Key="k")
    assert (again.status_code, again.content) == (201, first.content)
    assert Export.objects.count() == before + 1


def test_one_that_took_too_long_writes_nothing_once_it_was_sent_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        set_views, "create_set", lambda *args, **more: (overtake(), create_set(*args, **more))[1]
    )

    def overtake() -> None:
        StoredAnswer.objects.update(at=timezone.now())

    late = api.send("POST", "sets", NEW, Idempotency_Key="k")
    assert late.json()["code"] == "idempotency-in-progress" and not PromptSet.objects.exists()


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "schlüssel"])
def test_an_odd_key_is_refused(api: Api, key: str) -> None:
    assert api.send("POST", "sets", NEW, Idempotency_Key=key).json()["code"] == "idempotency-key-invalid"


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_with_one_key_one_writes(api: Api) -> None:
    def send(_number: int) -> int:
        try:
            return int(Api(api.key).send("POST", "sets", NEW, Idempotency_Key="k").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        statuses = set(threads.map(send, range(8)))
    assert 201 in statuses and statuses <= {201, 409} and PromptSet.objects.count() == 1


# --- rate ----------------------------------------------------------------------------------


@pytest.fixture
def token(make_api: MakeApi) -> ApiToken:
    make_api()
    return ApiToken.objects.get()


def test_a_token_has_its_requests_of_a_minute(
    make_api: MakeApi, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STUDIO_API_RATE = 3
    now = timezone.now().replace(second=20)
    stop_clock(monkeypatch, now)
    api, other = make_api(), make_api()
    left = []
    for _request in range(3):
        assert api.send("GET", "sets").status_code == 200
        left.append((api.headers["RateLimit-Remaining"], api.headers["RateLimit-Reset"]))
    assert left == [("2", "40"), ("1", "40"), ("0", "40")]
    refused = api.send("GET", "sets")
    assert (refused.status_code, refused["Retry-After"], refused["RateLimit-Limit"]) == (429, "40", "3")
    assert other.send("GET", "sets").status_code == 200
    stop_clock(monkeypatch, now + timedelta(seconds=40))
    assert api.send("GET", "sets").status_code == 200


def test_several_servers_together_let_through_what_one_would(token: ApiToken, settings: Any) -> None:
    settings.STUDIO_API_RATE = 100
    servers = [RequestCounter() for _server in range(3)]
    let_through = 0
    for number in range(200):
        try:
            servers[number % 3].take(token, NOW)
            let_through += 1
        except TooManyRequests:
            pass
    assert let_through == 100
    token.refresh_from_db()
    assert token.spent == 100 and token.used_at == NOW


@pytest.mark.django_db(transaction=True)
def test_processes_share_the_requests_of_a_minute(make_api: MakeApi) -> None:
    key = make_api().key
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork"), ask_seldom) as servers:
        connections.close_all()
        statuses = list(servers.map(ask_sets, [key] * 60))
    # One of them may have claimed a request that nobody asked it for.
    assert set(statuses) == {200, 429} and 39 <= statuses.count(200) <= 40


def ask_seldom() -> None:
    """A server that lets forty requests through, in a minute that does not end."""
    connections.close_all()
    settings.STUDIO_API_RATE = 40
    timezone.now = lambda: NOW  # type: ignore[assignment]
    gate.COUNTER = RequestCounter()


def ask_sets(key: str) -> int:
    return int(Api(key).send("GET", "sets").status_code)


def test_a_clock_that_was_wrong_for_a_while_locks_nobody_out(token: ApiToken) -> None:
    RequestCounter().take(token, NOW + timedelta(days=3))
    assert RequestCounter().take(token, NOW).remaining > 0


def test_counting_costs_a_write_now_and_then(token: ApiToken, django_assert_max_num_queries: Any) -> None:
    counter = RequestCounter()
    counter.take(token, NOW)
    with django_assert_max_num_queries(0):
        for _request in range(20):
            counter.take(token, NOW)


# --- problems ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "nothing", None, 404, "not-found"),
        ("GET", "sets/nothing", None, 404, "not-found"),
        ("PATCH", "sets", None, 405, "method-not-allowed"),
        ("POST", "sets", b"{", 400, "json-unreadable"),
        ("POST", "sets", b"\xff", 400, "json-unreadable"),
        ("POST", "sets", b"[" * 5000, 400, "json-unreadable"),
        ("POST", "sets", b'{"name": "a", "name": "b"}', 400, "json-unreadable"),
        ("POST", "sets", b'{"name": "\\ud800"}', 400, "json-unreadable"),
        ("POST", "sets", b"", 422, "input-invalid"),
        ("POST", "sets", b"x" * 3_000_000, 413, "too-large"),
        ("GET", "sets?limit=1000", None, 422, "input-invalid"),
        ("GET", "sets?q=%00", None, 422, "input-invalid"),
        ("GET", "sets/research/versions?cursor=x", None, 400, "bad-request"),
    ],
)
def test_what_is_wrong_is_said_in_both_languages(
    api: Api, research: PromptSet, method: str, path: str, body: bytes | None, status: int, code: str
) -> None:
    details = set()
    for language in ("en", "ja"):
        answer = api.send(method, path, body, Accept_Language=language)
        problem = problem_of(answer)
        assert (answer.status_code, problem.code) == (status, code)
        details.add(problem.title)
    assert len(details) == 2 and problem.type.startswith("/api/#")


def test_a_mistake_of_ours_is_a_problem_too(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_args: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("studio.api.set_views.set_shown", breaks)
    with pytest.raises(Refused) as refused:
        api.get(SetMade, "sets/1")
    assert refused.value.problem.code == "server-error" and "secret" not in str(refused.value.problem)
    assert "ZeroDivisionError" in caplog.text


# --- audit ---------------------------------------------------------------------------------

NOTHING_SHARED = {"render_prompts", "check_texts", "plan_export", "put_draft"}
"""Questions that are asked with a body, and a private draft."""
OF_MACHINES = {"post_files", "post_batch", "post_commit", "delete_lease", "post_receipt"}
"""What an agent copies here; the receipt of an export leaves an entry, which its own test looks for."""


def test_every_operation_that_changes_something_leaves_an_entry(api: Api, demo: Path) -> None:
    """A new one has to be added here."""
    context = {**CONTEXT, "submission": "Done"}
    plan = api.send("POST", "exports/plan", {"set": "research-team", "version": "3", "files": ["research"]})
    file = plan.json()["targets"][0]
    seen = {"key": file["key"], "sha256": file["sha256"], "overwrite": True}
    steps: dict[str, tuple[str, str, Any]] = {
        "make_set": ("POST", "sets", {"name": "Own", "start": "empty"}),
        "change_set_settings": ("PATCH", "sets/own", {"name": "Ours"}),
        "make_version": ("POST", "sets/own/versions", {"base": 0, "message": "m", "texts": texts()}),
        "move_label": ("PUT", "sets/own/labels/staging", {"version": 1}),
        "remove_label": ("DELETE", "sets/own/labels/staging", None),
        "make_context": ("POST", "contexts", {"name": "Kyoto", "context": context}),
        "change_context": ("PUT", "contexts/kyoto", {"name": "Nara", "context": context}),
        "delete_context": ("DELETE", "contexts/kyoto", None),
        "put_machine": ("PUT", "machines", {"machine": "gpu-1", "folder": "/srv/workspace"}),
        "confirm_export": ("POST", "exports", {"set": "research-team", "version": 3, "files": [seen]}),
    }
    listed = {
        operation.view_func.__name__
        for router in studio_api._get_bound_routers()
        for view in router.path_operations.values()
        for operation in view.operations
        if operation.methods != ["GET"]
    }
    assert listed == {*steps, *NOTHING_SHARED, *OF_MACHINES}
    for name, (method, path, body) in steps.items():
        before = AuditEntry.objects.count()
        match = {} if name == "move_label" else {"If_Match": "*"}
        answer = api.send(method, path, body, **match, Prompt_Studio_Agent="a" * 32)
        assert answer.status_code < 300, (name, answer.content)
        assert AuditEntry.objects.filter(via="api", source="test").count(), name
        assert AuditEntry.objects.count() > before, name
