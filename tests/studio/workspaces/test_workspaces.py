"""Workspaces: registering them, the list at a glance, one of them, its settings."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

import studio.workspaces.glance
from builder.errors import DatabaseQuarantined
from builder.simulation import Run, simulate
from studio.models import Label, PromptSet, Workspace
from studio.workspaces.stores import close_all, store_of
from tests.builder.leaderboard.hostile_databases import make_hostile
from tests.studio.clock import NOW
from tests.studio.workspaces.exports.confirming import make_set, templates
from tests.studio.workspaces.prompt_files import note_export, write
from tests.studio.workspaces.sent_settings import sent_settings


def register(path: Path, **more: Any) -> Workspace:
    return Workspace.objects.create(slug="mine", name="Mine", path=str(path), created_at=NOW, **more)


def text_of(client: Client, address: str, **more: Any) -> str:
    answer = client.get(address, **more)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


# --- the folder --------------------------------------------------------------------------


def test_a_workspace_tells_its_database_as_it_is(db: None, tmp_path: Path) -> None:
    workspace = register(tmp_path)
    assert not workspace.database_file.present
    (tmp_path / "mixseek.db").write_bytes(b"x" * 2048)
    assert workspace.database_file.size == 2048


def test_a_folder_in_place_of_a_file_does_not_count(db: None, tmp_path: Path) -> None:
    (tmp_path / "mixseek.db").mkdir()
    assert not register(tmp_path).database_file.present


# --- the list ----------------------------------------------------------------------------


def test_an_empty_list_says_what_to_do(signed_in: Client) -> None:
    page = text_of(signed_in, "/workspaces/")
    assert "No workspaces yet" in page and 'href="/workspaces/new/"' in page


def test_the_list_shows_every_workspace_at_a_glance(demo: object, signed_in: Client) -> None:
    page = text_of(signed_in, "/workspaces/")
    assert "調査 · research" in page and "production" in page
    assert "In sync" in page and "Running now" in page and "mixseek" in page


def test_a_workspace_whose_folder_is_gone_says_what_to_do(signed_in: Client, tmp_path: Path) -> None:
    register(tmp_path / "gone")
    assert f"The folder {tmp_path / 'gone'} does not exist." in text_of(signed_in, "/workspaces/")
    page = text_of(signed_in, "/workspaces/mine/")
    assert "does not exist" in page and "Restore it, or correct the path." in page


def test_the_list_costs_as_many_queries_for_many(
    signed_in: Client, tmp_path: Path, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        Workspace.objects.create(
            slug=f"w{number}", name=f"W{number}", path=str(tmp_path / str(number)), created_at=NOW
        )
    with django_assert_max_num_queries(8):
        signed_in.get("/workspaces/")


@pytest.mark.slow
def test_a_database_that_stayed_as_it_was_is_not_asked_again(
    signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(tmp_path, [Run("task", NOW)])
    store_of(register(tmp_path)).refresh(None)
    first = text_of(signed_in, "/workspaces/")
    asked = []
    monkeypatch.setattr(
        studio.workspaces.glance, "store_of", lambda workspace: asked.append(workspace) or store_of(workspace)
    )
    assert "<time" in first and text_of(signed_in, "/workspaces/").count("<time") == first.count("<time")
    assert asked == []
    simulate(tmp_path, [Run("another", NOW)])
    signed_in.get("/workspaces/")
    assert asked != []


def test_of_many_databases_a_few_are_asked_at_once_and_the_list_comes_back_for_the_rest(
    signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.workspaces.glance, "MOST_ASKED", 2)
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        Workspace.objects.create(slug=f"w{number}", name="W", path=str(folder), created_at=NOW)
    unknown = []
    for _ in range(4):
        page = text_of(signed_in, "/workspaces/", headers={"HX-Target": "workspaces"})
        unknown.append((page.count("Copying the database"), "every 2s" in page))
    assert unknown == [(3, True), (1, True), (0, False), (0, False)]


def test_a_list_that_the_browser_has_is_left_alone(signed_in: Client, tmp_path: Path) -> None:
    workspace, htmx = register(tmp_path), {"HX-Target": "workspaces"}
    signed_in.get("/workspaces/")
    answer = signed_in.get("/workspaces/", headers=htmx)
    mark = answer.context["mark"]
    assert signed_in.get(f"/workspaces/?have={mark}", headers=htmx).status_code == 204
    assert signed_in.get(f"/workspaces/?have={mark}").status_code == 200
    write(workspace, templates("new"))
    assert signed_in.get(f"/workspaces/?have={mark}", headers=htmx).status_code == 200


# --- registering -------------------------------------------------------------------------


def test_a_folder_below_a_root_is_registered(signed_in: Client, person: User, tmp_path: Path) -> None:
    research = make_set("research", person, "one")
    Label.objects.move("production", research.versions.get(), by=person, at=NOW)
    folder = tmp_path / "チーム a"
    folder.mkdir()
    answer = signed_in.post(
        "/workspaces/new/",
        {"path": f"{folder}/", "name": "", "dialect": "contract", "label": research.labels.get().pk},
    )
    made = Workspace.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, made.get_absolute_url())
    assert (made.name, made.slug, made.path) == ("チーム a", "チーム-a", str(folder))
    assert (made.dialect, str(made.label)) == ("contract", "production")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("relative/path", "relative/path is not a full path."),
        ("~/workspace", "~/workspace is not a full path."),
        ("/etc", "/etc is not in an allowed folder"),
        ("{tmp}/../../../etc", "contains <code>..</code>."),
        ("{tmp}/inside/..", "contains <code>..</code>."),
        ("{tmp}/file", "file is not a folder."),
        ("{tmp}/file/inside", "file is not a folder."),
        ("{tmp}/gone", "gone does not exist."),
        ("{tmp}/link", "link is a symbolic link, which the studio does not follow."),
        ("{tmp}/link/below", "link is a symbolic link, which the studio does not follow."),
        ("{tmp}/" + "x" * 2000, "Ensure this value has at most 1000 characters"),
        ("{tmp}/" + "x" * 300, "cannot be accessed"),
        ("{tmp}/a\0b", "Null characters are not allowed."),
        ("", "This field is required."),
    ],
)
def test_other_folders_are_refused_with_a_sentence(
    signed_in: Client, tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "elsewhere" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    answer = signed_in.post(
        "/workspaces/new/", {"path": path.replace("{tmp}", str(tmp_path)), "dialect": "mixseek"}
    )
    assert answer.status_code == 422
    assert sentence in unescape(answer.content.decode())
    assert not Workspace.objects.exists()


def test_a_root_that_is_itself_a_link_is_the_operators_choice(
    signed_in: Client, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "disk" / "team").mkdir(parents=True)
    (tmp_path / "root").symlink_to(tmp_path / "disk")
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path / "root",)
    signed_in.post("/workspaces/new/", {"path": f"{tmp_path}/root/team", "dialect": "mixseek"})
    assert Workspace.objects.get().path == str(tmp_path / "disk" / "team")


def test_a_folder_is_registered_once(signed_in: Client, tmp_path: Path) -> None:
    register(tmp_path)
    answer = signed_in.post("/workspaces/new/", {"path": f"{tmp_path}//.", "dialect": "mixseek"})
    assert answer.status_code == 422
    assert "This folder is already registered: Mine." in answer.content.decode()


def test_registering_a_folder_that_was_taken_off_brings_it_back(signed_in: Client, tmp_path: Path) -> None:
    workspace = register(tmp_path, archived=True)
    answer = signed_in.post("/workspaces/new/", {"path": str(tmp_path), "dialect": "english"})
    assert answer["Location"] == "/workspaces/mine/"
    workspace.refresh_from_db()
    assert (workspace.archived, workspace.name, workspace.dialect) == (False, "Mine", "english")


# --- what is offered ---------------------------------------------------------------------


def test_mixseeks_own_workspace_is_offered_until_it_is_registered(
    signed_in: Client, tmp_path: Path, settings: Any
) -> None:
    settings.STUDIO_MIXSEEK_WORKSPACE = str(tmp_path)
    for address in ("/workspaces/", "/workspaces/new/"):
        page = text_of(signed_in, address)
        assert "$MIXSEEK_WORKSPACE" in page and f'?path={str(tmp_path).replace("/", "%2F")}"' in page
    assert f'value="{tmp_path}"' in text_of(signed_in, f"/workspaces/new/?path={tmp_path}")
    register(tmp_path)
    assert "$MIXSEEK_WORKSPACE" not in text_of(signed_in, "/workspaces/")


def test_an_offer_outside_the_roots_says_what_the_operator_sets(
    signed_in: Client, tmp_path: Path, settings: Any
) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path / "allowed",)
    settings.STUDIO_MIXSEEK_WORKSPACE = str(tmp_path / "mine")
    page = text_of(signed_in, "/workspaces/")
    assert "which cannot be registered" in page
    assert f"STUDIO_WORKSPACE_ROOTS={tmp_path / 'allowed'}:{tmp_path / 'mine'}" in page


def test_an_offer_through_a_link_is_the_folder_that_it_leads_to(
    signed_in: Client, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    settings.STUDIO_MIXSEEK_WORKSPACE = str(tmp_path / "link")
    assert f"MixSeek uses <code>{tmp_path / 'real'}</code>" in text_of(signed_in, "/workspaces/")


def test_an_offer_that_is_not_there_says_so(signed_in: Client, tmp_path: Path, settings: Any) -> None:
    settings.STUDIO_MIXSEEK_WORKSPACE = str(tmp_path / "gone")
    page = text_of(signed_in, "/workspaces/")
    assert f"The folder {tmp_path / 'gone'} does not exist." in page and "can allow it with" not in page


# --- one of them -------------------------------------------------------------------------


@pytest.fixture
def research(person: User) -> PromptSet:
    made = make_set("research", person, "one", "two")
    Label.objects.move("production", made.versions.get(number=2), by=person, at=NOW)
    return made


def test_an_edit_can_be_adopted_or_overwritten(
    signed_in: Client, research: PromptSet, person: User, tmp_path: Path
) -> None:
    workspace = register(tmp_path, label=research.labels.get())
    write(workspace, templates("mine"))
    note_export(workspace, research.versions.get(number=2), person)
    page = text_of(signed_in, "/workspaces/mine/")
    assert "Edited by hand" in page and "The last export was Research v2" in page
    assert "Adopt as a version of Research" in page and 'action="/workspaces/mine/adopt/"' in page
    assert "See the edit" in page


def test_problems_of_a_broken_file_are_shown_with_their_lines(signed_in: Client, tmp_path: Path) -> None:
    write(
        register(tmp_path),
        b"[prompt_builder]\nteam_user_prompt = '{{ teem_name }}'\n"
        b"evaluator_user_prompt = 'a'\njudgment_user_prompt = 'a'\n",
    )
    page = text_of(signed_in, "/workspaces/mine/")
    assert "Broken" in page and "Line 2" in page and "<code>teem_name</code>" in page


def test_another_dialect_than_the_sets_is_said(
    signed_in: Client, research: PromptSet, tmp_path: Path
) -> None:
    register(tmp_path, label=research.labels.get(), dialect="contract")
    page = text_of(signed_in, "/workspaces/mine/")
    assert "used for previews of this workspace; Research is edited with “mixseek-0.1.0a19”" in page


def test_a_database_that_lacks_tables_is_told(signed_in: Client, tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(tmp_path / "mixseek.db") as connection:
        connection.execute("CREATE TABLE leader_board (execution_id VARCHAR)")
    register(tmp_path)
    assert "The database is missing" in text_of(signed_in, "/workspaces/mine/")


def set_aside(workspace: Workspace) -> None:
    """Have no reader survive its database."""
    store = store_of(workspace)
    store.refresh(None)
    with pytest.MonkeyPatch.context() as hurried:
        hurried.setattr("builder.leaderboard.reader.SECONDS", 0.2)
        hurried.setattr("builder.leaderboard.process._PATIENCE", 100)  # however busy the machine is
        with pytest.raises(DatabaseQuarantined):
            store.rows("SELECT count(*) FROM range(100000000000000) t(i) WHERE hash(i) = 1")


def test_a_database_that_no_reader_survived_is_set_aside_until_somebody_asks(
    signed_in: Client, demo: Path
) -> None:
    workspace = Workspace.objects.get(slug="research")
    set_aside(workspace)
    close_all()  # a restart
    page = text_of(signed_in, "/workspaces/research/")
    assert "is quarantined: reading it exceeded the time limit" in page and "Read the database again" in page
    answer = signed_in.get("/workspaces/research/runs/")
    assert "is quarantined" in answer.content.decode()
    assert signed_in.get("/workspaces/research/database/").status_code == 405
    after = signed_in.post("/workspaces/research/database/", follow=True).content.decode()
    assert "is quarantined" not in after and "Read the database again" not in after
    assert store_of(workspace).executions()


def test_the_list_shows_a_database_as_set_aside_no_longer_than_it_is(
    signed_in: Client, tmp_path: Path
) -> None:
    simulate(tmp_path, [Run("task", NOW)])
    workspace = register(tmp_path)
    set_aside(workspace)
    assert "is quarantined" in text_of(signed_in, "/workspaces/")
    # Somebody asks again; nobody opens the workspace's own page.
    assert signed_in.post("/workspaces/mine/database/").status_code == 302
    assert "is quarantined" not in text_of(signed_in, "/workspaces/")
    # The file changes, and the list is opened before the new state is read. It changes before, too: of a
    # state that was read well once, the list goes on to show that.
    simulate(tmp_path, [Run("in between", NOW)])
    set_aside(workspace)
    assert "is quarantined" in text_of(signed_in, "/workspaces/")
    simulate(tmp_path, [Run("another", NOW)])
    page = text_of(signed_in, "/workspaces/")
    assert "is quarantined" not in page
    store_of(workspace).refresh(None)
    page = text_of(signed_in, "/workspaces/")
    assert "<time" in page and "every 2s" not in page


@pytest.mark.parametrize("name", ["levenshtein", "generated column", "macro"])
def test_a_database_that_defines_its_own_is_refused_by_name(
    name: str, signed_in: Client, tmp_path: Path
) -> None:
    make_hostile(name, tmp_path)
    register(tmp_path)
    page = text_of(signed_in, "/workspaces/mine/")
    assert "is not read" in page and "Read the database again" not in page


def test_a_folder_out_of_the_roots_is_neither_read_nor_shown(
    demo: Path, signed_in: Client, settings: Any
) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (demo / "elsewhere",)
    page = text_of(signed_in, "/workspaces/research/")
    assert "is not in an allowed folder" in page and "STUDIO_WORKSPACE_ROOTS=" in page
    assert "Completed" not in page
    assert "Not allowed" in text_of(signed_in, "/workspaces/")


# --- settings ----------------------------------------------------------------------------


def test_settings_are_changed(signed_in: Client, research: PromptSet, tmp_path: Path) -> None:
    workspace = register(tmp_path)
    assert 'value="Mine"' in text_of(signed_in, "/workspaces/mine/settings/")
    label = research.labels.get()
    answer = signed_in.post(
        "/workspaces/mine/settings/",
        sent_settings(signed_in, "mine", name="Ours", dialect="english", label=label.pk),
    )
    assert answer["Location"] == "/workspaces/mine/"
    workspace.refresh_from_db()
    assert (workspace.name, workspace.dialect, workspace.label) == ("Ours", "english", label)
    signed_in.post("/workspaces/mine/settings/", sent_settings(signed_in, "mine", label=""))
    workspace.refresh_from_db()
    assert workspace.label is None


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "", "dialect": "mixseek"},
        {"name": "x", "dialect": "klingon"},
        {"name": "x", "dialect": "mixseek", "label": "999999"},
        {"name": "x", "dialect": "mixseek", "label": "9" * 60},
        {"name": "x", "dialect": "mixseek", "label": "production"},
    ],
)
def test_settings_that_do_not_do_are_refused(signed_in: Client, tmp_path: Path, sent: dict[str, str]) -> None:
    register(tmp_path)
    sent = sent_settings(signed_in, "mine", **sent)
    assert signed_in.post("/workspaces/mine/settings/", sent).status_code == 422
    assert Workspace.objects.get().name == "Mine"


def test_a_workspace_is_taken_off_the_list_and_comes_back(signed_in: Client, tmp_path: Path) -> None:
    register(tmp_path)
    signed_in.post("/workspaces/mine/archive/", {"archived": "yes"})
    assert "/workspaces/mine/" not in text_of(signed_in, "/workspaces/")
    assert "/workspaces/mine/" in text_of(signed_in, "/workspaces/?archived=1")
    assert "Removed from the list" in text_of(signed_in, "/workspaces/mine/")
    signed_in.post("/workspaces/mine/archive/", {"archived": "no"})
    assert "/workspaces/mine/" in text_of(signed_in, "/workspaces/")
