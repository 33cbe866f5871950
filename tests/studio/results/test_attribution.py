"""Runs are traced to the versions that made them, and examined once."""

import os
from collections import Counter
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

import studio.operations.watching
from builder.errors import DatabaseDamaged, JailUnavailable
from builder.jail import JailPool
from builder.jail.limits import CLOSED
from builder.leaderboard.sentences import DAMAGED
from builder.simulation import TEAMS, Run, simulate
from studio.models import Export, ExportReceipt, PromptSet, PromptVersion, RoundResult, RunResult, Workspace
from studio.operations.watching import Watch
from studio.prompts.texts import Templates
from studio.results.attribution import AttributionPass, attribute_workspace
from studio.results.models import Basis, Found
from studio.results.origins import brief_origins, is_id, run_origin
from tests.studio.jail import UseJail
from tests.studio.workspaces.prompt_files import write

BEGUN = timezone.now() - timedelta(days=2)
PLAIN = Templates(
    "{{ user_prompt }}\n{% if round_number > 2 %}last{% endif %}\n", "{{ submission }}\n", "j\n"
)
SAME_TEAM = Templates(PLAIN.team_user_prompt, "Another judge: {{ submission }}\n", "j\n")
OTHER = Templates("Do: {{ user_prompt }}\n{{ ranking_table }}\n", "{{ submission }}\n", "j\n")
STRANGE = Templates(
    "{{ ranking_table }}" + "Nothing that any version ever said. " * 30, "{{ submission }}", "j"
)


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    return PromptSet.objects.create(slug="set", name="Set", created_at=BEGUN, changed_at=BEGUN)


@pytest.fixture
def workspace(db: None, tmp_path: Path, settings: object) -> Workspace:
    settings.STUDIO_WORKSPACE_ROOTS = [tmp_path]  # type: ignore[attr-defined]
    settings.STUDIO_DATA = tmp_path / "data"  # type: ignore[attr-defined]
    (tmp_path / "ws").mkdir()
    return Workspace.objects.create(slug="ws", name="WS", path=str(tmp_path / "ws"), created_at=BEGUN)


def saved(prompt_set: PromptSet, person: User, *versions: Templates) -> list[PromptVersion]:
    return [
        prompt_set.save_version(each, base=prompt_set.revision, message="m", author=person, at=BEGUN)
        for each in versions
    ]


def play(workspace: Workspace, *templates: Templates, state: str = "completed", at: datetime = BEGUN) -> None:
    """A run of two teams and three rounds for each."""
    runs = [
        Run(
            "要件を整理してください。",
            at + timedelta(hours=number),
            teams=TEAMS[:2],
            templates=each.by_kind,
            state=state,  # type: ignore[arg-type]
        )
        for number, each in enumerate(templates)
    ]
    simulate(workspace.folder, runs, seed=int(at.timestamp()))


def found(workspace: Workspace) -> list[tuple[str, int | None]]:
    """Of each run, the oldest first."""
    results = RunResult.objects.filter(workspace=workspace).order_by("started_at")
    return [(result.found, result.version.number if result.version else None) for result in results]


def test_each_run_is_traced_to_its_version_and_examined_once(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, PLAIN, OTHER)
    play(workspace, OTHER, PLAIN)
    first = attribute_workspace(workspace, timezone.now())
    assert (first.runs, first.rounds, first.problem) == (2, 12, None)
    assert found(workspace) == [("exact", 2), ("exact", 1)]
    assert attribute_workspace(workspace, timezone.now()).runs == 0
    result = RunResult.objects.filter(workspace=workspace).earliest("started_at")
    assert (result.task, result.metrics) == (
        "要件を整理してください。",
        ["ClarityCoherence", "Coverage", "Relevance"],
    )
    assert RoundResult.objects.filter(run=result, found=Found.EXACT, score__isnull=False).count() == 6


