"""Folders that are offered: those below the roots that look like workspaces, within bounds."""

import os
from pathlib import Path
from typing import Any

import pytest

import studio.workspaces.candidates
from studio.workspaces.candidates import Candidate, offered, scan


def make(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    return tmp_path


def test_folders_that_look_like_workspaces_are_found(root: Path) -> None:
    make(root / "a", "configs/prompt_builder.toml", "mixseek.db")
    make(root / "teams" / "b", "mixseek.db")
    make(root / "c", "configs/orchestrator.toml")
    make(root / "not", "configs/other.toml", "notes.txt")
    assert scan([]).candidates == (
        Candidate(str(root / "a"), prompt_file=True, database=True),
        Candidate(str(root / "c"), prompt_file=False, database=False),
        Candidate(str(root / "teams" / "b"), prompt_file=False, database=True),
    )
    assert scan([]).complete


def test_registered_and_hidden_folders_links_and_the_depths_are_left_out(root: Path) -> None:
    known = str(make(root / "known", "mixseek.db"))
    make(root / "known" / "inner", "mixseek.db")
    make(root / ".hidden", "mixseek.db")
    make(root / "1" / "2" / "3" / "4", "mixseek.db")
    make(root / "1" / "2" / "3b", "mixseek.db")
    (root / "link").symlink_to(root / "1" / "2" / "3b")
    (root / "linked" / "configs").mkdir(parents=True)
    (root / "linked" / "mixseek.db").symlink_to(root / "known" / "mixseek.db")
    assert [each.path for each in scan([known]).candidates] == [str(root / "1" / "2" / "3b")]


def test_a_name_that_no_page_can_show_is_left_out_and_refused(root: Path, settings: Any) -> None:
    odd = make(root / os.fsdecode(b"\xff\xfe"), "mixseek.db")
    make(odd / "inner", "mixseek.db")
    assert scan([]).candidates == ()
    settings.STUDIO_MIXSEEK_WORKSPACE = str(odd)
    offer = offered([])
    assert offer is not None and offer.refusal is not None and not offer.setting
    assert "UTF-8" in offer.refusal.advice
    for text in (offer.given, offer.folder, offer.refusal.what):
        assert text.encode() and str(root) in offer.folder


def test_a_root_may_be_a_workspace_itself(root: Path) -> None:
    make(root, "mixseek.db")
    assert [each.path for each in scan([]).candidates] == [str(root)]


def test_a_scan_is_bounded_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        os.makedirs(root / f"{number:02d}" / "inner")
    monkeypatch.setattr(studio.workspaces.candidates, "MOST_FOLDERS", 20)
    make(root / "99", "mixseek.db")
    assert not scan([]).complete


def test_a_root_that_is_not_there_offers_nothing(root: Path, settings: Any) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (root / "gone",)
    assert scan([]) == studio.workspaces.candidates.Scan((), complete=True)
