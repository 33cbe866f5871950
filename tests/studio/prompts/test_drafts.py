"""Drafts: kept while typing, one for each person and set, never written over by another tab."""

from threading import Barrier, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from studio.models import Draft, DraftCopy, PromptSet
from studio.prompts.drafts import COPIES_KEPT, CopyReason, DraftConflict, StaleRevision
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.editing import DRAFT, EDIT, TEAM, TEXTS, fields, make_set, sent


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    return make_set(person)


def keep(prompt_set: PromptSet, person: User, text: str, **more: object) -> Draft:
    return Draft.objects.keep(prompt_set, person, sent(text, **more), at=NOW)


def texts(*rows: Draft | DraftCopy) -> list[str]:
    return [row.team_user_prompt for row in rows]


def test_each_writing_counts_the_revision_up(prompt_set: PromptSet, person: User) -> None:
    first = keep(prompt_set, person, "one")
    second = keep(prompt_set, person, "two", revision=first.revision, seq=2)
    assert (first.revision, second.revision) == (1, 2)
    assert texts(*Draft.objects.all()) == ["two"] and DraftCopy.objects.count() == 0


def test_another_tab_with_an_old_revision_writes_nothing_over(prompt_set: PromptSet, person: User) -> None:
    keep(prompt_set, person, "mine")
    with pytest.raises(DraftConflict) as caught:
        keep(prompt_set, person, "theirs", tab="tab-b")
    assert texts(*Draft.objects.all()) == ["mine"]
    assert texts(*DraftCopy.objects.all()) == ["theirs"] == texts(caught.value.copy)


def test_a_tab_that_goes_on_writing_beside_the_draft_keeps_one_copy(
    prompt_set: PromptSet, person: User
) -> None:
    keep(prompt_set, person, "mine")
    for tab, text in (("tab-b", "b1"), ("tab-b", "b2"), ("tab-c", "c1"), ("tab-b", "b3")):
        with pytest.raises(DraftConflict):
            keep(prompt_set, person, text, tab=tab)
    assert sorted(texts(*DraftCopy.objects.all())) == ["b3", "c1"]


def test_a_tab_whose_answer_was_lost_is_not_turned_against_itself(
    prompt_set: PromptSet, person: User
) -> None:
    keep(prompt_set, person, "one", seq=1)
    assert keep(prompt_set, person, "two", revision=0, seq=2).team_user_prompt == "two"
    with pytest.raises(DraftConflict):
        keep(prompt_set, person, "an older text that arrives late", revision=0, seq=1)
    assert texts(*Draft.objects.all()) == ["two"]


def test_the_same_text_from_two_tabs_is_no_conflict(prompt_set: PromptSet, person: User) -> None:
    first = keep(prompt_set, person, "same")
    assert keep(prompt_set, person, "same", tab="tab-b").revision == first.revision
    assert DraftCopy.objects.count() == 0


def test_a_message_typed_beside_the_same_text_is_not_dropped(prompt_set: PromptSet, person: User) -> None:
    Draft.objects.keep(prompt_set, person, sent("same"), at=NOW)
    for message in ("first", "second"):
        Draft.objects.keep(prompt_set, person, sent("same", message=message, tab="tab-b"), at=NOW)
    assert Draft.objects.get().message == "first"  # and one that is there is not written over


def test_a_draft_is_that_of_one_person_and_one_set(prompt_set: PromptSet, person: User) -> None:
    other, elsewhere = User.objects.create_user("ken"), make_set(person, "other")
    for set_, who, text in ((prompt_set, person, "a"), (prompt_set, other, "b"), (elsewhere, person, "c")):
        keep(set_, who, text)
    assert sorted(texts(*Draft.objects.all())) == ["a", "b", "c"]
    assert texts(Draft.objects.get(prompt_set=prompt_set, person=other)) == ["b"]


def test_a_choice_made_on_an_older_state_is_not_taken(prompt_set: PromptSet, person: User) -> None:
    draft = keep(prompt_set, person, "one")
    keep(prompt_set, person, "two", revision=1, seq=2)
    with pytest.raises(StaleRevision):
        Draft.objects.replace(draft, sent("chosen", revision=1), reason=CopyReason.REPLACED, at=NOW)
    assert texts(*Draft.objects.all()) == ["two"] and DraftCopy.objects.count() == 0


