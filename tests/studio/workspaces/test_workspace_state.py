"""The state of a workspace's prompt file: which version it holds, who edited it, what is wrong with it."""

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import DjangoAssertNumQueries

from builder.files.prompt_file import merge
from builder.files.reading import sha256
from builder.jail import JailPool
from studio.machines.models import RemoteWorkspace
from studio.models import Export, ExportReceipt, Label, PromptSet, Workspace
from studio.workspaces.state import PromptFileState, state_of, states_of
from tests.studio.clock import NOW
from tests.studio.jail import UseJail
from tests.studio.workspaces.exports.confirming import make_set, templates
from tests.studio.workspaces.prompt_files import note_export, write


@pytest.fixture
def research(person: User) -> PromptSet:
    return make_set("research", person, "one", "two", "three")


@pytest.fixture
def workspace(research: PromptSet, person: User, tmp_path: Path) -> Workspace:
    """Follows `production`, which points to version 2."""
    Label.objects.move("production", research.versions.get(number=2), by=person, at=NOW)
    return Workspace.objects.create(
        slug="mine", name="Mine", path=str(tmp_path), created_at=NOW, label=research.labels.get()
    )


def read(workspace: Workspace) -> PromptFileState:
    return state_of(Workspace.objects.get(pk=workspace.pk))


def test_the_version_that_the_label_points_at_is_in_sync(workspace: Workspace) -> None:
    data = write(workspace, templates("two"))
    state = read(workspace)
    assert (state.kind, state.title, state.in_step) == ("in_sync", "In sync", True)
    assert state.version is not None and state.version == state.expected
    assert [label.name for label in state.labels] == ["production"]
    assert (state.relative, state.data, state.size) == ("configs/prompt_builder.toml", data, len(data))
    assert state.templates == templates("two")
    assert state.health == ()


def test_another_version_of_the_followed_set_is_behind_or_ahead(workspace: Workspace) -> None:
    write(workspace, templates("one"))
    state = read(workspace)
    assert (state.kind, state.title, state.in_step) == ("behind", "File older than the label", False)
    assert state.version is not None and state.version.number == 1
    assert state.changed_fields == ("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")
    write(workspace, templates("three"))
    ahead = read(workspace)
    assert (ahead.kind, ahead.title, ahead.is_ahead) == ("behind", "File newer than the label", True)


def test_a_version_of_another_set_says_so(workspace: Workspace, person: User) -> None:
    make_set("briefing", person, "other")
    write(workspace, templates("other"))
    state = read(workspace)
    assert (state.kind, state.title, str(state.version)) == ("behind", "Another set", "Briefing v1")


def test_the_followed_set_comes_before_others_with_the_same_text(workspace: Workspace, person: User) -> None:
    make_set("copy", person, "two")
    make_set("copy-of-one", person, "one")
    write(workspace, templates("two"))
    assert str(read(workspace).version) == "Research v2"
    write(workspace, templates("one"))
    assert str(read(workspace).version) == "Research v1"


