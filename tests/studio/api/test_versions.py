"""Sets, versions, labels and contexts through the API, by the rules of the pages."""

import pytest
from django.contrib.auth.models import User

from studio.api.answers import Page
from studio.api.context_views import ContextListed, ContextShown
from studio.api.set_views import LabelShown, MoveShown, SetMade, SetShown
from studio.api.version_views import VersionListed, VersionMade, VersionShown
from studio.models import AuditEntry, Draft, PromptSet, PromptVersion
from studio.prompts.drafts import SentDraft
from studio.prompts.texts import Templates
from tests.studio.api.client import Api, Refused
from tests.studio.clock import NOW

CONTEXT = {
    "user_prompt": "Find it",
    "round_number": 1,
    "team_name": "A",
    "team_id": "a",
    "execution_id": "e",
    "round_history": [],
}


def texts(team: str = "Task: {{ user_prompt }}") -> dict[str, str]:
    return {
        "team_user_prompt": team,
        "evaluator_user_prompt": "{{ user_prompt }} {{ submission }}",
        "judgment_user_prompt": "{{ user_prompt }}",
    }


def test_a_set_from_nothing_to_a_label_and_back(api: Api) -> None:
    made = api.post(SetMade, "sets", {"name": "Kyoto team", "tags": ["調査"], "start": "empty"})
    assert (made.slug, made.latest, made.tags, made.problems) == ("kyoto-team", 0, ["調査"], [])
    assert api.headers["Location"] == "/api/v1/sets/kyoto-team"
    first = api.post(
        VersionMade, "sets/kyoto-team/versions", {"base": 0, "message": "Start", "texts": texts()}
    )
    assert (first.number, first.author, first.parent, first.warnings) == (1, "yuki", None, [])
    second = {"base": 1, "message": "Shorter", "texts": texts("{{ user_prompt }}")}
    api.post(VersionMade, "sets/kyoto-team/versions", second)
    assert api.put(LabelShown, "sets/kyoto-team/labels/production", {"version": 1}).version == 1
    by_label = api.get(VersionShown, "sets/kyoto-team/versions/production")
    assert by_label.texts.team_user_prompt == "Task: {{ user_prompt }}" and by_label.labels == ["production"]
    assert api.get(VersionShown, "sets/kyoto-team/versions/latest").number == 2
    assert api.get(VersionShown, "sets/kyoto-team/versions/2").parent == 1
    api.put(LabelShown, "sets/kyoto-team/labels/production", {"version": 2, "note": "better"})
    moves = api.get(Page[MoveShown], "sets/kyoto-team/labels/production/moves")
    assert [(move.from_version, move.to_version, move.note) for move in moves.items] == [
        (1, 2, "better"),
        (None, 1, ""),
    ]
    assert api.send("DELETE", "sets/kyoto-team/labels/production").status_code == 204
    assert api.get(SetShown, "sets/kyoto-team").labels == {}
    listed = api.get(Page[VersionListed], "sets/kyoto-team/versions?q=shorter")
    assert [version.number for version in listed.items] == [2]


