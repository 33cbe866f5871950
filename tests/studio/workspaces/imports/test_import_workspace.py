"""Import from a workspace, and adopting what somebody edited there with one click."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from studio.access.accounts import Account, Role
from studio.models import Label, PromptSet, PromptVersion, Workspace
from studio.prompts.models import Origin
from studio.prompts.texts import Templates
from studio.workspaces.state import state_of
from tests.studio.clock import NOW
from tests.studio.editing import TEXTS, make_set
from tests.studio.workspaces.imports.incoming_files import EDITED, make_workspace, toml

IMPORT, ADOPT = "/workspaces/mine/import/", "/workspaces/mine/adopt/"
EXPORT_PAGE = "/prompts/set/export/?version=1&workspace=mine"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    return make_set(person)


@pytest.fixture
def workspace(prompt_set: PromptSet, tmp_path: Path, settings: Any) -> Workspace:
    """One that somebody edited by hand; it follows the set."""
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    return make_workspace(tmp_path / "mine", toml().encode(), prompt_set)


def file_in(workspace: Workspace) -> Path:
    return workspace.folder / "configs" / "prompt_builder.toml"


def digest(workspace: Workspace) -> str:
    return hashlib.sha256(file_in(workspace).read_bytes()).hexdigest()


def said(client: Client, address: str) -> str:
    return re.sub(r"\s+", " ", client.get(address, follow=True).content.decode())


def test_a_workspaces_file_is_shown_beside_the_set_that_it_follows(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    page = signed_in.get(IMPORT).content.decode()
    assert '<option value="set" selected>' in page and "<ins>, go!</ins>" in page
    assert f"{workspace.path}/configs/prompt_builder.toml" in page
    answer = signed_in.post(IMPORT, {"sha256": digest(workspace), "base": 1, "into": "version"})
    assert (answer.status_code, answer["Location"]) == (302, "/prompts/set/")
    made = PromptVersion.objects.get(number=2)
    assert (made.templates, made.message, made.origin) == (EDITED, "Import from Mine", Origin.IMPORTED)
    assert made.origin_note.startswith(
        f"Mine: configs/prompt_builder.toml (sha256 {digest(workspace)[:12]}, 20"
    )


def test_a_file_that_changed_since_is_shown_again_and_not_imported(
    signed_in: Client, workspace: Workspace
) -> None:
    seen = digest(workspace)
    file_in(workspace).write_text(
        toml(Templates("# Other\n{{ user_prompt }}\n", *list(vars(TEXTS).values())[1:]))
    )
    answer = signed_in.post(IMPORT, {"sha256": seen, "base": 1, "into": "version"})
    page = answer.content.decode()
    assert answer.status_code == 409 and "The file has changed since you opened this page." in page
    assert f'name="sha256" value="{digest(workspace)}"' in page and "Other" in page
    assert PromptVersion.objects.count() == 1


def test_a_new_set_gets_the_workspaces_name_and_dialect(signed_in: Client, workspace: Workspace) -> None:
    Workspace.objects.update(dialect="contract")
    address = f"{IMPORT}?set="
    assert 'value="Mine"' in signed_in.get(address).content.decode()
    answer = signed_in.post(
        address, {"sha256": digest(workspace), "base": 0, "into": "version", "name": "Mine"}
    )
    assert answer["Location"] == "/prompts/mine/"
    assert PromptSet.objects.get(slug="mine").dialect == "contract"


def test_the_file_that_the_orchestrator_names_is_the_one(signed_in: Client, workspace: Workspace) -> None:
    (workspace.folder / "prompts.toml").write_text(toml(TEXTS))
    orchestrator = workspace.folder / "configs" / "orchestrator.toml"
    orchestrator.write_text('[orchestrator]\nprompt_builder_config = "prompts.toml"\n')
    page = said(signed_in, IMPORT)
    assert "/mine/prompts.toml" in page and "Nothing to import: v1 of «Set» already has this text." in page
    # Nothing outside the workspace is read for anybody.
    for outside in ("/etc/hostname", "../../secret.toml"):
        orchestrator.write_text(f'[orchestrator]\nprompt_builder_config = "{outside}"\n')
        assert "is not inside the workspace" in said(signed_in, IMPORT)
    orchestrator.write_text("[orchestrator\n")
    assert "not valid TOML" in said(signed_in, IMPORT)


def test_without_a_file_the_workspaces_page_says_so(signed_in: Client, workspace: Workspace) -> None:
    file_in(workspace).unlink()
    assert "There is no configs/prompt_builder.toml in this workspace yet." in said(signed_in, IMPORT)
    answer = signed_in.post(ADOPT, {"sha256": "0" * 64}, follow=True)
    assert "There is no configs/prompt_builder.toml" in answer.content.decode()
    file_in(workspace).symlink_to("/etc/hostname")
    assert "is a symbolic link" in said(signed_in, IMPORT)
    Workspace.objects.update(path="/etc")
    assert signed_in.get(IMPORT).status_code == 403
    assert signed_in.post(ADOPT, {"sha256": "0" * 64}).status_code == 403


# --- adopt -------------------------------------------------------------------------------


def test_one_click_keeps_a_hand_edit_as_a_version_and_goes_back(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    answer = signed_in.post(ADOPT, {"sha256": digest(workspace), "next": EXPORT_PAGE})
    assert (answer.status_code, answer["Location"]) == (302, EXPORT_PAGE)
    made = PromptVersion.objects.get(number=2)
    assert (made.templates, made.origin, made.author) == (EDITED, Origin.ADOPTED, person)
    assert made.message == "Adopt what was edited in Mine" and digest(workspace)[:12] in made.origin_note
    assert "Adopted: the file of Mine is now v2 of «Set»." in said(signed_in, "/prompts/")
    # A second click, or one on an old page, makes nothing new.
    for number, text in ((2, EDITED), (1, TEXTS)):
        file_in(workspace).write_text(toml(text))
        answer = signed_in.post(ADOPT, {"sha256": digest(workspace)})
        assert answer["Location"] == f"/prompts/set/versions/{number}/"
        assert f"already v{number} of «Set»" in said(signed_in, "/prompts/")
    assert PromptVersion.objects.count() == 2


def test_what_the_person_did_not_see_is_not_adopted(signed_in: Client, workspace: Workspace) -> None:
    answer = signed_in.post(ADOPT, {"sha256": "0" * 64, "next": EXPORT_PAGE})
    assert answer["Location"] == f"{IMPORT}?set=set"
    assert "The file has changed since you opened the page, so nothing was adopted" in said(
        signed_in, answer["Location"]
    )
    assert signed_in.post(ADOPT, {"sha256": "x"}).status_code == 400
    assert signed_in.get(ADOPT).status_code == 405
    assert PromptVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("[prompt_builder]\nteam_user_prompt = '{{ user_prompt }}'\n", "check the file first"),
        ("[prompt_builder\n", "check the file first"),
        (
            toml(Templates("{{ wrong }}\n", "a\n", "b\n")),
            "Not adopted. Team, line 1: <code>wrong</code> is not a variable",
        ),
    ],
)
def test_what_is_not_whole_is_looked_at_first(
    signed_in: Client, workspace: Workspace, data: str, words: str
) -> None:
    file_in(workspace).write_text(data)
    answer = signed_in.post(ADOPT, {"sha256": digest(workspace), "next": EXPORT_PAGE})
    assert answer["Location"] == f"{IMPORT}?set=set"
    assert words in said(signed_in, answer["Location"])
    assert PromptVersion.objects.count() == 1


def test_a_workspace_that_follows_nothing_asks_for_the_set(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    Workspace.objects.update(label=None)
    answer = signed_in.post(ADOPT, {"sha256": digest(workspace)})
    assert answer["Location"] == IMPORT
    assert "follows no label: choose the set" in said(signed_in, IMPORT)
    answer = signed_in.post(ADOPT, {"sha256": digest(workspace), "set": "set"})
    assert answer["Location"] == "/prompts/set/versions/2/"
    assert signed_in.post(ADOPT, {"sha256": digest(workspace), "set": "none"}).status_code == 404


def test_a_way_back_that_leads_elsewhere_is_not_taken(signed_in: Client, workspace: Workspace) -> None:
    answer = signed_in.post(ADOPT, {"sha256": digest(workspace), "next": "https://example.com/"})
    assert answer["Location"] == "/prompts/set/versions/2/"


def test_the_pages_of_workspaces_lead_here(signed_in: Client, workspace: Workspace) -> None:
    assert IMPORT in signed_in.get("/workspaces/mine/").content.decode()
    page = signed_in.get("/prompts/import/?set=set").content.decode()
    assert f'href="{IMPORT}?set=set"' in page
    Workspace.objects.update(archived=True)
    assert IMPORT not in signed_in.get("/prompts/import/").content.decode()


# --- linking the workspace on the same page ----------------------------------------------


def test_a_new_set_and_the_label_that_the_workspace_follows_are_one_confirmation(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    Workspace.objects.update(label=None)
    page = signed_in.get(f"{IMPORT}?set=").content.decode()
    assert '<option value="production" selected>production (v1)</option>' in page
    sent = {"sha256": digest(workspace), "base": 0, "into": "version", "name": "Mine", "follow": "production"}
    answer = signed_in.post(f"{IMPORT}?set=", sent, follow=True)
    assert "Mine follows production of «Mine» now." in answer.text
    workspace.refresh_from_db()
    assert workspace.label and (workspace.label.name, workspace.label.version.number) == ("production", 1)
    assert state_of(workspace).kind == "in_sync"


def test_a_text_that_a_version_has_already_can_still_be_linked(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    Label.objects.move("staging", version := prompt_set.versions.get(), by=person, at=NOW)
    Workspace.objects.update(label=None)
    file_in(workspace).write_text(toml(TEXTS))
    page = f"{IMPORT}?set=set"
    assert "Nothing to import" in said(signed_in, page)
    sent = {"sha256": digest(workspace), "base": 1, "into": "link", "follow": "staging"}
    assert signed_in.post(page, sent)["Location"] == "/prompts/set/"
    workspace.refresh_from_db()
    assert workspace.label == prompt_set.labels.get(name="staging") and workspace.label.version == version


def test_who_may_not_change_workspaces_is_not_asked(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    Workspace.objects.update(label=None)
    Account.objects.filter(user=person).update(role=Role.EDITOR)
    assert 'name="follow"' not in said(signed_in, f"{IMPORT}?set=")
    sent = {"sha256": digest(workspace), "base": 0, "into": "version", "name": "Mine", "follow": "production"}
    assert signed_in.post(f"{IMPORT}?set=", sent).status_code == 400
    workspace.refresh_from_db()
    assert workspace.label is None
