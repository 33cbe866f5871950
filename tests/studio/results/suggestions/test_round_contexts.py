"""Stored rounds become sample contexts: rebuilt from the database, held against what was really sent."""

import html
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from builder.leaderboard import AggregationStore, Execution
from builder.leaderboard.writer import RoundKey, SimulatedDatabase
from builder.template.dialect import MIXSEEK
from builder.template.formatters import variables
from builder.template.rounds import seen_at
from studio.models import PromptSet, SampleContext, Workspace
from studio.shell.jail import pool
from studio.workspaces.stores import store_of
from tests.studio import odd_workspace as odd
from tests.studio.clock import NOW
from tests.studio.jail import UseJail


def address(workspace: str, execution: str, team: str, number: int) -> str:
    return reverse("run-round-context", args=[workspace, execution, team, number])


def run_in(store: AggregationStore, state: str) -> Execution:
    return next(each for each in store.executions() if each.state == state)


@pytest.fixture
def store(demo: Path) -> AggregationStore:
    return store_of(Workspace.objects.get(slug="research"))


def proposed(page: str) -> dict[str, str]:
    """What the form would send as it stands."""
    return {
        name: html.unescape(re.search(rf'name="{name}" value="([^"]*)"', page)[1])  # type: ignore[index]
        for name in ("name", "description")
    } | {"prompt_set": ""}


@pytest.mark.slow
def test_a_saved_round_gives_the_delivered_prompt_to_the_byte(
    store: AggregationStore, signed_in: Client
) -> None:
    run = run_in(store, "completed")
    url = address("research", run.execution_id, "team-002", 3)
    page = signed_in.get(url).content.decode()
    assert "This context gives exactly the prompt that was sent." in page
    assert re.search(r"/prompts/research-team/versions/4/", page) and "production" in page
    assert "as MixSeek stored it at the end of the run" in page
    assert "The team sees the previous rounds; the judgment sees this one too." in page
    answer = signed_in.post(url, proposed(page))
    saved = SampleContext.objects.latest("pk")
    assert answer.headers["Location"] == saved.get_absolute_url()
    assert saved.name.startswith("Beta Analysts, round 3:") and run.execution_id in saved.description
    record = store.rounds(run.execution_id, "team-002")[2]
    assert saved.submission == record.submission
    told = saved.round_context
    assert [state.round_number for state in told.round_history] == [1, 2, 3]
    rebuilt = store.rebuild(run.execution_id, "team-002", 3)
    seen = seen_at("team", told, saved.submission, 3)
    assert seen == rebuilt.context
    template = PromptSet.objects.get(slug="research-team").versions.get(number=4).team_user_prompt
    values = variables("team", seen, None, rebuilt.delivered_at, MIXSEEK, template)
    sent = store.delivered(run.execution_id, "team-002", 3).text
    assert pool().render("team", template, values, MIXSEEK) == sent


@pytest.mark.slow
def test_a_second_copy_is_proposed_another_name_and_a_taken_one_is_refused(
    store: AggregationStore, signed_in: Client
) -> None:
    url = address("research", run_in(store, "completed").execution_id, "team-001", 1)
    first = proposed(signed_in.get(url).content.decode())
    signed_in.post(url, first)
    again = proposed(signed_in.get(url).content.decode())
    assert again["name"] == f"{first['name']} (2)"
    refused = signed_in.post(url, first)
    assert refused.status_code == 422 and "Another context has this name already" in refused.content.decode()
    assert SampleContext.objects.filter(name=first["name"]).count() == 1
    signed_in.post(url, first | {"prompt_set": "research-team"})
    assert SampleContext.objects.get(name=first["name"], prompt_set__slug="research-team")


def test_a_set_that_asked_for_it_is_chosen(store: AggregationStore, signed_in: Client) -> None:
    url = address("research", run_in(store, "completed").execution_id, "team-001", 1)
    page = signed_in.get(f"{url}?set=research-team").content.decode()
    assert '<option value="research-team" selected>' in page


def test_the_task_of_a_running_execution_is_read_out_of_its_prompt(
    store: AggregationStore, signed_in: Client
) -> None:
    run = run_in(store, "running")
    page = signed_in.get(address("research", run.execution_id, "team-001", 2)).content.decode()
    assert "read from the prompt that was sent" in page and "exactly the prompt that was sent" in page
    assert run.user_prompt is None


@pytest.mark.slow
def test_a_task_that_nobody_can_tell_is_asked_for(store: AggregationStore, signed_in: Client) -> None:
    run, before = run_in(store, "running"), SampleContext.objects.count()
    workspace = Workspace.objects.get(slug="research")
    Workspace.objects.filter(pk=workspace.pk).update(
        label=PromptSet.objects.get(slug="briefing-writers").labels.get(name="production")
    )
    (workspace.folder / "configs" / "prompt_builder.toml").rename(workspace.folder / "aside.toml")
    try:
        url = address("research", run.execution_id, "team-001", 2)
        page = signed_in.get(url).content.decode()
        assert 'name="task"' in page and 'name="name"' not in page
        blank = signed_in.post(url, {"do": "look", "task": " \n"})
        assert blank.status_code == 422 and "Write what the teams were asked to do." in blank.content.decode()
        looked = signed_in.post(url, {"do": "look", "task": "一行目\r\n<b>二行目</b>"})
        page = looked.content.decode()
        assert looked.status_code == 200 and "as you entered it" in page and "&lt;b&gt;二行目" in page
        assert re.search("(None of the|The one template)", page) and "Closest to it:" in page
        assert '<p class="row added">' in page
        assert SampleContext.objects.count() == before
        signed_in.post(url, proposed(page) | {"task": "一行目\r\n<b>二行目</b>"})
        saved = SampleContext.objects.latest("pk")
        assert saved.round_context.user_prompt == "一行目\n<b>二行目</b>"
    finally:
        (workspace.folder / "aside.toml").rename(workspace.folder / "configs" / "prompt_builder.toml")


