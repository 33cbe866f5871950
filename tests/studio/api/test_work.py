"""Rendering, comparing, checking, exporting and reading runs through the API, on the demo."""

import hashlib
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from builder.jail import JailPool
from studio.api.answers import Page
from studio.api.context_views import ContextShown
from studio.api.export_views import ExportShown, Planned, ReceiptShown
from studio.api.run_views import RoundShown, RunListed, RunOfVersion, RunShown, ScoreShown
from studio.api.set_views import LabelShown
from studio.api.text_views import Checked, Compared, Rendered
from studio.api.version_views import VersionShown
from studio.api.workspace_views import WorkspaceListed, WorkspaceShown
from studio.models import Export, PromptSet, SampleContext, Workspace
from studio.results.attribution import attribute_workspace
from studio.shell import turns
from studio.shell.turns import Places
from tests.studio.api.client import Api, Refused
from tests.studio.api.test_versions import CONTEXT, texts
from tests.studio.jail import UseJail


def test_a_version_a_label_and_a_text_are_rendered(api: Api, research: PromptSet) -> None:
    api.post(ContextShown, "contexts", {"name": "First", "context": CONTEXT, "submission": "Done"})
    latest = api.post(Rendered, "render", {"set": "research", "context": "first"})
    assert (latest.version, latest.context, latest.round) == (1, "first", 1)
    assert all(prompt.prompt and "Find it" in prompt.prompt for prompt in latest.prompts)
    api.put(LabelShown, "sets/research/labels/production", {"version": 1})
    by_label = api.post(Rendered, "render", {"set": "research", "version": "production", "context": "first"})
    assert by_label == latest
    sent = {"set": "research", "context": "first", "texts": {"team_user_prompt": "Do: {{ user_prompt }}"}}
    own = api.post(Rendered, "render", sent)
    assert [(prompt.text, prompt.prompt) for prompt in own.prompts] == [("team", "Do: Find it")]
    wrong = api.post(Rendered, "render", sent | {"texts": {"team_user_prompt": "{{ user_promt }}"}})
    assert wrong.prompts[0].prompt is None and wrong.prompts[0].problems[0].replacement == "user_prompt"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"set": "nothing"}, 404),
        ({"version": "nothing"}, 404),
        ({"context": "nothing"}, 404),
        ({"round": 7}, 422),
        ({"texts": {}}, 422),
        ({"texts": {"team_user_prompt": "x" * 70_000}}, 422),
    ],
)
def test_what_cannot_be_rendered(
    api: Api, research: PromptSet, change: dict[str, object], status: int
) -> None:
    with pytest.raises(Refused) as refused:
        api.post(Rendered, "render", {"set": "research", **change})
    assert refused.value.problem.status == status


def test_a_text_without_end_meets_its_limit_and_its_owner_waits(api: Api, research: PromptSet) -> None:
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{{ a * b }}{% endfor %}{% endfor %}"
    body = {"set": "research", "texts": {"team_user_prompt": endless}}
    prompt = api.post(Rendered, "render", body).prompts[0]
    assert prompt.prompt is None and prompt.problems


def test_texts_are_checked_as_a_save_would(api: Api, research: PromptSet) -> None:
    good = api.post(Checked, "check", {"set": "research", "texts": texts()})
    assert good.ok
    bad = api.post(Checked, "check", {"set": "research", "texts": texts("{{ nothing }}")})
    assert not bad.ok and bad.problems[0].line == 1
    fails = {"set": "research", "texts": texts("{{ 1 / (round_number - round_number) }}")}
    assert not api.post(Checked, "check", fails).ok


def test_two_versions_are_compared_as_written_and_as_prompts(api: Api, demo: Path) -> None:
    written = api.get(Compared, "sets/research-team/compare?old=1&new=latest")
    changed = {text.text: text for text in written.texts}
    assert changed["team"].state == "changed" and "--- research-team/v1/team_user_prompt" in (
        changed["team"].diff or ""
    )
    context = SampleContext.objects.order_by("-pk")[0].slug
    prompts = api.get(Compared, f"sets/research-team/compare?old=1&new=2&rendered=true&context={context}")
    assert prompts.context == context and prompts.round
    with pytest.raises(Refused) as refused:
        api.get(Compared, "sets/research-team/compare?old=1&new=draft")
    assert refused.value.problem.status == 404


