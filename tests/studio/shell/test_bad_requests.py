"""Whatever is sent, the answer is never a 5xx: every address, thousands of requests that no page makes."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.http import HttpResponseBase
from django.test import Client

from studio.access.accounts import Account, Role
from studio.access.tokens import ApiToken, Scope
from studio.models import Draft, DraftCopy, PromptSet, Upload
from studio.prompts.drafts import CopyReason
from studio.shell.addresses import StoredNameConverter
from studio.shell.turns import PLACES
from tests.fuzzing import share_of
from tests.studio import odd_workspace as odd
from tests.studio.bad_requests import BadRequest, bad_requests
from tests.studio.clock import NOW
from tests.studio.editing import make_context, make_set, sent
from tests.studio.workspaces.imports.incoming_files import make_workspace, toml

PRIVATE = "words that only yuki may read"
RUNS = [StoredNameConverter().to_url(each) for each in (odd.EXECUTION, odd.OTHER_METRICS, odd.GOING_ON)]


@pytest.fixture
def known(person: User, tmp_path: Path, settings: Any) -> dict[str, list[str]]:
    """A set, a context, a workspace, drafts, copies and files of this person and of another.

    Their names and ids are drawn now and then.
    """
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    data = toml().encode()
    workspace = make_workspace(tmp_path / "set", data, slug="set")
    odd.make_odd_workspace(tmp_path / "set")
    other = User.objects.create_user("ken")
    make_set(person)
    make_context("start")
    make_context("third", rounds=3)
    prompt_set = PromptSet.objects.get()
    copies = []
    for who in (person, other):
        Draft.objects.keep(prompt_set, who, sent("draft\n", tab=f"tab-{who.pk}"), at=NOW)
        copies.append(
            DraftCopy.objects.put_aside(prompt_set, who, sent("aside\n"), reason=CopyReason.OTHER_TAB, at=NOW)
        )
        Upload.objects.keep(who, "prompts.toml", data, at=NOW)
    ids = [str(copy.pk) for copy in copies]
    return {
        "slug": ["set", "third", "start"],
        "number": ["1", *ids],
        "set": ["", "set"],
        "sha256": [hashlib.sha256(data).hexdigest()],
        "into": ["version", "draft"],
        "fill": ["latest", "default"],
        "path": [workspace.path],
        "name": ["production", "set"],
        "copy": ids,
        "base": ["0", "1"],
        "revision": ["0", "1", "2"],
        "kind": ["team", "evaluator", "judgment"],
        "context": ["", "start", "third"],
        "round": ["1", "3"],
        "old": ["1", "draft"],
        "new": ["1", "draft"],
        **{key: ["1", "draft"] for key in ("baseline", "versions", "row")},
        "dialect": ["mixseek", "english"],
        **dict.fromkeys(("execution", "first", "second"), RUNS),
        "team": ["plain", "wild", "~", StoredNameConverter().to_url(odd.TEAM)],
        "state": ["running", "completed"],
        "order": ["mixseek", "contract"],
        "page": ["1", "9"],
        "of": ["rounds", "best"],
        "by": ["teams", "runs"],
        "do": ["look", ""],
        "workspace": ["set"],
        "format": ["csv", "json"],
        "table": ["ranking", "scores", "rounds", "metrics", "runs", "teams", "bins", "groups", "replay"],
        "version": ["1", "draft", "set/1", "set/draft"],
    }


def answers(client: Client, request: BadRequest) -> Iterator[HttpResponseBase]:
    """The answer; one that names the method it wants gets the same in that."""
    answer = _sent(client, request)
    yield answer
    if answer.status_code == 405:
        method = answer["Allow"].split(", ")[-1]
        yield _sent(client, replace(request, method=method))


def _sent(client: Client, request: BadRequest) -> HttpResponseBase:
    return client.generic(
        request.method, request.path, request.content, request.content_type, headers=request.headers
    )


def statuses(client: Client, seed: int, count: int, known: dict[str, list[str]]) -> Counter[int]:
    """How often each status was the answer; a 5xx is told with its request."""
    found = Counter[int]()
    person = User.objects.get(username="yuki")
    for request in bad_requests(seed, count, known):
        for answer in answers(client, request):
            assert answer.status_code < 500, str(request)
            found[answer.status_code] += 1
            PLACES._taken.clear()  # a server closes each answer; until then a streamed one keeps its turn
        # Some of them sign out.
        client.force_login(person)
    return found


def test_no_bad_request_is_answered_with_a_5xx(signed_in: Client, known: dict[str, list[str]]) -> None:
    signed_in.raise_request_exception = False
    found = statuses(signed_in, 1, 80, known)
    assert {200, 302, 400, 404, 405} <= set(found)
    other = Draft.objects.get(person__username="ken")
    assert (other.team_user_prompt, other.revision) == ("draft\n", 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 2 + share_of(20)))
def test_nor_are_thousands_of_them(signed_in: Client, known: dict[str, list[str]], seed: int) -> None:
    signed_in.raise_request_exception = False
    statuses(signed_in, seed, 250, known)
    assert Draft.objects.get(person__username="ken").team_user_prompt == "draft\n"


# --- by somebody else --------------------------------------------------------------------


@pytest.fixture
def private(known: dict[str, list[str]], person: User) -> list[Any]:
    """What nobody but its owner may see or change."""
    prompt_set = PromptSet.objects.get()
    text = f"{PRIVATE}\n"
    Draft.objects.keep(prompt_set, person, sent(text, revision=1), at=NOW)
    reason = CopyReason.DISCARDED
    copy = DraftCopy.objects.put_aside(prompt_set, person, sent(text), reason=reason, at=NOW)
    data = toml().replace("[prompt_builder]", f"# {PRIVATE}\n[prompt_builder]").encode()
    assert PRIVATE in data.decode()
    upload = Upload.objects.keep(person, f"{PRIVATE}.toml", data, at=NOW)
    token, _key = ApiToken.objects.make(person, PRIVATE, scopes=list(Scope), days=9, at=NOW)
    known["number"] += [str(copy.pk), str(token.pk)]
    known["copy"] += [str(copy.pk)]
    known["sha256"].append(hashlib.sha256(data).hexdigest())
    known["name"] += ["yuki", str(person.pk)]
    return [Draft.objects.get(person=person), copy, upload, token]


def whole(answer: HttpResponseBase) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined, no-any-return]


def strangers_requests(
    role: Role, client: Client, seed: int, count: int, known: dict[str, list[str]], private: list[Any]
) -> Counter[int]:
    """Of somebody with this role and nothing of their own, about things of yuki's."""
    before = [model_to_dict(thing) for thing in private]
    stranger = User.objects.create_user("mallory")
    Account.objects.filter(user=stranger).update(role=role)
    found = Counter[int]()
    client.raise_request_exception = False
    client.force_login(stranger)
    for request in bad_requests(seed, count, known):
        for answer in answers(client, request):
            assert answer.status_code < 500, str(request)
            assert PRIVATE.encode() not in whole(answer), str(request)
            found[answer.status_code] += 1
            PLACES._taken.clear()
        client.force_login(stranger)
    for thing in private:
        thing.refresh_from_db()
    assert [model_to_dict(thing) for thing in private] == before
    return found


def test_no_bad_request_of_another_person_shows_or_changes_what_is_private(
    client: Client, known: dict[str, list[str]], private: list[Any]
) -> None:
    assert {200, 403, 404} <= set(strangers_requests(Role.EDITOR, client, 100, 80, known, private))


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
@pytest.mark.parametrize("seed", range(101, 101 + share_of(5)))
def test_nor_do_thousands_of_them(
    client: Client, known: dict[str, list[str]], private: list[Any], role: Role, seed: int
) -> None:
    strangers_requests(role, client, seed, 250, known, private)
