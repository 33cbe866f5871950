"""Pages that compare versions say what their runs can show, and how many more a difference takes."""

import json
import re

import pytest
from django.test import Client

from builder.results.power import design, more_runs, smallest_difference
from studio.models import PromptSet, Workspace
from studio.shell.numbers import score
from tests.studio.results.test_version_scores import HIGH, LOW, play, prompt_set, workspace

__all__ = ["prompt_set", "workspace"]

PAGES = ("scores/", "versions/2/runs/", "compare/1...2")


def read(client: Client, address: str) -> str:
    """The text of a page, without its tags."""
    page = client.get(f"/prompts/set/{address}").content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.fixture
def played(prompt_set: PromptSet, workspace: Workspace) -> PromptSet:
    """Two versions that ran the same four tasks."""
    play(workspace, prompt_set, 1, LOW)
    play(workspace, prompt_set, 2, (80.0, 83.0, 79.0, 84.5))
    return prompt_set


def test_every_comparison_says_what_is_detectable_and_what_a_choice_takes(
    signed_in: Client, played: PromptSet
) -> None:
    sides = [
        {f"t{at}": [value] for at, value in enumerate(scores)} for scores in (LOW, (80.0, 83.0, 79.0, 84.5))
    ]
    found = design(*sides)
    assert not isinstance(found, str)
    detectable = f"Detectable with these runs: {score(smallest_difference(found))} or more"
    for page in PAGES:
        usual = read(signed_in, page)
        assert detectable in usual
        needed = more_runs(found, 2.0)
        assert f"To detect 2.00: {needed} more runs of each version, on the tasks that both ran" in usual
        assert "To detect 50.00: enough runs" in read(signed_in, f"{page}?detect=50")
        assert "To detect 0.01: over 10000 more runs of each version" in read(
            signed_in, f"{page}?detect=0.01"
        )
        # What else the address says stays with the next choice.
        kept = signed_in.get(f"/prompts/set/{page}?detect=1.5&partial=1&w=on").content.decode()
        assert 'name="detect" value="1.5"' in kept and 'type="hidden" name="w" value="on"' in kept
    # The history has no field for a choice, and says what is detectable all the same.
    history = read(signed_in, "")
    assert detectable in history and "How many runs are needed?" in history and "To detect" not in history


def test_a_choice_that_is_no_difference_is_refused(signed_in: Client, played: PromptSet) -> None:
    for page in PAGES:
        for choice in ("0", "-3", "nan", "inf", "1e999", "many"):
            answer = signed_in.get(f"/prompts/set/{page}?detect={choice}")
            assert answer.status_code == 400 and "Difference to detect" in answer.content.decode()


def test_too_few_runs_and_scores_that_do_not_vary_are_said(
    signed_in: Client, prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, LOW)
    play(workspace, prompt_set, 2, HIGH[:1])
    assert "Too few runs to say what is detectable" in read(signed_in, "scores/")
    play(workspace, prompt_set, 3, (70.0, 70.0, 70.0))
    play(workspace, prompt_set, 4, (71.0, 71.0, 71.0))
    assert "Detectable difference unknown: the scores do not vary." in read(signed_in, "compare/3...4")


def test_scores_beyond_all_measure_break_no_page(
    signed_in: Client, prompt_set: PromptSet, workspace: Workspace
) -> None:
    play(workspace, prompt_set, 1, (*LOW, 1e200, -1e300))
    play(workspace, prompt_set, 2, (80.0, 83.0, 79.0, 1e308))
    page = read(signed_in, "scores/")
    assert "Detectable with these runs" in page and "excluding 2 runs that failed or have no score" in page


def test_files_have_the_figures(signed_in: Client, played: PromptSet) -> None:
    rows = json.loads(signed_in.get("/prompts/set/scores/?format=json&detect=3").getvalue())
    assert rows[0]["difference_to_detect"] == 3.0 and rows[0]["more_runs_of_each"] > 0
    assert rows[0]["smallest_detectable_difference"] > 3
    assert rows[1]["more_runs_of_each"] is None
