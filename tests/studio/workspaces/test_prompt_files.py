"""Several orchestrator files in a workspace: each prompt file has a state, a label and exports of its own."""

import json
import os
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from builder.simulation import Run, Team, prompt_file_of, simulate
from studio.models import Export, FollowedFile, Label, PromptSet, RunResult, Workspace
from studio.prompts.texts import Templates
from studio.results.attribution import attribute_workspace
from studio.workspaces.state import prompt_states_of
from tests.builder.orchestrators.configured_workspace import configured_workspace
from tests.studio.clock import NOW
from tests.studio.workspaces.exports.export_form import sent_by
from tests.studio.workspaces.sent_settings import sent_settings

FAST = "configs/prompts/fast.toml"
TEXTS = [Templates(f"{name} {{{{ user_prompt }}}}\n", "{{ submission }}\n", "j\n") for name in ("One", "Two")]


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = PromptSet.objects.create(slug="news", name="News", created_at=NOW, changed_at=NOW)
    for texts in TEXTS:
        made.save_version(texts, base=made.revision, message="m", author=person, at=NOW)
    for name, number in (("production", 1), ("fast", 2)):
        Label.objects.move(name, made.versions.get(number=number), by=person, at=NOW)
    return made


@pytest.fixture
def workspace(db: None, tmp_path: Path, settings: Any, prompt_set: PromptSet) -> Workspace:
    settings.STUDIO_WORKSPACE_ROOTS = [tmp_path]
    settings.STUDIO_DATA = tmp_path / "data"
    folder = configured_workspace(tmp_path / "ws")
    label = prompt_set.labels.get(name="production")
    made = Workspace.objects.create(slug="ws", name="WS", path=str(folder), created_at=NOW, label=label)
    FollowedFile.objects.create(workspace=made, file=FAST, label=prompt_set.labels.get(name="fast"))
    return made


def test_each_prompt_file_has_its_label_and_its_readers(workspace: Workspace) -> None:
    main, fast = prompt_states_of([workspace])
    assert (main.relative, main.label and main.label.name) == ("configs/prompt_builder.toml", "production")
    assert (fast.relative, fast.label and fast.label.name) == (FAST, "fast")
    assert [one.name for one in main.readers] == ["configs/plain.toml"]
    assert [one.name for one in fast.readers] == ["configs/nested/fast.toml"]
    assert (main.key, fast.key.startswith("ws@")) == ("ws", True)


def test_the_page_lists_all_orchestrator_files_with_what_each_reads(
    signed_in: Client, workspace: Workspace
) -> None:
    page = signed_in.get("/workspaces/ws/").text
    section = page[page.index("orchestrators-title") :]
    for name in ("configs/plain.toml", "configs/nested/fast.toml", FAST, "configs/evaluators/news.toml"):
        assert f"<code>{name.replace('/', '/<wbr>')}</code>" in section
    assert "can override the prompt file" in section and "Team beta" in section
    assert f"Prompt file {FAST}" in page and "secret" not in page
    Workspace.objects.update(run_variables={"MIXSEEK_PROMPT_BUILDER_CONFIG": "configs/prompts/other.toml"})
    page = signed_in.get("/workspaces/ws/").text
    assert "set by an environment variable" in page and "can override the prompt file" not in page


def test_the_list_shows_the_state_of_each_prompt_file(signed_in: Client, workspace: Workspace) -> None:
    page = signed_in.get("/workspaces/").text
    row = page[page.index("configs/<wbr>prompts/<wbr>fast.toml") :]
    assert "Unknown" in row[: row.index("</td>")]


