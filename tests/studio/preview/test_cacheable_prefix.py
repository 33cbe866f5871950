"""What a cache can keep of a prompt: in the editor, from version to version, and in another order."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.preview.cacheable_prefix
import studio.preview.views
from builder.jail import JailPool
from studio.models import Draft, DraftCopy, LanguageModel, PromptSet
from studio.prompts.drafts import CopyReason
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.editing import DRAFT, HTMX, TEAM, TEXTS, fields, make_context, make_set
from tests.studio.jail import UseJail

ADDRESS = "/prompts/set/stability/"
TAKE = "/prompts/set/stability/take/"
CLOCK = "Now: {{ current_datetime }}\n# Task\n{{ user_prompt }}\nAnswer in Japanese.\n"
"""A value of each call stands before all that stays the same."""


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("third", rounds=3, prompt_set=made)
    return made


def ask(client: Client, text: str, *, kind: str = "team", **more: Any) -> str:
    sent = {"kind": kind, f"{kind}_user_prompt": text, "context": "third", "round": 2} | more
    answer = client.post(ADDRESS, sent, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def figures(page: str) -> dict[str, int]:
    """What the page's own script reads."""
    return {
        name: int(number) for name, number in re.findall(r'data-([a-z-]+)="(\d+)"', page) if name != "line"
    }


def offered(page: str) -> list[str]:
    return re.findall(r'name="take" value="([^"]+)"', page)


def order(client: Client, text: str) -> str:
    """The key of the first order that is suggested."""
    return offered(ask(client, text))[0]


