"""Error pages: what happened, and what to do next, in both languages."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from studio.shell.error_views import permission_denied
from studio.shell.refusal import RequestRefused, refusal_page


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, signed_in: Client) -> Client:
    """A client whose page of shortcuts fails as the test says."""
    signed_in.raise_request_exception = False
    return signed_in


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def raises() -> None:
        raise error

    monkeypatch.setattr("studio.shell.views.all_shortcuts", raises)


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 410, 413, 429, 503])
def test_a_problem_becomes_a_page_that_says_what_to_do(
    failing: Client, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    fail_with(monkeypatch, RequestRefused(status, "What happened.", "What to do."))
    answer = failing.get("/shortcuts/")
    page = answer.content.decode()
    assert answer.status_code == status
    assert "What happened." in page and "What to do." in page and "<nav" in page


def test_a_problem_without_advice_gets_the_usual_one(
    failing: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, RequestRefused(409, "Version 4 was saved in between."))
    page = failing.get("/shortcuts/").content.decode()
    assert "Changed meanwhile" in page and "Check the changes, then decide." in page


def test_an_htmx_request_gets_the_problem_as_a_part(failing: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, RequestRefused(400, "What happened."))
    answer = failing.get("/shortcuts/", headers={"HX-Request": "true"})
    assert answer.status_code == 400
    assert "What happened." in answer.content.decode() and "<html" not in answer.content.decode()


def test_an_unknown_address_is_answered_in_the_readers_language(signed_in: Client) -> None:
    english = signed_in.get("/nothing/")
    japanese = signed_in.get("/nothing/", headers={"Accept-Language": "ja"})
    assert (english.status_code, japanese.status_code) == (404, 404)
    assert "Page not found" in english.content.decode()
    assert "ページが見つかりません" in japanese.content.decode()


def test_a_server_error_is_answered_without_the_database(
    person: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The page of a 500 must not need what may have broken: no session, no user, no context processor."""
    client = Client(raise_request_exception=False)
    client.force_login(person)
    fail_with(monkeypatch, RuntimeError("secret detail"))
    monkeypatch.setattr("studio.shell.layout.sections", lambda *_: 1 / 0)
    answer = client.get("/shortcuts/")
    page = answer.content.decode()
    assert answer.status_code == 500
    assert "log has the details" in page and "secret detail" not in page


def test_a_request_that_is_too_large_says_so(signed_in: Client) -> None:
    answer = signed_in.post("/theme/", {"theme": "x" * 3_000_000})
    assert answer.status_code == 413
    assert "larger than the studio accepts" in answer.content.decode()


def test_a_refusal_gives_its_reason(rf: RequestFactory) -> None:
    request = rf.get("/")
    assert "not yours" in permission_denied(request, Exception("not yours")).content.decode()


def test_a_page_outside_a_session_shows_no_navigation(rf: RequestFactory) -> None:
    def page(request: HttpRequest) -> HttpResponse:
        return refusal_page(request, 404)

    assert 'class="nav"' not in page(rf.get("/")).content.decode()
