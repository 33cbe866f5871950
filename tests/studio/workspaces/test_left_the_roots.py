"""A workspace that was allowed once and is not any more: no page reads or shows what it holds."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from studio.models import RunResult, Workspace
from studio.results.attribution import attribute_workspace
from studio.workspaces.stores import close_all
from tests.builder.workspaces import play_small_workspace
from tests.studio.clock import NOW


@pytest.fixture
def left(db: None, settings: Any, tmp_path: Path) -> Workspace:
    """A workspace whose folder has become a link to one elsewhere, with runs in it."""
    root = tmp_path / "root"
    root.mkdir()
    play_small_workspace(tmp_path / "elsewhere")
    (root / "workspace").symlink_to(tmp_path / "elsewhere")
    settings.STUDIO_WORKSPACE_ROOTS = (root,)
    return Workspace.objects.create(
        slug="left", name="Left", path=str(root / "workspace"), dialect="mixseek", created_at=NOW
    )


@pytest.mark.slow
def test_no_page_of_runs_shows_it(signed_in: Client, left: Workspace, tmp_path: Path) -> None:
    known = tmp_path / "root" / "known"
    shutil.copytree(tmp_path / "elsewhere", known)
    Workspace.objects.create(slug="known", name="Known", path=str(known), created_at=NOW)
    run = json.loads(b"".join(signed_in.get("/workspaces/known/runs/?format=json")))[0]["execution_id"]
    team = "team-001"
    for name, *arguments in (
        ("run-detail", run),
        ("run-team", run, team),
        ("run-round", run, team, 1),
        ("run-round-prompt", run, team, 1),
        ("run-round-submission", run, team, 1),
        ("run-round-context", run, team, 1),
        ("run-compare", run, run),
        ("team-list",),
        ("team-detail", team),
        ("workspace-scores",),
    ):
        there = signed_in.get(reverse(name, args=["known", *arguments]))
        assert there.status_code == 200, name
        answer = signed_in.get(reverse(name, args=["left", *arguments]))
        assert answer.status_code == 403, name
        assert "symbolic link" in answer.content.decode()
    for address in ("/workspaces/", "/workspaces/left/", "/workspaces/left/runs/", "/runs/"):
        answer = signed_in.get(address)
        page = answer.content.decode()
        assert (answer.status_code, "symbolic link" in page) == (200, True), address
        assert f"/workspaces/left/runs/{run}" not in page, address
    assert len(b"".join(signed_in.get("/workspaces/left/runs/?format=csv")).splitlines()) == 1
    close_all()


def test_its_runs_are_not_examined(left: Workspace) -> None:
    assert attribute_workspace(left, timezone.now()).runs == 0
    assert not RunResult.objects.filter(workspace=left).exists()