@pytest.mark.slow
def test_a_round_that_is_not_handed_in_needs_something_to_judge(
    odd_one: Workspace, signed_in: Client
) -> None:
    url = address("odd", odd.GOING_ON, "plain", 2)
    page = signed_in.post(url, {"do": "look", "task": "a task"}).content.decode()
    assert 'name="handed_in"' in page
    sent = proposed(page) | {"task": "a task"}
    signed_in.post(url, sent | {"handed_in": "instead"})
    assert SampleContext.objects.get().submission == "instead"
    answer = signed_in.post(url, sent | {"name": "Other"}, follow=True)
    assert "so that of round 1 is used" in answer.content.decode()
    assert SampleContext.objects.get(name="Other").submission == "c"


@pytest.mark.slow
def test_a_first_round_that_is_not_handed_in_asks_what_to_judge(signed_in: Client, tmp_path: Path) -> None:
    key = RoundKey("first", "plain", "Plain", 1)
    message = {"parts": [{"part_kind": "user-prompt", "content": "p", "timestamp": NOW.isoformat()}]}
    with SimulatedDatabase(tmp_path / "mixseek.db") as writer:
        writer.save_history(key, [message], {}, NOW)
        # The ranking's table is there, and empty.
    Workspace.objects.create(slug="new", name="New", path=str(tmp_path), created_at=NOW)
    url = address("new", "first", "plain", 1)
    sent = {"task": "a task\0", "name": "First", "description": "", "prompt_set": ""}
    page = signed_in.post(url, sent | {"task": "a task"}).content.decode()
    assert "Nothing has been submitted yet" in page and "JSON" not in page
    assert signed_in.post(url, sent | {"handed_in": "this"}).status_code == 422
    assert signed_in.post(url, sent | {"task": "a task", "handed_in": "this"}).status_code == 302


@pytest.mark.slow
def test_odd_rows_become_contexts_or_are_refused_with_a_sentence(
    odd_one: Workspace, signed_in: Client
) -> None:
    url = address("odd", odd.EXECUTION, odd.TEAM, 2)
    page = signed_in.get(url).content.decode()
    assert "<script>alert" not in page and "There is no version yet" in page
    assert signed_in.post(url, proposed(page)).status_code == 302
    assert SampleContext.objects.get().submission == odd.LONG
    page = signed_in.get(address("odd", odd.EXECUTION, "plain", 1)).content.decode()
    assert "is not stored" in page and "it cannot be checked whether" in page
    refused = signed_in.get(address("odd", odd.EXECUTION, "wild", 1))
    assert refused.status_code == 422 and "round_number" in refused.content.decode()
    nameless = signed_in.get(address("odd", odd.EXECUTION, "", 1))
    assert nameless.status_code == 422 and "No context can be made" in nameless.content.decode()


def test_without_the_jail_the_page_says_so(
    store: AggregationStore, signed_in: Client, use_jail: UseJail
) -> None:
    from builder.jail import JailPool

    closed = JailPool(size=1)
    closed.close()
    use_jail(closed)
    url = address("research", run_in(store, "completed").execution_id, "team-001", 2)
    page = signed_in.get(url).content.decode()
    assert "Could not check whether" in page and "Save as a sample context" in page


def test_a_round_is_picked_by_workspace_run_and_team(
    store: AggregationStore, signed_in: Client, odd_one: Workspace
) -> None:
    assert 'href="/contexts/new/run/"' in signed_in.get("/contexts/").content.decode()
    start = signed_in.get("/contexts/new/run/").content.decode()
    assert "Choose a workspace." in start and "?workspace=research" in start
    run = run_in(store, "completed")
    runs = signed_in.get("/contexts/new/run/?workspace=research&set=research-team").content.decode()
    assert f"execution={run.execution_id}&amp;set=research-team" in runs
    board = signed_in.get(f"/contexts/new/run/?workspace=research&execution={run.execution_id}")
    assert f'href="{address("research", run.execution_id, "team-004", 3)}"' in board.content.decode()
    assert "No run matches" in signed_in.get("/contexts/new/run/?workspace=odd&q=zzz").content.decode()
    gone = signed_in.get("/contexts/new/run/?workspace=odd&execution=nothing").content.decode()
    assert "This run no longer exists." in gone
    odd_board = signed_in.get("/contexts/new/run/", {"workspace": "odd", "execution": odd.EXECUTION})
    assert html.escape(address("odd", odd.EXECUTION, odd.TEAM, 1)) in odd_board.content.decode()


def test_nobody_who_is_not_signed_in_sees_a_round(db: None, client: Client, person: User) -> None:
    for url in (address("research", "e", "t", 1), "/contexts/new/run/", "/workspaces/research/scores/"):
        assert client.get(url).status_code == 302
