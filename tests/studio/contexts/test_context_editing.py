"""Contexts by form and by duplicating: a problem stands at its field, nothing typed is lost."""

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from studio.contexts.models import ContextConflict, NameTaken
from studio.contexts.samples import SAMPLES
from studio.contexts.text import MOST_ROWS
from studio.models import SampleContext
from tests.studio.clock import NOW
from tests.studio.contexts.context_forms import (
    JAPANESE,
    NEW,
    ROUND_2,
    error_beside,
    focused,
    form_of,
    make_set,
    ranking_row,
    round_five,
    text,
)
from tests.studio.editing import make_context

# --- by form -----------------------------------------------------------------------------


def test_round_five_with_history_and_ranking_is_made_by_form_alone(signed_in: Client) -> None:
    answer = signed_in.post(NEW, round_five())
    assert answer.status_code == 302 and answer.headers["Location"] == "/contexts/third-of-four/"
    made = SampleContext.objects.get()
    told = made.round_context
    assert (made.name, made.prompt_set, made.submission) == ("Third of four", None, "Five thousand.")
    assert (told.round_number, told.team_id, told.user_prompt) == (5, "team-001", "Count the stars")
    assert [state.evaluation_score for state in told.round_history] == [61.5, 70, 68.25, 80]
    assert told.round_history[0].score_details == {"Accuracy": 61.5, "Coverage": 70}
    assert told.round_history[0].evaluation_feedback == "Look longer"
    assert [(entry.team_name, entry.max_score) for entry in told.ranking or []] == [
        ("Beta", 91),
        ("Gamma", 85.5),
        ("Alpha", 80),
    ]


def test_a_first_round_needs_no_history_and_no_ranking(signed_in: Client) -> None:
    sent = round_five(round_number="1", round_history=[], ranking=[], ranked="no")
    assert signed_in.post(NEW, sent).status_code == 302
    told = SampleContext.objects.get().round_context
    assert (told.round_number, told.round_history, told.ranking) == (1, [], None)


def test_an_empty_board_is_not_the_same_as_none(signed_in: Client) -> None:
    assert signed_in.post(NEW, round_five(ranking=[])).status_code == 302
    assert SampleContext.objects.get().round_context.ranking == []


def test_line_ends_are_those_of_templates_and_blanks_stay(signed_in: Client) -> None:
    signed_in.post(NEW, round_five(user_prompt="  a\r\nb \r\n", submission="x\r\ny"))
    made = SampleContext.objects.get()
    assert (made.round_context.user_prompt, made.submission) == ("  a\nb \n", "x\ny")


def test_a_context_can_belong_to_one_set(signed_in: Client) -> None:
    mine = make_set("mine")
    assert 'value="mine" selected' in text(signed_in.get(NEW + "?set=mine"))
    signed_in.post(NEW, round_five(prompt_set="mine"))
    assert SampleContext.objects.get().prompt_set == mine


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "field", "english", "japanese"),
    [
        ({"name": " "}, "name", "This field is required.", "このフィールドは必須です。"),
        ({"user_prompt": " "}, "user_prompt", "Task cannot be empty", "タスクは空にできません"),
        ({"user_prompt": ""}, "user_prompt", "Field required", "この項目は必須です"),
        ({"round_number": "0"}, "round_number", "Round must be &gt;= 1", "ラウンドは1以上にしてください"),
        ({"round_number": "two"}, "round_number", "valid integer", "整数を指定してください"),
        ({"submission": "\n"}, "submission", "Submission of this round cannot be empty", "空にできません"),
        (
            {"round_history.2.evaluation_score": "good"},
            "round_history.2.evaluation_score",
            "Input should be a valid number",
            "数値を指定してください",
        ),
        (
            {"round_history.1.evaluation_score": "nan"},
            "round_history.1.evaluation_score",
            "Input should be a finite number",
            "有限の数値を指定してください",
        ),
        (
            {"round_history.0.score_details": "Accuracy 80"},
            "round_history.0.score_details",
            "Line 1: write a name, a colon and a number, such as “Accuracy: 82.5”.",
            "1行目：「Accuracy: 82.5」のように、名前・コロン・数値を書いてください。",
        ),
        (
            {"round_history.0.score_details": '{"a": 1e999}'},
            "round_history.0.score_details",
            "a number that JSON cannot represent",
            "JSONで表せない数値が含まれています",
        ),
        (
            {"round_history.3.round_started_at": "yesterday"},
            "round_history.3.round_started_at",
            "Input should be a valid datetime",
            "日時をISO 8601形式で指定してください",
        ),
        ({"ranking.1.max_score": ""}, "ranking.1.max_score", "Field required", "この項目は必須です"),
        ({"ranking.2.total_rounds": "x"}, "ranking.2.total_rounds", "valid integer", "整数を指定"),
    ],
)  # fmt: skip
def test_a_problem_stands_at_its_field_and_has_the_focus(
    signed_in: Client, change: dict[str, str], field: str, english: str, japanese: str
) -> None:
    for words, headers in ((english, {}), (japanese, JAPANESE)):
        answer = signed_in.post(NEW, round_five(**change), headers=headers)
        page = text(answer)
        assert answer.status_code == 422
        assert words in error_beside(page, field)
        assert focused(page) == [field]
    assert not SampleContext.objects.exists()


