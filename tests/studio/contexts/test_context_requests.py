"""Whatever is sent to the pages of contexts, the answer says what is wrong with it."""

import json
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from studio.contexts.text import ContextText
from studio.models import SampleContext
from tests.fuzzing import share_of
from tests.studio.contexts.context_forms import (
    NEW,
    NEW_JSON,
    ROUND_2,
    error_beside,
    round_five,
    round_row,
    text,
)
from tests.studio.editing import make_context


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("/contexts/c/edit/", {}, 400),
        ("/contexts/c/edit/", {"revision": "x"}, 400),
        ("/contexts/c/edit/", {"revision": "9" * 30}, 400),
        ("/contexts/c/edit/json/", {"revision": "0"}, 400),
        ("/contexts/c/delete/", {}, 400),
        ("/contexts/c/edit/", {"revision": 1}, 422),
        (NEW, {}, 422),
        (NEW_JSON, {}, 422),
        ("/contexts/nothing/edit/", {"revision": 1}, 409),
        ("/contexts/nothing/delete/", {}, 404),
        ("/contexts/nothing/duplicate/", {}, 404),
    ],
)
def test_a_request_that_lacks_something_is_told_so(
    signed_in: Client, path: str, sent: dict[str, Any], status: int
) -> None:
    make_context("c")
    assert signed_in.post(path, sent).status_code == status


@pytest.mark.parametrize("path", [NEW, NEW_JSON])
def test_text_that_is_not_utf8_is_a_bad_request(signed_in: Client, path: str) -> None:
    body = b"name=a&json={}&user_prompt=%ed%a0%80"
    assert signed_in.post(path, body, content_type="application/x-www-form-urlencoded").status_code == 400


def test_nul_is_a_problem_of_its_field(signed_in: Client) -> None:
    answer = signed_in.post(
        NEW, round_five(user_prompt="a\0b", **{"round_history.0.submission_content": "\0"})
    )
    page = text(answer)
    assert answer.status_code == 422
    assert error_beside(page, "user_prompt") and error_beside(page, "round_history.0.submission_content")


ODD = (
    "", " ", "x", "0", "-1", "1", "2.5", "9" * 30, "9" * 5000, "1e5", "1e999", "nan", "Infinity", "٣",
    "１", "\0",
    "a\0b", "\ufffd", "\r\n", "{", "[]", "null", '{"a": 1}', '{"a":' * 60, "a: 1", "a: 1\na: 1",
    "[" * 3000, "🏆",
    "順位：3", "<script>", "{{ 7*7 }}", "2026-05-01T09:00:00+09:00", "9999-12-31T23:59:59-12:00",
    "0001-01-01",
    "99999999999999", "-1e300", "yes", "no", "shared", "c", "nothing", "x" * 3000,
    '{"name": 3, "submission": []}',
    json.dumps(ROUND_2), json.dumps(ROUND_2 | {"name": "x" * 500, "description": "y" * 500}),
    json.dumps(ROUND_2 | {"round_history": [{"score_details": {"a": 10**400}}]}),
)  # fmt: skip


def odd_answers(client: Client, number: int) -> list[str]:
    rng = Random(20260502)
    names = [*round_five(), "revision", "do", "json", "handed_in", "set"]
    doings = (
        "add round_history",
        "add ranking",
        "remove ranking 1",
        "remove round_history 9",
        "sort ranking",
    )
    wrong = []
    for _ in range(number):
        sent = round_five(revision="1") if rng.random() < 0.7 else {}
        for name in rng.sample(names, rng.randrange(1, 6)):
            sent[name] = rng.choice(ODD)
        if rng.random() < 0.15:
            sent["do"] = rng.choice(doings)
        ending = rng.choice(("new/", "new/json/", "c/edit/", "c/edit/json/", "c/duplicate/", "c/delete/", ""))
        answer = client.generic(
            rng.choice(("POST", "POST", "POST", "GET")),
            f"/contexts/{ending}",
            urlencode(sent, doseq=True),
            content_type="application/x-www-form-urlencoded",
            QUERY_STRING=urlencode({rng.choice(("q", "set")): rng.choice(ODD)}) if rng.random() < 0.3 else "",
        )
        if answer.status_code >= 500:
            wrong.append(f"{answer.status_code} {ending} {sent}")
    # Whatever came in can be shown.
    for context in SampleContext.objects.all():
        for page in ("", "edit/", "edit/json/", "duplicate/"):
            if client.get(f"/contexts/{context.slug}/{page}").status_code >= 400:
                wrong.append(f"{context.slug}/{page}")
    return wrong


@pytest.mark.slow
def test_nothing_that_is_sent_is_a_server_error(signed_in: Client) -> None:
    make_context("c", rounds=2)
    signed_in.raise_request_exception = False
    assert odd_answers(signed_in, share_of(2500)) == []


def test_the_form_shows_what_the_text_says(db: None) -> None:
    row = round_row(0)
    assert ContextText.of(make_context("c", rounds=2).values).data.keys() >= row.keys()