def test_both_beginnings_are_measured_in_the_prompt_and_in_the_template(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    page = ask(signed_in, TEAM)
    same_task = "# Task\ncount the stars\nRound "
    assert figures(page) == {
        "task": len(same_task),
        "round": len(same_task + "2"),
        "task-source": TEAM.index("{{ round_number"),
        "round-source": len(TEAM),
    }
    assert 'data-line="3"' in page and "<code>round_number</code>" in page
    assert "Observed, rounds 2 and 3" in page


def test_characters_beyond_the_basic_plane_count_as_the_browser_counts_them(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    found = figures(ask(signed_in, "🦀🦀 {{ current_datetime }}"))
    assert found["task"] == found["task-source"] == 5


def test_observed_between_the_last_round_and_the_one_before(signed_in: Client, prompt_set: PromptSet) -> None:
    assert "Observed, rounds 2 and 3" in ask(signed_in, TEAM, round=3)


def test_a_time_ends_what_is_observed_although_its_first_digits_are_the_same(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    page = ask(signed_in, "{{ current_datetime }} and the rest\n")
    seen = re.search(r'class="cache-observed">.*?<td class="num">(\d+)</td>', page, re.DOTALL)
    assert seen is not None and len("2025-11-1") <= int(seen[1]) < len("2025-11-19T12:34:56")


def test_with_one_round_there_is_nothing_to_compare(signed_in: Client, prompt_set: PromptSet) -> None:
    make_context("only", rounds=1, prompt_set=prompt_set)
    page = ask(signed_in, TEAM, context="only", round=1)
    assert "there is no second round to compare with" in page and "Observed" not in page


def test_a_hint_has_its_line_its_cost_and_another_order(signed_in: Client, prompt_set: PromptSet) -> None:
    page = ask(signed_in, CLOCK)
    assert '<code class="cache-code">C001</code>' in page
    assert "costs" in page and "Suggested order" in page
    assert re.search(r'<p class="row removed">.*current_datetime', page)
    assert offered(page)


def test_the_minimum_of_the_sets_model_counts(signed_in: Client, prompt_set: PromptSet) -> None:
    assert "C006" not in ask(signed_in, TEAM)
    model = LanguageModel.objects.create(name="house:one", cache_minimum=1_024, as_of=NOW.date())
    PromptSet.objects.update(language_model=model)
    page = ask(signed_in, TEAM)
    assert "C006" in page and "≈" in page
    LanguageModel.objects.update(cache_minimum=2)
    assert "C006" not in ask(signed_in, TEAM)


@pytest.mark.parametrize("text", ["{% if %}", "{{ ''.__class__ }}", "x" * 70_000])
def test_of_a_text_without_a_prompt_nothing_is_known(
    signed_in: Client, prompt_set: PromptSet, text: str
) -> None:
    assert "Cacheable prefix unknown: no preview yet" in ask(signed_in, text)


def test_the_same_text_asks_the_jail_once_and_another_waits_while_it_is_off(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    found = ask(signed_in, TEAM)
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    assert ask(signed_in, TEAM) == found
    sent = {"kind": "team", "team_user_prompt": "other", "context": "third"}
    assert signed_in.post(ADDRESS, sent, headers=HTMX).status_code == 204


def test_while_others_are_looked_at_it_has_to_wait(signed_in: Client, prompt_set: PromptSet) -> None:
    busy = studio.preview.views._ANALYSES
    taken = [busy.acquire(blocking=False) for _ in range(2)]
    try:
        sent = {"kind": "team", "team_user_prompt": TEAM}
        assert signed_in.post(ADDRESS, sent, headers=HTMX).status_code == 204
    finally:
        for _ in taken:
            busy.release()


def test_requests_that_no_page_makes_are_refused(signed_in: Client, prompt_set: PromptSet) -> None:
    assert signed_in.get(ADDRESS).status_code == 405
    assert signed_in.get(TAKE).status_code == 405
    assert signed_in.post(ADDRESS, {"kind": "team"}, headers=HTMX).status_code == 400
    sent = {"kind": "team", "team_user_prompt": "", "context": "gone"}
    assert signed_in.post(ADDRESS, sent, headers=HTMX).status_code == 404
    assert signed_in.post("/prompts/gone/stability/", {"team_user_prompt": ""}).status_code == 404
    for key in ("", "C001", "C001-1-xyz", "C001-1-0123456789ab\n"):
        assert signed_in.post(TAKE, fields(take=key)).status_code == 400
    assert not Draft.objects.exists()


# --- without scripts ---------------------------------------------------------------------


def test_without_scripts_a_button_shows_the_page_with_all_of_it(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    page = signed_in.post(ADDRESS, fields(team=CLOCK, kind="team", context="third", round=2))
    text = page.content.decode()
    assert page.status_code == 200 and '<div id="cacheable-prefix"' in text and " open>" in text
    assert '<span class="stable task end">Now: </span>' in text
    assert offered(text) and CLOCK.splitlines()[0] in text
    assert not Draft.objects.exists()


def test_a_suggested_order_is_taken_and_the_old_text_put_aside(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    key = order(signed_in, CLOCK)
    sent = fields(team=CLOCK, take=key, kind="team", context="third", round=2)
    answer = signed_in.post(TAKE, sent, follow=True)
    assert answer.redirect_chain == [("/prompts/set/edit/?kind=team&context=third&round=2", 302)]
    draft, copy = Draft.objects.get(), DraftCopy.objects.get()
    assert draft.team_user_prompt.index("user_prompt") < draft.team_user_prompt.index("current_datetime")
    assert sorted(draft.team_user_prompt.split()) == sorted(CLOCK.split())
    assert (draft.evaluator_user_prompt, draft.base) == (TEXTS.evaluator_user_prompt, 1)
    assert (copy.team_user_prompt, copy.reason) == (CLOCK, CopyReason.REORDERED)
    page = answer.content.decode()
    assert "Draft updated." in page and "Before the suggested order" in page
    # What is in the draft now loses nothing that could be had by another order of these lines.
    assert "C001" not in ask(signed_in, draft.team_user_prompt)


def test_an_order_for_another_text_is_not_taken(signed_in: Client, prompt_set: PromptSet) -> None:
    key = order(signed_in, CLOCK)
    other = CLOCK + "One more line.\n"
    answer = signed_in.post(TAKE, fields(team=other, take=key, kind="team", context="third"))
    assert answer.status_code == 409
    assert b"nothing was reordered. Your draft is saved." in answer.content
    assert Draft.objects.get().team_user_prompt == other
    assert not DraftCopy.objects.exists()


def test_beside_the_text_of_another_tab_both_are_kept(signed_in: Client, prompt_set: PromptSet) -> None:
    key = order(signed_in, CLOCK)
    assert signed_in.post(DRAFT, fields(team="from another tab\n", tab="tab-b")).status_code == 200
    answer = signed_in.post(TAKE, fields(team=CLOCK, take=key, kind="team", context="third"))
    assert answer.status_code == 409 and b'id="conflict"' in answer.content
    assert Draft.objects.get().team_user_prompt == "from another tab\n"
    assert DraftCopy.objects.get().team_user_prompt == CLOCK


def test_without_the_jail_nothing_is_taken_and_nothing_lost(
    signed_in: Client, prompt_set: PromptSet, use_jail: UseJail
) -> None:
    key = order(signed_in, CLOCK)
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    answer = signed_in.post(TAKE, fields(team=CLOCK, take=key, kind="team", context="third"))
    assert answer.status_code == 503 and b"Not reordered. Your draft is saved." in answer.content
    assert Draft.objects.get().team_user_prompt == CLOCK


def test_a_text_too_long_to_be_kept_is_not_reordered(signed_in: Client, prompt_set: PromptSet) -> None:
    key = order(signed_in, CLOCK)
    answer = signed_in.post(TAKE, fields(team=CLOCK + "x" * 70_000, take=key, kind="team"))
    assert answer.status_code == 413 and not Draft.objects.exists()


# --- from version to version -------------------------------------------------------------


@pytest.fixture
def two_versions(prompt_set: PromptSet, person: User) -> PromptSet:
    later = Templates(CLOCK, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    prompt_set.save_version(later, base=1, message="clock first", author=person, at=NOW)
    return prompt_set


def cells(client: Client, query: str) -> list[str]:
    page = client.get(f"/prompts/set/prefixes/?{query}", headers=HTMX).content.decode()
    row = page[page.index('<tr data-kind="team">') : page.index('<tr data-kind="evaluator">')]
    return [
        " ".join(re.sub("<[^>]+>", "", cell).split()) for cell in re.findall("<td.*?</td>", row, re.DOTALL)
    ]


def test_a_versions_page_and_a_comparison_ask_for_what_changed(
    signed_in: Client, two_versions: PromptSet
) -> None:
    page = signed_in.get("/prompts/set/versions/2/").content.decode()
    assert 'hx-get="/prompts/set/prefixes/?new=2&amp;old=1"' in page
    page = signed_in.get("/prompts/set/versions/1/").content.decode()
    assert 'hx-get="/prompts/set/prefixes/?new=1"' in page
    page = signed_in.get("/prompts/set/compare/1...2?rendered=on&context=third&round=2").content.decode()
    assert (
        'hx-get="/prompts/set/prefixes/?new=2&amp;old=1&amp;context=third&amp;round=2&amp;changed=on"' in page
    )


def test_both_beginnings_of_both_versions_and_the_difference(
    signed_in: Client, two_versions: PromptSet
) -> None:
    task, same_round = cells(signed_in, "old=1&new=2&context=third&round=2")
    assert task.startswith("29 → 5 bytes (−24) ") and "(o200k_base)" in task
    assert same_round.startswith("30 → 5 bytes (−25) ")
    assert cells(signed_in, "new=1&context=third&round=2")[0].startswith("29 bytes ")
    page = signed_in.get("/prompts/set/prefixes/?old=1&new=2").content.decode()
    assert 'aria-label="Pages of Set"' in page and "as in v1" in page


def test_of_a_comparison_only_what_changed_is_told_and_folded(
    signed_in: Client, two_versions: PromptSet, person: User
) -> None:
    page = signed_in.get("/prompts/set/prefixes/?old=1&new=2&changed=on", headers=HTMX).content.decode()
    assert "<details" in page and re.findall(r'data-kind="(\w+)"', page) == ["team"]
    longer = Templates(CLOCK + "End.\n", TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    two_versions.save_version(longer, base=2, message="end", author=person, at=NOW)
    assert signed_in.get("/prompts/set/prefixes/?old=2&new=3&changed=on", headers=HTMX).content == b""


def test_a_draft_without_a_prompt_has_no_beginning(signed_in: Client, two_versions: PromptSet) -> None:
    assert signed_in.post(DRAFT, fields(team="{% if %}", base=2)).status_code == 200
    assert cells(signed_in, "old=2&new=draft") == ["can’t render here", "can’t render here"]


def test_without_the_jail_a_table_says_so(
    signed_in: Client, two_versions: PromptSet, use_jail: UseJail
) -> None:
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    page = signed_in.get("/prompts/set/prefixes/?old=1&new=2")
    assert page.status_code == 200 and b"Not available: the studio is busy" in page.content


@pytest.mark.parametrize(("query", "status"), [("new=9", 404), ("old=x", 400), ("context=gone", 404)])
def test_what_there_is_not_is_said(
    signed_in: Client, two_versions: PromptSet, query: str, status: int
) -> None:
    answer = signed_in.get(f"/prompts/set/prefixes/?{query}")
    assert answer.status_code == status and "None:" not in answer.content.decode()
