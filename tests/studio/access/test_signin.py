"""Who gets in: one-time links, passwords with a brake, and nobody else."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.urls.converters import UUIDConverter
from django.utils import timezone

from studio.access.signin import (
    LINK_LIFETIME,
    issue_link_token,
)
from studio.models import Count, SignInLink
from tests.studio.routes import every_route

OPEN = {
    "provider-signin",
    "provider-callback",
    "signin",
    "invitation",
    "password-reset",
    "password-reset-confirm",
    "signin-link",
    "healthz",
    "language",
    "theme",
}


def signin(client: Client, password: str, name: str = "yuki", address: str = "10.0.0.1") -> int:
    data = {"username": name, "password": password}
    return client.post("/signin/", data, REMOTE_ADDR=address).status_code


def test_a_link_signs_in_once(client: Client, db: None) -> None:
    link = reverse("signin-link", args=[issue_link_token()])
    answer = client.get(link)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.get("/prompts/").status_code == 200
    again = Client().get(link)
    assert again.status_code == 410
    assert "manage.py link" in again.content.decode()


def test_a_link_that_is_only_looked_at_stays_good(client: Client, db: None) -> None:
    link = reverse("signin-link", args=[issue_link_token()])
    assert client.head(link).status_code == 405
    assert client.get(link).status_code == 302


def test_an_old_link_and_a_made_up_one_are_refused(client: Client, db: None) -> None:
    old = issue_link_token(timezone.now() - LINK_LIFETIME - timedelta(seconds=1))
    assert client.get(reverse("signin-link", args=[old])).status_code == 410
    assert client.get(reverse("signin-link", args=["guess"])).status_code == 410


def test_a_stored_link_does_not_hold_its_token(db: None) -> None:
    token = issue_link_token()
    assert token not in SignInLink.objects.get().digest
    assert len(token) >= 43


def test_links_that_ran_out_are_swept(db: None) -> None:
    issue_link_token(timezone.now() - LINK_LIFETIME - timedelta(seconds=1))
    issue_link_token()
    assert SignInLink.objects.count() == 1


def test_a_link_of_a_disabled_operator_lets_nobody_in(client: Client, db: None) -> None:
    client.get(reverse("signin-link", args=[issue_link_token()]))
    User.objects.update(is_active=False)
    assert Client().get(reverse("signin-link", args=[issue_link_token()])).status_code == 410


def test_name_and_password_sign_in_and_lead_back(client: Client, person: User) -> None:
    asked = client.get("/contexts/?q=x")
    assert asked["Location"] == "/signin/?next=/contexts/%3Fq%3Dx"
    data = {"username": "yuki", "password": "correct horse battery", "next": "/contexts/?q=x"}
    assert client.post("/signin/", data)["Location"] == "/contexts/?q=x"


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:x()", "a-word"])
def test_the_way_back_never_leads_elsewhere(client: Client, person: User, target: str) -> None:
    data = {"username": "yuki", "password": "correct horse battery", "next": target}
    assert client.post("/signin/", data)["Location"] == "/"


def test_a_person_who_is_in_already_is_led_on(signed_in: Client) -> None:
    assert signed_in.get("/signin/?next=/contexts/")["Location"] == "/contexts/"
    assert signed_in.get("/signin/?next=a-word")["Location"] == "/"


def later(seconds: float) -> None:
    """As if so much time had gone by since the attempts that are counted."""
    for count in Count.objects.all():
        count.value = [at - seconds for at in count.value]
        count.save()


def test_wrong_passwords_make_growing_pauses(client: Client, person: User) -> None:
    assert [signin(client, "wrong") for _ in range(5)] == [401] * 5
    answer = client.post("/signin/", {"username": "YUKI", "password": "x"}, REMOTE_ADDR="10.0.0.1")
    assert (answer.status_code, answer["Retry-After"]) == (429, "20")
    assert "Try again in 20 seconds," in answer.content.decode()
    pauses = []
    while len(pauses) < 3:
        answer = client.post("/signin/", {"username": "yuki", "password": "x"}, REMOTE_ADDR="10.0.0.1")
        if answer.status_code == 429:
            pauses.append(int(answer["Retry-After"]))
            later(pauses[-1])
    assert pauses == [20, 120, 900]


@pytest.mark.django_db(transaction=True)
def test_servers_of_one_database_count_guesses_together(person: User) -> None:
    """Guesses that come all at once, to two processes."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork"), connections.close_all) as servers:
        connections.close_all()
        statuses = list(servers.map(guess, range(12)))
    assert sorted(statuses) == [401] * 5 + [429] * 7


