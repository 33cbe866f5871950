"""Sessions: hashed in the database, listed for whose they are, and ended by them."""

import re
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as OldStore
from django.contrib.sessions.models import Session as OldSession
from django.test import Client
from django.utils import timezone

from studio.access.accounts import digest
from studio.access.sessions import StudioSession

PASSWORD = "correct horse battery"


def sign_in(agent: str, address: str) -> Client:
    client = Client(headers={"User-Agent": agent})
    data = {"username": "yuki", "password": PASSWORD}
    assert client.post("/signin/", data, REMOTE_ADDR=address).status_code == 302
    return client


def key_of(client: Client) -> str:
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def test_the_database_holds_no_key_that_a_cookie_could_carry(person: User) -> None:
    client = sign_in("A", "10.0.0.1")
    stored = StudioSession.objects.get()
    assert stored.session_key == digest(key_of(client)) != key_of(client)
    assert key_of(client) not in stored.session_data
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stored.session_key
    assert thief.get("/account/").status_code == 302


def test_a_person_sees_their_sessions_and_nobody_elses(person: User) -> None:
    sign_in("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "10.0.0.1")
    client = sign_in("a tool of ours", "10.0.0.2")
    other = Client()
    other.force_login(User.objects.create_user("hana", password=PASSWORD))
    page = client.get("/account/").content.decode()
    assert "Firefox, Linux" in page and "10.0.0.1" in page and "a tool of ours" in page
    assert page.count("This session") == 1
    assert "Firefox" not in other.get("/account/").content.decode()


def test_ending_a_session_signs_that_browser_out(person: User) -> None:
    laptop, phone = sign_in("Laptop", "10.0.0.1"), sign_in("Phone", "10.0.0.2")
    page = phone.get("/account/").content.decode()
    (key,) = re.findall(r'name="session" value="(\w+)"', page)
    phone.post("/account/sessions/end/", {"session": key})
    assert laptop.get("/account/").status_code == 302
    assert phone.get("/account/").status_code == 200


def test_nobody_ends_the_session_of_another(person: User) -> None:
    laptop = sign_in("Laptop", "10.0.0.1")
    other = Client()
    other.force_login(User.objects.create_user("hana", password=PASSWORD))
    other.post("/account/sessions/end/", {"session": digest(key_of(laptop))})
    other.post("/account/sessions/end/")
    assert laptop.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 200


def test_signing_out_everywhere_else_leaves_this_browser(person: User) -> None:
    others = [sign_in("Other", f"10.0.0.{number}") for number in range(3)]
    client = sign_in("This", "10.0.0.9")
    client.post("/account/sessions/end/")
    assert [other.get("/account/").status_code for other in others] == [302] * 3
    assert client.get("/account/").status_code == 200


def test_a_changed_password_ends_all_other_sessions(person: User) -> None:
    other, client = sign_in("Other", "10.0.0.1"), sign_in("This", "10.0.0.2")
    new = {"old_password": PASSWORD, "new_password1": "staple 42 gorse", "new_password2": "staple 42 gorse"}
    assert client.post("/account/password/", new).status_code == 302
    assert client.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    person.refresh_from_db()
    assert person.check_password("staple 42 gorse")


@pytest.mark.parametrize("change", [{"old_password": "guess"}, {"new_password2": "other"}, {}])
def test_a_refused_password_is_said_on_the_page(person: User, change: dict[str, str]) -> None:
    client = sign_in("This", "10.0.0.1")
    data = {"old_password": PASSWORD, "new_password1": "12345678", "new_password2": "12345678", **change}
    answer = client.post("/account/password/", data)
    assert answer.status_code == 422
    assert "field-error" in answer.content.decode()
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


def test_whoever_came_by_the_link_may_set_a_first_password(db: None) -> None:
    operator = User.objects.create_user("operator")
    client = Client()
    client.force_login(operator)
    new = {"new_password1": "staple 42 gorse", "new_password2": "staple 42 gorse"}
    assert client.post("/account/password/", new).status_code == 302
    operator.refresh_from_db()
    assert operator.check_password("staple 42 gorse")


def test_sessions_of_the_last_version_go_on_after_the_migration(signed_in: Client, person: User) -> None:
    now = StudioSession.objects.get()
    OldSession.objects.create(
        session_key="k" * 32, session_data=now.session_data, expire_date=now.expire_date
    )
    assert OldStore("k" * 32).load()["_auth_user_id"] == str(person.pk)
    import_module("studio.migrations.0005_hashed_sessions").hash_keys(apps, None)
    assert not OldSession.objects.exists()
    browser = Client()
    browser.cookies[settings.SESSION_COOKIE_NAME] = "k" * 32
    assert browser.get("/account/").status_code == 200


def test_the_last_use_is_noted_now_and_then(signed_in: Client) -> None:
    long_ago = timezone.now() - timedelta(hours=2)
    StudioSession.objects.update(used_at=long_ago)
    signed_in.get("/account/")
    first = StudioSession.objects.get().used_at
    assert first > long_ago
    signed_in.get("/account/")
    assert StudioSession.objects.get().used_at == first
