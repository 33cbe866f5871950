"""Stored rounds are rendered again, with any version or the draft, beside what was really sent."""

import csv
import io
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

import studio.results.replay.run_page
from builder.jail import JailPool
from builder.leaderboard import AggregationStore
from studio.models import Draft, PromptSet, Workspace
from studio.prompts.drafts import SentDraft
from studio.prompts.texts import Templates
from studio.workspaces.stores import store_of
from tests.studio.clock import NOW
from tests.studio.jail import UseJail
from tests.studio.markup import tight
from tests.studio.traced_runs import DATED, SHIPPED, TASK, TracedRuns, examine, make_traced_runs, register


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> TracedRuns:
    return make_traced_runs(tmp_path_factory.mktemp("traced"))


@pytest.fixture
def workspace(traced: TracedRuns, person: User, settings: object) -> Workspace:
    settings.STUDIO_WORKSPACE_ROOTS = [traced.folder]  # type: ignore[attr-defined]
    return register(traced, person)[0]


@pytest.fixture
def store(workspace: Workspace) -> AggregationStore:
    return store_of(workspace)


def write_draft(person: User, team: str, **others: str) -> None:
    templates = Templates(**(vars(SHIPPED) | {"team_user_prompt": team} | others))
    prompt_set = PromptSet.objects.get()
    Draft.objects.keep(prompt_set, person, SentDraft(templates, base=4, revision=0), at=NOW)


def one(execution: str, number: int = 2, team: str = "team-001", query: str = "") -> str:
    return reverse("run-replay", args=["ws", execution, team, number]) + query


def whole(execution: str, query: str = "") -> str:
    return reverse("run-replay-all", args=["ws", execution]) + query


def read(client: Client, url: str, status: int = 200) -> str:
    answer = client.get(url)
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