def test_an_export_writes_the_file_whose_label_is_followed_and_keeps_the_settings(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    before = (workspace.folder / "configs/prompt_builder.toml").read_bytes()
    address = reverse("prompt-export", args=["news"]) + "?label=fast"
    page = signed_in.get(address).text
    _, fast = prompt_states_of([workspace])
    assert f'value="{fast.key}"' in page and FAST in page
    target = f"{fast.key}:{fast.sha256}"
    assert signed_in.post(address, sent_by(page) | {"overwrite": target}).status_code == 302
    export = Export.objects.get()
    assert (export.file, export.receipt.outcome) == (FAST, "written")
    assert (workspace.folder / "configs/prompt_builder.toml").read_bytes() == before
    main, fast = prompt_states_of([workspace])
    assert (fast.kind, main.last_export) == ("in_sync", None)
    (scoring,) = export.scorings.all()
    assert scoring.orchestrator == "configs/nested/fast.toml"
    assert "Coverage.weight = 0.6" in scoring.record.settings.evaluator
    shown = signed_in.get(export.get_absolute_url()).text
    assert "configs/nested/fast.toml" in shown and f"--file {FAST}" in shown


def test_one_confirmation_can_write_both_files(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    states = prompt_states_of([workspace])
    keys = [state.key for state in states]
    address = reverse("prompt-export", args=["news"])
    query = {"label": "production", "workspace": keys}
    sent = sent_by(signed_in.get(address, query).text)
    sent["overwrite"] = [f"{state.key}:{state.sha256}" for state in states]
    signed_in.post(address, sent)
    signed_in.post(address, sent)
    assert sorted(Export.objects.values_list("receipt__outcome", flat=True)) == ["written", "written"]
    assert {state.version and state.version.number for state in prompt_states_of([workspace])} == {1}


def test_the_command_names_a_file_beside_the_main_one(workspace: Workspace, prompt_set: PromptSet) -> None:
    where = {"workspace": [workspace.path], "overwrite": True}
    call_command("export", "news@fast", file=FAST, stdout=StringIO(), **where)
    assert [state.kind for state in prompt_states_of([workspace])] == ["unknown", "in_sync"]
    with pytest.raises(CommandError, match=r"Those are: .*, configs/prompts/fast"):
        call_command("export", "news@fast", file="configs/no.toml", stdout=StringIO(), **where)


def test_drift_names_each_file(workspace: Workspace) -> None:
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("drift", "--format", "json", stdout=out)
    documents = json.loads(out.getvalue())
    assert [(one["file"].removeprefix(workspace.path + "/"), one["read_by"]) for one in documents] == [
        ("configs/prompt_builder.toml", ["configs/plain.toml"]),
        (FAST, ["configs/nested/fast.toml"]),
    ]
    assert [one["follows"]["label"] for one in documents] == ["production", "fast"]
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("drift", stdout=out)
    assert f"ws ({FAST}): Unknown." in out.getvalue()


def test_another_prompt_file_is_imported_by_its_mark_and_nothing_else(
    signed_in: Client, workspace: Workspace
) -> None:
    _, fast = prompt_states_of([workspace])
    page = signed_in.get(reverse("workspace-import", args=["ws"]), {"file": fast.file.mark})
    assert FAST in page.text and "judgment_user_prompt" in page.text
    assert "<code>configs/nested/fast.toml</code>" in page.text
    assert (
        signed_in.get(reverse("workspace-import", args=["ws"]), {"file": "@" + "0" * 12}).status_code == 404
    )
    assert signed_in.get(reverse("workspace-import", args=["ws"]), {"file": "../x"}).status_code == 400


def test_settings_hold_a_label_per_file_and_what_runs_are_started_with(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    address = reverse("workspace-settings", args=["ws"])
    _, fast = prompt_states_of([workspace])
    assert f"{FAST} follows" in signed_in.get(address).text
    production = prompt_set.labels.get(name="production")
    wanted = {
        "label": production.pk,
        fast.file.mark: production.pk,
        "working_directory": "/srv/runs/",
        "run_variables": "mixseek_prompt_builder_config=configs/prompts/other.toml\n",
    }
    sent = sent_settings(signed_in, "ws", **wanted)
    assert signed_in.post(address, sent).status_code == 302
    workspace.refresh_from_db()
    assert workspace.working_directory == "/srv/runs"
    assert workspace.run_variables == {"MIXSEEK_PROMPT_BUILDER_CONFIG": "configs/prompts/other.toml"}
    assert [(row.file, row.label) for row in workspace.followed_files.all()] == [(FAST, production)]
    for wrong in ({"run_variables": "OPENAI_API_KEY=sk-1"}, {"working_directory": "runs"}):
        assert signed_in.post(address, sent_settings(signed_in, "ws", **wrong)).status_code == 422
    off = sent_settings(signed_in, "ws", **{fast.file.mark: ""})
    assert signed_in.post(address, off).status_code == 302
    assert not workspace.followed_files.exists()


def test_a_label_that_a_prompt_file_follows_is_not_taken_off(signed_in: Client, workspace: Workspace) -> None:
    answer = signed_in.post(reverse("label-move", args=["news"]), {"name": "fast"})
    assert answer.status_code == 409 and f"WS: {FAST}" in answer.text


def test_a_workspace_without_the_usual_files_has_the_prompt_file_that_is_read(workspace: Workspace) -> None:
    (workspace.folder / "configs/plain.toml").unlink()
    (workspace.folder / "configs/prompt_builder.toml").unlink()
    FollowedFile.objects.all().delete()
    (only,) = prompt_states_of([workspace])
    assert (only.relative, only.label and only.label.name) == (FAST, "production")


def test_a_run_is_held_against_the_prompt_file_whose_template_made_it(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    begun = timezone.now() - timedelta(days=1)
    strict = Templates(TEXTS[1].team_user_prompt, "Be strict: {{ submission }}\n", "j\n")
    prompt_set.save_version(strict, base=2, message="m", author=person, at=NOW)
    run = Run("Go.", begun, [Team("alpha", "A"), Team("beta", "B")], templates=TEXTS[1].by_kind)
    simulate(workspace.folder, [run], prompt_file=TEXTS[0].by_kind)
    path = workspace.folder / FAST
    path.write_bytes(prompt_file_of(TEXTS[1].by_kind, begun.date()))
    os.utime(path, (begun.timestamp() - 60,) * 2)
    assert attribute_workspace(workspace, timezone.now()).problem is None
    result = RunResult.objects.get()
    assert (result.found, result.basis, result.version and result.version.number) == ("exact", "file", 2)
