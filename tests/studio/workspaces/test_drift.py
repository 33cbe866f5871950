"""`manage.py drift`: what a pipeline sees of workspaces that are out of step."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from studio.models import Label, PromptSet, Workspace
from tests.studio.clock import NOW
from tests.studio.workspaces.exports.confirming import make_set, templates
from tests.studio.workspaces.prompt_files import note_export, write

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def research(person: User) -> PromptSet:
    made = make_set("research", person, "one", "two")
    Label.objects.move("production", made.versions.get(number=2), by=person, at=NOW)
    return made


def add(slug: str, folder: Path, prompt_set: PromptSet) -> Workspace:
    folder.mkdir()
    return Workspace.objects.create(
        slug=slug, name=slug.title(), path=str(folder), created_at=NOW, label=prompt_set.labels.get()
    )


@pytest.fixture
def good(research: PromptSet, tmp_path: Path) -> Workspace:
    """In sync."""
    workspace = add("good", tmp_path / "good", research)
    write(workspace, templates("two"))
    return workspace


@pytest.fixture
def edited(research: PromptSet, person: User, tmp_path: Path) -> Workspace:
    """Two templates as exported, the second edited by hand."""
    workspace = add("edited", tmp_path / "edited", research)
    data = write(workspace, templates("two"))
    write(workspace, data.replace(b"two\n{{ submission", b"TWO\n{{ submission"))
    note_export(workspace, research.versions.get(number=2), person)
    return workspace


def drift(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("drift", *arguments, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_all_in_step_is_zero(good: Workspace) -> None:
    code, said = drift()
    assert code == 0
    assert said == "✓ good: In sync. The file is v2 of «Research», as is production.\nIn sync.\n"


def test_an_edit_is_one_and_names_the_line_that_differs(good: Workspace, edited: Workspace) -> None:
    code, said = drift()
    path = edited.folder / "configs" / "prompt_builder.toml"
    line = path.read_text().split("evaluator_user_prompt =")[0].count("\n") + 1
    assert code == 1
    assert said.splitlines() == [
        "✗ edited: Edited by hand. The file was edited since the last export; it matches no version.",
        f"    {path}:{line}",
        "✓ good: In sync. The file is v2 of «Research», as is production.",
        "Out of sync: 1 of 2.",
    ]


def test_json_is_a_document_for_each_workspace(good: Workspace, edited: Workspace) -> None:
    code, said = drift("--format", "json")
    first, second = json.loads(said)
    assert code == 1
    assert (first["workspace"], first["state"], first["in_step"]) == ("edited", "edited", False)
    assert (first["holds"], first["differs_in"]) == (None, ["evaluator_user_prompt"])
    assert (second["state"], second["in_step"], second["errors"]) == ("in_sync", True, [])
    assert second["holds"] == {"set": "research", "version": 2}
    assert second["follows"] == {"label": "production", "set": "research", "version": 2}


def test_github_puts_an_error_on_the_line(
    good: Workspace, edited: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = drift("--format", "github")
    line = json.loads(drift("--format", "json")[1])[0]["line"]
    assert code == 1
    assert said == (
        f"::error file=edited/configs/prompt_builder.toml,line={line}::edited: Edited by hand."
        " The file was edited since the last export; it matches no version.\n"
    )


def test_errors_of_a_broken_file_stand_on_their_lines(good: Workspace, tmp_path: Path) -> None:
    os.rename(tmp_path / "good", tmp_path / "go,od")
    Workspace.objects.update(path=str(tmp_path / "go,od"))
    path = tmp_path / "go,od" / "configs" / "prompt_builder.toml"
    path.write_text(path.read_text().replace("{{ submission }}", "100% {{ submision }}"))
    code, said = drift("--format", "github")
    assert code == 1
    first, second = said.splitlines()
    assert first.startswith("::error file=") and "go%2Cod/configs/prompt_builder.toml,line=" in first
    assert "good: `submision` is not a variable" in second
    assert "line" in drift()[1]


def test_a_warning_of_health_is_shown_and_does_not_fail(good: Workspace, tmp_path: Path) -> None:
    name = "MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT"
    (good.folder / ".env").write_text(f"{name}=x\n")
    code, said = drift("--format", "github")
    assert code == 0
    assert said.startswith(f"::warning file={good.path}/.env,line=1::good: .env: Line 1 sets {name}")
    assert "    warning: .env: Line 1 sets" in drift()[1]


def test_workspaces_are_named_by_address_or_folder(
    good: Workspace, edited: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(good.folder)
    assert [drift("good")[0], drift(".")[0], drift(good.path, "good")[0]] == [0, 0, 0]
    assert drift("good", edited.path)[0] == 1


def test_what_is_off_the_list_is_left_out_unless_it_is_named(good: Workspace, edited: Workspace) -> None:
    Workspace.objects.filter(slug="edited").update(archived=True)
    assert drift()[0] == 0
    assert drift("edited")[0] == 1


def test_a_folder_that_is_not_allowed_is_out_of_step(good: Workspace, settings: object) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (Path("/nowhere"),)  # type: ignore[attr-defined]
    code, said = drift()
    assert code == 1
    assert "✗ good: Not allowed. " in said
    assert "error: " in said


def test_an_unknown_workspace_is_two(good: Workspace) -> None:
    with pytest.raises(CommandError, match="nothing is no registered workspace") as refusal:
        drift("nothing")
    assert refusal.value.returncode == 2


def test_without_workspaces_there_is_nothing_to_say(db: None) -> None:
    assert drift() == (0, "No workspace is registered.\n")
    assert drift("--format", "json") == (0, "[]\n")


@pytest.mark.slow
def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    """Without a database, and with an option that there is not: 2, and no traceback."""
    environ = {**os.environ, "STUDIO_DATA": str(tmp_path), "DATABASE_URL": ""}
    environ.pop("DJANGO_SETTINGS_MODULE", None)
    for arguments in ([], ["--format", "xml"]):
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "drift", *arguments],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr, done.stdout) == (2, False, "")