def texts(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_version_that_a_run_was_made_with_gives_exactly_what_was_sent(
    traced: TracedRuns, store: AggregationStore, signed_in: Client
) -> None:
    for name, version in (("plain", 1), ("shipped", 3)):
        for stored in store.delivered_rounds(traced.ids[name]).rounds:
            url = one(traced.ids[name], stored.round_number, stored.team_id, f"?version=set/{version}")
            assert "Identical to what was sent" in read(signed_in, url), (name, stored)
        table = texts(read(signed_in, whole(traced.ids[name], f"?version=set/{version}")))
        assert "4 of 4 prompts are the same" in table


@pytest.mark.slow
def test_the_draft_stands_beside_what_was_sent_and_is_what_a_replay_begins_with(
    traced: TracedRuns, workspace: Workspace, person: User, signed_in: Client
) -> None:
    examine(workspace)
    run = traced.ids["shipped"]
    newest = read(signed_in, one(run))
    assert '<option value="4" selected>' in newest and "Re-render with your draft" not in newest
    lacking = read(signed_in, one(run, query="?version=set/draft"))
    assert "You have no unsaved draft of this set; the newest version, v4" in lacking
    write_draft(person, SHIPPED.team_user_prompt.replace("Do:", "Do <b>now</b>:"))
    round_page = read(signed_in, reverse("run-round", args=["ws", run, "team-001", 2]))
    assert f"{one(run)}?version=set/draft" in round_page
    page = tight(read(signed_in, one(run)))
    assert "Differs from what was sent" in page and "&lt;b&gt;now&lt;/b&gt;" in page
    assert '<th scope="col">Sent</th>' in page and '<th scope="col">Your draft</th>' in page
    assert TASK in page and '<tr class="changed" id="team-1"' in page
    # The version that was sent is one click away, and marked.
    assert re.search(r'<a class="tag" href="[^"]*version=3[^"]*"><span class="num">v3</span> sent</a>', page)
    assert f"{reverse('run-round-context', args=['ws', run, 'team-001', 2])}?set=set" in page
    rows = re.search(r'hx-get="([^"]+)"', page)
    assert rows is None or "<tbody>" in read(signed_in, rows[1].replace("&amp;", "&"))


@pytest.mark.slow
def test_a_clock_that_a_prompt_shows_only_in_part_is_the_one_that_the_run_had(
    traced: TracedRuns, workspace: Workspace, person: User, signed_in: Client
) -> None:
    dated = PromptSet.objects.create(slug="dated", name="Dated", created_at=NOW, changed_at=NOW)
    dated.save_version(DATED, base=0, message="m", author=person, at=NOW)
    examine(workspace)
    run = traced.ids["dated"]
    assert "Identical to what was sent" in read(signed_in, one(run, query="?version=dated/1"))
    assert "4 of 4 prompts are the same" in read(signed_in, whole(run, "?version=dated/1"))
    # Other templates get the same clock.
    assert re.search(r"T[\d:.]+\+09:00", read(signed_in, one(run, query="?version=set/1")))


def test_evaluator_and_judgment_show_what_they_would_have_been_asked(
    traced: TracedRuns, store: AggregationStore, signed_in: Client
) -> None:
    run = traced.ids["shipped"]
    record = store.round(run, "team-001", 1)
    asked = read(signed_in, one(run, 1, query="?version=set/3&kind=evaluator"))
    assert f"Evaluate for {TASK} at " in asked and "MixSeek stores only the prompts of teams" in asked
    # In the zone of the run, not of this machine.
    assert re.search(r"at \d{4}-\d\d-\d\dT[\d:.]+\+09:00: ", asked)
    assert (record.submission or "")[:20] in asked
    judged = read(signed_in, one(run, 1, query="?version=set/3&kind=judgment"))
    assert "Judge round 1: ## ラウンド 1" in judged


def test_a_draft_with_an_error_says_where(
    traced: TracedRuns, workspace: Workspace, person: User, signed_in: Client
) -> None:
    write_draft(person, "{{ user_prompt }}\n{{ rankin_table }}\n")
    run = traced.ids["shipped"]
    page = texts(read(signed_in, one(run, query="?version=set/draft")))
    assert "Your draft can’t be rendered here Line 2 Error" in page and "ranking_table" in page
    table = read(signed_in, whole(run, "?version=set/draft"))
    assert "4 without a prompt" in table and "0 of 4 prompts are the same" in table


def test_a_whole_run_is_a_table_and_a_file(
    traced: TracedRuns, workspace: Workspace, person: User, signed_in: Client
) -> None:
    write_draft(person, SHIPPED.team_user_prompt.replace("Better", "Much better"))
    run = traced.ids["shipped"]
    page = read(signed_in, whole(run, "?version=set/draft"))
    assert "2 of 4 prompts are the same" in page and "2 changed" in page
    assert '<span class="added">+1</span> <span class="removed">−1</span>' in tight(page)
    assert f"{one(run, 2)}?version=set/draft" in page
    answer = signed_in.get(whole(run, "?version=set/draft&format=csv&table=replay"))
    rows = list(csv.reader(io.StringIO(answer.getvalue().decode("utf-8-sig"))))
    assert rows[0][:4] == ["team_id", "team_name", "round", "state"]
    assert (
        sorted(row[2:6] for row in rows[1:])
        == [["1", "same", "0", "0"]] * 2 + [["2", "changed", "1", "1"]] * 2
    )
    told = json.loads(signed_in.get(whole(run, "?version=set/3&format=json")).getvalue())
    assert {each["state"] for each in told} == {"same"}


@pytest.mark.slow
def test_the_task_of_a_run_under_way_is_read_out_of_its_prompts_or_asked_for(
    traced: TracedRuns, workspace: Workspace, signed_in: Client
) -> None:
    page = read(signed_in, one(traced.ids["running"], 1, query="?version=set/3"))
    assert "Identical to what was sent" in page and "read from the prompt that was sent" in page
    assert "prompts are the same" in read(signed_in, whole(traced.ids["running"], "?version=set/3"))
    for url in (one(traced.ids["puzzling"], 1), whole(traced.ids["puzzling"])):
        assert 'name="task"' in read(signed_in, url)
    answer = signed_in.post(one(traced.ids["puzzling"], 1), {"task": "一行目\r\n<b>二行目</b>"})
    assert answer.headers["Location"] == one(traced.ids["puzzling"], 1)
    page = read(signed_in, one(traced.ids["puzzling"], 1, query="?version=set/3"))
    assert "&lt;b&gt;二行目&lt;/b&gt;" in page and "as you entered it" in page
    assert "0 of " in read(signed_in, whole(traced.ids["puzzling"], "?version=set/3"))
    signed_in.post(whole(traced.ids["puzzling"]), {"task": " "})
    assert 'name="task"' in read(signed_in, whole(traced.ids["puzzling"]))


def test_what_there_is_not_is_said(
    traced: TracedRuns, workspace: Workspace, signed_in: Client, person: User
) -> None:
    run = traced.ids["shipped"]
    assert "no such round" in read(signed_in, one(run, 9), 404)
    assert "no run" in read(signed_in, whole("nowhere"), 404)
    assert "no v9" in read(signed_in, one(run, query="?version=set/9"), 404)
    assert "no prompt set" in read(signed_in, one(run, query="?set=nothing"), 404)
    read(signed_in, one(run, query="?version=nonsense!"), 400)
    PromptSet.objects.update(revision=0)
    assert "No version to re-render with" in read(signed_in, one(run))
    assert "No version to re-render with" in read(signed_in, whole(run))


def test_another_set_is_chosen_with_its_own_newest_version(
    traced: TracedRuns, workspace: Workspace, person: User, signed_in: Client
) -> None:
    other = PromptSet.objects.create(slug="other", name="Other", created_at=NOW, changed_at=NOW)
    other.save_version(DATED, base=0, message="m", author=person, at=NOW)
    page = tight(read(signed_in, one(traced.ids["shipped"], query="?was=set&set=other&version=4")))
    assert '<option value="other" selected>' in page and '<option value="1" selected>v1 m</option>' in page
    assert "was=" not in "".join(re.findall(r'<a class="tag" href="([^"]*)"', page))


@pytest.mark.slow
def test_rounds_of_odd_names_and_rows_are_replayed_or_say_why_not(
    odd_one: Workspace, traced: TracedRuns, workspace: Workspace, signed_in: Client, settings: object
) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = [traced.folder, odd_one.folder]  # type: ignore[attr-defined]
    store = store_of(odd_one)
    answered = set()
    for run in store.executions():
        urls = [reverse("run-replay-all", args=["odd", run.execution_id])]
        for record in store.rounds(run.execution_id):
            if record.round_number >= 1:
                where = ["odd", run.execution_id, record.team_id, record.round_number]
                urls.append(reverse("run-replay", args=where))
        for url in urls:
            for kind in ("team", "evaluator", "judgment"):
                answer = signed_in.get(f"{url}?version=set/3&kind={kind}")
                answered.add(answer.status_code)
                assert answer.status_code < 500, url
                assert "<script>alert" not in answer.content.decode()
    assert 200 in answered


def test_a_table_ends_in_time_and_says_what_was_not_tried(
    traced: TracedRuns,
    workspace: Workspace,
    signed_in: Client,
    monkeypatch: pytest.MonkeyPatch,
    use_jail: UseJail,
) -> None:
    run = traced.ids["shipped"]
    monkeypatch.setattr(studio.results.replay.run_page, "TABLE_SECONDS", -1.0)
    assert "4 not tried" in read(signed_in, whole(run, "?version=set/3"))
    monkeypatch.setattr(studio.results.replay.run_page, "TEAMS_PER_PAGE", 1)
    assert "1–1 of 2" in texts(read(signed_in, whole(run, "?version=set/3")))
    monkeypatch.undo()
    stopped = JailPool()
    stopped.close()
    before = use_jail(stopped)
    assert "4 not tried" in read(signed_in, whole(run, "?version=set/3"), 503)
    # What was compared once stays.
    use_jail(before)
    read(signed_in, whole(run, "?version=set/3"))
    monkeypatch.setattr(studio.results.replay.run_page, "TABLE_SECONDS", -1.0)
    assert "4 of 4 prompts are the same" in read(signed_in, whole(run, "?version=set/3"))
