"""Requests made from the OpenAPI document: valid ones and others, many of them about things that exist."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import requests
import schemathesis
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from studio.access.accounts import Role
from studio.access.tokens import ApiToken, Scope
from studio.api.document import FILE
from studio.models import Draft, Export, PromptSet, RunResult, SampleContext, Workspace
from studio.prompts.drafts import SentDraft
from studio.results.attribution import attribute_workspace
from tests.fuzzing import share_of
from tests.studio.api.client import Api, problem_of
from tests.studio.api.conftest import MakeApi
from tests.studio.api.test_versions import texts

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [operation.ok() for operation in SCHEMA.get_all_operations()]
Known = dict[str, list[Any]]


@pytest.fixture
def known(demo: Path, settings: Any) -> Known:
    """Values that exist, by the names of parameters and fields."""
    settings.STUDIO_API_RATE = 10**6
    workspace = Workspace.objects.get(slug="research")
    attribute_workspace(workspace, timezone.now())
    contexts = list(SampleContext.objects.values_list("slug", flat=True)[:3])
    export = Export.objects.first()
    assert export is not None
    return {
        "slug": ["research-team", "research", *contexts],
        "set": ["research-team"],
        "name": ["production", "staging"],
        "version": ["latest", "production", "2", 1],
        "old": ["1", "production"],
        "new": ["2", "latest"],
        "context": [contexts[0]],
        "round": [1],
        "execution": list(RunResult.objects.values_list("execution_id", flat=True)[:2]),
        "batch": [str(export.batch)],
        "workspace": ["research"],
        "files": [["research"], [{"key": "research", "sha256": export.hash_after}]],
        "texts": [texts()],
        "base": [5],
    }


def sent(case: Any, known: Known, draw: st.DataObject) -> tuple[str, Any]:
    """Address and body of a case, some of its values replaced by ones that exist."""

    def mixed(values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        wanted = [name for name in values if name in known]
        chosen = draw.draw(st.sets(st.sampled_from(wanted))) if wanted else set()
        return values | {name: draw.draw(st.sampled_from(known[name])) for name in sorted(chosen)}

    case.path_parameters = {
        name: str(value) for name, value in mixed(dict(case.path_parameters or {})).items()
    }
    case.query = mixed(dict(case.query or {}))
    request = case.as_transport_kwargs(base_url="http://testserver")
    prepared = requests.Request("GET", request["url"], params=request.get("params")).prepare()
    body = mixed(case.body) if not isinstance(case.body, schemathesis.core.NotSet) else None
    return str(prepared.path_url).removeprefix("/api/v1/"), body


PRIVATE = "words that only yuki may read"


def check(operation: Any, api: Api, path: str, body: Any, headers: dict[str, str]) -> int:
    """Send it: no mistake of ours, and an answer as the document says."""
    data = None if body is None else json.dumps(body, default=repr).encode()
    answer = api.send(operation.method.upper(), path, data, **headers)
    where = f"{operation.method} {path} {data!r} {headers}"
    assert answer.status_code < 500, f"{where}: {answer.content.decode()}"
    assert PRIVATE not in answer.content.decode(), where
    if answer.status_code >= 400:
        for error in problem_of(answer).errors:
            assert not (error.message.isascii() and re.search("[a-z]{3}", error.message)), f"{where}: {error}"
    elif answer.status_code not in (204, 304):
        schema = operation.definition.raw["responses"][str(answer.status_code)]["content"][
            "application/json"
        ]["schema"]
        whole = {**schema, "components": DOCUMENT["components"]}
        jsonschema_rs.validate(whole, answer.json())
    return int(answer.status_code)


def cases(count: int, operation: Any, api: Api, known: Known) -> Iterator[int]:
    statuses: list[int] = []
    strategy = st.one_of(
        operation.as_strategy(generation_mode=GenerationMode.POSITIVE),
        operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
    )

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy, st.data())
    def run(case: Any, draw: st.DataObject) -> None:
        path, body = sent(case, known, draw)
        headers = {"Accept_Language": "ja"} | {
            name.replace("-", "_"): str(value)
            for name, value in (case.headers or {}).items()
            if name in ("Idempotency-Key", "If-Match") and str(value).isascii() and str(value).isprintable()
        }
        statuses.append(check(operation, api, path, body, headers))

    run()
    yield from statuses


def test_no_request_of_the_document_breaks_the_api(api: Api, known: Known) -> None:
    statuses = [status for operation in OPERATIONS for status in cases(10, operation, api, known)]
    assert len(statuses) >= 300 and {200, 201, 404, 422} <= set(statuses)


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_thousands_of_requests_of_the_document(operation: Any, api: Api, known: Known) -> None:
    count = share_of(180)
    assert len(list(cases(count, operation, api, known))) >= count


@pytest.mark.slow
def test_another_persons_requests_never_show_or_change_what_is_private(
    make_api: MakeApi, known: Known, person: User
) -> None:
    prompt_set = PromptSet.objects.get(slug="research-team")
    start = prompt_set.starting_text(prompt_set.latest)
    written = SentDraft(replace(start, team_user_prompt=PRIVATE), prompt_set.revision, 0)
    draft = Draft.objects.keep(prompt_set, person, written, at=timezone.now())
    ApiToken.objects.make(person, PRIVATE, scopes=list(Scope), days=9, at=timezone.now())
    stranger = make_api(of=User.objects.create_user("mallory"), role=Role.EDITOR)
    for operation in OPERATIONS:
        assert len(list(cases(share_of(50), operation, stranger, known))) >= share_of(50)
    after = Draft.objects.get(pk=draft.pk)
    assert (after.team_user_prompt, after.revision) == (PRIVATE, draft.revision)
