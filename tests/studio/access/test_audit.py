"""The audit: who did what, from where, in the change's own transaction, and never changed afterwards."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from studio.access.accounts import Account, Role
from studio.access.audit import AuditEntry, Event, clean_audit, record
from studio.models import Label, PromptVersion, SampleContext
from tests.studio.clock import NOW
from tests.studio.editing import SAVE, TEXTS, fields, make_set


def entries(action: Event) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action=action).order_by("pk"))


def test_a_saved_version_names_its_person_and_page_and_not_its_text(
    signed_in: Client, person: User, own_jail: object
) -> None:
    prompt_set = make_set(person)
    assert entries(Event.VERSION_SAVED)[0].via == "studio"
    signed_in.post(
        SAVE, fields(team="{{ user_prompt }} a secret\n", message="shorter"), REMOTE_ADDR="192.0.2.7"
    )
    entry = entries(Event.VERSION_SAVED)[1]
    version = PromptVersion.objects.get(number=2)
    assert (entry.account, entry.name, entry.via, entry.source) == (person.pk, "yuki", "page", "prompt-save")
    assert (entry.address, entry.thing_name, entry.prompt_set) == ("192.0.2.7", "Set v2", prompt_set.pk)
    assert entry.before == {"version": 1}
    assert entry.after == {
        "version": 2,
        "hash": version.content_hash,
        "message": "shorter",
        "origin": "edited",
    }
    assert not AuditEntry.objects.filter(after__icontains="secret").exists()


def test_a_change_whose_entry_cannot_be_written_is_not_made(
    person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = make_set(person).latest
    assert version is not None

    def fails(*args: object, **kwargs: object) -> None:
        raise DatabaseError("no room")

    monkeypatch.setattr("studio.prompts.labels.record", fails)
    with pytest.raises(DatabaseError):
        Label.objects.move("production", version, by=person, at=NOW)
    assert not Label.objects.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studio_auditentry SET name = 'somebody else'",
        "DELETE FROM studio_auditentry",
        "UPDATE studio_auditentry SET cut_before = '2999-01-01'",
    ],
)
def test_the_database_refuses_to_change_or_delete_an_entry(person: User, statement: str) -> None:
    make_set(person)
    refused = pytest.raises(DatabaseError, match="rows are immutable")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_old_entries_go_by_an_entry_that_says_so_and_younger_ones_stay(person: User) -> None:
    now = timezone.now()
    for days in (40, 31, 29, 0):
        AuditEntry.objects.create(at=now - timedelta(days=days), action="set.made", via="page")
    assert clean_audit(None, now) == 0
    assert clean_audit(timedelta(days=30), now) == 2
    assert len(entries(Event.SET_MADE)) == 2
    (cleaned,) = entries(Event.AUDIT_CLEANED)
    assert cleaned.after == {"entries": 2} and cleaned.via == "studio"
    assert clean_audit(timedelta(days=30), now) == 0
    # What the entry allowed it allows for older ones alone, and not for itself.
    refused = pytest.raises(DatabaseError, match="rows are immutable")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM studio_auditentry")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM studio_auditentry WHERE id < %s", [entries(Event.SET_MADE)[0].pk])


def test_sign_ins_and_refused_ones_are_recorded_without_what_was_typed(client: Client, person: User) -> None:
    for name in ("yuki", "yuki", "hunter2"):
        client.post("/signin/", {"username": name, "password": "wrong"}, REMOTE_ADDR="192.0.2.9")
    refused = entries(Event.SIGNIN_REFUSED)
    assert [entry.thing_name for entry in refused] == ["yuki", ""]  # the second guess came within a minute
    assert all(entry.address == "192.0.2.9" and entry.account is None for entry in refused)
    assert not AuditEntry.objects.filter(thing_name__contains="hunter2").exists()
    client.post("/signin/", {"username": "yuki", "password": "correct horse battery"})
    client.post("/signout/")
    assert [entry.name for entry in entries(Event.SIGNED_IN) + entries(Event.SIGNED_OUT)] == ["yuki"] * 2


def test_a_refused_action_is_recorded(signed_in: Client, person: User) -> None:
    Account.objects.filter(user=person).update(role=Role.VIEWER)
    assert signed_in.post("/workspaces/new/allow/", {"folder": "/srv"}).status_code == 403
    (entry,) = entries(Event.ACTION_REFUSED)
    assert (entry.account, entry.thing_name) == (person.pk, "folder-allow")


def test_a_command_is_named_with_whoever_runs_it(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("link")
    (entry,) = entries(Event.LINK_MADE)
    assert (entry.via, entry.source) == ("command", "link") and entry.name
    token = capsys.readouterr().out.strip().rpartition("signin/")[2].strip("/")
    assert token and token not in str(list(AuditEntry.objects.values()))


def test_only_what_changed_is_kept_and_long_texts_are_cut(db: None) -> None:
    entry = record(
        Event.SET_CHANGED, before={"name": "a", "dialect": "x"}, after={"name": "b" * 1000, "dialect": "x"}
    )
    assert entry is not None and entry.before == {"name": "a"}
    assert entry.after == {"name": "b" * 300 + "…"}


def test_the_demo_is_one_entry(demo: object) -> None:
    assert [entry.action for entry in AuditEntry.objects.all()] == [Event.DEMO_LOADED]
    assert SampleContext.objects.exists() and TEXTS