def test_a_text_with_a_typo_is_refused_with_its_line(api: Api, research: PromptSet) -> None:
    body = {"base": 1, "message": "Typo", "texts": texts("one\n{{ submision_history }}")}
    with pytest.raises(Refused) as refused:
        api.post(VersionMade, "sets/research/versions", body, Accept_Language="ja")
    problem = refused.value.problem
    assert (problem.status, problem.code) == (422, "text-refused")
    found = problem.problems[0]
    assert (found.code, found.text, found.line, found.replacement) == (
        "scope-misspelt",
        "team",
        2,
        "submission_history",
    )
    assert "変数" in found.message and not PromptVersion.objects.filter(number=2).exists()


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"base": 0}, 409, "version-conflict"),
        ({"message": ""}, 422, "input-invalid"),
        ({"message": "x" * 501}, 422, "input-invalid"),
        ({"texts": {"system_prompt": ""}}, 422, "input-invalid"),
        ({"texts": texts("x" * 70_000)}, 413, "too-large"),
        ({"texts": texts("a\0b")}, 400, "json-unreadable"),
        ({"base": "x"}, 422, "input-invalid"),
    ],
)
def test_what_the_page_refuses_the_api_refuses(
    api: Api, research: PromptSet, change: dict[str, object], status: int, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        api.post(
            VersionMade, "sets/research/versions", {"base": 1, "message": "m", "texts": texts(), **change}
        )
    assert (refused.value.problem.status, refused.value.problem.code) == (status, code)


def test_an_unchanged_text_makes_no_version_and_a_late_one_is_told_the_newest(
    api: Api, research: PromptSet
) -> None:
    latest = api.get(VersionShown, "sets/research/versions/latest")
    with pytest.raises(Refused) as same:
        body = {"base": 1, "message": "m", "texts": latest.texts.model_dump(exclude_none=True)}
        api.post(VersionMade, "sets/research/versions", body)
    assert same.value.problem.code == "nothing-changed"
    api.post(VersionMade, "sets/research/versions", {"base": 1, "message": "m", "texts": texts()})
    with pytest.raises(Refused) as late:
        api.post(VersionMade, "sets/research/versions", {"base": 1, "message": "m", "texts": texts("b")})
    assert late.value.problem.current == 2


def test_a_draft_in_the_editor_stays(api: Api, research: PromptSet, person: User) -> None:
    kept = SentDraft(Templates("mine", "", ""), base=1, revision=0)
    Draft.objects.keep(research, person, kept, at=NOW)
    api.post(VersionMade, "sets/research/versions", {"base": 1, "message": "m", "texts": texts()})
    assert Draft.objects.get().team_user_prompt == "mine"


def test_lists_go_on_from_their_cursor(api: Api, db: None) -> None:
    for number in range(5):
        api.post(SetMade, "sets", {"name": f"Set {number}", "start": "empty"})
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(Page[SetShown], f"sets?limit=2&cursor={cursor}")
        seen += [each.slug for each in page.items]
        cursor = page.next
    assert seen == [f"set-{number}" for number in range(5)]
    assert [each.slug for each in api.get(Page[SetShown], "sets?q=set-3").items] == ["set-3"]


def test_settings_of_a_set_are_changed_as_far_as_they_are_given(api: Api, research: PromptSet) -> None:
    api.get(SetShown, "sets/research")
    etag = api.headers["ETag"]
    changed = api.ask(SetShown, "PATCH", "sets/research", {"tags": ["a", "b"]}, If_Match=etag)
    assert (changed.name, changed.tags, changed.archived) == ("Research", ["a", "b"], False)
    assert api.ask(SetShown, "PATCH", "sets/research", {"archived": True}).archived
    for change, status in (({"name": "X"}, 412), ({"name": " "}, 412)):
        assert api.send("PATCH", "sets/research", change, If_Match=etag).status_code == status
    assert api.send("PATCH", "sets/research", {"format": "other"}).status_code == 422
    assert AuditEntry.objects.filter(action="set.changed", via="api", source="test", name="yuki").count() == 1


def test_a_context_is_changed_only_as_it_was_read(api: Api, research: PromptSet) -> None:
    sent = {"name": "First", "set": "research", "context": CONTEXT, "submission": "Done"}
    made = api.post(ContextShown, "contexts", sent)
    etag = api.headers["ETag"]
    assert (made.slug, made.set, made.round, made.submission) == ("first", "research", 1, "Done")
    with pytest.raises(Refused) as missing:
        api.put(ContextShown, "contexts/first", sent)
    assert missing.value.problem.status == 428
    api.put(ContextShown, "contexts/first", {**sent, "submission": "Again"}, If_Match=etag)
    with pytest.raises(Refused) as late:
        api.put(ContextShown, "contexts/first", {**sent, "submission": "Mine"}, If_Match=etag)
    assert late.value.problem.code == "precondition-failed"
    assert api.send("DELETE", "contexts/first", If_Match=etag).status_code == 412
    assert api.get(ContextShown, "contexts/first").submission == "Again"
    assert api.send("GET", "contexts/first", If_None_Match=api.headers["ETag"]).status_code == 304
    assert api.send("DELETE", "contexts/first", If_Match=api.headers["ETag"]).status_code == 204
    assert api.get(Page[ContextListed], "contexts?set=research").items == []


def test_a_context_that_the_page_refuses(api: Api, research: PromptSet) -> None:
    with pytest.raises(Refused) as refused:
        wrong = {"name": "", "set": "nothing", "context": {"round_number": 0}, "submission": "x"}
        api.post(ContextShown, "contexts", wrong)
    assert {error.field for error in refused.value.problem.errors} == {"name", "prompt_set", "json"}


def test_a_label_that_somebody_moved_is_not_moved_unseen(api: Api, research: PromptSet) -> None:
    api.post(VersionMade, "sets/research/versions", {"base": 1, "message": "m", "texts": texts()})
    api.put(LabelShown, "sets/research/labels/staging", {"version": 1})
    assert api.headers["ETag"] == '"v1"'
    path = "sets/research/labels/other"
    for named in ("*", '""', '"v1"'):
        assert api.send("PUT", path, {"version": 1}, If_Match=named).status_code == 412, "there is none yet"
    assert (
        api.send("PUT", "sets/research/labels/staging", {"version": 2}, If_Match='W/"v1"').status_code == 412
    )
    api.put(LabelShown, "sets/research/labels/staging", {"version": 2}, If_Match='"v9","v1"')
    with pytest.raises(Refused) as late:
        api.put(LabelShown, "sets/research/labels/staging", {"version": 1}, If_Match='"v1"')
    assert late.value.problem.code == "precondition-failed" and late.value.headers["ETag"] == '"v2"'


def test_what_a_client_has_already_is_not_sent_again(api: Api, research: PromptSet) -> None:
    api.put(LabelShown, "sets/research/labels/production", {"version": 1})
    api.get(VersionShown, "sets/research/versions/production")
    etag = api.headers["ETag"]
    assert api.send("GET", "sets/research/versions/production", If_None_Match=etag).status_code == 304
    api.put(LabelShown, "sets/research/labels/staging", {"version": 1})
    assert api.send("GET", "sets/research/versions/production", If_None_Match=etag).status_code == 200
