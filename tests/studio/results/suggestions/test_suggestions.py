"""What the data suggests: rounds of runs to add, lines that nothing reaches, variables that nothing uses."""

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.jail import JailPool
from builder.simulation import Run, simulate
from studio.models import PromptSet, RoundResult, RunResult, SampleContext, Workspace
from studio.prompts.texts import Templates
from studio.results.models import Found
from studio.results.suggestions.reaching_rounds import reaching_rounds
from studio.results.suggestions.sample_gaps import TRAITS, Gap, Samples, traits_of
from studio.results.suggestions.suggested_rounds import from_runs
from studio.workspaces.stores import store_of
from tests.studio.clock import NOW
from tests.studio.editing import fields, make_context, make_set
from tests.studio.jail import UseJail
from tests.studio.markup import tight

BEGUN = datetime(2026, 4, 1, 9, tzinfo=UTC)
PAGE = "/prompts/set/suggestions/"
BRANCHES = Templates(
    "{{ user_prompt }}\n{% if round_number > 3 %}\nlate <1>\n\nlater\n{% endif %}\n{{ ranking_table }}\n",
    "{{ submission }}\n",
    "{{ submission_history }}\n",
)
COUNTS = {"HX-Request": "true", "HX-Target": "suggestion-counts"}


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    made.save_version(BRANCHES, base=1, message="branches", author=person, at=NOW)
    make_context("third", rounds=3, prompt_set=made)
    made.refresh_from_db()
    return made


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of four teams and four rounds, for tests that only ask."""
    folder = tmp_path_factory.mktemp("suggested") / "ws"
    folder.mkdir()
    run = Run("課題 <b>" + "長" * 700, BEGUN, rounds=4, templates=BRANCHES.by_kind)
    simulate(folder, [run], seed=5)
    return folder


@pytest.fixture
def workspace(prompt_set: PromptSet, played: Path, settings: Any) -> Workspace:
    """The run is known to be made with the newest version."""
    settings.STUDIO_WORKSPACE_ROOTS = [played.parent]
    settings.STUDIO_DATA = played.parent / "data"
    made = Workspace.objects.create(slug="ws", name="<WS>", path=str(played), created_at=BEGUN)
    (execution,) = store_of(made).executions()
    result = RunResult.objects.create(
        workspace=made,
        execution_id=execution.execution_id,
        over=True,
        state=execution.state,
        task=execution.user_prompt or "",
        started_at=execution.started_at,
        teams=execution.teams,
        rounds=execution.rounds,
        found=Found.EXACT,
        version=prompt_set.versions.get(number=2),
        examined_up_to=0,
        examined_at=NOW,
    )
    RoundResult.objects.bulk_create(
        RoundResult(
            run=result,
            team_id=each.team_id,
            team_name=each.team_name,
            round_number=each.round_number,
            score=each.score,
            found=Found.EXACT,
        )
        for each in store_of(made).rounds(execution.execution_id)
    )
    return made


def text_of(client: Client, address: str = PAGE, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


# --- rounds ------------------------------------------------------------------------------


def test_each_suggestion_names_a_real_round_that_is_what_it_says(
    workspace: Workspace, prompt_set: PromptSet
) -> None:
    found = from_runs(prompt_set)
    assert (found.runs, found.unread) == (1, ())
    gaps = [gap for suggestion in found.suggestions for gap in suggestion.gaps]
    # Each once, and together all that the only context lacks.
    assert sorted(gap.what for gap in gaps) == sorted({gap.what for gap in gaps})
    assert {"round", "task", "first", "last", "between", "far"} <= {gap.what for gap in gaps}
    assert [(gap.real, gap.sampled) for gap in gaps if gap.what == "round"] == [(4, 3)]
    for suggestion in found.suggestions:
        played = suggestion.round
        assert RoundResult.objects.filter(
            run=played.run, team_id=played.team_id, round_number=played.number
        ).exists()
        made = store_of(workspace).rebuild(played.run.execution_id, played.team_id, played.number)
        traits = {gap.what for gap in suggestion.gaps} & set(TRAITS)
        assert traits <= traits_of(made.context)


@pytest.mark.slow
def test_one_click_each_and_everything_is_covered(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    for _ in range(10):
        page = text_of(signed_in)
        form = re.search(
            r'<form method="post" class="keep" action="(/workspaces/ws/[^"]+)">(.*?)</form>', page, re.DOTALL
        )
        if form is None:
            break
        sent = dict(re.findall(r'name="(name|description|prompt_set)" value="([^"]*)"', form[2]))
        values = {name: html.unescape(value) for name, value in sent.items()}
        answer = signed_in.post(html.unescape(form[1]), values)
        made = SampleContext.objects.latest("pk")
        assert (answer.status_code, answer["Location"]) == (302, made.get_absolute_url())
        assert made.prompt_set == prompt_set
    assert 2 <= SampleContext.objects.count() <= 6
    assert "Sample contexts cover all runs" in page
    assert from_runs(prompt_set).suggestions == ()
    # A context at round 4 reaches what round 3 did not.
    assert "late &lt;1&gt;" not in page


def test_the_answer_is_kept_until_runs_or_contexts_change(
    workspace: Workspace, prompt_set: PromptSet, django_assert_max_num_queries: Any
) -> None:
    found = from_runs(prompt_set)
    with django_assert_max_num_queries(2):
        assert from_runs(prompt_set) is found
    make_context("fifth", rounds=5)
    changed = from_runs(prompt_set)
    assert "round" not in {gap.what for each in changed.suggestions for gap in each.gaps}
    RunResult.objects.all().delete()
    assert from_runs(prompt_set).runs == 0


def test_only_runs_of_this_set_in_workspaces_in_use_count(
    workspace: Workspace, prompt_set: PromptSet, person: User
) -> None:
    other = make_set(person, "other")
    assert from_runs(other).runs == 0
    # One of several versions that cannot be told apart counts for each of their sets.
    result = RunResult.objects.get()
    result.version, result.found = None, "several"
    result.save()
    result.candidates.set([prompt_set.versions.get(number=2), other.versions.get()])
    assert (from_runs(other).runs, from_runs(prompt_set).runs) == (1, 1)
    Workspace.objects.update(archived=True)
    assert from_runs(prompt_set).runs == 0


def test_without_its_database_a_run_is_known_by_its_figures(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    Workspace.objects.update(path=workspace.path + "-gone")
    found = from_runs(prompt_set)
    assert found.unread == (workspace,)  # the same row, with another path by now
    assert {gap.what for each in found.suggestions for gap in each.gaps} == {"round", "task", "teams"}
    assert 'The database of <a href="/workspaces/ws/">&lt;WS&gt;</a> cannot be read now' in text_of(signed_in)


def test_a_run_without_its_task_leads_to_the_page_that_asks_for_it(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet
) -> None:
    RunResult.objects.update(task="")
    page = text_of(signed_in)
    assert re.search(r'<a class="button small" href="/workspaces/ws/runs/[^"]+/context/\?set=set">', page)
    assert 'class="keep"' not in page


def test_samples_are_measured_over_all_their_rounds(prompt_set: PromptSet) -> None:
    make_context(
        "board",
        rounds=2,
        ranking=[
            {"team_id": "t", "team_name": "T", "max_score": 50, "total_rounds": 1},
            {"team_id": "u", "team_name": "U", "max_score": 40, "total_rounds": 1},
        ],
    )
    found = Samples.of(SampleContext.objects.for_set(prompt_set))
    assert found.traits == {"first", "no-ranking"}
    assert found.measures == {"round": 3, "teams": 2, "task": 15, "submission": 9, "history": 12}
    assert [found.lacks("round", real) for real in (3, 4)] == [False, True]
    assert [found.lacks("teams", real) for real in (4, 5)] == [False, True]
    assert [found.lacks("submission", real) for real in (508, 509)] == [False, True]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_gap_is_said_with_its_figures(language: str) -> None:
    from django.utils import translation

    with translation.override(language):
        said = Gap("submission", 12_345, 678).words
        alone = Gap("submission", 12_345, 0).words
    assert "12,345" in said and "678" in said
    assert "12,345" in alone and "0" not in alone


# --- lines and variables -----------------------------------------------------------------


def test_unreached_lines_and_idle_variables_are_listed(signed_in: Client, prompt_set: PromptSet) -> None:
    page = tight(text_of(signed_in))
    assert re.findall(r'<li value="(\d+)">.*?<code>(.*?)</code>', page) == [
        ("3", "late &lt;1&gt;"),
        ("5", "later"),
    ]
    idle = re.findall(r'<th scope="row" data-title="Variable"><code>(\w+)</code>', page)
    assert idle[:3] == ["submission_history", "team_position_message", "current_datetime"]
    japanese = signed_in.get(PAGE, headers={"Accept-Language": "ja"}).content.decode()
    assert "変数の内容" in japanese and "セットの内容" not in japanese
    assert 'data-copy="{{ team_position_message }}"' in page
    assert "No runs with a version of this set yet" in page


def test_a_template_of_many_lines_lists_the_first_of_them(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    text = "a\n{% if round_number > 99 %}\n" + "b\n" * 5_000 + "{% endif %}\n"
    many = replace(BRANCHES, team_user_prompt=text)
    prompt_set.save_version(many, base=prompt_set.revision, message="many", author=person, at=NOW)
    page = text_of(signed_in)
    assert "4700 more lines are not listed." in page and page.count("coverage-mark") < 400


@pytest.mark.slow
def test_a_real_round_that_reaches_them_is_named(
    signed_in: Client, workspace: Workspace, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    (found,) = reaching_rounds(prompt_set, BRANCHES.team_user_prompt, [3, 5])
    assert (found.round.number, found.lines) == (4, (3, 5))
    assert "Rounds of runs cover some of them" in text_of(signed_in)
    never = "{% if round_number > 8 %}\nnever\n{% endif %}"
    assert reaching_rounds(prompt_set, never, [2]) == ()
    # Kept: the same text asks neither the databases nor the jail again.
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    assert reaching_rounds(prompt_set, BRANCHES.team_user_prompt, [3, 5]) == (found,)


def test_older_versions_and_the_draft_have_their_own(signed_in: Client, prompt_set: PromptSet) -> None:
    assert "<li value=" not in text_of(signed_in, f"{PAGE}?version=1")
    assert "You have no unsaved draft" in text_of(signed_in, f"{PAGE}?version=draft", 404)
    draft = "{% if round_number > 8 %}\nmine\n{% endif %}\n"
    sent = fields(base="2", team_user_prompt=draft)
    assert signed_in.post("/prompts/set/draft/", sent).status_code == 200
    assert "?version=draft" in text_of(signed_in)
    page = text_of(signed_in, f"{PAGE}?version=draft")
    assert re.findall(r'<li value="(\d+)">', page) == ["2"]
    assert "no such version" in text_of(signed_in, f"{PAGE}?version=3", 404)
    text_of(signed_in, f"{PAGE}?version=-1", 400)


def test_the_sets_page_is_told_the_counts(signed_in: Client, prompt_set: PromptSet) -> None:
    assert f'hx-get="{PAGE}"' in text_of(signed_in, "/prompts/set/")
    part = signed_in.get(PAGE, headers=COUNTS).content.decode()
    assert "2 lines not covered" in part and "<html" not in part
    make_context("fifth", rounds=5)
    # Nothing to say: the tab alone leads there.
    assert "<a " not in signed_in.get(PAGE, headers=COUNTS).content.decode()


def test_with_the_jail_stopped_the_rest_is_shown(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    page = text_of(signed_in)
    assert "No runs with a version" in page and 'class="notice warning"' in page


def test_a_set_without_versions_or_contexts_has_suggestions_of_its_defaults(
    signed_in: Client, person: User
) -> None:
    PromptSet.objects.create(slug="bare", name="Bare", created_at=NOW, changed_at=NOW)
    page = text_of(signed_in, "/prompts/bare/suggestions/")
    assert "For the default templates of mixseek-0.1.0a19" in page
    assert "This set has no sample context" in page