def test_a_text_that_came_back_is_the_version_that_the_label_means(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    research.save_version(templates("two"), base=3, message="back", author=person, at=NOW)
    write(workspace, templates("two"))
    assert (read(workspace).kind, str(read(workspace).version)) == ("in_sync", "Research v2")
    Label.objects.move("production", research.versions.get(number=4), by=person, at=NOW)
    assert (read(workspace).kind, str(read(workspace).version)) == ("in_sync", "Research v4")


def test_without_a_label_any_version_is_in_sync(workspace: Workspace) -> None:
    Workspace.objects.update(label=None)
    write(workspace, templates("three"))
    assert (read(workspace).kind, str(read(workspace).version)) == ("in_sync", "Research v3")
    write(workspace, templates("mine"))
    assert (read(workspace).kind, read(workspace).in_step) == ("unknown", True)


def test_what_no_version_equals_is_unknown_until_the_studio_has_written_here(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    write(workspace, templates("mine"))
    assert (read(workspace).kind, read(workspace).in_step) == ("unknown", False)
    note_export(workspace, research.versions.get(number=2), person, outcome="failed")
    assert read(workspace).kind == "unknown"
    export = note_export(workspace, research.versions.get(number=2), person)
    state = read(workspace)
    assert (state.kind, state.title, state.last_export) == ("edited", "Edited by hand", export)


def test_what_an_undo_brought_back_is_not_called_an_edit_since(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    data = write(workspace, templates("mine"))
    undo = Export.objects.create(
        batch=uuid4(),
        workspace=workspace,
        path=str(workspace.folder / "configs/prompt_builder.toml"),
        hash_after=sha256(data),
        by=person,
        at=NOW,
    )
    ExportReceipt.objects.create(export=undo, outcome="written", at=NOW)
    state = read(workspace)
    assert (state.kind, state.summary) == (
        "edited",
        "The file is as the last undo restored it; it matches no version.",
    )


def test_an_edit_of_comments_and_other_tables_stays_in_sync(workspace: Workspace) -> None:
    data = write(workspace, templates("two"))
    write(workspace, b"# ours\n" + data + b"\n[notes]\nby = 'yuki'\n")
    state = read(workspace)
    assert state.kind == "in_sync"
    assert [(each.severity, each.advice) for each in state.health] == [
        ("hint", "An export keeps them, and all comments.")
    ]


def test_a_file_with_crlf_is_the_same_text(workspace: Workspace) -> None:
    write(workspace, write(workspace, templates("two")).replace(b"\n", b"\r\n"))
    assert read(workspace).kind == "in_sync"


def test_returns_that_are_written_out_are_line_ends_as_for_jinja(workspace: Workspace) -> None:
    data = write(workspace, templates("two"))
    write(workspace, data.replace(b"two\n", b"two\\r\n", 1))
    state = read(workspace)
    assert (state.kind, state.templates, state.changed_fields) == ("in_sync", templates("two"), ())


def test_a_missing_file_or_folder_is_missing(workspace: Workspace, tmp_path: Path) -> None:
    state = read(workspace)
    assert (state.kind, state.data, state.modified_at, state.templates) == ("missing", None, None, None)
    Workspace.objects.update(path=str(tmp_path / "gone"))
    state = read(workspace)
    assert state.kind == "missing"
    assert state.health[0].text == f"The folder {tmp_path / 'gone'} does not exist."


BROKEN = {
    b"[prompt_builder\n": "configs/prompt_builder.toml, line 1: not valid TOML",
    b"\xef\xbb\xbf[prompt_builder]\n": "byte order mark (BOM), which MixSeek cannot read",
    b"\xff\n": "the file is not UTF-8",
    b"prompt_builder = 3\n": "must be a separate table",
    b"[prompt_builder]\nteam_user_prompt = 3\n": "team_user_prompt must be a string",
}


@pytest.mark.parametrize(("data", "sentence"), BROKEN.items())
def test_what_mixseek_cannot_read_is_broken(workspace: Workspace, data: bytes, sentence: str) -> None:
    write(workspace, data)
    state = read(workspace)
    assert (state.kind, state.templates) == ("broken", None)
    assert sentence in state.health[0].text


def test_a_template_with_an_error_is_broken_and_says_the_line(workspace: Workspace) -> None:
    data = merge(None, vars(templates("x")) | {"evaluator_user_prompt": "{{ submision }}\n"}, NOW.date())
    write(workspace, data)
    state = read(workspace)
    assert state.kind == "broken"
    (problem,) = [each for each in state.problems if each.severity == "error"]
    assert (problem.file, problem.line) == (
        "configs/prompt_builder.toml",
        data[: data.index(b"{{ submision")].count(b"\n") + 1,
    )


def test_an_empty_template_is_broken_for_mixseek_refuses_it(workspace: Workspace) -> None:
    write(workspace, merge(None, vars(templates("x")) | {"judgment_user_prompt": ""}, NOW.date()))
    assert read(workspace).kind == "broken"


def test_missing_fields_are_mixseeks_defaults_and_no_error(workspace: Workspace) -> None:
    write(workspace, merge(None, {"team_user_prompt": "{{ user_prompt }}\n"}, NOW.date()))
    state = read(workspace)
    assert (state.kind, state.templates) == ("unknown", None)
    assert state.missing_fields == ("evaluator_user_prompt", "judgment_user_prompt")
    assert state.health[0].text == (
        "The file has no evaluator_user_prompt, judgment_user_prompt; MixSeek uses its default."
    )


# --- where MixSeek looks -----------------------------------------------------------------


def orchestrate(workspace: Workspace, named: str) -> None:
    write(workspace, f"[orchestrator]\nprompt_builder_config = '{named}'\n".encode(), "orchestrator.toml")


def test_the_file_that_the_orchestrator_names_counts(workspace: Workspace) -> None:
    write(workspace, templates("one"))
    write(workspace, templates("two"), "own.toml")
    orchestrate(workspace, "configs/own.toml")
    state = read(workspace)
    assert (state.kind, state.relative) == ("in_sync", "configs/own.toml")
    assert state.named_by == "configs/orchestrator.toml:2"
    assert [(each.severity, each.file) for each in state.health] == [
        ("warning", "configs/prompt_builder.toml"),
        ("hint", "configs/orchestrator.toml"),
    ]


def test_a_named_file_that_is_not_there_stops_a_run(workspace: Workspace) -> None:
    orchestrate(workspace, "configs/own.toml")
    state = read(workspace)
    assert state.kind == "missing"
    assert "Line 2 refers to configs/own.toml, which does not exist" in state.health[0].text


@pytest.mark.parametrize("named", ["../secret.toml", "/etc/hostname", "configs/../../secret.toml", "."])
def test_a_file_outside_the_workspace_is_not_read(workspace: Workspace, tmp_path: Path, named: str) -> None:
    inner = tmp_path / "workspace"
    inner.mkdir()
    Workspace.objects.update(path=str(inner))
    workspace.refresh_from_db()
    (tmp_path / "secret.toml").write_text("[prompt_builder]\n")
    orchestrate(workspace, named)
    state = read(workspace)
    assert (state.kind, state.data) == ("unchecked", None)
    assert "is not inside the workspace" in state.health[0].text
    assert state.health[0].advice == "Set prompt_builder_config to a file inside the workspace."


@pytest.mark.parametrize(
    "line", [rb'prompt_builder_config = "a\u0000b"', b"prompt_builder_config = '" + b"x" * 400 + b"'"]
)
def test_a_name_that_no_file_can_have_is_told(workspace: Workspace, line: bytes) -> None:
    write(workspace, b"[orchestrator]\n" + line + b"\n", "orchestrator.toml")
    assert read(workspace).kind == "unchecked"


def test_a_broken_orchestrator_is_broken(workspace: Workspace) -> None:
    write(workspace, b"[orchestrator\n", "orchestrator.toml")
    state = read(workspace)
    assert state.kind == "broken"
    assert state.health[0].text.startswith("configs/orchestrator.toml, line 1: not valid TOML")


# --- links, rights, variables ------------------------------------------------------------


@pytest.mark.parametrize("part", ["prompt_builder.toml", "orchestrator.toml", ""])
def test_a_link_is_neither_followed_nor_read(workspace: Workspace, tmp_path: Path, part: str) -> None:
    inner, elsewhere = tmp_path / "workspace", tmp_path / "elsewhere"
    inner.mkdir()
    elsewhere.mkdir()
    Workspace.objects.update(path=str(inner))
    workspace.refresh_from_db()
    write(workspace, templates("two"))
    write(workspace, b"[orchestrator]\n", "orchestrator.toml")
    assert read(workspace).kind == "in_sync"
    moved = inner / "configs" / part if part else inner / "configs"
    moved.rename(elsewhere / "moved")
    moved.symlink_to(elsewhere / "moved")
    state = read(workspace)
    assert (state.kind, state.data) == ("unchecked", None)
    assert "is a symbolic link" in state.health[0].text


def test_a_workspace_that_became_a_link_or_left_the_roots_is_not_read(
    workspace: Workspace, tmp_path: Path, settings: Any
) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    Workspace.objects.update(path=str(link))
    state = read(workspace)
    assert (state.kind, state.health[0].severity) == ("unchecked", "error")
    assert state.health[0].text == f"{link} is a symbolic link, which the studio does not follow."
    Workspace.objects.update(path=str(real))
    assert read(workspace).kind == "missing"
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path / "other",)
    state = read(workspace)
    assert state.kind == "unchecked"
    assert f"STUDIO_WORKSPACE_ROOTS={tmp_path / 'other'}:{real}" in state.health[0].advice


def test_what_an_export_would_be_refused_for_is_said_before(workspace: Workspace) -> None:
    write(workspace, templates("two"))
    path = workspace.folder / "configs" / "prompt_builder.toml"
    path.chmod(0o444)
    state = read(workspace)
    assert state.kind == "in_sync"
    assert (state.health[0].severity, "is write-protected" in state.health[0].text) == ("warning", True)
    path.chmod(0o644)
    (path.parent / "second-name").hardlink_to(path)
    assert "has 2 hard links" in read(workspace).health[0].text


def test_a_folder_that_may_not_be_written_is_said(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, templates("two"))
    # Whoever runs the tests as root may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert read(workspace).health[0].text == (
        f"The studio has no write access to {workspace.folder / 'configs'}, so an export would fail."
    )


def test_variables_that_win_over_the_file_are_named(workspace: Workspace) -> None:
    write(workspace, templates("two"))
    name = "MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT"
    (workspace.folder / ".env").write_text(f"API_KEY=secret\nexport {name}='x'\n# {name}=y\n")
    found = read(workspace).health
    assert [(each.file, each.line) for each in found] == [(".env", 2)]
    assert not any("secret" in each.text for each in found)


def test_the_settings_say_what_runs_are_started_with_and_the_studio_does_not_use_its_own(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT"
    write(workspace, templates("two"))
    write(workspace, b"[orchestrator]\n", "orchestrator.toml")
    monkeypatch.setenv(name, "the studio's own")
    (workspace.folder / ".env").write_text(f"{name}=x\n")
    monkeypatch.chdir(workspace.folder)
    workspace.working_directory = "/somewhere"
    assert state_of(workspace).health == ()
    workspace.run_variables = {name: "y"}
    assert [each.file for each in state_of(workspace).health] == [f"${name}"]
    workspace.run_variables = {}
    workspace.working_directory = workspace.path
    assert [each.file for each in state_of(workspace).health] == [f"{workspace.path}/.env"]


# --- its price ---------------------------------------------------------------------------


def test_many_workspaces_cost_as_many_queries_as_one(
    workspace: Workspace, tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        each = Workspace.objects.create(
            slug=f"w{number}", name="W", path=str(folder), created_at=NOW, label=workspace.label
        )
        write(each, templates("two"))
    all_of_them = list(Workspace.objects.select_related("label__prompt_set", "label__version"))
    with django_assert_num_queries(3):
        states = states_of(all_of_them)
    assert [state.kind for state in states] == ["missing"] + ["in_sync"] * 6


@pytest.mark.slow
def test_a_file_that_stayed_is_read_once_and_one_that_changed_anew(
    workspace: Workspace, research: PromptSet, person: User, own_jail: JailPool, use_jail: UseJail
) -> None:
    # Texts of its own: what another test has read is known already.
    for base, word in enumerate(["read first", "read then"], start=3):
        research.save_version(templates(word), base=base, message=word, author=person, at=NOW)
    write(workspace, templates("read first"))
    use_jail(own_jail)

    def jobs() -> int:
        return own_jail.stats().jobs

    assert str(read(workspace).version) == "Research v4"
    first = jobs()
    assert (str(read(workspace).version), jobs()) == ("Research v4", first)
    write(workspace, templates("read then"))
    assert (str(read(workspace).version), jobs()) == ("Research v5", first + 1)


def test_without_a_jail_nothing_is_claimed(workspace: Workspace, use_jail: UseJail) -> None:
    write(workspace, templates("never read by a jail"))
    closed = JailPool(size=0, spares=0)
    closed.close()
    use_jail(closed)
    state = read(workspace)
    assert (state.kind, state.version, state.in_step) == ("unchecked", None, False)
    assert state.health[0].severity == "error"


def test_whether_the_studio_may_write_there_is_no_question_of_another_machine(db: None) -> None:
    far = Workspace.objects.create(slug="far", name="Far", path="gpu-1:/srv/ws", created_at=NOW)
    RemoteWorkspace.objects.create(workspace=far, machine="gpu-1", folder="/srv/ws", heard_at=NOW)
    assert not any("write access" in finding.text for finding in state_of(far).health)