def test_all_problems_are_told_at_once_and_nothing_typed_is_lost(signed_in: Client) -> None:
    sent = round_five(
        round_number="x", **{"round_history.3.evaluation_score": "?", "ranking.0.max_score": "!"}
    )
    page = text(signed_in.post(NEW, sent))
    for field in ("round_number", "round_history.3.evaluation_score", "ranking.0.max_score"):
        assert error_beside(page, field)
    assert "Previous round 4: Score" in page and "Ranking, no. 1: Best score" in page
    assert focused(page) == ["round_number"]
    for name, typed in sent.items():
        for each in [typed] if isinstance(typed, str) else []:
            assert each in page, name


def test_a_name_is_taken_once_per_owner(signed_in: Client) -> None:
    make_set("mine")
    assert signed_in.post(NEW, round_five()).status_code == 302
    answer = signed_in.post(NEW, round_five())
    assert answer.status_code == 422 and error_beside(text(answer), "name")
    assert signed_in.post(NEW, round_five(prompt_set="mine")).status_code == 302
    assert {each.slug for each in SampleContext.objects.all()} == {"third-of-four", "third-of-four-2"}


def test_a_name_that_was_taken_a_moment_ago_is_a_problem_of_the_name(person: User) -> None:
    values = make_context("first").values
    with pytest.raises(NameTaken):
        SampleContext.objects.make(values, by=person, at=NOW)


def test_a_set_that_does_not_exist_is_refused(signed_in: Client) -> None:
    answer = signed_in.post(NEW, round_five(prompt_set="nothing"))
    assert answer.status_code == 422 and error_beside(text(answer), "prompt_set")


# --- rows --------------------------------------------------------------------------------


def test_a_round_is_added_and_everything_typed_is_kept(signed_in: Client) -> None:
    sent = round_five(round_number="not yet", do="add round_history")
    answer = signed_in.post(NEW, sent)
    page = text(answer)
    assert answer.status_code == 200
    assert 'name="round_history.4.submission_content"' in page and "field-error" not in page
    assert re.search(r'name="round_history.4.round_number" value="5"', page)
    assert "not yet" in page and "Attempt 4" in page
    assert focused(page) == ["round_history.4.evaluation_score"]
    assert not SampleContext.objects.exists()


def test_a_round_is_removed_and_the_others_close_up(signed_in: Client) -> None:
    page = text(signed_in.post(NEW, round_five(do="remove round_history 1")))
    assert "Attempt 2" not in page and "Attempt 1" in page and "Attempt 4" in page
    assert page.count('name="round_history"') == 3
    assert focused(page) == ["do"]


def test_rows_that_a_script_took_out_are_no_problem(signed_in: Client) -> None:
    sent = round_five(round_history=["3", "1"])
    assert signed_in.post(NEW, sent).status_code == 302
    told = SampleContext.objects.get().round_context
    assert [state.submission_content for state in told.round_history] == ["Attempt 4", "Attempt 2"]


def test_the_first_team_that_is_added_is_the_own_one(signed_in: Client) -> None:
    page = text(signed_in.post(NEW, round_five(ranking=[], ranked="no", do="add ranking")))
    assert 'name="ranking.0.team_id" value="team-001"' in page
    assert re.search(r'value="yes"[^>]* checked', page)


def test_teams_are_sorted_by_score(signed_in: Client) -> None:
    sent = round_five(do="sort ranking", **ranking_row(0, "Beta", "1.5"), **ranking_row(1, "Gamma", "?"))
    page = text(signed_in.post(NEW, sent))
    names = re.findall(r'name="ranking\.\d\.team_name" value="(\w+)"', page)
    assert names == ["Alpha", "Beta", "Gamma"]


