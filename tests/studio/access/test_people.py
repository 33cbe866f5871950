"""People: invited by a link, switched off and on, removed; the last administrator stays."""

import json
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from threading import Barrier, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from studio.access.accounts import Account, Role
from studio.access.people import Invitation, LastAdministrator, change, remove, switch_off, switch_on
from studio.models import AuditEntry, Draft, PromptSet, SampleContext, Workspace
from tests.studio.clock import NOW
from tests.studio.contexts.context_forms import ROUND_2
from tests.studio.editing import make_set

PASSWORD = {"password1": "staple 42 gorse", "password2": "staple 42 gorse"}


def role_of(name: str) -> int:
    return Account.objects.get(user__username=name).role


@pytest.fixture
def ken(db: None) -> User:
    made = User.objects.create_user("ken", password="correct horse battery")
    Account.objects.filter(user=made).update(role=Role.EDITOR)
    return made


def invited(person: User, role: Role = Role.EDITOR) -> str:
    return f"/invitation/{Invitation.objects.invite(role, 'hana', by=person, at=timezone.now())}/"


def test_an_invitation_makes_one_account_with_its_role(signed_in: Client, person: User) -> None:
    answer = signed_in.post("/people/invite/", {"role": "3", "note": "Hana"}).content.decode()
    link = answer.partition('id="invitation-link">http://testserver')[2].partition("<")[0]
    assert link not in signed_in.get("/people/").content.decode(), "it is shown once"
    browser = Client()
    assert "yuki invited you. Your role: Releaser." in browser.get(link).content.decode()
    assert browser.post(link, {"username": "hana", **PASSWORD})["Location"] == "/"
    assert browser.get("/account/").status_code == 200 and role_of("hana") == Role.RELEASER
    assert Client().get(link).status_code == 410
    assert Client().post(link, {"username": "more", **PASSWORD}).status_code == 410
    entry = AuditEntry.objects.get(action="person.joined")
    assert (entry.name, entry.after) == ("hana", {"role": "releaser", "invited by": "yuki"})


@pytest.mark.parametrize("name", ["yuki", "YUKI", "gone", "", "a b", "x" * 200])
def test_a_name_that_cannot_be_had_leaves_the_invitation_good(person: User, ken: User, name: str) -> None:
    User.objects.create_user("gone")
    remove(User.objects.get(username="gone"), at=NOW)
    link = invited(person)
    answer = Client().post(link, {"username": name, **PASSWORD})
    assert answer.status_code == 422 and "field-error" in answer.content.decode()
    assert Client().get(link).status_code == 200


def test_an_invitation_ends_after_seven_days_or_when_it_is_withdrawn(signed_in: Client, person: User) -> None:
    old, other = invited(person), invited(person)
    withdrawn = Invitation.objects.latest("pk")
    assert signed_in.post(f"/people/withdraw/{withdrawn.pk}/").status_code == 302
    assert Client().get(other).status_code == 410
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(old).status_code == 410


def test_a_switched_off_account_is_signed_out_and_cannot_sign_in(signed_in: Client, ken: User) -> None:
    browser, secret = Client(), {"username": "ken", "password": "correct horse battery"}
    browser.force_login(ken)
    signed_in.post(f"/people/{ken.pk}/switch/", {"active": "0"})
    assert browser.get("/prompts/")["Location"].startswith("/signin/")
    assert browser.post("/signin/", secret).status_code == 401
    signed_in.post(f"/people/{ken.pk}/switch/", {"active": "1"})
    assert browser.get("/prompts/").status_code == 302, "the session does not come back"
    assert browser.post("/signin/", secret).status_code == 302


def test_another_role_counts_from_the_next_request_on(signed_in: Client, ken: User) -> None:
    browser = Client()
    browser.force_login(ken)
    assert browser.get("/workspaces/new/").status_code == 403
    limits = {"most_sets": 5, "most_contexts": 6, "most_drafts": 7}
    assert signed_in.post(f"/people/{ken.pk}/", {"role": "4", **limits}).status_code == 302
    assert browser.get("/workspaces/new/").status_code == 200
    entry = AuditEntry.objects.get(action="person.changed")
    assert entry.before["role"] == "editor" and entry.after == {"role": "administrator", **limits}
    assert signed_in.post(f"/people/{ken.pk}/", {"role": "9", "most_sets": "-1"}).status_code == 422


