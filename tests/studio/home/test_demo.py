"""The demo: a story that holds together, loaded once however often it is asked for."""

import json
import shutil
import tomllib
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from builder.files.reading import sha256
from builder.leaderboard import AggregationStore
from builder.template.check import check
from builder.template.dialect import MIXSEEK
from builder.template.formatters import variables
from builder.template.models import EvaluatorPromptContext
from builder.template.render import render
from studio.contexts.samples import SAMPLES
from studio.home.demo import load_demo
from studio.home.demo.workspaces import WORKSPACES
from studio.models import Export, Label, LabelMove, PromptSet, PromptVersion, SampleContext, Workspace
from studio.operations.watching import Watch
from studio.prompts.texts import Templates
from studio.runs.reading import by_latest_write
from studio.workspaces.state import states_of
from tests.studio.clock import NOW, stop_clock


def counts() -> list[int]:
    models = (PromptSet, PromptVersion, Label, LabelMove, SampleContext, Workspace, Export, User)
    return [model._default_manager.count() for model in models]


def test_loading_twice_changes_nothing(demo: Path) -> None:
    before = counts()
    load_demo(demo)
    assert counts() == before
    assert min(before) > 0


def test_what_a_person_changed_stays(demo: Path) -> None:
    PromptSet.objects.filter(slug="research-team").update(name="mine")
    load_demo(demo)
    assert PromptSet.objects.get(slug="research-team").name == "mine"


def test_each_set_has_five_versions_that_differ(demo: Path) -> None:
    for prompt_set in PromptSet.objects.all():
        versions = list(prompt_set.versions.order_by("number"))
        assert [version.number for version in versions] == [1, 2, 3, 4, 5]
        assert len({version.content_hash for version in versions}) == 5
        times = [version.created_at for version in versions]
        assert times == sorted(times)


def test_exports_are_noted_in_the_order_in_which_they_happened(demo: Path) -> None:
    times = list(Export.objects.order_by("pk").values_list("at", flat=True))
    assert times == sorted(times)
    assert by_latest_write(Workspace.objects.all())[0].slug == "research"


def test_labels_moved_after_their_versions_were_saved(demo: Path) -> None:
    for move in LabelMove.objects.select_related("to_version"):
        assert move.to_version is not None
        assert move.moved_at >= move.to_version.created_at


def test_the_samples_are_stored_and_valid(demo: Path) -> None:
    assert SampleContext.objects.count() == len(SAMPLES) == 7
    for context in SampleContext.objects.all():
        context.full_clean()


def test_one_workspace_is_in_sync_one_behind_and_one_of_each_story_edited_by_hand(demo: Path) -> None:
    states = states_of(Workspace.objects.select_related("label__prompt_set", "label__version"))
    assert {state.workspace.slug: state.kind for state in states} == {
        "research": "in_sync",
        "briefing": "behind",
        "research-lab": "edited",
        "briefing-lab": "edited",
    }
    for state in states:
        assert state.workspace.database_file.present
        assert [each for each in state.health if each.severity == "error"] == []


def test_two_workspaces_follow_one_label_so_that_a_move_has_somewhere_to_go(demo: Path) -> None:
    followers = Workspace.objects.filter(label__prompt_set__slug="research-team", label__name="production")
    assert [workspace.slug for workspace in followers.order_by("slug")] == ["research", "research-lab"]


def test_every_workspace_has_receipts_of_what_was_shipped_to_it(demo: Path) -> None:
    for workspace in Workspace.objects.all():
        exports = list(workspace.exports.select_related("receipt", "version").order_by("pk"))
        assert exports[0].before is None
        for earlier, later in pairwise(exports):
            assert (later.before, later.hash_before) == (earlier.after, earlier.hash_after)
        for export in exports:
            assert export.version is not None and export.receipt.outcome == "written"
            written = tomllib.loads(bytes(export.after or b"").decode())["prompt_builder"]
            assert Templates(**written) == export.version.templates
        on_disk = sha256((workspace.folder / "configs" / "prompt_builder.toml").read_bytes())
        assert (on_disk == exports[-1].hash_after) == (not workspace.slug.endswith("-lab"))


def test_nobody_can_sign_in_as_a_character_of_the_story(demo: Path) -> None:
    for user in User.objects.all():
        assert not user.is_active and not user.has_usable_password()


def test_every_version_is_free_of_errors_and_renders_in_every_sample(demo: Path) -> None:
    contexts = list(SampleContext.objects.all())
    for version in PromptVersion.objects.all():
        for kind, text in version.templates.by_kind.items():
            assert [each for each in check(kind, text) if each.severity == "error"] == []
            for sample in contexts:
                told = sample.round_context
                evaluated = EvaluatorPromptContext(user_query=told.user_prompt, submission=sample.submission)
                context = evaluated if kind == "evaluator" else told
                values = variables(kind, context, told.ranking, NOW, MIXSEEK, text)
                assert told.user_prompt in render(kind, text, values, MIXSEEK)


def test_every_score_is_one_that_an_evaluator_gives(demo: Path) -> None:
    for workspace in WORKSPACES:
        with duckdb.connect(str(demo / "demo" / workspace.slug / "mixseek.db"), read_only=True) as database:
            details = database.execute("SELECT score, score_details FROM leader_board").fetchall()
        scores = [score for score, _ in details]
        scores += [metric["score"] for _, told in details for metric in json.loads(told)["metrics"]]
        assert min(scores) >= 0 and max(scores) <= 100


def test_its_run_goes_on_for_a_day_and_then_counts_as_stopped(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "STUDIO_DATA", tmp_path)
    shutil.copytree(demo / "demo", tmp_path / "demo")
    Workspace.objects.update(archived=True)  # the watch has nothing else to do
    states = []
    with AggregationStore(tmp_path / "demo" / "research", cache_folder=tmp_path / "copies") as store:
        (run,) = store.executions(state="running")
        for hours in (0.4, 23, 25):
            now = timezone.now() + timedelta(hours=hours)
            with monkeypatch.context() as patch:
                stop_clock(patch, now)
                Watch().look()
            execution = store.execution(run.execution_id, now=now)
            states.append(execution and execution.state)
    assert states == ["running", "running", "unknown"]


@pytest.mark.slow
def test_stored_prompts_are_what_the_stories_versions_give(demo: Path) -> None:
    """Each run used one version, so runs can be traced back to versions."""
    with AggregationStore(demo / "demo" / "research", dialect=MIXSEEK, cache_folder=demo / "copies") as store:
        openings = set()
        for run in store.executions():
            prompt = store.delivered(run.execution_id, "team-001", 1).text
            openings.add(prompt.split("\n")[0])
        assert {run.state for run in store.executions()} == {"completed", "partial_failure", "running"}
    assert openings == {"# ユーザから指定されたタスク", "---"}


@pytest.mark.slow
def test_a_start_that_was_killed_halfway_is_made_good(db: None, tmp_path: Path) -> None:
    half = tmp_path / "demo" / ".research.new"
    half.mkdir(parents=True)
    (half / "mixseek.db").write_bytes(b"half")
    load_demo(tmp_path)
    assert not half.exists()
    assert (tmp_path / "demo" / "research" / "mixseek.db").stat().st_size > 1000
