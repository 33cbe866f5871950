"""Workspaces: what the folder shows, without opening anything in it."""

from pathlib import Path

from django.test import Client

from studio.models import Workspace
from tests.studio.clock import NOW


def register(path: Path) -> Workspace:
    return Workspace.objects.create(slug="mine", name="Mine", path=str(path), created_at=NOW)


def test_facts_tell_what_is_there(db: None, tmp_path: Path) -> None:
    workspace = register(tmp_path)
    assert not workspace.facts().prompt_file.present
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "prompt_builder.toml").write_text("[prompt_builder]\n")
    (tmp_path / "mixseek.db").write_bytes(b"x" * 2048)
    facts = workspace.facts()
    assert (facts.folder_present, facts.prompt_file.size, facts.database.size) == (True, 17, 2048)


def test_a_folder_in_place_of_a_file_does_not_count(db: None, tmp_path: Path) -> None:
    (tmp_path / "mixseek.db").mkdir()
    assert not register(tmp_path).facts().database.present


def test_a_workspace_whose_folder_is_gone_says_what_to_do(signed_in: Client, tmp_path: Path) -> None:
    register(tmp_path / "gone")
    page = signed_in.get("/workspaces/mine/").content.decode()
    assert "is not there. Put it back" in page
    assert "Missing" in signed_in.get("/workspaces/").content.decode()


def test_the_list_shows_what_a_workspace_follows(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/workspaces/").content.decode()
    assert "調査 · research" in page and "production" in page and "Present" in page


def test_an_empty_list_says_what_to_do(signed_in: Client) -> None:
    assert "No workspaces yet" in signed_in.get("/workspaces/").content.decode()
