"""Rounds of workflows: the prompt inside the JSON, the previous steps, and workflows that ask no model."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from builder.simulation import TEAMS, Run, Team, simulate
from builder.template.dialect import MIXSEEK_A19
from studio.models import PromptSet, RoundResult, Workspace
from studio.prompts.texts import Templates
from studio.results.attribution import attribute_workspace
from studio.results.models import Found
from tests.studio.clock import NOW
from tests.studio.markup import words_of

FLOW = Team("flow", "Flow", works="as-workflow")
CODE = Team("code", "Code", works="as-functions")
TEXTS = Templates(
    "<job>{{ user_prompt }}</job>\n{{ submission_history }}\n{{ current_datetime }}\n", "e", "j"
)


@pytest.fixture
def execution(tmp_path: Path, person: User) -> str:
    made = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    made.save_version(TEXTS, base=0, message="m", author=person, at=NOW)
    begun = datetime(2026, 9, 1, 9, tzinfo=UTC)
    run = Run("Do </job>.", begun, (TEAMS[0], FLOW, CODE), 2, TEXTS.by_kind, dialect=MIXSEEK_A19)
    (execution,) = simulate(tmp_path, [run])
    workspace = Workspace.objects.create(slug="w", name="W", path=str(tmp_path), created_at=NOW)
    assert attribute_workspace(workspace, timezone.now()).problem is None
    return execution


def test_the_prompt_of_a_workflow_is_shown_and_attributed(signed_in: Client, execution: str) -> None:
    rounds = RoundResult.objects.values_list("team_id", "round_number", "found")
    teams = (TEAMS[0].team_id, "flow")
    assert set(rounds) == {(team, number, Found.EXACT) for team in teams for number in (1, 2)}
    here = f"/workspaces/w/runs/{execution}/teams/flow/rounds/2/"
    page = words_of(signed_in, here)
    assert "exact Set v1" in page
    for told in (page, words_of(signed_in, f"/workspaces/w/runs/{execution}/")):
        assert "Formatting: mixseek-0.1.0a19, detected from the run’s prompts." in told
    assert "<job>Do &lt;/job&gt;.</job>" in page and '{"user_prompt"' not in page
    assert 'Workflow: the prompt was sent as JSON, together with the previous steps { "gather":' in page
    assert "renders exactly the same prompt." in words_of(signed_in, f"{here}replay/?version=set/1")


def test_a_workflow_of_functions_alone_says_that_it_has_no_prompt(signed_in: Client, execution: str) -> None:
    page = words_of(signed_in, f"/workspaces/w/runs/{execution}/teams/code/rounds/1/")
    assert "no prompt sent code is a workflow of functions only" in page
    assert "edited by hand" not in page and "not examined yet" not in page