def test_texts_put_aside_are_bounded_in_number(prompt_set: PromptSet, person: User) -> None:
    for number in range(COPIES_KEPT + 3):
        DraftCopy.objects.put_aside(
            prompt_set, person, sent(f"{number}"), reason=CopyReason.DISCARDED, at=NOW
        )
    kept = texts(*DraftCopy.objects.all())
    assert len(kept) == COPIES_KEPT and kept[0] == str(COPIES_KEPT + 2)


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_that_write_at_once_one_has_the_draft_and_the_other_a_copy() -> None:
    person = User.objects.create_user("yuki")
    prompt_set = make_set(person)
    for revision in (0, 1):  # the draft is made, then changed
        start = Barrier(4)

        def work(name: str, revision: int = revision, start: Barrier = start) -> None:
            start.wait()
            try:
                keep(prompt_set, person, f"{name} {revision}", tab=name, revision=revision)
            except DraftConflict:
                pass
            finally:
                connection.close()

        threads = [Thread(target=work, args=(f"tab-{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {Draft.objects.get().team_user_prompt, *texts(*DraftCopy.objects.all())}
    assert {f"tab-{number} 1" for number in range(4)} <= found
    assert Draft.objects.get().revision == 2


# --- over the wire -----------------------------------------------------------------------


def test_a_draft_is_kept_and_shown_again_to_the_last_blank(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    text = "\n  two blanks\r\n\r\n{{ user_prompt }}  \r\n"
    answer = signed_in.post(DRAFT, fields(team=text))
    draft = Draft.objects.get()
    assert answer.json() == {"revision": 1, "saved_at": draft.changed_at.isoformat()}
    assert draft.team_user_prompt == "\n  two blanks\n\n{{ user_prompt }}  \n"
    page = signed_in.get(EDIT).content.decode()
    assert 'rows="24">\n\n  two blanks\n\n{{ user_prompt }}  \n</textarea>' in page
    assert 'name="revision" value="1"' in page and "Draft, not saved as a version" in page


def test_a_message_written_before_anything_is_changed_is_kept(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    signed_in.post(DRAFT, fields(message="what I am about to do"))
    page = signed_in.get(EDIT).content.decode()
    assert 'value="what I am about to do"' in page and "No changes" in page


def test_a_stale_tab_is_told_where_to_decide(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(team="one"))
    answer = signed_in.post(DRAFT, fields(team="two", tab="tab-b"))
    copy = DraftCopy.objects.get()
    assert answer.status_code == 409
    assert answer.json() == {"revision": 1, "conflict_url": f"/prompts/set/conflict/?copy={copy.pk}"}


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        ("x" * 65_537, 413, "65537 characters; the limit is 65536"),
        ("a\nb\0c", 400, "team_user_prompt, line 2: NUL character"),
    ],
)
def test_what_cannot_be_kept_is_said_and_the_draft_stays(
    prompt_set: PromptSet, signed_in: Client, text: str, status: int, says: str
) -> None:
    signed_in.post(DRAFT, fields(team="before"))
    answer = signed_in.post(DRAFT, fields(team=text, revision=1, seq=2))
    assert answer.status_code == status and says in answer.json()["message"]
    assert texts(*Draft.objects.all()) == ["before"]


@pytest.mark.parametrize(
    "body",
    [
        b"%ED%A0%80",  # half of a surrogate pair
        b"\xff\xfe",
        b"%C3",
    ],
)
def test_text_that_is_not_utf8_is_refused_instead_of_changed(
    prompt_set: PromptSet, signed_in: Client, body: bytes
) -> None:
    whole = b"base=1&revision=0&evaluator_user_prompt=&judgment_user_prompt=&team_user_prompt=" + body
    answer = signed_in.post(DRAFT, whole, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 400 and Draft.objects.count() == 0


def test_the_sign_for_a_broken_character_may_be_written(prompt_set: PromptSet, signed_in: Client) -> None:
    urlencoded = "base=1&revision=0&evaluator_user_prompt=&judgment_user_prompt=&team_user_prompt=%EF%BF%BD"
    answer = signed_in.post(DRAFT, urlencoded, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200 and Draft.objects.get().team_user_prompt == "\ufffd"


def test_a_field_that_was_not_sent_does_not_empty_the_draft(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(team="before"))
    short = fields(team="after", revision=1)
    del short["judgment_user_prompt"]
    answer = signed_in.post(DRAFT, short)
    assert answer.status_code == 400 and "judgment_user_prompt is missing" in answer.json()["message"]
    assert texts(*Draft.objects.all()) == ["before"]


def test_nobody_sees_or_touches_the_draft_of_another_person(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    other = User.objects.create_user("ken")
    keep(prompt_set, other, "a secret of ken's")
    copy = DraftCopy.objects.put_aside(
        prompt_set, other, sent("another secret"), reason=CopyReason.DISCARDED, at=NOW
    )
    pages = [
        signed_in.get(EDIT),
        signed_in.get("/prompts/set/discard/"),
        signed_in.post("/prompts/set/discard/", {"revision": 1}),
        signed_in.get("/prompts/set/conflict/"),
        signed_in.get(f"/prompts/set/conflict/?copy={copy.pk}"),
        signed_in.post(f"/prompts/set/copies/{copy.pk}/"),
    ]
    assert [page.status_code for page in pages] == [200, 404, 404, 404, 404, 404]
    assert not any("secret" in page.content.decode() for page in pages)
    keep(prompt_set, person, "mine")
    assert signed_in.post(f"/prompts/set/copies/{copy.pk}/").status_code == 404
    assert Draft.objects.count() == 2 and DraftCopy.objects.count() == 1


def test_discarding_asks_first_and_can_be_undone(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(team="not so good"))
    asked = signed_in.get("/prompts/set/discard/")
    assert "Discard the draft?" in asked.content.decode() and texts(*Draft.objects.all()) == ["not so good"]
    done = signed_in.post("/prompts/set/discard/", {"revision": 1}, follow=True).content.decode()
    assert "1 saved draft" in done and "No changes" in done and "not so good" not in done
    back = signed_in.post(f"/prompts/set/copies/{DraftCopy.objects.get().pk}/", follow=True)
    assert "not so good" in back.content.decode() and "Draft, not saved as a version" in back.content.decode()


def test_a_draft_that_moved_since_the_question_is_not_discarded(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    signed_in.post(DRAFT, fields(team="one"))
    signed_in.post(DRAFT, fields(team="two", revision=1, seq=2))
    answer = signed_in.post("/prompts/set/discard/", {"revision": 1})
    assert answer.status_code == 409 and texts(*Draft.objects.all()) == ["two"]


def test_a_text_put_aside_meets_a_draft_with_changes_in_the_three_way_view(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    copy = DraftCopy.objects.put_aside(
        prompt_set, person, sent("aside\n"), reason=CopyReason.DISCARDED, at=NOW
    )
    signed_in.post(DRAFT, fields(team="now\n"))
    answer = signed_in.post(f"/prompts/set/copies/{copy.pk}/")
    assert answer["Location"] == f"/prompts/set/conflict/?copy={copy.pk}"
    assert texts(*Draft.objects.all()) == ["now\n"]


def test_there_is_nothing_to_discard_without_changes(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields())
    page = signed_in.get("/prompts/set/discard/", follow=True).content.decode()
    assert "There is nothing to discard." in page


def test_a_kept_draft_survives_a_new_version_of_another_person(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    signed_in.post(DRAFT, fields(team=TEAM + "mine\n"))
    newer = Templates(TEAM, "changed\n", TEXTS.judgment_user_prompt)
    prompt_set.save_version(newer, base=1, message="ken's", author=person, at=NOW)
    page = signed_in.get(EDIT).content.decode()
    assert "mine" in page and "Your draft is based on v1, but v2 was saved since." in page
    assert 'name="base" value="1"' in page


def test_a_draft_without_changes_follows_the_newest_version(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    signed_in.post(DRAFT, fields())
    newer = Templates(TEAM, "changed\n", TEXTS.judgment_user_prompt)
    prompt_set.save_version(newer, base=1, message="ken's", author=person, at=NOW)
    page = signed_in.get(EDIT).content.decode()
    assert 'name="base" value="2"' in page and "No changes" in page and "changed\n</textarea>" in page
