"""`manage.py export`: the same as the pages, with exit codes that a script can read."""

from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from studio.models import Export, Label, PromptSet, Workspace
from tests.studio.clock import NOW
from tests.studio.workspaces.exports.confirming import (
    file_of,
    make_set,
    make_workspace,
    prompt_file,
    templates,
    version,
)


@pytest.fixture
def research(person: User) -> PromptSet:
    made = make_set("research", person, "one", "two", "three")
    Label.objects.move("production", version(made, 2), by=person, at=NOW)
    return made


@pytest.fixture
def workspace(research: PromptSet, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "mine", word="one")


def run(what: str, *folders: Path, **options: object) -> tuple[int, str, str]:
    """Exit code, and what was printed on each side."""
    out, err = StringIO(), StringIO()
    code = 0
    paths = [f"--workspace={folder}" for folder in folders]
    try:
        call_command("export", what, *paths, stdout=out, stderr=err, **options)
    except SystemExit as stop:
        code = int(stop.code or 0)
    except CommandError as error:
        code = error.returncode
        err.write(str(error))
    return code, out.getvalue(), err.getvalue()


def test_a_dry_run_prints_the_difference_and_writes_nothing(workspace: Workspace) -> None:
    path = prompt_file(workspace.folder)
    code, out, _ = run("research@production", workspace.folder, dry_run=True)
    assert code == 0 and out.startswith(f"--- {path}\n+++ {path}\n@@ ")
    assert "\n-one\n+two\n" in out
    assert path.read_bytes() == file_of(templates("one")) and not Export.objects.exists()


@pytest.mark.slow
def test_what_is_exported(workspace: Workspace, person: User) -> None:
    path = prompt_file(workspace.folder)
    for what, word, label in [
        ("research@production", "two", "production"),
        ("research@v1", "one", ""),
        ("research@2", "two", ""),
        ("research", "three", ""),
    ]:
        code, out, _ = run(what, workspace.folder)
        assert code == 0 and out.startswith(f"{path}: written, Research v")
        assert path.read_bytes() == file_of(templates(word))
        made = Export.objects.latest("pk")
        assert (made.label_name, made.by) == (label, person)
    assert run("research", workspace.folder)[:2] == (0, f"{path}: holds Research v3 already.\n")


def test_a_hand_edit_needs_the_option(workspace: Workspace, research: PromptSet) -> None:
    path = prompt_file(workspace.folder)
    path.write_bytes(file_of(templates("by hand")))
    code, _, err = run("research", workspace.folder, dry_run=True)
    assert code == 1 and "say --overwrite" in err
    code, _, err = run("research", workspace.folder)
    assert code == 1 and "not written" in err and "an edit that no version has" in err
    assert path.read_bytes() == file_of(templates("by hand"))
    code, out, _ = run("research", workspace.folder, overwrite=True)
    assert code == 0 and "is kept as Research v4" in out
    assert version(research, 4).templates == templates("by hand")


def test_one_of_several_that_fails_is_told_and_the_others_are_done(
    workspace: Workspace, tmp_path: Path
) -> None:
    other = make_workspace(tmp_path / "other", word="one")
    prompt_file(workspace.folder).chmod(0o444)
    code, out, err = run("research", workspace.folder, other.folder, other.folder)
    assert code == 1
    assert out.count("\n") == 1 and str(other.folder) in out
    assert f"{prompt_file(workspace.folder)}: not written." in err and "write-protected" in err


def test_a_folder_that_nobody_registered_is_registered_by_writing(
    research: PromptSet, tmp_path: Path
) -> None:
    folder = tmp_path / "fresh"
    folder.mkdir()
    code, out, _ = run("research", folder, dry_run=True)
    assert code == 0 and out.startswith("--- /dev/null\n") and not Workspace.objects.exists()
    assert run("research", folder)[0] == 0
    assert Workspace.objects.get().folder == folder and b"three" in prompt_file(folder).read_bytes()


def test_a_workspace_that_was_taken_off_the_list_comes_back_as_it_was(
    workspace: Workspace, research: PromptSet
) -> None:
    Workspace.objects.update(archived=True, label=research.labels.get(), name="Ours", dialect="contract")
    assert run("research", workspace.folder)[0] == 0
    workspace.refresh_from_db()
    assert (workspace.archived, workspace.name, workspace.dialect) == (False, "Ours", "contract")
    assert workspace.label == research.labels.get()


@pytest.mark.parametrize(
    ("what", "folder", "sentence"),
    [
        ("nothing", "mine", "There is no prompt set 'nothing'. Known sets: research."),
        ("research@99", "mine", "This set has no version 99."),
        ("research@beta", "mine", "This set has no label «beta»."),
        ("research@", "nowhere", "does not exist"),
        ("research", "/", "is not in an allowed folder"),
    ],
)
def test_what_names_nothing_is_a_usage_error(
    workspace: Workspace, tmp_path: Path, what: str, folder: str, sentence: str
) -> None:
    code, _, err = run(what, tmp_path / folder)
    assert code == 2 and sentence in err
    assert not Export.objects.exists()


def test_the_person_can_be_named(workspace: Workspace, person: User) -> None:
    ken = User.objects.create_user("ken")
    assert run("research", workspace.folder)[0] == 2, "two people, and neither is the operator"
    assert run("research", workspace.folder, user="nobody")[0] == 2
    assert run("research", workspace.folder, user="ken")[0] == 0
    assert Export.objects.get().by == ken


def test_an_invalid_version_is_not_exported(workspace: Workspace, research: PromptSet, person: User) -> None:
    research.save_version(templates("{{ tema }}"), base=3, message="bad", author=person, at=NOW)
    for options in ({"dry_run": True}, {}):
        code, _, err = run("research", workspace.folder, **options)
        assert code == 1 and "Research v4 cannot be exported. Team, line 1: " in err
    assert not Export.objects.exists()
