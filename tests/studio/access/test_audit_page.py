"""The audit's page: filters, pages, the file, and what only administrators see."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from studio.access.accounts import Account, Role
from studio.access.audit import AuditEntry, Event, record
from studio.access.audit_page import PER_PAGE
from studio.models import Workspace
from studio.operations.watching import Watch
from tests.studio.clock import NOW
from tests.studio.editing import make_set
from tests.studio.markup import words_of

PAGE = "/audit/"


def test_entries_are_found_by_what_the_filters_say(signed_in: Client, person: User) -> None:
    first, other = make_set(person), make_set(person, "other")
    Workspace.objects.create(slug="w", name="Lab", path="/w", created_at=NOW)
    record(
        Event.WORKSPACE_CHANGED,
        Workspace.objects.get(),
        before={"name": "古い名前"},
        after={"name": "研究室"},
    )

    def found(query: str) -> list[str]:
        return [line.entry.thing_name for line in signed_in.get(f"{PAGE}?{query}").context["page"].lines]

    assert found("set=set") == ["Set v1"] and found("set=other") == ["Other v1"]
    assert found("workspace=w") == ["Lab"]
    assert found("q=研究室") == ["Lab"] and found("q=nobody+has+this") == []
    assert found("action=workspace.changed&via=studio") == ["Lab"] and found("via=api") == []
    assert found("kind=workspace") == ["Lab"] and found("kind=promptversion") == ["Other v1", "Set v1"]
    assert found("person=yuki&action=signin.done") == ["yuki"]
    today = timezone.localdate()
    assert len(found(f"since={today}&until={today}")) == 4
    assert found(f"since={today + timedelta(days=1)}") == [] == found(f"until={today - timedelta(days=1)}")
    text = words_of(signed_in, f"{PAGE}?workspace=w")
    assert "Audit of Lab" in text and "古い名前 → 研究室" in text
    assert f"?set={first.slug}" in signed_in.get(other.get_absolute_url().replace("other", "set")).text


def test_a_long_audit_has_pages_that_a_new_entry_does_not_shift(signed_in: Client) -> None:
    for number in range(PER_PAGE + 2):
        record(Event.SET_MADE, kind="promptset", name=f"set {number}")
    page = signed_in.get(f"{PAGE}?action=set.made").context["page"]
    assert len(page.lines) == PER_PAGE and page.lines[0].entry.thing_name == f"set {PER_PAGE + 1}"
    record(Event.SET_MADE, kind="promptset", name="newer")
    older = signed_in.get(PAGE + page.older_url).context["page"]
    assert [line.entry.thing_name for line in older.lines] == ["set 1", "set 0"] and not older.older_url


def test_the_file_has_one_entry_on_a_line(signed_in: Client, person: User) -> None:
    make_set(person)
    answer = signed_in.get(f"{PAGE}?set=set&format=jsonl")
    (line,) = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    entry = json.loads(line)
    assert (entry["action"], entry["thing"]["name"], entry["after"]["version"]) == (
        "version.saved",
        "Set v1",
        1,
    )
    assert 'filename="audit.jsonl"' in answer["Content-Disposition"]


def test_sign_ins_and_addresses_are_for_administrators(signed_in: Client, person: User) -> None:
    figures = {"name": "own:model", "as_of": "2026-01-01", "cache_step": 1}
    signed_in.post("/models/new/", figures, REMOTE_ADDR="192.0.2.44")
    everything = words_of(signed_in, PAGE)
    assert "Signed in" in everything
    Account.objects.filter(user=person).update(role=Role.RELEASER)
    assert {line.entry.action for line in signed_in.get(PAGE).context["page"].lines} == {"model.made"}
    file = b"".join(signed_in.get(f"{PAGE}?format=jsonl").streaming_content)  # type: ignore[attr-defined]
    assert b"192.0.2.44" not in file and "192.0.2.44" not in words_of(signed_in, PAGE)


@pytest.mark.parametrize(
    "query", ["before=x", "since=today", "action=nothing", "set=nothing", "q=" + "x" * 300]
)
def test_an_odd_query_is_a_clear_400(signed_in: Client, query: str) -> None:
    assert signed_in.get(f"{PAGE}?{query}").status_code == 400


def test_the_watch_deletes_what_is_older_than_the_setting(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    AuditEntry.objects.create(at=timezone.now() - timedelta(days=400), action="set.made", via="page")
    Watch().look()
    assert AuditEntry.objects.count() == 1
    monkeypatch.setattr(
        settings, "ENVIRONMENT", replace(settings.ENVIRONMENT, keep_audit=timedelta(days=365))
    )
    Watch().look()
    assert [entry.action for entry in AuditEntry.objects.all()] == [Event.AUDIT_CLEANED]
