"""A text tried in all contexts and rounds: what fails and what changes, before anything is saved."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.preview.views
from builder.errors import Superseded
from builder.jail import JailPool
from studio.models import PromptSet
from studio.preview.all_rounds import all_rounds
from tests.studio.editing import TEAM, make_context, make_set
from tests.studio.jail import UseJail

ADDRESS = "/prompts/set/rounds/"
FAILS = "Round {{ round_number }}\n{{ user_prompt + 1 if round_number == 2 }}\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("start")
    make_context("third", rounds=3, prompt_set=made)
    return made


def ask(client: Client, text: str, **more: Any) -> str:
    sent = {"kind": "team", "team_user_prompt": text, "context": "third", "round": 3, "tab": "t"} | more
    answer = client.post(ADDRESS, sent)
    assert answer.status_code == 200
    return answer.content.decode()


def marks(page: str) -> dict[str, dict[str, list[int]]]:
    found = re.search(r'data-marks="([^"]*)"', page)
    assert found
    read: dict[str, dict[str, list[int]]] = json.loads(html.unescape(found[1]))
    return read


def test_rounds_that_fail_or_change_are_told_by_context(signed_in: Client, prompt_set: PromptSet) -> None:
    page = ask(signed_in, FAILS)
    assert marks(page) == {"fails": {"third": [2]}, "changes": {"third": [1, 3], "start": [1]}}
    assert "Third, round 2" in page and page.count('class="finding error"') == 1
    assert 'data-context="third" data-round="2"' in page
    assert marks(ask(signed_in, TEAM)) == {"fails": {}, "changes": {}}
    late = TEAM.replace("Round", "{% if round_number > 2 %}Last {% endif %}Round")
    assert marks(ask(signed_in, late)) == {"fails": {}, "changes": {"third": [3]}}


def test_what_the_round_beside_the_editor_shows_is_not_listed_again(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    page = ask(signed_in, FAILS, round=2)
    assert marks(page)["fails"] == {"third": [2]} and "finding" not in page


def test_one_error_in_many_rounds_is_listed_once(signed_in: Client, prompt_set: PromptSet) -> None:
    page = ask(signed_in, "{{ user_prompt + 1 if round_number < 3 }}\n")
    assert marks(page)["fails"] == {"third": [1, 2], "start": [1]}
    assert page.count('class="finding error"') == 1 and "Third, round 1 and 2 more rounds" in page


@pytest.mark.parametrize("text", ["{% if %}", "{{ nobody }}", "x" * 70_000])
def test_of_a_text_that_the_check_refuses_nothing_is_marked(
    signed_in: Client, prompt_set: PromptSet, text: str
) -> None:
    page = ask(signed_in, text)
    assert marks(page) == {"fails": {}, "changes": {}} and "finding" not in page


def test_each_template_is_tried_by_itself(signed_in: Client, prompt_set: PromptSet) -> None:
    page = ask(signed_in, "", kind="evaluator", evaluator_user_prompt="{{ 1 + submission }}")
    assert marks(page)["fails"] == {"third": [1, 2, 3], "start": [1]}


def test_the_same_text_asks_the_jail_once_and_then_not_at_all(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    found = ask(signed_in, FAILS)
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    assert ask(signed_in, FAILS) == found
    other = {"kind": "team", "team_user_prompt": "other", "tab": "t"}
    assert signed_in.post(ADDRESS, other).status_code == 204


def test_it_takes_no_turn_of_its_owners_previews(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    class NoPreviews(JailPool):
        def examine(self, *args: Any, **more: Any) -> Any:
            raise AssertionError("the lane of previews")

    with NoPreviews(size=1, spares=0) as pool:
        use_jail(pool)
        assert marks(ask(signed_in, FAILS))["fails"] == {"third": [2]}


def test_a_newer_question_of_the_tab_ends_an_older_one(prompt_set: PromptSet) -> None:
    with pytest.raises(Superseded):
        all_rounds(prompt_set, "team", FAILS + "once more", ("third", 3), is_wanted=lambda: False)


def test_while_others_are_tried_it_has_to_wait(signed_in: Client, prompt_set: PromptSet) -> None:
    taken = [studio.preview.views._TRIALS.acquire(blocking=False) for _ in range(3)]
    try:
        sent = {"kind": "team", "team_user_prompt": "one more", "tab": "t"}
        assert signed_in.post(ADDRESS, sent).status_code == 204
    finally:
        for got in taken:
            if got:
                studio.preview.views._TRIALS.release()
    assert taken == [True, True, False]
