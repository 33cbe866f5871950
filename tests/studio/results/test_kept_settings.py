"""What runs were scored with is kept when the studio sees them, and a change of it shows in comparisons."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from builder.leaderboard.writer import Judgment, RoundKey, SimulatedDatabase
from builder.simulation import TEAMS, Run, simulate
from studio.models import PromptSet, RunResult, ScoringRecord, Workspace
from studio.prompts.texts import Templates
from studio.results.attribution import attribute_workspace
from studio.results.round_scores import rounds_of
from studio.results.scoring_basis import cautions_of
from studio.results.version_scores import Change, scores_of
from studio.workspaces.stores import close_all, store_of
from tests.builder.orchestrators.configured_workspace import EVALUATOR, JUDGMENT

TEXTS = [
    Templates(f"{name}: {{{{ user_prompt }}}}\n", "{{ submission }}\n", "j\n") for name in ("One", "Two")
]
STRICT = Templates("Three: {{ user_prompt }}\n", "Be strict: {{ submission }}\n", "j\n")
BEGUN = timezone.now() - timedelta(days=2)


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = PromptSet.objects.create(slug="set", name="Set", created_at=BEGUN, changed_at=BEGUN)
    for texts in (*TEXTS, STRICT):
        made.save_version(texts, base=made.revision, message="m", author=person, at=BEGUN)
    return made


@pytest.fixture
def workspace(db: None, tmp_path: Path, settings: object) -> Workspace:
    settings.STUDIO_WORKSPACE_ROOTS = [tmp_path]  # type: ignore[attr-defined]
    settings.STUDIO_DATA = tmp_path / "data"  # type: ignore[attr-defined]
    configs = tmp_path / "ws/configs"
    configs.mkdir(parents=True)
    (configs / "evaluator.toml").write_text(EVALUATOR)
    (configs / "judgment.toml").write_text(JUDGMENT)
    return Workspace.objects.create(slug="ws", name="WS", path=str(tmp_path / "ws"), created_at=BEGUN)


def play(workspace: Workspace, texts: Templates, hours: int, state: str = "completed") -> str:
    run = Run("Write.", BEGUN + timedelta(hours=hours), TEAMS[:2], templates=texts.by_kind, state=state)  # type: ignore[arg-type]
    (execution,) = simulate(workspace.folder, [run], seed=hours)
    backdate(workspace)
    return execution


def backdate(workspace: Workspace) -> None:
    """Let the files be those of before the first run."""
    for path in workspace.folder.rglob("*.toml"):
        os.utime(path, (BEGUN.timestamp(), BEGUN.timestamp()))


def see(workspace: Workspace, execution: str, after: timedelta = timedelta(minutes=1)) -> RunResult:
    """Look at the runs a while after the last row of this one."""
    close_all()
    known = store_of(workspace).execution(execution, now=BEGUN)
    assert known is not None and known.last_at is not None
    assert attribute_workspace(workspace, known.last_at + after).problem is None
    return RunResult.objects.get(execution_id=execution)


def edit(workspace: Workspace, file: str, old: str, new: str) -> None:
    path = workspace.folder / "configs" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def change_of(prompt_set: PromptSet, *numbers: int) -> Change:
    change = scores_of(prompt_set, numbers)[numbers[-1]].change
    assert change is not None
    return change


def test_a_run_that_is_seen_to_end_keeps_its_settings_stored_once(
    workspace: Workspace, prompt_set: PromptSet
) -> None:
    first, second = (see(workspace, play(workspace, TEXTS[0], hours)) for hours in (1, 2))
    assert first.scoring is not None and first.scoring == second.scoring
    assert first.orchestrator == "configs/orchestrator.toml"
    assert "Coverage.weight = 0.6" in first.scoring.settings.evaluator
    assert any("gemini-2.5-pro" in line for line in first.scoring.settings.teams)
    assert "secret" not in str(first.scoring.content)
    assert ScoringRecord.objects.count() == 1


def test_files_that_were_edited_since_the_run_began_are_not_taken_for_its_own(
    workspace: Workspace, prompt_set: PromptSet
) -> None:
    execution = play(workspace, TEXTS[0], 1)
    edit(workspace, "evaluator.toml", "0.6", "0.7")
    assert see(workspace, execution).scoring is None


def test_of_an_older_run_it_is_not_recorded(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    run = see(workspace, play(workspace, TEXTS[0], 1), after=timedelta(hours=1))
    assert run.found == "exact" and run.scoring is None
    address = reverse("run-detail", args=[workspace.slug, run.execution_id])
    assert "Scoring settings: not recorded." in signed_in.get(address).text
    page = signed_in.get(reverse("version-runs", args=["set", 1])).text
    assert "settings not recorded" in page and "settings of 1 run not recorded" in page


def test_the_runs_of_the_demo_count_as_seen(
    workspace: Workspace, prompt_set: PromptSet, settings: object
) -> None:
    settings.STUDIO_DATA = workspace.folder.parent  # type: ignore[attr-defined]
    demo = workspace.folder.parent / "demo/ws"
    workspace.folder.parent.joinpath("demo").mkdir()
    Workspace.objects.update(path=str(workspace.folder.rename(demo)))
    workspace.refresh_from_db()
    assert see(workspace, play(workspace, TEXTS[0], 1), after=timedelta(days=1)).scoring is not None


def test_what_was_seen_first_stays(workspace: Workspace, prompt_set: PromptSet) -> None:
    execution = play(workspace, TEXTS[0], 1, state="running")
    first = see(workspace, execution)
    assert not first.over and first.scoring is not None
    edit(workspace, "evaluator.toml", "0.6", "0.9")
    RunResult.objects.update(rounds=0)  # as if a round had come since
    again = see(workspace, execution)
    assert again.pk != first.pk and again.scoring == first.scoring


def test_where_several_orchestrators_fit_the_prompt_file_tells(
    workspace: Workspace, prompt_set: PromptSet
) -> None:
    execution = play(workspace, TEXTS[0], 1)
    configs = workspace.folder / "configs"
    other = (configs / "orchestrator.toml").read_text().replace("max_rounds = 3", "max_rounds = 9")
    (configs / "other.toml").write_text(other)
    assert see(workspace, execution).scoring is None
    (configs / "prompts.toml").write_text('[prompt_builder]\nteam_user_prompt = "Nobody\'s"\n')
    named = '[orchestrator]\nprompt_builder_config = "configs/prompts.toml"\n'
    (configs / "other.toml").write_text(other.replace("[orchestrator]\n", named))
    RunResult.objects.all().delete()
    assert see(workspace, execution).orchestrator == "configs/orchestrator.toml"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("weight = 0.6", "weight = 0.5", ["−Coverage.weight = 0.6", "+Coverage.weight = 0.5"]),
        (
            'default_model = "google-gla:gemini-2.5-flash"',
            'default_model = "openai:gpt-5"',
            ['−default_model = "google-gla:gemini-2.5-flash"', '+default_model = "openai:gpt-5"'],
        ),
    ],
)
def test_a_changed_weight_or_evaluator_model_splits_the_comparison(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet, old: str, new: str, lines: list[str]
) -> None:
    first = see(workspace, play(workspace, TEXTS[0], 1))
    edit(workspace, "evaluator.toml", old, new)
    second = see(workspace, play(workspace, TEXTS[1], 2))
    change = change_of(prompt_set, 1, 2)
    assert change.verdict == "ruler" and change.basis_change is not None
    assert change.basis_change.why == "Evaluator settings differ between the runs of v2 and v1."
    assert [line.sign + line.text for line in change.basis_change.lines] == lines
    (caution,) = cautions_of(workspace, first.execution_id, second.execution_id)
    assert caution.apart and [line.sign + line.text for line in caution.lines] == lines
    page = signed_in.get(reverse("prompt-scores", args=["set"])).text
    assert "Evaluator or judge changed: v2 and v1 are not comparable." in page
    assert lines[0][1:].split(" = ")[0] in page
    shown = signed_in.get(reverse("run-detail", args=[workspace.slug, second.execution_id])).text
    assert "configs/orchestrator.toml at that time" in shown
    assert lines[1][1:].replace('"', "&quot;") in shown
    address = reverse("run-compare", args=[workspace.slug, first.execution_id, second.execution_id])
    assert "Evaluator settings differ" in signed_in.get(address).text


def test_a_changed_team_model_is_a_caution(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    first = see(workspace, play(workspace, TEXTS[0], 1))
    execution = play(workspace, TEXTS[1], 2)
    edit(workspace, "agents/team-001.toml", "gemini-2.5-pro", "gemini-flash-latest")
    backdate(workspace)  # playing the run has written the file anew
    second = see(workspace, execution)
    change = change_of(prompt_set, 1, 2)
    assert change.verdict == "few" and change.basis_change is None and change.teams is not None
    assert [line.sign + line.text for line in change.teams.lines] == [
        '−team-001.leader.model = "google-gla:gemini-2.5-pro"',
        '+team-001.leader.model = "google-gla:gemini-flash-latest"',
    ]
    assert change.moving == ('team-001.leader.model = "google-gla:gemini-flash-latest"',)
    page = signed_in.get(reverse("prompt-scores", args=["set"])).text
    assert "Team models changed" in page and "moving alias" in page
    (caution,) = cautions_of(workspace, first.execution_id, second.execution_id)
    assert not caution.apart and caution.text.startswith("Team models changed")


@pytest.mark.parametrize(("metrics", "verdict"), [('name = "Sharpe"', "few"), ('name = "Coverage"', "ruler")])
def test_metrics_without_the_evaluator_template_do_not_split_where_only_that_changed(
    workspace: Workspace, prompt_set: PromptSet, metrics: str, verdict: str
) -> None:
    (workspace.folder / "configs/evaluator.toml").write_text(f"[[metrics]]\n{metrics}\nweight = 1.0\n")
    see(workspace, play(workspace, TEXTS[0], 1))
    (workspace.folder / "configs/prompt_builder.toml").unlink()
    see(workspace, play(workspace, STRICT, 2))
    assert change_of(prompt_set, 1, 3).verdict == verdict


def test_teams_that_did_not_finish_are_flagged_and_left_out_unless_asked_for(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    execution = play(workspace, TEXTS[0], 1)
    whole = see(workspace, execution)
    best = store_of(workspace).standings(execution)[0]
    close_all()
    with SimulatedDatabase(workspace.folder / "mixseek.db") as database:
        key = RoundKey(execution, best.team_id, best.team_name, best.best_round)
        database.mark_final(key, "partial_failure_timeout", BEGUN)
    run = see(workspace, execution)
    assert run.pk == whole.pk, "examined before anybody asked"
    assert run.partial_teams == [best.team_id]
    assert run.best_score == whole.best_score and run.whole_score is not None
    assert run.whole_score < whole.best_score
    for partial, expected, teams in ((False, run.whole_score, 1), (True, run.best_score, 2)):
        score = scores_of(prompt_set, [1], partial=partial)[1]
        assert score.main is not None and score.main.estimate.mean == expected
        assert rounds_of(prompt_set, 1, score.main)[0].rounds == teams
    page = signed_in.get(reverse("version-runs", args=["set", 1]))
    assert "1 did not finish" in page.text and "Include them" in page.text
    assert "Exclude them" in signed_in.get(page.request["PATH_INFO"] + "?partial=1").text
    ranking = signed_in.get(reverse("run-detail", args=[workspace.slug, execution])).text
    assert "Timed out after some rounds" in ranking
    summary = store_of(workspace).across.team(best.team_id)
    assert summary and (summary.partial, summary.mean_score) == (1, None)
    assert summary.mean_of_all == pytest.approx(best.best_score)
    team = signed_in.get(reverse("team-detail", args=[workspace.slug, best.team_id])).text
    assert "excluding 1 unfinished run" in team
    for of in ("best", "rounds"):
        scores = reverse("workspace-scores", args=[workspace.slug]) + f"?of={of}"
        left, all_of_them = (
            signed_in.get(scores + more).context["scores"].whole.count for more in ("", "&partial=1")
        )
        assert (left, all_of_them) == ((1, 2) if of == "best" else (run.rounds, 2 * run.rounds))
    assert "Include them" in signed_in.get(scores).text


def test_decisions_of_a_rule_are_no_verdicts_of_a_model(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    execution = play(workspace, TEXTS[0], 1)
    close_all()
    team = TEAMS[0]
    with SimulatedDatabase(workspace.folder / "mixseek.db") as database:
        for number, reason, sure in (
            (1, "Below minimum rounds (1 < 2), continuing", 1.0),
            (2, "Below minimum rounds would be odd here", 0.9),
            (3, "Final round reached (judgment skipped by judge_on_final_round)", 1.0),
        ):
            key = RoundKey(execution, team.team_id, team.team_name, number)
            database.save_judgment(key, Judgment(number < 3, reason, sure), BEGUN)
    pages = [
        signed_in.get(reverse("run-round", args=[workspace.slug, execution, team.team_id, number])).text
        for number in (1, 2, 3)
    ]
    assert ["by a rule, not by a model" in page for page in pages] == [True, False, True]
    assert ["Confidence" in page for page in pages] == [False, True, False]
    assert (
        signed_in.get(reverse("run-team", args=[workspace.slug, execution, team.team_id])).text.count(
            "by a rule, not by a model"
        )
        == 2
    )
