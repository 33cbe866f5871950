"""Forgotten passwords: by mail where it is configured, and by a command."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client

from studio.access.environment import MailServer, read_mail
from studio.models import AuditEntry, StudioSession

NEW = {"new_password1": "staple 42 gorse", "new_password2": "staple 42 gorse"}


@pytest.fixture
def mails(settings: Any, person: User) -> list[mail.EmailMessage]:
    settings.STUDIO_MAIL = read_mail({"STUDIO_EMAIL_URL": "smtp://mail", "STUDIO_EMAIL_FROM": "studio@a.b"})
    User.objects.filter(pk=person.pk).update(email="yuki@example.org")
    sent: list[mail.EmailMessage] = mail.outbox
    return sent


def test_a_mailed_link_sets_a_password_once_and_ends_sessions(
    signed_in: Client, person: User, mails: list[mail.EmailMessage]
) -> None:
    assert "/signin/forgotten/" in Client().get("/signin/").content.decode()
    asked = Client().post("/signin/forgotten/", {"email": "YUKI@example.org"}, follow=True)
    assert "a link is on its way" in asked.content.decode()
    (sent,) = mails
    assert sent.to == ["yuki@example.org"] and "account yuki" in sent.body
    link = re.search(r"/password/\S+", sent.body)
    assert link
    browser = Client()
    form = browser.get(link[0])["Location"]
    assert browser.post(form, NEW | {"new_password2": "other"}).status_code == 200
    assert browser.post(form, NEW)["Location"] == "/signin/"
    assert not StudioSession.objects.filter(person=person).exists()
    assert Client().login(username="yuki", password=NEW["new_password1"])
    assert "was used already" in Client().get(link[0], follow=True).content.decode()
    assert AuditEntry.objects.filter(action="password.changed", name="yuki").exists()


def test_an_unknown_address_gets_the_same_answer_and_no_mail(mails: list[mail.EmailMessage]) -> None:
    answers = {
        Client()
        .post("/signin/forgotten/", {"email": address}, follow=True)
        .content.decode()
        .count("on its way")
        for address in ("yuki@example.org", "nobody@example.org")
    }
    assert answers == {1} and len(mails) == 1


def test_mails_to_one_address_are_slowed_down(mails: list[mail.EmailMessage]) -> None:
    codes = [
        Client().post("/signin/forgotten/", {"email": "yuki@example.org"}).status_code for _number in range(6)
    ]
    assert codes == [302] * 5 + [429] and len(mails) == 5


def test_without_a_mail_server_nothing_is_offered(client: Client, db: None) -> None:
    assert client.get("/signin/forgotten/").status_code == 404
    assert "/signin/forgotten/" not in client.get("/signin/").content.decode()


def test_ones_own_address_is_changed_on_the_account_page(
    signed_in: Client, person: User, mails: list[mail.EmailMessage]
) -> None:
    assert signed_in.post("/account/email/", {"email": "no"}).status_code == 422
    assert signed_in.post("/account/email/", {"email": "new@example.org"}).status_code == 302
    page = signed_in.get("/account/").content.decode()
    assert 'value="new@example.org"' in page and page.count("may stay empty") == 1


def test_the_command_prints_a_link(person: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("password", "yuki")
    path = re.sub(r"^https?://[^/]+", "", capsys.readouterr().out.strip())
    browser = Client()
    assert browser.post(browser.get(path)["Location"], NEW).status_code == 302
    assert Client().login(username="yuki", password=NEW["new_password1"])
    for name in ("nobody", ""):
        with pytest.raises(CommandError, match="There is no account"):
            call_command("password", name)


def test_the_mail_server_is_read_from_the_environment() -> None:
    address = {"STUDIO_EMAIL_URL": "smtps://a%40b:p%2Fw@mail.example", "STUDIO_EMAIL_FROM": "studio@b.c"}
    assert read_mail(address) == MailServer("mail.example", 465, "a@b", "p/w", False, True, "studio@b.c")
    assert read_mail({}) is None


@pytest.mark.parametrize(
    "url", ["mail.example", "http://mail", "smtp://u:secret@mail", "smtps://", "smtp://m:x"]
)
def test_an_odd_mail_server_is_refused_without_repeating_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="STUDIO_EMAIL_URL") as refusal:
        read_mail({"STUDIO_EMAIL_URL": url, "STUDIO_EMAIL_FROM": "studio@b.c"})
    assert "secret" not in str(refusal.value)