def guess(_number: int) -> int:
    return signin(Client(), "wrong")


def test_one_who_has_a_network_of_addresses_has_one_count(client: Client, person: User) -> None:
    tried = [signin(client, "wrong", address=f"2001:db8::{number}") for number in range(6)]
    assert tried == [401] * 5 + [429]
    assert signin(client, "correct horse battery", address="2001:db8:0:1::1") == 302


def test_guesses_from_elsewhere_do_not_lock_a_person_out(client: Client, person: User) -> None:
    assert [signin(client, "wrong", address="203.0.113.9") for _ in range(7)].count(429) >= 1
    assert signin(client, "correct horse battery") == 302


def test_the_pause_ends(client: Client, person: User) -> None:
    for _ in range(6):
        signin(client, "wrong")
    later(20)
    assert signin(client, "correct horse battery") == 302


def test_a_right_password_forgives_the_wrong_ones_before(client: Client, person: User) -> None:
    for _ in range(4):
        signin(client, "wrong")
    assert signin(client, "correct horse battery") == 302
    assert [signin(Client(), "wrong") for _ in range(5)] == [401] * 5


@pytest.mark.slow
def test_one_address_that_tries_many_names_is_stopped_without_locking_others_out(
    client: Client, person: User
) -> None:
    tried = [signin(client, "wrong", name=f"name{number}") for number in range(31)]
    assert tried == [401] * 30 + [429]
    assert signin(client, "correct horse battery", address="10.0.0.2") == 302


@pytest.mark.parametrize("name", ["", "x" * 60_000, "\x00", "\ud800"])
def test_an_odd_name_is_just_a_wrong_one(client: Client, db: None, name: str) -> None:
    body = f"username={name}&password=x".encode("utf-8", "surrogatepass")
    answer = client.post("/signin/", body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 401


def test_signing_out_is_a_post_and_ends_the_session(signed_in: Client) -> None:
    assert signed_in.get("/signout/").status_code == 405
    assert signed_in.post("/signout/")["Location"] == "/signin/"
    assert signed_in.get("/prompts/").status_code == 302


def test_a_form_without_its_token_is_refused_with_help(person: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    answer = client.post("/signout/")
    assert answer.status_code == 403
    assert "reload the page" in answer.content.decode()


def addresses() -> list[tuple[str, str]]:
    return [
        (str(route.name), reverse(route.name, kwargs={name: _some(kind) for name, kind in kinds.items()}))
        for route in every_route()
        for kinds in [route.pattern.converters]
        if route.name
    ]


def _some(converter: object) -> object:
    # «1» will do for a number, a name and a token.
    return UUID(int=1) if isinstance(converter, UUIDConverter) else "1"


@pytest.mark.parametrize(("name", "address"), addresses())
def test_every_page_but_the_listed_ones_asks_for_a_session(
    client: Client, db: None, name: str, address: str
) -> None:
    answer = client.get(address)
    asked = answer.status_code == 302 and answer["Location"].startswith("/signin/?next=")
    assert asked == (name not in OPEN)


def test_an_htmx_request_without_session_takes_the_whole_page_to_sign_in(client: Client, db: None) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/prompts/?tag=a"}
    answer = client.get("/prompts/?q=x", headers=headers)
    assert answer["HX-Redirect"] == "/signin/?next=%2Fprompts%2F%3Ftag%3Da"
    elsewhere = client.get("/prompts/", headers={**headers, "HX-Current-URL": "https://evil.example/"})
    assert elsewhere["HX-Redirect"] == "/signin/?next=/prompts/"
