"""A folder is allowed and a workspace in it registered while the studio runs; not by everybody."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from builder.simulation import Run, simulate
from studio.access.accounts import Account, Role
from tests.browser.conftest import sign_in
from tests.browser.watch import Watch
from tests.studio.clock import NOW


@pytest.fixture
def lab(settings: Any, tmp_path: Path) -> Path:
    """A studio without STUDIO_WORKSPACE_ROOTS, and a workspace outside of what it may use."""
    settings.STUDIO_WORKSPACE_ROOTS = ()
    settings.STUDIO_DATA = tmp_path / "data"
    (tmp_path / "data").mkdir()
    simulate(tmp_path / "lab" / "team", [Run("task", NOW)])
    return tmp_path / "lab"


def test_a_folder_is_allowed_and_a_workspace_registered_without_a_restart(
    stranger: Page, server: str, lab: Path, watch: Watch
) -> None:
    watch.expect(403)
    # An account of somebody who is no administrator.
    mika = User.objects.create_user("mika", password="correct horse battery")
    Account.objects.filter(user=mika).update(role=Role.EDITOR)
    stranger.goto("/signin/")
    stranger.get_by_label("Username").fill("mika")
    stranger.get_by_label("Password").fill("correct horse battery")
    stranger.get_by_role("button", name="Sign in").click()
    stranger.goto("/workspaces/new/")
    expect(stranger.get_by_role("heading", name="Not allowed")).to_be_visible()
    stranger.locator("summary", has_text="mika").click()
    stranger.get_by_role("button", name="Sign out").click()
    # Whoever has the link from the terminal.
    page = sign_in(stranger)
    page.goto("/workspaces/new/")
    page.locator("#id_folder").fill(str(lab))
    page.get_by_role("button", name="Allow this folder").click()
    page.get_by_role("link", name=f"Choose {lab / 'team'}").click()
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1, name="team")).to_be_visible()
    expect(page.locator("main")).to_contain_text("task")
    # Taken back: the page of the workspace says so before all else.
    page.goto("/workspaces/new/")
    page.get_by_role("button", name=f"Revoke {lab}").click()
    expect(page.get_by_text("No longer read or written: team.")).to_be_visible()
    page.goto("/workspaces/team/")
    expect(page.get_by_role("alert")).to_contain_text("is not in an allowed folder")
