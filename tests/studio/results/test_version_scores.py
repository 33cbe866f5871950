"""The history says what versions scored, which changes are significant, and what it does not compare."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from builder.results.statistics import difference, estimate
from studio.models import Label, PromptSet, PromptVersion, RoundResult, RunResult, Workspace
from studio.prompts.texts import Templates
from studio.results.models import Basis, Found
from studio.results.round_scores import by_round
from studio.results.scoring_basis import cautions_of
from studio.results.version_scores import (
    VersionScore,
    not_counted,
    scores_before,
    scores_of,
    versions_that_ran,
)
from tests.studio.clock import NOW

TEXTS = Templates("team {{ user_prompt }}", "evaluator {{ submission }}", "judgment")
LOW, HIGH = (70.0, 71.0, 72.0, 71.5), (80.0, 81.0, 82.0, 81.5)
_ids = count(1)


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    """Four versions, of which the third changed the evaluator."""
    made = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    strict = replace(TEXTS, evaluator_user_prompt="strict {{ submission }}")
    for text in (TEXTS, replace(TEXTS, team_user_prompt="b"), strict, replace(strict, team_user_prompt="d")):
        made.save_version(text, base=made.revision, message=f"m{made.revision + 1}", author=person, at=NOW)
    return made


@pytest.fixture
def workspace(db: None) -> Workspace:
    return Workspace.objects.create(slug="ws", name="WS", path="/nowhere/ws", created_at=NOW)


def ran(
    workspace: Workspace,
    version: PromptVersion | None,
    score: float | None = 80.0,
    *,
    task: str = "",
    over: bool = True,
    found: Found = Found.EXACT,
    basis: Basis = Basis.RECEIPT,
    metrics: Sequence[str] = ("Clarity", "Coverage"),
    rounds: Sequence[float] = (),
) -> RunResult:
    """A run of two teams; the second is one point behind the first in each round."""
    number = next(_ids)
    run = RunResult.objects.create(
        workspace=workspace,
        execution_id=f"run-{number}",
        over=over,
        state="completed" if over else "running",
        task=f"Task {task}",
        task_key=task,
        started_at=NOW + timedelta(minutes=number),
        teams=2,
        rounds=len(rounds),
        best_score=score,
        metrics=list(metrics),
        found=found,
        version=version,
        basis=basis,
        examined_up_to=1,
        examined_at=NOW,
    )
    RoundResult.objects.bulk_create(
        RoundResult(run=run, team_id=team, team_name=team, round_number=at, score=value - behind, found=found)
        for at, value in enumerate(rounds, start=1)
        for behind, team in enumerate(("a", "b"))
    )
    return run


def play(
    workspace: Workspace, prompt_set: PromptSet, number: int, scores: Sequence[float], **more: object
) -> None:
    version = prompt_set.versions.get(number=number)
    for at, score in enumerate(scores):
        ran(workspace, version, score, task=f"t{at}", **more)  # type: ignore[arg-type]


def of(prompt_set: PromptSet, number: int, *, anyway: bool = False) -> VersionScore:
    return scores_before(prompt_set, [number], anyway=anyway)[number]


def verdict(prompt_set: PromptSet, number: int, *, anyway: bool = False) -> str:
    change = of(prompt_set, number, anyway=anyway).change
    return change.verdict if change else ""


def test_a_mean_has_the_interval_of_its_finished_scored_runs(
    prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, LOW, rounds=(60.0, 70.0, 71.0))
    first = prompt_set.versions.get(number=1)
    ran(workspace, first, 99.0, over=False)
    ran(workspace, first, 99.0, found=Found.EDITED)
    ran(workspace, first, None)
    several = ran(workspace, None, 99.0, found=Found.SEVERAL)
    several.candidates.set(prompt_set.versions.filter(number__in=(1, 2)))
    score = of(prompt_set, 1)
    assert score.estimate == estimate(LOW)
    assert (score.runs, score.rounds, score.teams) == (5, 24, 2)
    assert (score.unfinished, score.edited, score.several, score.unscored) == (1, 1, 1, 1)
    assert score.change is None
    ran(workspace, None, 1.0, found=Found.UNKNOWN)
    left = not_counted(prompt_set)
    assert (left.several, left.edited, left.unknown) == (1, 1, 0)
    Label.objects.move("production", first, by=first.author, at=NOW)
    Workspace.objects.update(label=prompt_set.labels.get())
    assert not_counted(prompt_set).unknown == 1


def test_a_copied_database_is_no_second_run_and_a_failed_one_no_score(
    signed_in: Client, prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, LOW, rounds=(60.0, 70.0))
    copied = Workspace.objects.create(slug="copy", name="Copy", path="/nowhere/copy", created_at=NOW)
    first = prompt_set.versions.get(number=1)
    for run in RunResult.objects.filter(workspace=workspace):
        copy = ran(copied, first, run.best_score, task=run.task_key, rounds=(60.0, 70.0))
        RunResult.objects.filter(pk=copy.pk).update(execution_id=run.execution_id)
    failed = ran(workspace, first, 5.0)
    RunResult.objects.filter(pk=failed.pk).update(state="failed")
    score = of(prompt_set, 1)
    assert score.estimate == estimate(LOW)
    assert (score.runs, score.rounds, score.unscored, len(score.copies)) == (5, 16, 1, 4)
    page = signed_in.get("/prompts/set/versions/1/runs/").content.decode()
    assert "excluding 4 copies of runs in other workspaces" in page and page.count(">not counted<") == 5
    page = signed_in.get("/prompts/set/scores/").content.decode()
    assert "excluding 1 run that failed or has no score" in page
    rows = json.loads(signed_in.get("/prompts/set/versions/1/runs/?format=json&table=runs").getvalue())
    assert sum(row["counted"] for row in rows) == 4 and len(rows) == 9


def test_a_change_is_significant_within_it_or_of_too_few_runs(
    prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, LOW)
    play(workspace, prompt_set, 2, HIGH[:2])
    assert verdict(prompt_set, 2) == "few"
    play(workspace, prompt_set, 2, HIGH[2:])
    change = of(prompt_set, 2).change
    assert change and change.verdict == "more" and change.old == 1
    by_task = [{f"t{at}": [score] for at, score in enumerate(side)} for side in (LOW, HIGH)]
    # The last two were played as tasks t0 and t1 again.
    by_task[1] = {"t0": [HIGH[0], HIGH[2]], "t1": [HIGH[1], HIGH[3]]}
    assert change.difference == difference(*by_task)
    play(workspace, prompt_set, 3, (75.0, 80.0, 85.0))
    play(workspace, prompt_set, 4, (76.0, 79.0, 86.0))
    assert verdict(prompt_set, 4) == "within"


def test_another_evaluator_is_another_ruler_until_somebody_asks(
    prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 2, LOW)
    play(workspace, prompt_set, 3, HIGH)
    change = of(prompt_set, 3).change
    assert change and change.basis_change and (change.verdict, change.difference) == ("ruler", None)
    assert change.basis_change.why == "v3 changed the evaluator template."
    asked = of(prompt_set, 3, anyway=True).change
    assert asked and asked.forced and asked.verdict == "more" and asked.difference


def test_a_version_whose_parent_never_ran_is_compared_with_the_nearest_that_did(
    prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, LOW)
    play(workspace, prompt_set, 4, HIGH)
    change = of(prompt_set, 4).change
    assert change and change.basis_change and change.old == 1
    assert change.basis_change.why == "v3 changed the evaluator template."


def test_runs_with_other_metrics_are_measured_apart(prompt_set: PromptSet, workspace: Workspace) -> None:
    play(workspace, prompt_set, 1, LOW)
    play(workspace, prompt_set, 1, (10.0, 11.0), metrics=("Depth",))
    score = of(prompt_set, 1)
    assert score.estimate == estimate(LOW) and score.otherwise_measured == 2
    play(workspace, prompt_set, 2, HIGH, metrics=("Depth", "Tone"))
    change = of(prompt_set, 2).change
    assert change and change.basis_change
    assert change.basis_change.why == (
        "The runs of v2 were scored by Depth, Tone, those of v1 by Clarity, Coverage."
    )
    # Three runs of each with the same metrics compare, though most of the newer ones have others.
    play(workspace, prompt_set, 2, HIGH[:3])
    assert verdict(prompt_set, 2) == "more"


def test_unknown_tasks_are_not_taken_for_one(prompt_set: PromptSet, workspace: Workspace) -> None:
    for number, scores in ((1, LOW), (2, HIGH)):
        for score in scores:
            ran(workspace, prompt_set.versions.get(number=number), score, task="")
    change = of(prompt_set, 2).change
    assert change and change.difference and change.difference.method == "welch"


def test_what_a_page_asks_does_not_depend_on_the_length_of_the_history(
    prompt_set: PromptSet, workspace: Workspace, person: User
) -> None:
    play(workspace, prompt_set, 1, LOW)
    for number in range(5, 40):
        text = replace(TEXTS, team_user_prompt=str(number))
        prompt_set.save_version(text, base=number - 1, message="m", author=person, at=NOW)
        play(workspace, prompt_set, number, HIGH)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        scores = scores_before(prompt_set, range(30, 40))
    assert len(asked) <= 5
    assert min(scores) == 20 and scores[39].change and scores[39].change.old == 38
    assert versions_that_ran(prompt_set, before=37, most=3) == [36, 35, 34]
    assert len(scores_of(prompt_set, [36, 35, 34])) == 3


def test_later_rounds_are_compared_within_the_teams_that_took_part_in_both() -> None:
    # The weak team stops after its first round, and one comes late: neither is a gain.
    rows: list[tuple[int, str, int, float | None]] = []
    for run in range(4):
        rows += [(run, "a", 1, 60.0 + run), (run, "weak", 1, 40.0), (run, "failed", 1, None)]
        rows += [(run, "a", 2, 70.0 + run * 1.1), (run, "late", 2, 90.0)]
    first, second = by_round(rows)
    assert (first.runs, first.rounds, first.gain) == (4, 8, None)
    assert (second.runs, second.rounds) == (4, 8)
    assert second.estimate == estimate([80.0, 80.55, 81.1, 81.65])
    assert second.gain and second.gain.significant and 10 < second.gain.mean < 10.3
    assert [each.gain for each in by_round(rows[:5])] == [None, None]


def test_two_runs_that_other_judges_scored_are_compared_with_a_caution(
    prompt_set: PromptSet, workspace: Workspace
) -> None:
    runs = [ran(workspace, prompt_set.versions.get(number=number)) for number in (1, 2, 3)]
    ids = [run.execution_id for run in runs]
    unrecorded = "Evaluator, judgment and team settings are not recorded for both runs."
    assert [caution.text for caution in cautions_of(workspace, ids[0], ids[1])] == [unrecorded]
    apart, other = cautions_of(workspace, ids[1], ids[2])
    assert apart.apart and apart.text == (
        "Evaluator template changed: not comparable (inferred). First run: v2, second run: v3."
    )
    assert other.text == unrecorded and not other.apart
    assert cautions_of(workspace, ids[0], "nobody knows") == []
    edited = ran(workspace, prompt_set.versions.get(number=1), found=Found.EDITED)
    told, _ = cautions_of(workspace, ids[0], edited.execution_id)
    assert told.text.startswith("Evaluator and judgment templates are not known for both runs")


# --- pages -------------------------------------------------------------------------------


@pytest.fixture
def told(prompt_set: PromptSet, workspace: Workspace) -> PromptSet:
    """Runs of four versions: v2 helped, v3 has another ruler, v4 has too few."""
    play(workspace, prompt_set, 1, LOW, rounds=(60.0, 65.0, 71.0))
    play(workspace, prompt_set, 2, HIGH, rounds=(70.0, 75.0, 81.0), basis=Basis.FILE)
    play(workspace, prompt_set, 3, LOW, rounds=(60.0, 65.0, 71.0), basis=Basis.NONE)
    play(workspace, prompt_set, 4, LOW[:1])
    ran(workspace, prompt_set.versions.get(number=2), 81.0, over=False)
    ran(workspace, prompt_set.versions.get(number=2), 81.0, found=Found.EDITED)
    several = ran(workspace, None, 99.0, found=Found.SEVERAL)
    several.candidates.set(prompt_set.versions.filter(number__in=(1, 2)))
    return prompt_set


def test_the_history_shows_figures_and_verdicts(signed_in: Client, told: PromptSet) -> None:
    page = signed_in.get("/prompts/set/").content.decode()
    for words in (
        "significant",
        "Evaluator or judge changed: not comparable",
        "too few runs",
        "+10.00",
        "± 1.36",
    ):
        assert words in page
    assert len(re.findall(r"^\s*significant$", page, re.MULTILINE)) == 1
    assert "−10.00" not in page
    assert "How this is computed" in page and "Compare anyway" in page
    asked = signed_in.get("/prompts/set/?anyway=1").content.decode()
    assert "−10.00" in asked and "evaluator or judge changed" in asked and "because you asked for it" in asked
    part = signed_in.get("/prompts/set/?q=m2", headers={"HX-Target": "history"}).content.decode()
    assert re.search(r"^\s*significant$", part, re.MULTILINE) and "too few runs</span>" not in part


def test_a_history_without_runs_has_no_columns_for_them(signed_in: Client, prompt_set: PromptSet) -> None:
    page = signed_in.get("/prompts/set/").content.decode()
    assert "Mean best score" not in page and "How this is computed" not in page


@pytest.mark.slow
def test_the_scores_page_splits_where_the_ruler_changed(signed_in: Client, told: PromptSet) -> None:
    page = signed_in.get("/prompts/set/scores/").content.decode()
    assert "Evaluator or judge changed: v3 and v2 are not comparable." in page
    assert "v3 changed the evaluator template." in page
    assert page.count('class="basis-break"') == 1 and page.count('class="interval look-') == 2
    assert "/prompts/set/compare/2...3" in page and "anyway=1" in page
    assert "1 run matches several versions" in page
    rows = json.loads(signed_in.get("/prompts/set/scores/?format=json&table=versions").getvalue())
    assert [(row["version"], row["verdict"], row["difference"]) for row in rows] == [
        (4, "few", None), (3, "ruler", None), (2, "more", 10.0), (1, None, None),
    ]  # fmt: skip
    asked = json.loads(signed_in.get("/prompts/set/scores/?format=json&anyway=1").getvalue())
    assert (asked[1]["verdict"], asked[1]["different_ruler"], asked[1]["difference"]) == ("more", True, -10.0)


def test_a_versions_runs_say_what_their_judges_are_inferred_from(signed_in: Client, told: PromptSet) -> None:
    page = signed_in.get("/prompts/set/versions/2/runs/").content.decode()
    assert page.count("from the file on disk") == 4 and "from the export record" in page
    assert "not counted yet" in page and "Several versions render these prompts:" in page
    assert "Edited by hand; this is the closest version." in page
    assert "/workspaces/ws/runs/run-" in page and "Gain over the previous round" in page
    assert "from the team’s prompt only" in signed_in.get("/prompts/set/versions/3/runs/").content.decode()
    answer = signed_in.get("/prompts/set/versions/2/runs/?format=csv&table=rounds")
    lines = answer.getvalue().decode().splitlines()
    assert len(lines) == 4 and lines[3].startswith("2,3,4,8,80.5,")


def test_any_two_versions_are_compared_by_score_beside_their_texts(
    signed_in: Client, told: PromptSet
) -> None:
    helped = signed_in.get("/prompts/set/compare/1...2").content.decode()
    assert "significant" in helped and "+10.00" in helped
    apart = signed_in.get("/prompts/set/compare/1...3").content.decode()
    assert (
        "Evaluator or judge changed: not comparable" in apart
        and "v3 changed the evaluator template." in apart
    )
    assert "significant" not in apart


def test_pages_without_runs_say_what_to_do(signed_in: Client, prompt_set: PromptSet) -> None:
    assert "No finished runs yet" in signed_in.get("/prompts/set/scores/").content.decode()
    assert "No older version has runs" in signed_in.get("/prompts/set/scores/?before=2").content.decode()
    assert "No runs of this version yet" in signed_in.get("/prompts/set/versions/1/runs/").content.decode()
    assert signed_in.get("/prompts/set/versions/9/runs/").status_code == 404
