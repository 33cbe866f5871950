"""The pages of exports: the plan before, the receipts after, and what a moved label offers."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from builder.jail import JailPool
from studio.models import Export, ExportReceipt, Label, PromptSet, Workspace
from studio.shell import turns
from studio.workspaces.exports.models import hash_of
from tests.studio.clock import NOW
from tests.studio.jail import UseJail
from tests.studio.markup import tight
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


@pytest.fixture
def research(person: User) -> PromptSet:
    """`production` points at version 2."""
    made = make_set("research", person, "one", "two", "three")
    Label.objects.move("production", version(made, 2), by=person, at=NOW)
    return made


@pytest.fixture
def mine(research: PromptSet, tmp_path: Path) -> Workspace:
    """Follows `production`, but its file holds version 1."""
    return make_workspace(tmp_path / "mine", research.labels.get(), word="one")


@pytest.fixture
def other(research: PromptSet, tmp_path: Path) -> Workspace:
    """Follows nothing and has no file."""
    return make_workspace(tmp_path / "other")


def content(workspace: Workspace) -> bytes:
    return prompt_file(workspace.folder).read_bytes()


def page_of(client: Client, address: str = PLAN, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


# --- the plan ----------------------------------------------------------------------------


def test_the_plan_shows_the_followers_of_the_usual_label(
    signed_in: Client, mine: Workspace, other: Workspace
) -> None:
    page = tight(page_of(signed_in))
    assert '<option value="production" selected>production → v2</option>' in page
    assert 'value="mine" checked' in page and 'value="other" checked' not in page
    assert "<del>one</del>" in page and "<ins>two</ins>" in page
    sent = sent_by(page)
    assert sent["target"] == [f"mine:{hash_of(content(mine))}"]
    assert (sent["number"], sent["source"], sent["move"]) == (["2"], ["production"], [""])
    assert content(mine) == file_of(templates("one")), "a look writes nothing"


def test_the_plan_of_chosen_workspaces(signed_in: Client, mine: Workspace, other: Workspace) -> None:
    page = page_of(signed_in, f"{PLAN}?version=1&workspace=mine&workspace=other")
    assert "No change" in page and "The file already has this text" in page
    assert "New file" in page and "No file yet" in page
    assert sent_by(page)["target"] == ["other:"]
    assert "Select a workspace above" in page_of(signed_in, f"{PLAN}?source=v3&chosen=on")
    assert 'value="v3" selected' in tight(page_of(signed_in, f"{PLAN}?source=v3&chosen=on"))


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?version=99", 404),
        ("?label=nothing", 404),
        ("?workspace=nowhere", 404),
        ("?version=abc", 400),
        ("?workspace=a/b", 400),
        ("?rows=mine.5", 400),
        ("?rows=nowhere.0-5", 404),
        ("?open=mine.0-999999999&workspace=mine", 200),
        ("?rows=mine.0-3&workspace=mine", 200),
    ],
)
def test_odd_addresses_are_answered_with_a_sentence(
    signed_in: Client, mine: Workspace, query: str, status: int
) -> None:
    page_of(signed_in, PLAN + query, status)


def test_a_set_without_versions_has_nothing_to_export(signed_in: Client, person: User) -> None:
    make_set("empty", person)
    assert "no version yet" in page_of(signed_in, "/prompts/empty/export/", 404)


def test_an_invalid_version_shows_its_problems_and_no_button(
    signed_in: Client, research: PromptSet, mine: Workspace, person: User
) -> None:
    research.save_version(templates("{{ tema }}"), base=3, message="bad", author=person, at=NOW)
    page = page_of(signed_in, f"{PLAN}?version=4&workspace=mine", 422)
    assert "v4 cannot be exported." in page and "tema" in page and "export-confirm" not in page
    sent = {"batch": str(uuid4()), "number": "4", "source": "v4", "workspace": "mine", "planned": "mine"}
    answer = signed_in.post(PLAN, sent | {"target": f"mine:{hash_of(content(mine))}"})
    assert answer.status_code == 422 and not Export.objects.exists()


def test_without_a_jail_nothing_is_planned_and_nothing_lost(
    signed_in: Client, mine: Workspace, use_jail: UseJail
) -> None:
    sent = sent_by(page_of(signed_in))
    closed = JailPool()
    closed.close()
    use_jail(closed)
    assert "Nothing was written." in page_of(signed_in, PLAN, 503)
    assert signed_in.post(PLAN, sent).status_code == 503
    assert not Export.objects.exists() and content(mine) == file_of(templates("one"))


def test_a_version_that_the_followed_label_does_not_mean_is_said(signed_in: Client, mine: Workspace) -> None:
    said = "follows production of Research (v2). After this export its file differs from the label."
    assert said in page_of(signed_in, f"{PLAN}?version=3&workspace=mine")
    assert said not in page_of(signed_in, f"{PLAN}?version=2&workspace=mine")


def test_what_mixseek_reads_instead_is_said(signed_in: Client, mine: Workspace) -> None:
    (mine.folder / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "team.toml"\n'
    )
    page = page_of(signed_in)
    assert ">team.toml</code>" in page and "as configs/orchestrator.toml:2 says" in page


# --- the confirmation --------------------------------------------------------------------


def test_confirmed_the_file_is_written_and_the_receipt_says_so(
    signed_in: Client, mine: Workspace, person: User
) -> None:
    sent = sent_by(page_of(signed_in))
    answer = signed_in.post(PLAN, sent)
    made = Export.objects.get()
    assert answer["Location"] == f"/exports/{made.batch}/" == made.get_absolute_url()
    assert content(mine) == file_of(templates("two"))
    assert (made.by, made.label_name, made.version.number) == (person, "production", 2)
    receipt = page_of(signed_in, answer["Location"])
    assert "This version was written to the file." in receipt
    assert f"manage.py export research@production --workspace {mine.path}" in receipt
    assert signed_in.post(PLAN, sent)["Location"] == answer["Location"], "sent twice"
    assert Export.objects.count() == 1


def test_a_confirmation_without_a_place_can_be_sent_again(
    signed_in: Client, mine: Workspace, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = sent_by(page_of(signed_in))
    few = turns.Places(of_person=1, seconds=0.05)
    monkeypatch.setattr(turns, "PLACES", few)
    with few.taken(str(person.pk)):
        assert signed_in.post(PLAN, sent).status_code == 503
    assert not Export.objects.exists() and content(mine) == file_of(templates("one"))
    assert signed_in.post(PLAN, sent).status_code == 302
    assert Export.objects.count() == 1 and content(mine) == file_of(templates("two"))


def test_a_file_that_changed_since_the_page_is_left_alone(
    signed_in: Client, mine: Workspace, other: Workspace
) -> None:
    address = f"{PLAN}?label=production&workspace=mine&workspace=other"
    sent = sent_by(page_of(signed_in, address))
    prompt_file(mine.folder).write_bytes(file_of(templates("three")))
    receipts = page_of(signed_in, signed_in.post(address, sent)["Location"])
    assert (
        "has changed since it was read; nothing was written" in receipts
        and "The file was created." in receipts
    )
    assert "Exported to 1 of 2 workspaces." in receipts
    assert "label=production&amp;workspace=mine" in receipts
    assert content(mine) == file_of(templates("three")) and b"two\n" in content(other)


@pytest.mark.slow
def test_a_hand_edit_is_shown_with_both_ways_out(
    signed_in: Client, mine: Workspace, research: PromptSet
) -> None:
    signed_in.post(PLAN, sent_by(page_of(signed_in)))
    edit = file_of(templates("two, by hand"))
    prompt_file(mine.folder).write_bytes(edit)
    page = page_of(signed_in)
    assert "This file was edited by hand" in page and "What was edited since the last export" in page
    assert "<ins>, by hand</ins>" in page
    assert reverse("workspace-adopt", args=["mine"]) in page
    sent = sent_by(page)
    assert "target" not in sent, "only by a tick"
    assert signed_in.post(PLAN, sent).status_code == 422 and content(mine) == edit

    done = signed_in.post(PLAN, sent | {"overwrite": [f"mine:{hash_of(edit)}"]})
    kept = version(research, 4)
    assert kept.templates == templates("two, by hand") and content(mine) == file_of(templates("two"))
    assert f'saved as <a href="{kept.get_absolute_url()}">Research v4</a>' in page_of(
        signed_in, done["Location"]
    )


def test_after_adopting_an_edit_the_adopted_version_goes_on_and_nothing_overwrites_it(
    signed_in: Client, mine: Workspace, other: Workspace, research: PromptSet
) -> None:
    Workspace.objects.filter(pk=other.pk).update(label=mine.label)
    prompt_file(mine.folder).write_bytes(file_of(templates("by hand")))
    sent = {"sha256": hash_of(content(mine)), "set": "", "then": "export"}
    answer = signed_in.post(reverse("workspace-adopt", args=["mine"]), sent)
    assert answer["Location"] == f"{PLAN}?version=4&move=production"
    assert version(research, 4).templates == templates("by hand")
    page = page_of(signed_in, answer["Location"])
    assert "Move production and export v4" in page
    assert sent_by(page)["target"] == ["other:"], "its own file is so already"
    # Neither the workspace, nor the version that the label points at, nor the home page offer that one.
    assert f'class="button primary" href="{PLAN}?version=4&amp;move=production"' in page_of(
        signed_in, "/workspaces/mine/"
    )
    assert "&amp;workspace=mine" not in page_of(signed_in, "/workspaces/mine/")
    assert "workspace=mine" not in page_of(signed_in, "/prompts/research/versions/2/")
    assert "Continue with v4" in page_of(signed_in, "/")
    assert sent_by(page_of(signed_in))["workspace"] == ["other"]
    done = page_of(signed_in, signed_in.post(PLAN, sent_by(page))["Location"])
    assert "Files written: 1 of 1" in done and Label.objects.get().version.number == 4


def test_a_label_that_moved_since_the_page_is_a_conflict(
    signed_in: Client, mine: Workspace, research: PromptSet, person: User
) -> None:
    sent = sent_by(page_of(signed_in))
    Label.objects.move("production", version(research, 3), by=person, at=NOW)
    answer = signed_in.post(PLAN, sent)
    assert answer.status_code == 409 and "now points to v3" in answer.content.decode()
    assert not Export.objects.exists()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"batch": ["x"]}, 400),
        ({"target": ["mine:zz"]}, 400),
        ({"workspace": ["nowhere"], "planned": ["nowhere"]}, 404),
        ({"source": ["v99"]}, 404),
        ({"move": ["draft"], "shown_move": ["draft"]}, 404),
        ({"target": []}, 422),
        ({"workspace": []}, 422),
    ],
)
def test_odd_confirmations_write_nothing(
    signed_in: Client, mine: Workspace, change: dict[str, list[str]], status: int
) -> None:
    sent = sent_by(page_of(signed_in)) | change
    assert signed_in.post(PLAN, sent).status_code == status
    assert not Export.objects.exists()


def test_an_archived_workspace_is_not_written_to(signed_in: Client, mine: Workspace) -> None:
    sent = sent_by(page_of(signed_in))
    Workspace.objects.update(archived=True)
    assert signed_in.post(PLAN, sent).status_code == 404
    assert content(mine) == file_of(templates("one"))


# --- receipts and the way back -----------------------------------------------------------


@pytest.fixture
def exported(signed_in: Client, mine: Workspace) -> Export:
    signed_in.post(PLAN, sent_by(page_of(signed_in)))
    return Export.objects.get()


def test_an_undo_is_shown_then_done(signed_in: Client, exported: Export, mine: Workspace) -> None:
    address = reverse("export-undo", args=[exported.pk])
    assert address in page_of(signed_in, exported.get_absolute_url())
    page = page_of(signed_in, address)
    assert "<del>two</del>" in page and "<ins>one</ins>" in page
    batch = re.findall(r'name="batch" value="([^"]+)"', page)[0]
    done = signed_in.post(address, {"batch": batch})
    assert content(mine) == file_of(templates("one"))
    assert "restored exactly as it was before" in page_of(signed_in, done["Location"])
    first = page_of(signed_in, exported.get_absolute_url())
    assert "Undone" in first and address not in first
    assert signed_in.post(address, {"batch": batch})["Location"] == done["Location"]
    assert Export.objects.count() == 2


def test_an_undo_says_that_mixseek_reads_another_file_by_now(
    signed_in: Client, exported: Export, mine: Workspace
) -> None:
    address = reverse("export-undo", args=[exported.pk])
    assert "MixSeek now reads" not in page_of(signed_in, address)
    (mine.folder / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "team.toml"\n'
    )
    assert "MixSeek now reads team.toml" in page_of(signed_in, address)


def test_an_undo_after_a_change_is_refused_with_a_sentence(
    signed_in: Client, exported: Export, mine: Workspace
) -> None:
    address = reverse("export-undo", args=[exported.pk])
    lists = (exported.get_absolute_url(), "/exports/", "/workspaces/mine/")
    assert all(address in page_of(signed_in, page) for page in lists)
    prompt_file(mine.folder).write_bytes(b"edited")
    for page in lists:
        assert address not in page_of(signed_in, page)
        assert "File changed since this export" in page_of(signed_in, page)
    # A page that was open already still leads there; the answer leads on to the file and to the export.
    refused = page_of(signed_in, address, 409)
    assert "File changed since this export" in refused and "would lose what was changed" in refused
    assert f'class="button primary" href="{mine.get_absolute_url()}"' in refused
    assert f'class="button" href="{exported.get_absolute_url()}"' in refused
    assert signed_in.post(address, {"batch": str(uuid4())}).status_code == 409
    assert content(mine) == b"edited"
    assert signed_in.post(address, {"batch": "x"}).status_code == 400


@pytest.mark.slow
def test_the_list_has_every_export_and_pages_through(
    signed_in: Client, exported: Export, other: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.workspaces.exports.views.EXPORTS_PER_PAGE", 1)
    signed_in.post(f"{PLAN}?workspace=other", sent_by(page_of(signed_in, f"{PLAN}?workspace=other")))
    page = page_of(signed_in, "/exports/")
    assert "Other" in page and ">Mine<" not in page
    older = re.findall(r'href="(\?before=\d+)"', page)[0]
    assert ">Mine<" in page_of(signed_in, f"/exports/{older}")
    assert "Exports to Mine" in page_of(signed_in, "/exports/?workspace=mine")
    page_of(signed_in, "/exports/?workspace=nowhere", 404)
    page_of(signed_in, f"/exports/{uuid4()}/", 404)
    assert reverse("export-undo", args=[exported.pk]) in page_of(signed_in, "/workspaces/mine/")


def test_a_page_mends_the_receipt_that_a_crash_left_out(
    signed_in: Client, mine: Workspace, research: PromptSet, person: User
) -> None:
    cut_off = Export.objects.create(
        batch=uuid4(),
        workspace=mine,
        version=version(research, 3),
        path=str(prompt_file(mine.folder)),
        hash_before=hash_of(content(mine)),
        hash_after="0" * 64,
        by=person,
        at=NOW,
    )
    assert "The studio was stopped before it wrote" in page_of(signed_in, cut_off.get_absolute_url())
    assert ExportReceipt.objects.get().reconciled


# --- what a label offers -----------------------------------------------------------------


@pytest.mark.slow
def test_moving_a_label_offers_the_workspaces_that_follow_it(
    signed_in: Client, mine: Workspace, research: PromptSet
) -> None:
    moved = signed_in.post("/prompts/research/labels/", {"name": "production", "version": "3"})
    page = page_of(signed_in, moved["Location"])
    assert "1 workspace follows production and does not have this version yet." in page
    assert f"{PLAN}?label=production&amp;workspace=mine" in page
    signed_in.post(PLAN, sent_by(page_of(signed_in, f"{PLAN}?label=production&workspace=mine")))
    assert "does not have this version yet" not in page_of(signed_in, moved["Location"])


def test_versions_and_sets_lead_to_the_export(signed_in: Client, mine: Workspace) -> None:
    assert f'href="{PLAN}?version=3"' in page_of(signed_in, "/prompts/research/versions/3/")
    assert f'href="{PLAN}"' in page_of(signed_in, "/prompts/research/")