@pytest.mark.slow
def test_a_round_that_two_versions_explain_is_decided_by_the_others(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    late = Templates(PLAIN.team_user_prompt.replace("last", "LAST"), *list(vars(PLAIN).values())[1:])
    saved(prompt_set, person, PLAIN, late)
    play(workspace, PLAIN)
    attribute_workspace(workspace, timezone.now())
    assert found(workspace) == [("exact", 1)]
    rounds = RoundResult.objects.filter(run__workspace=workspace).values_list("round_number", "found")
    assert Counter(rounds) == {(1, "several"): 2, (2, "several"): 2, (3, "exact"): 2}


@pytest.mark.slow
def test_versions_with_the_same_team_template_cannot_be_told_apart(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    versions = saved(prompt_set, person, PLAIN, SAME_TEAM)
    # Written after the run, so that the file says nothing about it.
    play(workspace, PLAIN)
    attribute_workspace(workspace, timezone.now())
    assert found(workspace) == [("several", None)]
    result = RunResult.objects.get(workspace=workspace)
    assert list(result.candidates.order_by("pk")) == versions


@pytest.mark.slow
def test_a_file_untouched_since_before_the_run_tells_them_apart(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, PLAIN, SAME_TEAM)
    play(workspace, SAME_TEAM, at=timezone.now() + timedelta(minutes=1))
    attribute_workspace(workspace, timezone.now() + timedelta(hours=1))
    assert found(workspace) == [("exact", 2)]
    assert RunResult.objects.get(workspace=workspace).basis == Basis.FILE


def put(workspace: Workspace, content: Templates, at: datetime) -> None:
    """As if somebody had written the prompt file then."""
    write(workspace, content)
    os.utime(workspace.folder / "configs" / "prompt_builder.toml", (at.timestamp(), at.timestamp()))


def export(workspace: Workspace, version: PromptVersion, person: User, at: datetime) -> None:
    batch = uuid4()
    made = Export.objects.create(
        batch=batch, workspace=workspace, version=version, path="-", by=person, at=at
    )
    ExportReceipt.objects.create(export=made, outcome="written", at=at)


def judged_by(words: str) -> Templates:
    return Templates(PLAIN.team_user_prompt, words + " {{ submission }}\n", "j\n")


def test_a_receipt_does_not_speak_for_a_file_that_was_changed_after_it(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    before = BEGUN - timedelta(hours=1)

    def examined(content: Templates, modified: datetime) -> tuple[str, int | None, str]:
        put(workspace, content, modified)
        RunResult.objects.all().delete()
        attribute_workspace(workspace, timezone.now())
        result = RunResult.objects.get()
        return result.found, result.version.number if result.version else None, result.basis

    _, second = saved(prompt_set, person, PLAIN, SAME_TEAM)
    play(workspace, PLAIN)
    export(workspace, second, person, before)
    assert examined(SAME_TEAM, before) == ("exact", 2, "receipt")
    assert examined(STRANGE, timezone.now()) == ("exact", 2, "receipt"), "it was changed after the run"
    assert examined(PLAIN, before - timedelta(days=1)) == ("exact", 2, "receipt"), "when, nobody knows"
    edited = before + timedelta(minutes=9)
    assert examined(PLAIN, edited) == ("exact", 1, "file"), "put back by hand before the run"
    # Other judges than any version has: its scores are not the version's, until it is one itself.
    assert examined(judged_by("Mild:"), edited) == ("edited", 2, "")
    assert run_origin(workspace, RunResult.objects.get().execution_id).why == "judges"
    saved(prompt_set, person, judged_by("Mild:"))
    assert attribute_workspace(workspace, timezone.now()).runs == 1
    assert found(workspace) == [("exact", 3)]
    # What the team was sent came from elsewhere, such as the environment: the file tells nothing.
    assert examined(STRANGE, edited) == ("several", None, "")


@pytest.mark.slow
def test_an_export_during_the_first_round_came_too_late_for_the_run(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    _, second = saved(prompt_set, person, PLAIN, SAME_TEAM)
    begun = timezone.now() - timedelta(minutes=3)
    play(workspace, PLAIN, state="running", at=begun)
    export(workspace, second, person, begun + timedelta(seconds=5))
    attribute_workspace(workspace, timezone.now())
    result = RunResult.objects.get()
    assert (result.found, result.version, result.basis) == ("several", None, "")
    assert result.started_at and result.started_at < begun + timedelta(seconds=5)


@pytest.mark.slow
def test_a_file_does_not_tell_apart_versions_of_the_same_three_texts(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, PLAIN, OTHER, PLAIN)
    play(workspace, PLAIN)
    put(workspace, PLAIN, BEGUN - timedelta(hours=1))
    attribute_workspace(workspace, timezone.now())
    assert found(workspace) == [("several", None)]


@pytest.mark.slow
def test_a_hand_edit_is_near_its_version_until_it_becomes_one(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    edited = Templates(OTHER.team_user_prompt.replace("Do", "Please do"), *list(vars(OTHER).values())[1:])
    saved(prompt_set, person, PLAIN, OTHER)
    play(workspace, edited, STRANGE)
    attribute_workspace(workspace, timezone.now())
    assert found(workspace) == [("edited", 2), ("unknown", None)]
    assert attribute_workspace(workspace, timezone.now()).runs == 0
    saved(prompt_set, person, edited)
    assert attribute_workspace(workspace, timezone.now()).runs == 2
    assert found(workspace) == [("exact", 3), ("unknown", None)]
    assert attribute_workspace(workspace, timezone.now()).runs == 0


@pytest.mark.slow
def test_what_versions_explain_is_not_examined_again_for_newer_ones(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, PLAIN)
    play(workspace, PLAIN)
    attribute_workspace(workspace, timezone.now())
    saved(prompt_set, person, OTHER)
    assert attribute_workspace(workspace, timezone.now()).runs == 0


@pytest.mark.slow
def test_a_run_under_way_is_examined_as_it_goes_on(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, OTHER)
    play(workspace, OTHER, state="running", at=timezone.now() - timedelta(minutes=3))
    attribute_workspace(workspace, timezone.now())
    assert found(workspace) == [("exact", 1)]
    assert not RunResult.objects.get(workspace=workspace).over
    assert attribute_workspace(workspace, timezone.now()).runs == 0


def test_a_workspace_in_which_nothing_ran_has_nothing_to_examine(workspace: Workspace) -> None:
    assert attribute_workspace(workspace, timezone.now()) == AttributionPass()


def test_a_database_that_cannot_be_read_is_told(workspace: Workspace) -> None:
    (workspace.folder / "mixseek.db").write_bytes(b"no database at all")
    assert attribute_workspace(workspace, timezone.now()).problem is not None


@pytest.mark.slow
def test_with_the_jail_stopped_nothing_is_kept_and_the_reason_is_told(
    workspace: Workspace,
    prompt_set: PromptSet,
    person: User,
    use_jail: UseJail,
) -> None:
    saved(prompt_set, person, PLAIN)
    play(workspace, PLAIN)
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    result = attribute_workspace(workspace, timezone.now())
    assert result.problem is not None and not RunResult.objects.exists()


@pytest.mark.slow
def test_the_command_examines_every_workspace_and_says_what_it_did(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    saved(prompt_set, person, PLAIN)
    play(workspace, PLAIN)
    said = StringIO()
    call_command("attribute", stdout=said)
    assert said.getvalue() == "ws: 1 runs, 6 rounds examined\n"
    with pytest.raises(CommandError, match="nowhere is no registered workspace"):
        call_command("attribute", "nowhere")


@pytest.mark.slow
def test_the_watch_examines_only_what_has_changed(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    watch = Watch()
    saved(prompt_set, person, PLAIN)
    play(workspace, PLAIN)
    assert watch.look() == 1
    assert found(workspace) == [("exact", 1)]
    assert watch.look() == 0
    play(workspace, PLAIN, at=BEGUN + timedelta(hours=5))
    assert watch.look() == 1
    assert len(found(workspace)) == 2
    Workspace.objects.update(archived=True)
    saved(prompt_set, person, OTHER)
    assert watch.look() == 0


def test_a_workspace_that_breaks_the_watch_keeps_it_from_no_other(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Workspace.objects.create(slug="a", name="A", path=str(tmp_path / "a"), created_at=timezone.now())
    asked: list[str] = []

    def examine(each: Workspace, now: datetime) -> AttributionPass:
        asked.append(each.slug)
        if each.slug == "a":
            raise ValueError("what nobody thought of")
        return AttributionPass()

    monkeypatch.setattr(studio.operations.watching, "attribute_workspace", examine)
    watch = Watch()
    assert watch.look() == 2 and asked == ["a", workspace.slug]
    assert watch.look() == 0, "tried again when something changed"


def test_what_could_not_be_examined_for_the_moment_is_looked_at_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([AttributionPass(problem=JailUnavailable(CLOSED)), AttributionPass()])
    monkeypatch.setattr(studio.operations.watching, "attribute_workspace", lambda each, now: next(answers))
    watch = Watch()
    assert [watch.look() for _ in range(3)] == [1, 1, 0]
    damaged = AttributionPass(problem=DatabaseDamaged(DAMAGED, path="-", reason="-"))
    monkeypatch.setattr(studio.operations.watching, "attribute_workspace", lambda each, now: damaged)
    assert [(watch := Watch()).look(), watch.look()] == [1, 0], "nothing but a change can help"
    busy = AttributionPass(problem=JailUnavailable(CLOSED))
    monkeypatch.setattr(studio.operations.watching, "attribute_workspace", lambda each, now: busy)
    watch = Watch()
    assert sum(watch.look() for _ in range(100)) == studio.operations.watching.MOST_TRIES


@pytest.mark.parametrize("name", ["a\0b", "x" * 201, "\ud800"])
def test_what_no_column_can_hold_has_no_result_and_asks_for_none(workspace: Workspace, name: str) -> None:
    assert not is_id(name)
    assert run_origin(workspace, name).result is None
    assert brief_origins(workspace, [name]) == {}


def test_what_was_read_from_an_earlier_copy_is_looked_at_again(
    workspace: Workspace, prompt_set: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine so busy that no copy is ready in time.
    monkeypatch.setattr(settings, "STUDIO_COPY_PATIENCE", 0.0)
    monkeypatch.setattr(studio.operations.watching, "_COPY_SECONDS", 0.0)
    monkeypatch.setattr(studio.operations.watching, "MOST_TRIES", 10**9)
    saved(prompt_set, person, PLAIN)
    watch = Watch()
    for number in (1, 2, 3):
        play(workspace, PLAIN, at=BEGUN + timedelta(hours=5 * number))
        while watch.look():
            pass
        assert len(found(workspace)) == number
