"""The save rule: no errors, no limit met in any situation, and the draft kept whatever happens."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.preview.examinations
import studio.preview.saving
from builder.jail import JailPool, Limits
from studio.models import Draft, PromptSet, PromptVersion
from studio.preview.saving import shortcomings
from tests.hanging import HANGS
from tests.studio.clock import NOW
from tests.studio.editing import DRAFT, EDIT, SAVE, TEAM, TEXTS, fields, make_context, make_set, sent
from tests.studio.jail import UseJail
from tests.studio.markup import tight

SLOW = HANGS + "\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    return make_set(person)


def newest() -> PromptVersion:
    return PromptVersion.objects.latest("number")


def test_saving_makes_the_next_version_and_ends_the_draft(prompt_set: PromptSet, signed_in: Client) -> None:
    answer = signed_in.post(SAVE, fields(team="Now {{ user_prompt }}\r\n!", message="shorter"))
    assert (answer.status_code, answer["Location"]) == (302, "/prompts/set/")
    assert "Saved as v2." in signed_in.get(answer["Location"]).content.decode()
    version = newest()
    assert (version.number, version.message, version.author.username) == (2, "shorter", "yuki")
    assert version.team_user_prompt == "Now {{ user_prompt }}\n!"
    assert (version.parent and version.parent.number) == 1
    page = signed_in.get(EDIT).content.decode()
    assert "No changes" in page and 'name="base" value="2"' in page and 'name="message" value=""' in page


def test_unchanged_text_makes_no_version(prompt_set: PromptSet, signed_in: Client) -> None:
    page = signed_in.post(SAVE, fields(message="nothing"), follow=True)
    assert "Nothing changed since v1, so no version was saved." in page.content.decode()
    assert 'name="message" value="nothing"' in page.content.decode()  # what was typed stays
    assert PromptVersion.objects.count() == 1


def test_the_first_version_of_a_set_starts_from_the_defaults(signed_in: Client) -> None:
    PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    page = signed_in.get(EDIT).content.decode()
    assert "ユーザから指定されたタスク" in page and 'name="base" value="0"' in page
    answer = signed_in.post(SAVE, fields(base=0, message="first"))
    assert answer.status_code == 302 and newest().number == 1


def test_a_message_is_asked_for_and_the_draft_kept(prompt_set: PromptSet, signed_in: Client) -> None:
    for message, says in (("", "Describe the change briefly"), ("x" * 501, "the limit is 500")):
        answer = signed_in.post(SAVE, fields(team="changed\n", message=message))
        assert answer.status_code == 422 and says in answer.content.decode()
    assert PromptVersion.objects.count() == 1
    assert Draft.objects.get().team_user_prompt == "changed\n"


def test_a_text_with_errors_is_refused_with_line_and_suggestion(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    text = "# Task\n\n{{ submision_history }}\n"
    answer = signed_in.post(SAVE, fields(team=text, message="history"))
    page = answer.content.decode()
    assert answer.status_code == 422 and PromptVersion.objects.count() == 1
    assert "Line 3" in page and "submision_history" in page and "submission_history" in page
    assert "Not saved: fix the problems below." in page
    assert Draft.objects.get().team_user_prompt == text
    assert 'value="history"' in page  # the message is not lost either


def test_the_page_turns_to_the_template_that_has_the_error(prompt_set: PromptSet, signed_in: Client) -> None:
    texts = replace(TEXTS, judgment_user_prompt="a\n{{ nothing }}\n")
    page = signed_in.post(SAVE, fields(texts, message="m", kind="team")).content.decode()
    assert 'data-panel="judgment" aria-labelledby="tab-judgment">' in tight(page)
    assert "Judgment · Line 2" in " ".join(page.split())


def test_errors_of_all_three_templates_are_told_at_once(prompt_set: PromptSet, person: User) -> None:
    texts = replace(TEXTS, team_user_prompt="{{ a }}\n", evaluator_user_prompt="\n{% if %}\n")
    found = shortcomings(prompt_set, texts, owner=person)
    assert [(each.kind, each.line) for each in found] == [("team", 1), ("evaluator", 2)]


def test_a_text_that_fails_in_one_context_only_is_refused_with_its_name(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    make_context("round-one", prompt_set=prompt_set)
    make_context("round-three", rounds=3, prompt_set=prompt_set)
    text = "x\n{% if round_number == 2 %}{{ user_prompt[0] + 1 }}{% endif %}\n"
    answer = signed_in.post(SAVE, fields(team=text, message="m"))
    page = answer.content.decode()
    assert answer.status_code == 422 and PromptVersion.objects.count() == 1
    assert "Round-Three, round 2" in page


def test_a_failure_in_a_shared_context_is_a_warning_and_the_text_is_saved(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    make_context("everybodys", rounds=3)
    make_context("own", prompt_set=prompt_set)
    text = "x\n{% if round_number == 3 %}{{ user_prompt[0] + 1 }}{% endif %}\n"
    page = signed_in.post(SAVE, fields(team=text, message="m"), follow=True).content.decode()
    assert newest().team_user_prompt == text
    assert "Can’t render in the shared context “Everybodys, round 3”" in page


def test_a_shared_context_as_large_as_they_used_to_get_keeps_nobody_from_saving(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    make_context("huge", user_prompt="x" * 999_850)
    answer = signed_in.post(SAVE, fields(team="Task: {{ user_prompt }}\n" * 3, message="m"), follow=True)
    assert newest().number == 2
    assert (
        "Stopped at the output limit" in answer.content.decode()
    )  # that it is there thrice is the template's doing
    answer = signed_in.post(
        SAVE,
        fields(team="Task:\n{{ user_prompt }}\n" + "y" * 50_000, base=2, message="m", revision=2),
        follow=True,
    )
    assert newest().number == 3 and "output limit" not in answer.content.decode()


def test_without_a_context_of_its_own_a_text_is_tried_with_sample_values(
    prompt_set: PromptSet, person: User
) -> None:
    make_context("everybodys")
    texts = replace(TEXTS, team_user_prompt="{{ user_prompt + 1 }}\n")
    (found,) = shortcomings(prompt_set, texts, owner=person)
    assert (found.severity, found.where) == ("error", "Sample values")


def test_the_contexts_of_another_set_do_not_count(prompt_set: PromptSet, person: User) -> None:
    make_context("elsewhere", rounds=7, prompt_set=make_set(person, "other"))
    text = "x\n{% if round_number == 7 %}{{ user_prompt[0] + 1 }}{% endif %}\n"
    assert shortcomings(prompt_set, replace(TEXTS, team_user_prompt=text), owner=person) == []


def test_the_evaluator_and_the_judgment_are_tried_too(prompt_set: PromptSet, person: User) -> None:
    make_context("two", rounds=2, prompt_set=prompt_set)
    evaluator = "x\n{% if submission == 'text 1' %}{{ submission + 1 }}{% endif %}\n"
    judgment = "x\n{% if 'text 1' in submission_history %}{{ user_prompt + 1 }}{% endif %}\n"
    texts = replace(TEXTS, evaluator_user_prompt=evaluator, judgment_user_prompt=judgment)
    found = shortcomings(prompt_set, texts, owner=person)
    assert [(each.kind, each.where) for each in found] == [
        ("evaluator", "Two, round 1"),
        ("judgment", "Two, round 2"),
    ]


@pytest.mark.slow
def test_a_text_that_meets_a_limit_in_one_context_is_refused_with_the_limit(
    prompt_set: PromptSet, signed_in: Client, own_jail: JailPool
) -> None:
    make_context("three", rounds=3, prompt_set=prompt_set)
    text = "x\n{% if round_number == 2 %}" + SLOW + "{% endif %}\n"
    answer = signed_in.post(SAVE, fields(team=text, message="m"))
    page = answer.content.decode()
    assert answer.status_code == 422 and PromptVersion.objects.count() == 1
    assert "Three, round 2" in page and "time limit" in page
    assert Draft.objects.get().team_user_prompt == text


@pytest.mark.slow
def test_a_limit_met_by_the_check_itself_is_a_finding(
    prompt_set: PromptSet, person: User, use_jail: UseJail
) -> None:
    with JailPool(size=1, spares=0, limits=Limits(input=1000)) as tiny:
        use_jail(tiny)
        (found,) = shortcomings(prompt_set, replace(TEXTS, evaluator_user_prompt="x\n" * 999), owner=person)
    assert (found.kind, found.code) == ("evaluator", "jail-input")


def test_a_studio_too_busy_for_the_whole_trial_does_not_blame_the_text(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.preview.saving, "TRIAL_SECONDS", -1.0)
    make_context("one")
    answer = signed_in.post(SAVE, fields(team="changed\n", message="m"))
    page = answer.content.decode()
    assert answer.status_code == 503 and PromptVersion.objects.count() == 1
    assert "The studio was too busy to try this text" in page and "Try again in a moment." in page
    assert "time limit" not in page and "Not checked." in page
    assert Draft.objects.get().team_user_prompt == "changed\n"


def test_with_the_jail_stopped_nothing_is_saved_and_the_draft_is_kept(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    answer = signed_in.post(SAVE, fields(team="changed\n", message="m"))
    page = answer.content.decode()
    assert answer.status_code == 503 and PromptVersion.objects.count() == 1
    assert "The workers that render templates are stopped" in page and "Your draft is saved" in page
    assert Draft.objects.get().team_user_prompt == "changed\n"
    assert signed_in.get(EDIT).status_code == 200  # the editor itself still opens


def test_text_that_cannot_be_kept_is_shown_with_what_is_wrong(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    signed_in.post(DRAFT, fields(team="before"))
    answer = signed_in.post(SAVE, fields(team="x" * 65_537, message="m", revision=1))
    assert answer.status_code == 413 and "65537 characters; the limit is 65536" in answer.content.decode()
    assert Draft.objects.get().team_user_prompt == "before"
    assert PromptVersion.objects.count() == 1


def test_a_tab_that_wrote_during_the_save_keeps_its_draft(
    prompt_set: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = Draft.objects.keep(prompt_set, person, sent("one\n"), at=NOW)
    examine = studio.preview.saving.shortcomings

    def meanwhile(*args: object, **more: object) -> object:
        Draft.objects.keep(prompt_set, person, sent("two\n", revision=1, seq=2), at=NOW)
        return examine(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(studio.preview.saving, "shortcomings", meanwhile)
    studio.preview.saving.save_as_version(
        prompt_set, draft.templates, base=1, message="m", by=person, at=NOW, draft=draft
    )
    kept = Draft.objects.get()
    assert newest().team_user_prompt == "one\n"
    assert (kept.team_user_prompt, kept.base) == ("two\n", 1)


def test_a_tab_of_before_the_save_cannot_write_over_the_next_draft(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    signed_in.post(DRAFT, fields(team=TEAM + "one\n", tab="old"))
    signed_in.post(SAVE, fields(team=TEAM + "one\n", message="m", revision=1, tab="new"))
    signed_in.post(DRAFT, fields(team=TEAM + "next\n", base=2, revision=3, tab="new", seq=9))
    answer = signed_in.post(DRAFT, fields(team=TEAM + "old\n", revision=1, tab="old", seq=9))
    assert answer.status_code == 409
    assert Draft.objects.get().team_user_prompt == TEAM + "next\n"


def test_a_refused_save_still_shows_the_prompt_of_a_round_that_has_one(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    make_context("second", rounds=2, prompt_set=prompt_set)
    text = "Round {{ round_number }}\n{{ user_prompt + 1 if round_number == 1 }}"
    sent = fields(team=text, message="m", context="second", round=2)
    page = signed_in.post(SAVE, sent).content.decode()
    assert 'data-state="text"' in page and "Can't render" not in page
    assert page.count('class="finding error"') == 1 and "round 1</strong>:" in page
    assert 'id="message-kept"' in page and 'value="m"' in page
