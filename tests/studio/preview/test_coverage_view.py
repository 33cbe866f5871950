"""Coverage for the editor's gutter: asked for beside the preview, and never in its way."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.preview.coverage
import studio.results.suggestions.views
from builder.jail import JailPool, Limits
from studio.models import PromptSet, SampleContext
from tests.hanging import HANGS
from tests.studio.editing import make_context, make_set
from tests.studio.jail import UseJail

ADDRESS = "/prompts/set/coverage/"
TEXT = "{{ user_prompt }}\n{% if round_number > 3 %}\nlate\n{% endif %}\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("third", rounds=3, prompt_set=made)
    return made


def ask(client: Client, text: str = TEXT, kind: str = "team") -> Any:
    answer = client.post(ADDRESS, {"kind": kind, f"{kind}_user_prompt": text})
    assert answer.status_code == 200
    return answer.json()


def test_lines_that_no_context_reaches_until_one_does(signed_in: Client, prompt_set: PromptSet) -> None:
    assert ask(signed_in) == {"kind": "team", "known": True, "unreached": [3]}
    other = make_context("fifth", rounds=5)
    assert ask(signed_in)["unreached"] == []
    other.delete()
    assert ask(signed_in)["unreached"] == [3]
    SampleContext.objects.update(revision=2, data={**make_context("own", rounds=4).data})
    assert ask(signed_in)["unreached"] == []


def test_a_contexts_earlier_rounds_count(signed_in: Client, prompt_set: PromptSet) -> None:
    text = "{% if round_number == 1 %}\none\n{% elif round_number == 2 %}\ntwo\n{% else %}\nmore\n{% endif %}"
    assert ask(signed_in, text)["unreached"] == []


def test_each_template_has_its_own(signed_in: Client, prompt_set: PromptSet) -> None:
    text = "{% if submission == 'nothing' %}\nempty\n{% endif %}{{ submission }}"
    assert ask(signed_in, text, "evaluator") == {"kind": "evaluator", "known": True, "unreached": [2]}


@pytest.mark.parametrize("text", ["{% if %}", "{{ nobody }}", "{{ ''.__class__ }}", "x" * 70_000])
def test_of_a_text_with_errors_nothing_is_known(signed_in: Client, prompt_set: PromptSet, text: str) -> None:
    assert ask(signed_in, text) == {"kind": "team", "known": False, "unreached": []}


@pytest.mark.slow
def test_a_text_that_meets_a_limit_is_tried_once(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    with JailPool(size=1, spares=0, limits=Limits(time=0.3), batch_size=1) as own:
        use_jail(own)
        slow = HANGS + TEXT
        assert ask(signed_in, slow) == {"kind": "team", "known": False, "unreached": []}
        assert own.stats().jobs == 1


def test_the_same_text_and_contexts_ask_the_jail_once(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    found = ask(signed_in)
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    assert ask(signed_in) == found
    assert signed_in.post(ADDRESS, {"kind": "team", "team_user_prompt": "other"}).status_code == 204


def test_while_others_are_looked_at_it_has_to_wait(signed_in: Client, prompt_set: PromptSet) -> None:
    busy = studio.results.suggestions.views._AT_ONCE
    taken = [busy.acquire(blocking=False) for _ in range(2)]
    try:
        assert taken == [True, True]
        assert signed_in.post(ADDRESS, {"kind": "team", "team_user_prompt": TEXT}).status_code == 204
    finally:
        for _ in taken:
            busy.release()
    assert ask(signed_in)["unreached"] == [3]


def test_requests_that_no_page_makes_are_refused(signed_in: Client, prompt_set: PromptSet) -> None:
    assert signed_in.get(ADDRESS).status_code == 405
    assert signed_in.post(ADDRESS, {"kind": "team"}).status_code == 400
    assert signed_in.post(ADDRESS, {"kind": "nothing", "team_user_prompt": ""}).status_code == 400
    assert signed_in.post("/prompts/gone/coverage/", {"team_user_prompt": ""}).status_code == 404