@pytest.mark.slow
def test_rows_have_an_end(signed_in: Client) -> None:
    many = [str(index) for index in range(MOST_ROWS)]
    page = text(signed_in.post(NEW, round_five(round_history=many, do="add round_history")))
    assert page.count('name="round_history"') == MOST_ROWS
    assert signed_in.post(NEW, round_five(round_history=[*many, "99"])).status_code == 400


@pytest.mark.parametrize(
    "do", ["", "add", "add name", "remove round_history x", "remove ranking", "sort x", "１"]
)
def test_a_button_that_is_not_there_is_a_bad_request(signed_in: Client, do: str) -> None:
    assert signed_in.post(NEW, round_five(do=do)).status_code == 400


# --- changing ----------------------------------------------------------------------------


def test_opening_and_saving_changes_nothing(demo: object, signed_in: Client) -> None:
    for context in SampleContext.objects.all():
        assert signed_in.post(f"/contexts/{context.slug}/edit/", form_of(context)).status_code == 302
        after = SampleContext.objects.get(pk=context.pk)
        assert (after.name, after.description, after.submission) == (
            context.name,
            context.description,
            context.submission,
        )
        assert after.round_context == context.round_context
        assert (after.revision, after.changed_at > context.changed_at) == (2, True)


def test_a_shipped_name_stays_translated_after_an_edit_in_japanese(demo: object, signed_in: Client) -> None:
    address = "/contexts/round-5-last/edit/"
    page = text(signed_in.get(address, headers=JAPANESE))
    assert 'value="ラウンド5、最下位"' in page
    sent = form_of(SampleContext.objects.get(slug="round-5-last"), name="ラウンド5、最下位", team_name="新")
    assert signed_in.post(address, sent, headers=JAPANESE).status_code == 302
    after = SampleContext.objects.get(slug="round-5-last")
    assert (after.name, after.round_context.team_name) == ("Round 5, last place", "新")


def test_a_context_is_changed_as_json(signed_in: Client) -> None:
    context = make_context("c", rounds=3)
    page = text(signed_in.get("/contexts/c/edit/json/"))
    assert "&quot;submission&quot;: &quot;handed in&quot;" in page
    changed = json.dumps(ROUND_2 | {"submission": "now"})
    sent = {"name": "Other", "json": changed, "revision": context.revision}
    assert signed_in.post("/contexts/c/edit/json/", sent).status_code == 302
    after = SampleContext.objects.get()
    assert (after.slug, after.name, after.round_context.round_number, after.submission) == (
        "c",
        "Other",
        2,
        "now",
    )


def test_of_two_who_edit_neither_is_overwritten(signed_in: Client) -> None:
    context = make_context("c", rounds=3)
    theirs = form_of(context, user_prompt="theirs", **{"round_history.1.evaluation_score": "99"})
    mine = form_of(context, user_prompt="mine")
    assert signed_in.post("/contexts/c/edit/", theirs).status_code == 302
    answer = signed_in.post("/contexts/c/edit/", mine)
    page = text(answer)
    assert answer.status_code == 409
    assert SampleContext.objects.get().round_context.user_prompt == "theirs"
    # Both, where they differ; mine in the form as well.
    assert page.count("theirs</div>") == 1 and page.count("mine</div>") == 1 and "mine</textarea>" in page
    assert "Previous round 2: Score" in page and ">99</div>" in page
    # Saving once more, having seen theirs, is a decision.
    revision = re.search(r'name="revision" value="(\d+)"', page)
    assert revision is not None
    assert signed_in.post("/contexts/c/edit/", mine | {"revision": revision[1]}).status_code == 302
    assert SampleContext.objects.get().round_context.user_prompt == "mine"


def test_of_two_who_edit_as_json_neither_is_overwritten(signed_in: Client) -> None:
    context = make_context("c")
    sent = {"name": "C", "json": json.dumps(ROUND_2), "revision": context.revision}
    assert signed_in.post("/contexts/c/edit/json/", sent).status_code == 302
    mine = json.dumps(ROUND_2 | {"team_name": "mine"})
    answer = signed_in.post("/contexts/c/edit/json/", sent | {"json": mine})
    assert answer.status_code == 409 and ">mine</div>" in text(answer)
    assert SampleContext.objects.get().round_context.team_name == "T"


def test_a_problem_does_not_bring_the_form_up_to_date(signed_in: Client) -> None:
    """Else a second try would overwrite what somebody saved before the first."""
    context = make_context("c")
    signed_in.post("/contexts/c/edit/", form_of(context, user_prompt="theirs"))
    page = text(signed_in.post("/contexts/c/edit/", form_of(context, round_number="x")))
    assert 'name="revision" value="1"' in page