@pytest.mark.parametrize(
    "step",
    [
        lambda person: change(person, {"role": Role.RELEASER}),
        switch_off,
        lambda person: remove(person, at=NOW),
    ],
)
def test_the_last_administrator_stays(step: Callable[[User], None], person: User, ken: User) -> None:
    # One who is switched off cannot help.
    other = User.objects.create_user("off")
    switch_off(other)
    with pytest.raises(LastAdministrator):
        step(person)
    person.refresh_from_db()
    assert person.is_active and person.has_usable_password() and role_of("yuki") == Role.ADMINISTRATOR
    switch_on(other)
    step(person)


def test_the_page_says_that_the_last_administrator_stays(signed_in: Client, person: User) -> None:
    answer = signed_in.post(f"/people/{person.pk}/switch/", {"active": "0"})
    assert answer.status_code == 409
    assert "Make another person an administrator first." in answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_two_administrators_who_demote_each_other_at_once_leave_one() -> None:
    people = [User.objects.create_user(name) for name in ("a", "b")]
    together, refused = Barrier(2), []

    def demote(person: User) -> None:
        together.wait()
        try:
            change(person, {"role": Role.VIEWER})
        except LastAdministrator:
            refused.append(person)
        finally:
            connection.close()

    threads = [Thread(target=demote, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert Account.objects.filter(role=Role.ADMINISTRATOR).count() == 1


def test_a_removed_person_keeps_the_authorship_and_loses_drafts(signed_in: Client, ken: User) -> None:
    prompt_set = make_set(ken)
    Draft.objects.create(prompt_set=prompt_set, person=ken, revision=1, base=0, changed_at=NOW)
    assert "1 private draft is deleted." in signed_in.get(f"/people/{ken.pk}/remove/").content.decode()
    assert signed_in.post(f"/people/{ken.pk}/remove/").status_code == 302
    assert "ken" in signed_in.get(prompt_set.get_absolute_url()).content.decode()
    assert not Draft.objects.exists() and not Client().login(username="ken", password="correct horse battery")
    assert f"/people/{ken.pk}/" not in signed_in.get("/people/").content.decode()
    for address in ("", "switch/", "remove/"):
        assert signed_in.post(f"/people/{ken.pk}/{address}").status_code == 404


def test_limits_of_an_account(signed_in: Client, person: User) -> None:
    Account.objects.update(most_sets=1, most_contexts=0, most_drafts=1)
    new = {"name": "One", "dialect": "mixseek", "start": "empty", "holds": "prompts"}
    assert signed_in.post("/prompts/new/", new).status_code == 302
    refused = signed_in.post("/prompts/new/", new | {"name": "Two"})
    assert refused.status_code == 403
    assert "reached its limit: Prompt sets, 1." in unescape(refused.content.decode())
    assert PromptSet.objects.get().made_by == person
    other = make_set(person)
    draft = {"team_user_prompt": "a", "base": "0", "revision": "0", "seq": "1", "tab": "t"}
    draft |= {"evaluator_user_prompt": "", "judgment_user_prompt": "", "message": ""}
    assert signed_in.post(f"/prompts/{other.slug}/draft/", draft).status_code == 403
    assert (
        signed_in.post("/contexts/new/json/", {"name": "C", "json": json.dumps(ROUND_2)}).status_code == 403
    )
    assert not SampleContext.objects.exists()


def test_a_workspace_tells_who_registered_it(signed_in: Client, person: User, tmp_path: object) -> None:
    signed_in.post("/workspaces/new/", {"path": str(tmp_path), "dialect": "mixseek"})
    made = Workspace.objects.get()
    assert made.made_by == person
    assert "Registered by yuki" in signed_in.get(made.get_absolute_url()).content.decode()