def test_a_heavy_request_without_a_place_is_told_when_to_come_back(
    api: Api, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.api.text_views.PLACES", Places(places=0, seconds=0.01))
    with pytest.raises(Refused) as refused:
        api.get(Compared, "sets/research-team/compare?old=1&new=2")
    assert (refused.value.problem.status, refused.value.problem.code) == (503, "busy")
    assert refused.value.headers["Retry-After"] == str(turns.COME_BACK_SECONDS)


def test_a_plan_is_confirmed_once_and_leaves_receipts(api: Api, demo: Path) -> None:
    known = api.get(Page[WorkspaceListed], "workspaces").items
    assert {each.slug for each in known} == set(Workspace.objects.values_list("slug", flat=True))
    plan = api.post(Planned, "exports/plan", {"set": "research-team", "version": "2", "files": ["research"]})
    (target,) = plan.targets
    assert (plan.version, plan.label, target.workspace) == (2, "", "research")
    assert target.standing in ("ready", "edited") and target.diff
    file = {"key": target.key, "sha256": target.sha256, "overwrite": target.standing == "edited"}
    body = {"set": "research-team", "version": 2, "files": [file], "batch": str(uuid4())}
    before = Export.objects.count()
    done = api.post(ExportShown, "exports", body)
    assert [receipt.outcome for receipt in done.receipts] == ["written"]
    assert api.headers["Location"] == f"/api/v1/exports/{body['batch']}"
    api.post(ExportShown, "exports", body)
    assert Export.objects.count() == before + 1
    path = Path(Workspace.objects.get(slug="research").path) / done.receipts[0].file
    assert hashlib.sha256(path.read_bytes()).hexdigest() == done.receipts[0].sha256_after
    state = api.get(WorkspaceShown, "workspaces/research").files[0]
    assert state.version and state.version.version == 2 and state.sha256 == done.receipts[0].sha256_after
    listed = api.get(Page[ReceiptShown], "exports?workspace=research&limit=1")
    assert listed.items[0].batch == done.batch and listed.next
    # What the plan showed is no longer there, so nothing is written.
    late = api.post(ExportShown, "exports", {**body, "version": 1, "batch": str(uuid4())})
    assert (late.receipts[0].outcome, bool(late.receipts[0].failure)) == ("failed", True)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("exports/plan", {"set": "research-team", "version": "nothing"}, 404),
        ("exports/plan", {"set": "research-team", "files": ["nothing"]}, 404),
        ("exports/plan", {"set": "research-team", "files": ["../x"]}, 422),
        ("exports", {"set": "research-team", "version": 1, "files": []}, 422),
        ("exports", {"set": "research-team", "version": 1, "files": [{"key": "nothing", "sha256": ""}]}, 404),
        (
            "exports",
            {
                "set": "research-team",
                "version": 1,
                "label": "production",
                "files": [{"key": "research", "sha256": ""}],
            },
            409,
        ),
    ],
)
def test_what_cannot_be_exported(
    api: Api, demo: Path, path: str, body: dict[str, object], status: int
) -> None:
    with pytest.raises(Refused) as refused:
        api.post(ExportShown, path, body)
    assert refused.value.problem.status == status


def test_runs_their_rounds_and_scores(api: Api, demo: Path) -> None:
    workspace = Workspace.objects.get(slug="research")
    attribute_workspace(workspace, timezone.now())
    runs = api.get(Page[RunListed], "workspaces/research/runs?limit=3")
    assert len(runs.items) == 3 and runs.next
    second = api.get(Page[RunListed], f"workspaces/research/runs?limit=3&cursor={runs.next}")
    assert not {run.id for run in runs.items} & {run.id for run in second.items}
    exact = next(
        run
        for run in api.get(Page[RunListed], "workspaces/research/runs?limit=100").items
        if run.attribution.state == "exact" and run.state == "completed"
    )
    version = exact.attribution.versions[0]
    run = api.get(RunShown, f"workspaces/research/runs/{exact.id}")
    assert run.attribution.versions == [version] and run.ranking[0].rank == 1
    assert run.ranking[0].best_score == run.best_score
    rounds = api.get(Page[RoundShown], f"workspaces/research/runs/{exact.id}/rounds?limit=2")
    assert len(rounds.items) == 2 and version in rounds.items[0].versions and rounds.items[0].metrics
    of_version = api.get(Page[RunOfVersion], f"sets/{version.set}/versions/{version.version}/runs")
    assert exact.id in {each.id for each in of_version.items}
    scores = api.get(Page[ScoreShown], f"sets/{version.set}/scores")
    assert scores.items and scores.items[0].best_score and scores.items[0].best_score.runs
    assert api.send("GET", "workspaces/research/runs/nothing").status_code == 404
    assert api.send("GET", "workspaces/research/runs/nothing/rounds").status_code == 404


def test_a_jail_that_is_off_is_not_available(api: Api, research: PromptSet, use_jail: UseJail) -> None:
    closed = JailPool(size=1)
    closed.close()
    use_jail(closed)
    answer = api.send(
        "POST", "render", {"set": "research", "texts": {"team_user_prompt": "new {{ user_prompt }}"}}
    )
    assert answer.status_code == 503 and answer["Retry-After"]
    assert api.get(VersionShown, "sets/research/versions/1").number == 1
