"""Save, move a label and export with one confirmation: all of it, or what was done and what was not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.signals import post_save
from django.test import Client

from studio.access.accounts import Account, Role
from studio.models import Draft, Export, Label, PromptSet, PromptVersion, Proposal, Workspace
from studio.prompts.drafts import SentDraft
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.markup import words_of
from tests.studio.workspaces.exports.confirming import (
    file_of,
    make_set,
    make_workspace,
    prompt_file,
    templates,
    version,
)
from tests.studio.workspaces.exports.export_form import sent_by

PLAN = "/prompts/research/export/"
OF_DRAFT = f"{PLAN}?source=draft"


@pytest.fixture
def research(person: User) -> PromptSet:
    """`production` points at version 1, which is the newest but one."""
    made = make_set("research", person, "one", "two")
    Label.objects.move("production", version(made, 1), by=person, at=NOW)
    return made


@pytest.fixture
def followers(research: PromptSet, tmp_path: Path) -> list[Workspace]:
    make_workspace(tmp_path / "stranger")
    return [make_workspace(tmp_path / name, research.labels.get(), word="one") for name in ("left", "right")]


@pytest.fixture
def draft(research: PromptSet, person: User) -> Draft:
    return written(research, person, templates("three"))


def written(research: PromptSet, person: User, texts: Templates, message: str = "Say three") -> Draft:
    return Draft.objects.keep(research, person, SentDraft(texts, 2, 0, message), at=NOW)


def shown(client: Client, address: str = OF_DRAFT) -> dict[str, Any]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return sent_by(answer.text)


def nothing_done(research: PromptSet, followers: list[Workspace]) -> bool:
    """No version, no move, no file."""
    research.refresh_from_db()
    files = {prompt_file(each.folder).read_bytes() for each in followers}
    return (
        research.revision == 2
        and research.labels.get().version.number == 1
        and files == {file_of(templates("one"))}
        and not Export.objects.exists()
    )


def test_one_confirmation_saves_moves_and_writes_and_one_receipt_says_so(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft
) -> None:
    page = signed_in.get(OF_DRAFT).text
    sent = sent_by(page)
    assert (sent["workspace"], sent["move"], sent["message"]) == (
        ["left", "right"],
        ["production"],
        ["Say three"],
    )
    assert page.count("<ins>three</ins>") == 6, "three templates in two files"
    assert nothing_done(research, followers), "a look writes nothing"

    done = signed_in.post(PLAN, sent)
    saved = version(research, 3)
    assert (saved.templates, saved.message) == (templates("three"), "Say three")
    assert research.labels.get().version == saved
    assert all(prompt_file(each.folder).read_bytes() == file_of(templates("three")) for each in followers)
    receipt = words_of(signed_in, done["Location"])
    assert "Saved as v3. Say three" in receipt and "production v1 → v3" in receipt
    assert "Files written: 2 of 2" in receipt
    assert signed_in.post(PLAN, sent)["Location"] == done["Location"], "sent twice"
    assert (PromptVersion.objects.count(), Export.objects.count()) == (3, 2)


def test_a_version_goes_the_same_way_without_a_save(
    signed_in: Client, research: PromptSet, followers: list[Workspace]
) -> None:
    done = signed_in.post(PLAN, shown(signed_in, f"{PLAN}?version=2"))
    receipt = words_of(signed_in, done["Location"])
    assert "production v1 → v2" in receipt and "Saved as" not in receipt
    assert "Files written: 2 of 2" in receipt
    # An older version is offered without a move of its own.
    assert shown(signed_in, f"{PLAN}?version=1")["move"] == [""]


def test_what_is_unticked_is_left_alone_and_what_is_ticked_is_shown_first(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft
) -> None:
    sent = shown(signed_in)
    more = signed_in.post(PLAN, sent | {"workspace": ["left", "stranger"], "message": "Other words"})
    assert nothing_done(research, followers)
    again = shown(signed_in, more["Location"])
    assert (again["workspace"], again["message"]) == (["left", "stranger"], ["Other words"])
    assert again["target"][1] == "stranger:"
    signed_in.post(PLAN, again | {"workspace": ["left"]})
    assert list(Export.objects.values_list("workspace__slug", flat=True)) == ["left"]
    assert version(research, 3).message == "Other words"


def test_another_label_ticks_its_own_followers(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, person: User
) -> None:
    Label.objects.move("staging", version(research, 2), by=person, at=NOW)
    Workspace.objects.filter(slug="stranger").update(label=research.labels.get(name="staging"))
    looked = signed_in.post(PLAN, shown(signed_in) | {"move": "staging", "look": "on"})
    again = shown(signed_in, looked["Location"])
    assert (again["move"], again["workspace"]) == (["staging"], ["stranger"])
    signed_in.post(PLAN, again | {"workspace": []})
    assert research.labels.get(name="staging").version.number == 3 and not Export.objects.exists()


# --- what comes between ------------------------------------------------------------------


def test_without_a_message_nothing_is_done(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft
) -> None:
    answer = signed_in.post(PLAN, shown(signed_in) | {"message": " "})
    assert answer.status_code == 422 and "Describe the change briefly" in answer.text
    assert nothing_done(research, followers) and Draft.objects.get().templates == templates("three")


def test_a_text_that_cannot_be_saved_says_why_before_and_after(
    signed_in: Client, research: PromptSet, followers: list[Workspace], person: User
) -> None:
    fine = written(research, person, templates("fine"))
    sent = shown(signed_in)
    Draft.objects.filter(pk=fine.pk).update(team_user_prompt="{{ tema }}")
    for answer in (signed_in.get(OF_DRAFT), signed_in.post(PLAN, sent)):
        assert answer.status_code == 422 and "tema" in answer.text and "export-confirm" not in answer.text
    assert nothing_done(research, followers) and Draft.objects.get().team_user_prompt == "{{ tema }}"


def test_a_draft_that_was_written_to_since_is_shown_again(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, person: User
) -> None:
    sent = shown(signed_in)
    Draft.objects.keep(research, person, SentDraft(templates("four"), 2, draft.revision), at=NOW)
    answer = signed_in.post(PLAN, sent, follow=True)
    assert (
        "written to since you looked, so nothing was done" in answer.text and "<ins>four</ins>" in answer.text
    )
    assert nothing_done(research, followers)


def test_somebody_saved_first_both_texts_are_kept(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, person: User
) -> None:
    sent = shown(signed_in)
    research.save_version(templates("theirs"), base=2, message="first", author=person, at=NOW)
    answer = signed_in.post(PLAN, sent, follow=True)
    assert "Nothing was done: someone else saved a version meanwhile." in answer.text
    assert "theirs" in answer.text and Draft.objects.get().templates == templates("three")
    assert signed_in.get(OF_DRAFT)["Location"] == "/prompts/research/conflict/"
    assert not Export.objects.exists() and research.labels.get().version.number == 1


def test_a_label_that_moved_since_the_page_stops_before_the_save(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, person: User
) -> None:
    sent = shown(signed_in)
    Label.objects.move("production", version(research, 2), by=person, at=NOW)
    answer = signed_in.post(PLAN, sent)
    assert answer.status_code == 409 and "production now points to v2" in answer.text
    assert research.versions.count() == 2 and not Export.objects.exists()


@pytest.fixture
def moved_during_the_save(research: PromptSet, person: User) -> Iterator[None]:
    """Somebody moves `production` at the moment when the version is stored."""

    def move(instance: PromptVersion, **_more: Any) -> None:
        Label.objects.move("production", version(research, 2), by=person, at=NOW)

    post_save.connect(move, sender=PromptVersion)
    yield
    post_save.disconnect(move, sender=PromptVersion)


def test_a_label_that_moves_during_the_save_leaves_the_version_and_says_so(
    signed_in: Client,
    research: PromptSet,
    followers: list[Workspace],
    draft: Draft,
    moved_during_the_save: None,
) -> None:
    answer = signed_in.post(PLAN, shown(signed_in), follow=True)
    assert "Saved as v3." in answer.text
    assert "production now points to v2, so nothing was written." in answer.text
    assert research.labels.get().version.number == 2 and not Export.objects.exists()
    # The page goes on with the version that is there, and the same choice.
    again = sent_by(answer.text)
    assert (again["source"], again["move"], again["moved_from"]) == (["v3"], ["production"], ["2"])
    assert again["workspace"] == ["left", "right"]


def test_a_file_that_changed_since_the_page_is_left_alone_and_named(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft
) -> None:
    sent = shown(signed_in)
    prompt_file(followers[0].folder).write_bytes(file_of(templates("by hand")))
    receipt = words_of(signed_in, signed_in.post(PLAN, sent)["Location"])
    assert (
        "Saved as v3." in receipt and "production v1 → v3" in receipt and "Files written: 1 of 2" in receipt
    )
    assert prompt_file(followers[0].folder).read_bytes() == file_of(templates("by hand"))


def test_without_a_draft_the_newest_version_is_shown(
    signed_in: Client, research: PromptSet, followers: list[Workspace]
) -> None:
    assert signed_in.get(OF_DRAFT)["Location"] == f"{PLAN}?source=v2"


@pytest.fixture
def ken(research: PromptSet) -> User:
    """A second releaser, so that `production` is protected; the set asks for approval."""
    made = User.objects.create_user("ken")
    Account.objects.update(role=Role.RELEASER)
    PromptSet.objects.update(needs_approval=True)
    return made


def test_where_approval_is_needed_the_draft_is_saved_and_proposed_and_the_approval_goes_on_with_the_export(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, ken: User
) -> None:
    page = words_of(signed_in, OF_DRAFT)
    assert "moves only with an approval" in page and "Save v3 and propose production" in page
    assert "Write to" not in page
    sent = shown(signed_in) | {"propose": ["on"], "why": ["It did better"]}
    made = signed_in.post(PLAN, sent, follow=True)
    assert "Saved as v3." in made.text and "Proposed. Another releaser can approve it now." in made.text
    proposal = Proposal.objects.get()
    assert (proposal.version, proposal.label, proposal.message) == (
        version(research, 3),
        "production",
        "It did better",
    )
    assert research.labels.get().version.number == 1 and not Export.objects.exists()
    here = proposal.get_absolute_url()
    assert "Export v3" not in words_of(signed_in, here)

    signed_in.force_login(ken)
    plan = signed_in.post(here, {"decision": "approve"})["Location"]
    assert "Export v3… 2 workspaces follow production and do not have this version yet." in words_of(
        signed_in, here
    )
    sent = shown(signed_in, plan)
    assert (sent["source"], sent["workspace"]) == (["production"], ["left", "right"])
    signed_in.post(PLAN, sent | {"confirm": ["on"]})
    assert all(prompt_file(each.folder).read_bytes() == file_of(templates("three")) for each in followers)
    assert "Export v3" not in words_of(signed_in, here)


def test_an_approval_that_is_asked_for_since_the_page_stops_before_the_save(
    signed_in: Client, research: PromptSet, followers: list[Workspace], draft: Draft, ken: User
) -> None:
    PromptSet.objects.update(needs_approval=False)
    direct = shown(signed_in)
    PromptSet.objects.update(needs_approval=True)
    answer = signed_in.post(PLAN, direct | {"confirm": ["on"]}, follow=True)
    assert "Nothing was done yet" in answer.text and "Save v3 and propose production" in answer.text
    proposing = sent_by(answer.text)
    PromptSet.objects.update(needs_approval=False)
    answer = signed_in.post(PLAN, proposing | {"propose": ["on"], "why": ["Because"]}, follow=True)
    assert "Nothing was done yet" in answer.text and "Save and export v3" in answer.text
    assert nothing_done(research, followers) and not Proposal.objects.exists()


def test_a_version_whose_label_has_an_open_proposal_leads_to_it(
    signed_in: Client, person: User, research: PromptSet, followers: list[Workspace], ken: User
) -> None:
    address = f"{PLAN}?source=v2&move=production"
    assert "Propose production to v2" in words_of(signed_in, address)
    again = shown(signed_in, address) | {"propose": ["on"]}
    open_one = Proposal.objects.propose("production", version(research, 2), by=ken, at=NOW)
    page = signed_in.get(address).text
    assert f'href="{open_one.get_absolute_url()}"' in page and 'name="propose"' not in page
    assert signed_in.post(PLAN, again).status_code == 409 and Proposal.objects.count() == 1
    # A draft becomes a newer version, which voids what is open.
    written(research, person, templates("three"))
    signed_in.post(PLAN, shown(signed_in) | {"propose": ["on"]})
    open_one.refresh_from_db()
    newest = Proposal.objects.first()
    assert open_one.is_void and newest and newest.is_open and newest.message == "Say three"
