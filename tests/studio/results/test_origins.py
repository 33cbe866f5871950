"""Pages of runs say which version made their prompts, how sure that is, and what to do where nobody knows."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from studio.models import PromptVersion, RoundResult, RunResult, Workspace
from studio.results.models import Found
from studio.results.origins import Differing, brief_origins, round_origin, run_origin
from tests.studio.markup import tight
from tests.studio.traced_runs import TracedRuns, examine, make_traced_runs, register


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> TracedRuns:
    return make_traced_runs(tmp_path_factory.mktemp("traced"))


@pytest.fixture
def workspace(traced: TracedRuns, person: User, settings: object, tmp_path: Path) -> Workspace:
    settings.STUDIO_WORKSPACE_ROOTS = [traced.folder]  # type: ignore[attr-defined]
    return register(traced, person)[0]


def words(client: Client, name: str, *args: object) -> str:
    """What stands in the part of the page about the version, without its markup."""
    page = client.get(reverse(name, args=args)).content.decode()
    found = re.search(r'<(section|div) class="attribution.*?</\1>\s*(?=<)', page, re.DOTALL)
    assert found, page
    told = page[found.start() :].split("attribution-do")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", told).split())


@pytest.mark.slow
def test_a_run_that_was_not_examined_says_that_it_will_be(
    workspace: Workspace, traced: TracedRuns, signed_in: Client
) -> None:
    told = words(signed_in, "run-detail", "ws", traced.ids["shipped"])
    assert "not examined yet" in told and "manage.py attribute ws" in told
    assert "not examined yet" in words(signed_in, "run-round", "ws", traced.ids["shipped"], "team-001", 1)
    assert run_origin(workspace, traced.ids["shipped"]).state == "unexamined"
    assert brief_origins(workspace, traced.ids.values()) == {}


def test_every_outcome_is_told_on_the_pages_of_run_and_round(
    workspace: Workspace, traced: TracedRuns, signed_in: Client
) -> None:
    examine(workspace)
    run = {name: words(signed_in, "run-detail", "ws", each) for name, each in traced.ids.items()}
    one = {
        name: words(signed_in, "run-round", "ws", each, "team-001", 2)
        for name, each in traced.ids.items()
        if name not in ("running", "puzzling")
    }
    assert "exact Set v3 m3" in run["shipped"] and "all 4 prompts" in run["shipped"]
    assert "inferred Evaluator and judgment templates" in run["shipped"]
    assert "export record" in run["shipped"]
    assert "exact Set v3" in one["shipped"] and "another version: Set v4" in one["shipped"]
    assert "The export record identifies the version." in one["shipped"]

    assert "several Set v2 Set v1" in run["plain"] and "They differ in: Evaluator" in run["plain"]
    assert "same team template" in one["plain"]

    assert "edited by hand closest: Set v" in run["edited"] and "% match" in run["edited"]
    assert "Import the file as a version" in run["edited"]
    assert "What was sent, and what v" in one["edited"] and "Please do" in one["edited"]

    assert "unknown No version matches its prompts" in run["strange"]
    assert "Import the workspace’s file" in one["strange"]
    assert "exact Set v3" in run["running"]
    assert "The run has not finished" in run["puzzling"]

    page = signed_in.get(reverse("workspace-runs", args=["ws"])).content.decode()
    for told in (
        'Set <span class="num">v3</span>',
        "one of several versions",
        "edited by hand",
        "unknown version",
    ):
        assert told in tight(page)


@pytest.mark.slow
def test_a_round_that_its_runs_version_does_not_give_shows_what_differs(
    workspace: Workspace, traced: TracedRuns, signed_in: Client
) -> None:
    examine(workspace)
    own = RoundResult.objects.filter(run__execution_id=traced.ids["edited"])
    nearest = PromptVersion.objects.get(number=3)
    RunResult.objects.filter(execution_id=traced.ids["edited"]).update(found=Found.EXACT, version=nearest)
    assert round_origin(workspace, traced.ids["edited"], "team-001", 2).state == "unlike"
    told = words(signed_in, "run-round", "ws", traced.ids["edited"], "team-001", 2)
    assert "no exact match Set v3" in told and "Please do" in told
    own.filter(round_number=1).update(found=Found.EXACT, versions=[nearest.pk])
    assert "2 of 4 prompts" in words(signed_in, "run-detail", "ws", traced.ids["edited"])
    RunResult.objects.filter(execution_id=traced.ids["edited"]).update(found=Found.UNKNOWN, version=None)
    assert run_origin(workspace, traced.ids["edited"]).why == "mixed"
    own.delete()
    assert run_origin(workspace, traced.ids["edited"]).why == "no-prompts"


@pytest.mark.slow
def test_what_is_not_the_same_is_never_a_hundred_percent_alike(
    workspace: Workspace, traced: TracedRuns
) -> None:
    examine(workspace)
    RunResult.objects.update(likeness=0.99999)
    assert run_origin(workspace, traced.ids["edited"]).likeness == 99


def test_versions_that_cannot_be_told_apart_say_in_what_they_differ(workspace: Workspace) -> None:
    plain, same_team, shipped, untaken = PromptVersion.objects.order_by("number")
    assert Differing.of([plain, same_team]) == Differing(True, ("evaluator",))
    assert Differing.of([shipped, untaken]) == Differing(False, ("team",))
    assert Differing.of([plain, plain]) == Differing(True)


@pytest.mark.slow
def test_in_japanese(workspace: Workspace, traced: TracedRuns, signed_in: Client) -> None:
    examine(workspace)
    signed_in.cookies["studio-language"] = "ja"
    for name in ("plain", "shipped", "edited", "strange", "puzzling"):
        told = words(signed_in, "run-detail", "ws", traced.ids[name])
        assert not re.search(r"\b(the|version|run|They|prompts)\b", told), told
