"""Folders that are allowed while the studio runs: by whom, which ones, and what becomes of them."""

import os
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from studio.access.accounts import Role
from studio.access.signin import issue_link_token
from studio.models import Account, Workspace
from studio.workspaces.allowed_folders import FILE_NAME, allowed_folders
from studio.workspaces.allowing import allow, take_back
from studio.workspaces.roots import FolderOutside, FolderRefused, allowed_folder
from tests.studio.clock import NOW
from tests.studio_process import ROOT


@pytest.fixture(autouse=True)
def nothing_fixed(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A studio without STUDIO_WORKSPACE_ROOTS, with a data folder and a home folder of its own."""
    settings.STUDIO_WORKSPACE_ROOTS = ()
    settings.STUDIO_DATA = tmp_path / "data"
    for name in ("data/demo", "home/yuki", "lab/team"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "yuki"))
    return tmp_path


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    """A browser that followed the link which the studio printed."""
    client.get(reverse("signin-link", args=[issue_link_token()]))
    return client


def page_of(client: Client, address: str = "/workspaces/new/") -> str:
    return unescape(client.get(address).content.decode())


def test_a_folder_is_allowed_and_a_workspace_in_it_registered(operator: Client, tmp_path: Path) -> None:
    team = str(tmp_path / "lab" / "team")
    sent = {"path": team, "dialect": "mixseek"}
    refused = operator.post("/workspaces/new/", sent)
    assert refused.status_code == 422 and "Allow this folder" in refused.content.decode()
    answer = operator.post("/workspaces/new/allow/", {"folder": str(tmp_path / "lab"), "register": team})
    assert answer["Location"] == reverse("workspace-new", query={"path": team})
    assert operator.post("/workspaces/new/", sent)["Location"] == "/workspaces/team/"
    page = page_of(operator)
    assert f"<code>{tmp_path}" in page.replace("<wbr>", "") and "operator" in page and "Revoke" in page


def test_who_may_allow_a_folder(client: Client, person: User, tmp_path: Path) -> None:
    sent = {"folder": str(tmp_path / "lab")}
    client.force_login(person)
    Account.objects.filter(user=person).update(role=Role.RELEASER)
    for address in ("/workspaces/new/allow/", "/workspaces/new/take-back/"):
        assert client.post(address, sent).status_code == 403
    assert allowed_folders() == ()
    Account.objects.filter(user=person).update(role=Role.ADMINISTRATOR)
    assert client.post("/workspaces/new/allow/", sent).status_code == 302
    assert [(one.path, one.by) for one in allowed_folders()] == [(tmp_path / "lab", "yuki")]


@pytest.mark.parametrize(
    "folder",
    [
        "/",
        "{tmp}",
        "{tmp}/home",
        "{tmp}/home/yuki",
        "{tmp}/data",
        "{tmp}/data/demo",
        "{tmp}/link",
        "{tmp}/up",
    ],
)
def test_what_is_too_wide_is_refused(folder: str, operator: Client, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home")
    (tmp_path / "up").symlink_to("/")
    answer = operator.post("/workspaces/new/allow/", {"folder": folder.replace("{tmp}", str(tmp_path))})
    assert answer.status_code == 422 and "cannot be allowed, because of" in answer.content.decode()
    assert allowed_folders() == ()


@pytest.mark.parametrize(
    "folder", ["lab", "{tmp}/gone", "{tmp}/lab/../lab", "{tmp}/file", "", "/" + "x" * 2000]
)
def test_what_is_no_folder_is_refused(folder: str, operator: Client, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = operator.post("/workspaces/new/allow/", {"folder": folder.replace("{tmp}", str(tmp_path))})
    assert answer.status_code == 422
    assert allowed_folders() == ()


def test_a_link_is_remembered_as_the_folder_that_it_led_to(db: None, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "lab")
    assert allow(str(tmp_path / "link"), by="yuki", at=NOW) == tmp_path / "lab"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises(FolderOutside):
        allowed_folder(str(tmp_path / "home" / "yuki"))
    assert allowed_folder(str(tmp_path / "lab" / "team"))


def test_a_folder_that_became_a_link_is_not_used(db: None, tmp_path: Path) -> None:
    allow(str(tmp_path / "lab"), by="yuki", at=NOW)
    (tmp_path / "lab").rename(tmp_path / "moved")
    (tmp_path / "lab").symlink_to(tmp_path / "home")
    for path in (tmp_path / "lab" / "yuki", tmp_path / "home" / "yuki"):
        with pytest.raises(FolderOutside):
            allowed_folder(str(path))


def test_taking_a_folder_back_names_the_workspaces_in_it(operator: Client, tmp_path: Path) -> None:
    allow(str(tmp_path / "lab"), by="yuki", at=NOW)
    Workspace.objects.create(slug="t", name="Team", path=str(tmp_path / "lab" / "team"), created_at=NOW)
    assert ">Team</a>" in page_of(operator)
    sent = {"folder": str(tmp_path / "lab")}
    after = unescape(operator.post("/workspaces/new/take-back/", sent, follow=True).content.decode())
    assert "No longer read or written: Team." in after
    assert "Not allowed" in page_of(operator, "/workspaces/")
    page = page_of(operator, "/workspaces/t/")
    assert "is not in an allowed folder" in page and "Allow the folder" in page
    assert operator.post("/workspaces/new/take-back/", sent).status_code == 409


def test_the_environment_wins(operator: Client, tmp_path: Path, settings: Any) -> None:
    allow(str(tmp_path / "lab"), by="yuki", at=NOW)
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path / "home",)
    with pytest.raises(FolderOutside):
        allowed_folder(str(tmp_path / "lab" / "team"))
    page = page_of(operator, f"/workspaces/new/?path={tmp_path / 'lab'}")
    assert "<code>STUDIO_WORKSPACE_ROOTS</code>" in page
    assert "Allow this folder" not in page and "Revoke" not in page
    sent = {"folder": str(tmp_path / "lab")}
    assert operator.post("/workspaces/new/allow/", sent).status_code == 422
    assert operator.post("/workspaces/new/take-back/", sent).status_code == 403
    with pytest.raises(CommandError, match="The allowed folders are set by"):
        call_command("allow", str(tmp_path / "lab"))


def test_commands_and_running_servers_share_what_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(FolderOutside, match="is not in an allowed folder") as outside:
        allowed_folder(str(tmp_path / "lab" / "team"))
    assert f"manage.py allow {tmp_path}/lab/team" in outside.value.advice

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", "allow", *arguments, "--data", str(tmp_path / "data")],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
            text=True,
            capture_output=True,
        )
        return done.stdout + done.stderr

    assert run(str(tmp_path / "lab")) == f"Allowed: {tmp_path / 'lab'}\n"
    assert allowed_folder(str(tmp_path / "lab" / "team"))
    assert str(tmp_path / "lab") in run()
    assert run(str(tmp_path / "lab"), "--take-back") == f"No longer allowed: {tmp_path / 'lab'}\n"
    with pytest.raises(FolderOutside):
        allowed_folder(str(tmp_path / "lab" / "team"))
    assert "was not allowed" in run(str(tmp_path / "lab"), "--take-back")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1]", b'{"path": 1}', b'[{"path": "lab", "by": "", "at": "2026-01-01T00:00:00+00:00"}]'],
)
def test_a_broken_file_allows_nothing_and_is_left_alone(
    content: bytes, operator: Client, tmp_path: Path
) -> None:
    file = tmp_path / "data" / FILE_NAME
    file.write_bytes(content)
    with pytest.raises(FolderOutside):
        allowed_folder(str(tmp_path / "lab" / "team"))
    assert f"{FILE_NAME} in the data folder cannot be read" in page_of(operator)
    for change in (
        lambda: allow(str(tmp_path / "lab"), by="yuki", at=NOW),
        lambda: take_back(tmp_path / "lab"),
    ):
        with pytest.raises(FolderRefused, match="cannot be read"):
            change()
    assert file.read_bytes() == content


def test_two_who_allow_folders_at_once_both_do(tmp_path: Path, settings: Any) -> None:
    code = (
        "import tests.with_django, sys\n"
        "from pathlib import Path\n"
        "from django.conf import settings\n"
        "from studio.workspaces.allowing import allow\n"
        "from tests.studio.clock import NOW\n"
        "settings.STUDIO_DATA, settings.STUDIO_WORKSPACE_ROOTS = Path(sys.argv[1]), ()\n"
        "for folder in sys.argv[2:]: allow(folder, by='x', at=NOW)\n"
    )
    folders = [tmp_path / f"f{number}" for number in range(40)]
    for folder in folders:
        folder.mkdir()
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "data"), *map(str, part)], cwd=ROOT)
        for part in (folders[:20], folders[20:])
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert {one.path for one in allowed_folders()} == set(folders)
