"""Protected labels: who moves them, and the second person who has to approve."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from studio.access.accounts import Account, Role
from studio.access.audit import AuditEntry, Event
from studio.access.roles import NotAllowed
from studio.models import Label, PromptSet, PromptVersion, Proposal, SampleContext
from studio.prompts.protection import ApprovalNeeded
from studio.prompts.texts import Templates
from studio.shell.refusal import RequestRefused
from tests.studio.clock import NOW
from tests.studio.editing import TEAM, TEXTS, make_context, make_set


def account(name: str, role: Role) -> User:
    made = User.objects.create_user(name)
    Account.objects.filter(user=made).update(role=role)
    return User.objects.get(pk=made.pk)


@pytest.fixture
def hana(db: None) -> User:
    return account("hana", Role.RELEASER)


@pytest.fixture
def ken(db: None) -> User:
    return account("ken", Role.RELEASER)


@pytest.fixture
def version(hana: User) -> PromptVersion:
    """The second version of a set whose first one is in production."""
    prompt_set = make_set(hana)
    first = prompt_set.latest
    assert first is not None
    Label.objects.move("production", first, by=hana, at=NOW)
    return save(prompt_set, "{{ user_prompt }} two", hana)


def save(prompt_set: PromptSet, team: str, by: User) -> PromptVersion:
    texts = Templates(team, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    return prompt_set.save_version(texts, base=prompt_set.revision, message="m", author=by, at=NOW)


def ask_for_approval(version: PromptVersion) -> None:
    PromptSet.objects.update(needs_approval=True)
    version.prompt_set.refresh_from_db()


def points() -> int:
    return Label.objects.get(name="production").version.number


def test_production_needs_a_releaser_once_there_are_two_people(version: PromptVersion, hana: User) -> None:
    alone = account("mio", Role.EDITOR)
    with pytest.raises(NotAllowed):
        Label.objects.move("production", version, by=alone, at=NOW)
    with pytest.raises(NotAllowed):
        Label.objects.remove(Label.objects.get(), by=alone, at=NOW)
    Label.objects.move("staging", version, by=alone, at=NOW)
    assert points() == 1
    User.objects.filter(pk=hana.pk).update(is_active=False)
    Label.objects.move("production", version, by=alone, at=NOW)
    assert points() == 2


def test_with_approval_nobody_moves_it_alone(version: PromptVersion, hana: User, ken: User) -> None:
    ask_for_approval(version)
    with pytest.raises(ApprovalNeeded):
        Label.objects.move("production", version, by=hana, at=NOW)
    proposal = Proposal.objects.propose("production", version, by=hana, at=NOW, message="ready")
    with pytest.raises(RequestRefused, match="Another releaser"):
        proposal.approve(by=hana, at=NOW)
    with pytest.raises(NotAllowed):
        proposal.approve(by=account("mio", Role.EDITOR), at=NOW)
    assert points() == 1
    proposal.approve(by=ken, at=NOW, answer="good")
    assert points() == 2 and Proposal.objects.get().state == "approved"
    with pytest.raises(RequestRefused, match="approved"):
        proposal.approve(by=ken, at=NOW)
    made, approved = (
        AuditEntry.objects.get(action=event) for event in (Event.PROPOSAL_MADE, Event.PROPOSAL_APPROVED)
    )
    assert (made.before, made.after["version"], made.after["message"]) == ({"version": 1}, 2, "ready")
    assert approved.after["answer"] == "good"


def test_a_newer_version_voids_a_proposal(version: PromptVersion, hana: User, ken: User) -> None:
    ask_for_approval(version)
    proposal = Proposal.objects.propose("production", version, by=hana, at=NOW)
    newer = save(version.prompt_set, "{{ user_prompt }} three", ken)
    with pytest.raises(RequestRefused, match="void"):
        Proposal.objects.get().approve(by=ken, at=NOW)
    assert points() == 1 and Proposal.objects.get(pk=proposal.pk).is_void
    again = Proposal.objects.propose("production", newer, by=hana, at=NOW)
    again.approve(by=ken, at=NOW)
    assert points() == 3


def test_one_open_proposal_for_a_label(version: PromptVersion, hana: User, ken: User) -> None:
    ask_for_approval(version)
    first = Proposal.objects.propose("production", version, by=hana, at=NOW)
    with pytest.raises(RequestRefused, match="open proposal"):
        Proposal.objects.propose("production", version, by=ken, at=NOW)
    first.decline(by=ken, at=NOW, answer="not yet")
    second = Proposal.objects.propose("production", version, by=ken, at=NOW)
    second.decline(by=ken, at=NOW)
    assert [one.state for one in Proposal.objects.order_by("pk")] == ["declined", "withdrawn"]
    assert points() == 1


def test_the_page_compares_and_answers(version: PromptVersion, hana: User, ken: User, client: Client) -> None:
    ask_for_approval(version)
    client.force_login(hana)
    page = client.get(version.get_absolute_url()).content.decode()
    assert "Propose production to v2" in page
    sent = {"name": "production", "version": 2, "message": "It is shorter"}
    made = client.post("/prompts/set/proposals/", sent)["Location"]
    own = client.get(made).content.decode()
    assert "Another releaser has to approve it." in own and "Approve and move" not in own
    assert client.post(made, {"decision": "approve"}).status_code == 403
    assert client.post("/prompts/set/labels/", {"name": "production", "version": 2}).status_code == 409
    client.force_login(ken)
    assert "It is shorter" in client.get("/prompts/set/").content.decode()
    page = client.get(made).content.decode()
    assert "Approve and move production to v2" in page and 'id="team"' in page
    rendered = client.get(f"{made}?rendered=on").content.decode()
    assert "Rendered prompts" in rendered and f'action="{made}"' in rendered
    client.post(made, {"decision": "approve", "answer": "yes"})
    assert points() == 2
    assert "yes" in client.get(made).content.decode()


def test_only_an_administrator_changes_the_protection(
    version: PromptVersion, hana: User, client: Client
) -> None:
    client.force_login(hana)
    sent = {"protected_labels": "production、 staging", "needs_approval": "on"}
    assert client.post("/prompts/set/protection/", sent).status_code == 403
    client.force_login(account("root", Role.ADMINISTRATOR))
    assert client.post("/prompts/set/protection/", {"protected_labels": "a b"}).status_code == 422
    assert client.post("/prompts/set/protection/", sent).status_code == 302
    prompt_set = PromptSet.objects.get()
    assert prompt_set.protected_labels == ["production", "staging"] and prompt_set.needs_approval
    assert AuditEntry.objects.get(action=Event.SET_CHANGED).after["needs_approval"] is True


def test_the_page_lists_every_context_and_round_and_opens_the_first_that_changes(
    version: PromptVersion, hana: User
) -> None:
    ask_for_approval(version)
    SampleContext.objects.all().delete()
    mine = make_context("mine", 3, version.prompt_set)
    other = make_context("other", 2)
    late = save(version.prompt_set, TEAM.strip() + "{% if round_number > 2 %} late{% endif %}\n", hana)
    address = Proposal.objects.propose("production", late, by=hana, at=NOW).get_absolute_url()
    client = Client()
    client.force_login(hana)
    assert 'hx-trigger="load"' in client.get(address).text, "the page itself does not wait for it"
    matrix = client.get(address, headers={"HX-Request": "true", "HX-Target": "contexts"}).context["matrix"]
    states = {
        column.slug: [cell.state for cell in groups["team"].cells] for column, groups in matrix.by_context
    }
    assert states == {mine.slug: ["same", "same", "changed"], other.slug: ["same", "same"]}
    assert list(matrix.by_context[0][1]) == ["team"], "the other templates are the same"
    plain = client.get(f"{address}?contexts=on").text
    assert plain.count('<details class="panel fold" open>') == 1 and "Other:" in plain
    part = client.get(
        f"{address}?rendered=on&context={mine.slug}",
        headers={"HX-Request": "true", "HX-Target": f"in-{mine.slug}"},
    )
    assert f'id="in-{mine.slug}-team"' in part.text and "late" in part.text and "<html" not in part.text