def test_adding_a_row_does_not_bring_the_form_up_to_date_either(signed_in: Client) -> None:
    context = make_context("c")
    signed_in.post("/contexts/c/edit/", form_of(context, user_prompt="theirs"))
    page = text(signed_in.post("/contexts/c/edit/", form_of(context, do="add round_history")))
    assert 'name="revision" value="1"' in page


@pytest.mark.parametrize("more", [{}, {"do": "add ranking"}])
def test_what_was_written_on_a_deleted_context_can_be_saved_as_a_new_one(
    signed_in: Client, more: dict[str, str]
) -> None:
    sent = form_of(make_context("c"), user_prompt="mine")
    SampleContext.objects.all().delete()
    answer = signed_in.post("/contexts/c/edit/", sent | more)
    page = text(answer)
    assert answer.status_code == (200 if more else 409)
    assert "Someone else deleted this context" in page and "mine</textarea>" in page
    assert 'action="/contexts/new/"' in page and 'name="revision"' not in page
    assert not SampleContext.objects.exists()


def test_json_written_on_a_deleted_context_is_kept_too(signed_in: Client) -> None:
    sent = {"name": "C", "json": json.dumps(ROUND_2), "revision": 1}
    answer = signed_in.post("/contexts/c/edit/json/", sent)
    assert answer.status_code == 409 and "Count the stars" in text(answer)


def test_a_context_that_is_deleted_while_it_is_saved_is_a_conflict(db: None) -> None:
    context = make_context("c")
    values = context.values
    SampleContext.objects.all().delete()
    with pytest.raises(ContextConflict):
        SampleContext.objects.change(context, values, revision=1, at=NOW)


def test_a_context_with_more_rows_than_a_form_takes_is_edited_as_json(signed_in: Client) -> None:
    make_context("c", rounds=MOST_ROWS + 2)
    assert signed_in.get("/contexts/c/edit/").headers["Location"] == "/contexts/c/edit/json/"
    assert "<textarea" in text(signed_in.get("/contexts/c/duplicate/"))


def test_the_set_of_an_archived_context_stays_chosen(signed_in: Client) -> None:
    archived = make_set("old", archived=True)
    make_context("c", prompt_set=archived)
    assert 'value="old" selected' in text(signed_in.get("/contexts/c/edit/"))
    assert 'value="old"' not in text(signed_in.get(NEW))


# --- duplicating, deleting, shipped ones -------------------------------------------------


def test_a_duplicate_is_stored_when_it_is_saved(signed_in: Client) -> None:
    context = make_context("c", rounds=2)
    page = text(signed_in.get("/contexts/c/duplicate/"))
    assert 'value="Copy of C"' in page and 'action="/contexts/new/"' in page
    assert SampleContext.objects.count() == 1
    sent = {name: each for name, each in form_of(context, name="Copy of C").items() if name != "revision"}
    signed_in.post("/contexts/c/duplicate/", sent)
    copy = SampleContext.objects.get(slug="copy-of-c")
    assert copy.round_context == context.round_context


def test_deleting_asks_first(signed_in: Client) -> None:
    make_context("c")
    assert "Delete the context?" in text(signed_in.get("/contexts/c/delete/"))
    assert SampleContext.objects.exists()
    assert signed_in.post("/contexts/c/delete/", {"revision": 1}).status_code == 302
    assert not SampleContext.objects.exists()


def test_what_somebody_changed_meanwhile_is_not_deleted(signed_in: Client) -> None:
    context = make_context("c")
    later = timezone.now() + timedelta(seconds=1)
    SampleContext.objects.change(context, context.values, revision=1, at=later)
    assert signed_in.post("/contexts/c/delete/", {"revision": 1}).status_code == 409
    assert SampleContext.objects.exists()


def test_the_shipped_contexts_can_be_had_without_the_demo(signed_in: Client) -> None:
    assert "Add the bundled contexts" in text(signed_in.get("/contexts/"))
    page = text(signed_in.post("/contexts/new/samples/", follow=True))
    assert SampleContext.objects.count() == len(SAMPLES) and f"{len(SAMPLES)} contexts added." in page
    assert "Add the bundled contexts" not in page
    assert "All of them have already been added." in text(
        signed_in.post("/contexts/new/samples/", follow=True)
    )


def test_a_context_that_has_the_name_of_a_shipped_one_stays(signed_in: Client) -> None:
    own = make_context("mine")
    SampleContext.objects.filter(pk=own.pk).update(name="Round 1")
    signed_in.post("/contexts/new/samples/", headers=JAPANESE)
    assert SampleContext.objects.count() == len(SAMPLES)
    assert not SampleContext.objects.filter(slug="round-1").exists()
