"""Two texts from one version: both kept, shown three ways, put together as the person chooses."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.jail import JailPool
from studio.editor.conflicts import between
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion
from studio.prompts.drafts import CopyReason
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.editing import DRAFT, EDIT, SAVE, TEXTS, fields, make_set, sent
from tests.studio.markup import tight

CONFLICT = "/prompts/set/conflict/"
BASE = "one\ntwo\nthree\nfour\nfive\n"
MINE = "one\nmine\nthree\nfour\nfive\n"
THEIRS = "one\ntheirs\nthree\nfour\nfive\n"
FARTHER = "one\ntwo\nthree\nfour\ntheirs\n"


def three(team: str) -> Templates:
    return Templates(team, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    made.save_version(three(BASE), base=1, message="lines", author=person, at=NOW)
    return made


def ken_saves(prompt_set: PromptSet, team: str) -> None:
    ken = User.objects.create_user("ken")
    PromptSet.objects.get(pk=prompt_set.pk).save_version(
        three(team), base=2, message="ken's words", author=ken, at=NOW
    )


def pin(page: str) -> str:
    found = re.search(r'name="pin" value="(\w+)"', page)
    assert found
    return found[1]


def test_a_base_that_moved_answers_409_with_both_texts(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, THEIRS)
    answer = signed_in.post(SAVE, fields(three(MINE), base=2, message="m"))
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else saved first: v3 by ken" in page and "ken&#x27;s words" in page
    assert "Both changed this" in page
    for text in ("two\n", "mine\n", "theirs\n"):
        assert f">\n{text}</pre>" in page
    assert Draft.objects.get().team_user_prompt == MINE
    assert PromptVersion.objects.count() == 3


def test_changes_that_do_not_touch_are_put_together(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, FARTHER)
    page = signed_in.post(SAVE, fields(three(MINE), base=2, message="m")).content.decode()
    assert "Both changes (no overlap)" in page
    answer = signed_in.post(CONFLICT, {"pin": pin(page), "team": "merged"})
    draft = Draft.objects.get()
    assert answer["Location"] == EDIT
    assert (draft.team_user_prompt, draft.base) == ("one\nmine\nthree\nfour\ntheirs\n", 3)
    done = signed_in.post(SAVE, fields(draft.templates, base=3, revision=draft.revision, message="both"))
    assert done.status_code == 302 and PromptVersion.objects.count() == 4


@pytest.mark.parametrize(
    ("chosen", "outcome"),
    [
        ({"team": "mine"}, MINE),
        ({"team": "theirs"}, THEIRS),
        ({"team": "merged", "team-1": "mine"}, MINE),
        ({"team": "merged", "team-1": "theirs"}, THEIRS),
        ({"team": "merged", "team-1": "mine then theirs"}, "one\nmine\ntheirs\nthree\nfour\nfive\n"),
        ({"team": "merged", "team-1": "theirs then mine"}, "one\ntheirs\nmine\nthree\nfour\nfive\n"),
        ({"team": "merged", "team-1": "base"}, BASE),
        ({}, "one\nmine\ntheirs\nthree\nfour\nfive\n"),  # without a choice both stay
        ({"team": "nonsense", "team-1": "nonsense"}, "one\nmine\ntheirs\nthree\nfour\nfive\n"),
    ],
)
def test_the_draft_becomes_what_was_chosen_and_its_old_text_is_put_aside(
    prompt_set: PromptSet, signed_in: Client, chosen: dict[str, str], outcome: str
) -> None:
    ken_saves(prompt_set, THEIRS)
    signed_in.post(DRAFT, fields(three(MINE), base=2))
    page = signed_in.get(CONFLICT).content.decode()
    signed_in.post(CONFLICT, {"pin": pin(page), **chosen})
    draft = Draft.objects.get()
    assert (draft.team_user_prompt, draft.base) == (outcome, 3)
    aside = [copy.team_user_prompt for copy in DraftCopy.objects.all()]
    assert aside == ([] if outcome == MINE else [MINE])


def test_two_tabs_are_put_together_in_the_same_way(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(three(THEIRS), base=2, tab="a"))
    url = signed_in.post(DRAFT, fields(three(MINE), base=2, tab="b")).json()["conflict_url"]
    page = signed_in.get(url).content.decode()
    assert "This draft was edited in two tabs" in page and "Both changed this" in page
    copy = DraftCopy.objects.get()
    signed_in.post(
        CONFLICT, {"pin": pin(page), "copy": copy.pk, "team": "merged", "team-1": "theirs then mine"}
    )
    assert Draft.objects.get().team_user_prompt == "one\ntheirs\nmine\nthree\nfour\nfive\n"
    assert {(each.team_user_prompt, each.reason) for each in DraftCopy.objects.all()} == {
        (MINE, CopyReason.REPLACED),
        (THEIRS, CopyReason.REPLACED),
    }
    after = signed_in.get(EDIT).content.decode()
    assert "Another tab has" not in after and "2 saved drafts" in after


def test_a_save_from_the_stale_tab_shows_both_texts(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(three(THEIRS), base=2, tab="a"))
    answer = signed_in.post(SAVE, fields(three(MINE), base=2, tab="b", message="m"))
    assert answer.status_code == 409 and "This draft was edited in two tabs" in answer.content.decode()
    assert Draft.objects.get().team_user_prompt == THEIRS
    assert DraftCopy.objects.get().team_user_prompt == MINE
    assert PromptVersion.objects.count() == 2
    assert "Another tab has a different text" in signed_in.get(EDIT).content.decode()


def test_tabs_that_started_from_different_versions_end_on_the_newer_one(
    prompt_set: PromptSet, person: User
) -> None:
    draft = Draft.objects.keep(prompt_set, person, sent(FARTHER, base=2), at=NOW)
    copy = DraftCopy.objects.put_aside(
        prompt_set, person, sent(MINE, base=1), reason=CopyReason.OTHER_TAB, at=NOW
    )
    conflict = between(prompt_set, draft, copy)
    assert conflict and (conflict.base, conflict.next_base) == (1, 2)


def test_a_choice_made_on_older_texts_is_not_taken(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, THEIRS)
    signed_in.post(DRAFT, fields(three(MINE), base=2))
    page = signed_in.get(CONFLICT).content.decode()
    signed_in.post(DRAFT, fields(three(MINE + "more\n"), base=2, revision=1, seq=2))
    answer = signed_in.post(CONFLICT, {"pin": pin(page), "team": "theirs"})
    assert answer.status_code == 409 and "One of the texts has changed meanwhile" in answer.content.decode()
    assert Draft.objects.get().team_user_prompt == MINE + "more\n"


def test_without_anything_to_decide_the_editor_comes_back(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.post(DRAFT, fields(three(MINE), base=2))
    assert signed_in.get(CONFLICT)["Location"] == EDIT
    assert signed_in.post(CONFLICT, {"pin": "x"})["Location"] == EDIT


def test_blank_lines_and_nothing_are_shown_by_a_sign(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, BASE.replace("two\n", ""))
    signed_in.post(DRAFT, fields(three(BASE.replace("two\n", "\n\n")), base=2))
    page = signed_in.get(CONFLICT).content.decode()
    assert ">\n∅</pre>" in page and ">\n⏎\n⏎</pre>" in page


def test_texts_too_long_to_compare_can_still_be_taken_whole(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, "\n" * 30_000)
    signed_in.post(DRAFT, fields(three(MINE), base=2))
    page = signed_in.get(CONFLICT).content.decode()
    assert "too long or too different to be merged line by line" in page
    signed_in.post(CONFLICT, {"pin": pin(page), "team": "theirs"})
    assert Draft.objects.get().team_user_prompt == "\n" * 30_000


def test_texts_that_differ_everywhere_are_not_shown_in_a_thousand_pieces(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    lines = [f"line {number}" for number in range(1500)]
    ken_saves(prompt_set, "\n".join(lines))

    def changed(every: int) -> Templates:
        return three("\n".join(each.upper() if at % 8 == every else each for at, each in enumerate(lines)))

    signed_in.post(DRAFT, fields(changed(0), base=3))
    url = signed_in.post(DRAFT, fields(changed(4), base=3, tab="b")).json()["conflict_url"]
    page = signed_in.get(url).content.decode()
    assert "too different to be merged" in page and 'class="region' not in page


def test_what_people_wrote_is_text_on_the_page(prompt_set: PromptSet, signed_in: Client) -> None:
    ken_saves(prompt_set, "<script>alert(1)</script>\n")
    page = signed_in.post(SAVE, fields(three("<b>mine</b>\n"), base=2, message="m")).content.decode()
    assert "<script>alert(1)" not in page and "<b>mine" not in page


def test_with_the_jail_stopped_nothing_is_merged_and_both_texts_are_kept(
    prompt_set: PromptSet, signed_in: Client, own_jail: JailPool
) -> None:
    signed_in.post(DRAFT, fields(team_user_prompt=MINE, base=2))
    ken_saves(prompt_set, THEIRS)
    own_jail.close()
    answer = signed_in.get(CONFLICT)
    assert answer.status_code == 503 and "Your input was not lost" in answer.content.decode()
    saved = signed_in.post(SAVE, fields(team_user_prompt=MINE, base=2, revision=1, message="why I did it"))
    page = saved.content.decode()
    assert saved.status_code == 503
    assert "Not saved: someone else saved v3 first. Your draft is saved." in page
    assert "The workers that render templates are stopped" in page
    assert f"\n{MINE}</textarea>" in page and 'value="why I did it"' in page
    assert 'name="base" value="2"' in page and 'name="revision" value="2"' in page
    assert Draft.objects.get().team_user_prompt == MINE
    newest = PromptSet.objects.get(pk=prompt_set.pk).latest
    assert newest is not None and newest.team_user_prompt == THEIRS


def test_with_the_jail_stopped_a_save_from_a_stale_tab_stays_in_the_editor(
    prompt_set: PromptSet, signed_in: Client, own_jail: JailPool
) -> None:
    signed_in.post(DRAFT, fields(three("tab a\n"), base=2))
    own_jail.close()
    answer = signed_in.post(SAVE, fields(three("tab b\n"), base=2, tab="b", message="from b"))
    page = answer.content.decode()
    assert answer.status_code == 503
    assert "Not saved: another tab changed this draft. Both texts are saved as drafts." in page
    assert "tab b\n" in page and 'value="from b"' in page
    assert "Saved separately: another tab changed the draft</output>" in tight(page)
    assert Draft.objects.get().templates == three("tab a\n")
    assert DraftCopy.objects.get().templates == three("tab b\n")
