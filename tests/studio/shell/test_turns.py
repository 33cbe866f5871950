"""Turns for heavy requests: few at a time, of one person fewer, and a time to come back for the rest."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from studio.shell import turns
from studio.shell.turns import Busy, Places, heavy
from tests.studio.editing import make_set


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Places:
    few = Places(places=2, of_person=1, waiting=1, seconds=0.05)
    monkeypatch.setattr(turns, "PLACES", few)
    return few


def test_one_person_cannot_have_all_places(places: Places) -> None:
    with places.taken("a"):
        with pytest.raises(Busy):
            places.take("a")
        with places.taken("b"), pytest.raises(Busy):
            places.take("c")
    with places.taken("a"):
        pass


def test_a_place_that_comes_free_goes_to_who_waits_for_it() -> None:
    places, waiting = Places(places=1, of_person=1, waiting=1, seconds=20), threading.Event()
    places.take("a")
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(places.take, "b")
        while not places._waiting["b"]:
            waiting.wait(0.001)
        with pytest.raises(Busy):  # the only place to wait at is taken as well
            places.take("c")
        places.give_back("a")
        second.result()
    places.give_back("b")


def test_a_place_is_kept_until_a_streamed_answer_is_sent(places: Places, person: User) -> None:
    def rows() -> Iterator[bytes]:
        yield b"a"

    @heavy
    def view(request: HttpRequest) -> HttpResponseBase:
        return StreamingHttpResponse(rows())

    request = RequestFactory().get("/")
    request.user = person
    answer = view(request)
    with pytest.raises(Busy):
        view(request)
    answer.close()
    view(request).close()


def test_a_view_that_fails_gives_its_place_back(places: Places, person: User) -> None:
    @heavy
    def view(request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError

    request = RequestFactory().get("/")
    request.user = person
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            view(request)


HEAVY = (
    "/prompts/import/1/",
    "/workspaces/any/import/",
    "/workspaces/any/system/",
    "/workspaces/any/system/full.txt",
    "/workspaces/any/system/compare/",
    "/prompts/set/compare/1...2",
    "/prompts/set/matrix/?plain=1",
    "/prompts/set/matrix/?format=csv",
    "/workspaces/any/runs/one/replay/",
    "/workspaces/any/runs/one...two/",
    "/workspaces/any/runs/compare/",
    "/prompts/set/export/",
    "/prompts/set/release/",
    "/exports/1/undo/",
)


@pytest.mark.parametrize("address", HEAVY)
def test_what_takes_long_waits_for_its_turn(
    places: Places, signed_in: Client, person: User, address: str
) -> None:
    make_set(person)
    with places.taken(str(person.pk)):
        assert signed_in.get(address).status_code == 503
        assert signed_in.get("/prompts/set/matrix/").status_code == 200


@pytest.mark.parametrize("htmx", [False, True])
def test_a_full_studio_says_when_to_come_back(
    places: Places, signed_in: Client, person: User, htmx: bool
) -> None:
    with places.taken(str(person.pk)):
        answer = signed_in.post(reverse("prompt-import"), headers={"HX-Request": "true"} if htmx else {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    page = answer.content.decode()
    assert "Try again in 5 seconds. Your input was not lost." in page
    assert ("<html" in page) is not htmx
    assert signed_in.post(reverse("prompt-import")).status_code == 422
