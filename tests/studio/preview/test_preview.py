"""The live preview: the prompt for a context and round, its figures, and what is in its way."""

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import studio.preview.examinations
import studio.preview.rendering
from builder.errors import Superseded
from builder.jail import JailPool, Limits
from studio.models import Draft, DraftCopy, PromptSet, PromptVersion, SampleContext
from studio.preview.rendering import preview_topic
from studio.prompts.texts import Templates
from tests.hanging import HANGS
from tests.studio.clock import NOW
from tests.studio.editing import DRAFT, HTMX, PREVIEW, TEAM, fields, make_context, make_set
from tests.studio.jail import UseJail
from tests.studio.markup import tight

SLOW = HANGS + "\n"


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("start")
    make_context("third", rounds=3, prompt_set=made)
    return made


def ask(client: Client, **more: Any) -> str:
    answer = client.post(PREVIEW, fields(**({"context": "third"} | more)), headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def prompt(page: str) -> str:
    """What a browser would show; without the marks of changed lines."""
    found = re.search(r'<pre class="prompt"[^>]*>\n(.*?)</pre>', page, re.DOTALL)
    assert found, page
    return html.unescape(re.sub(r"</?(?:ins|span)\b[^>]*>", "", found[1]))


def problems(page: str) -> list[dict[str, Any]]:
    found = re.search(r'data-problems="([^"]*)"', page)
    assert found
    read: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return read


def test_the_text_is_rendered_for_the_context_at_its_round(prompt_set: PromptSet, signed_in: Client) -> None:
    assert prompt(ask(signed_in)) == "# Task\ncount the stars\nRound 3"
    assert prompt(ask(signed_in, go=1)) == "# Task\ncount the stars\nRound 1"
    assert prompt(ask(signed_in, round=2)) == "# Task\ncount the stars\nRound 2"
    assert prompt(ask(signed_in, round=9)) == "# Task\ncount the stars\nRound 3"


def test_a_context_that_was_changed_is_seen_changed(prompt_set: PromptSet, signed_in: Client) -> None:
    context = SampleContext.objects.get(slug="third")
    assert prompt(ask(signed_in, kind="evaluator")) == "Judge:\nhanded in"
    context.submission = "handed in later"
    context.save()
    assert prompt(ask(signed_in, kind="evaluator")) == "Judge:\nhanded in later"
    assert prompt(ask(signed_in)) == "# Task\ncount the stars\nRound 3"
    context.data["user_prompt"] = "count the trees"
    context.save()
    assert prompt(ask(signed_in)) == "# Task\ncount the trees\nRound 3"
    assert prompt(ask(signed_in, context="start")) == "# Task\ncount the stars\nRound 1"


def test_each_kind_sees_its_side_of_the_round(prompt_set: PromptSet, signed_in: Client) -> None:
    assert prompt(ask(signed_in, kind="evaluator", go=2)) == "Judge:\ntext 2"
    assert prompt(ask(signed_in, kind="evaluator", go=3)) == "Judge:\nhanded in"
    history = prompt(ask(signed_in, kind="judgment", go=1))
    assert "text 1" in history and "text 2" not in history
    team = prompt(ask(signed_in, team="a\n{{ submission_history }}", go=2))
    assert "text 1" in team and "text 2" not in team


def test_one_click_leads_through_the_rounds(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, go=2)
    assert re.findall(r'name="go" value="(\d+)"', page) == ["1", "2", "3"]
    assert re.search(r'value="2"[^>]* aria-current="true"', page)
    assert re.search(r'value="3"[^>]* data-next-round', page)
    assert 'name="round" value="2"' in page
    assert re.search(r'value="1"[^>]* data-next-round', ask(signed_in, go=3))


def test_characters_tokens_and_dialect_are_shown(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="12345\n{{ round_number }}")
    assert "7 characters" in page and "o200k_base" in page and "mixseek" in page
    assert re.search(r"\d+ tokens", page)


def test_the_dialect_of_the_set_is_the_one_rendered(prompt_set: PromptSet, signed_in: Client) -> None:
    text = "a\n{% if true %}\nb\n{% endif %}\nc"
    assert prompt(ask(signed_in, team=text)) == "a\n\nb\n\nc"
    PromptSet.objects.update(dialect="english")
    page = ask(signed_in, team=text + "\n{{ submission_history }}", go=1)
    assert prompt(page) == "a\nb\nc\nThere are no earlier submissions yet." and "Formatting: english" in page


def test_no_environment_variable_is_read(
    prompt_set: PromptSet, signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Not/AZone")
    monkeypatch.setenv("MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT", "from the environment")
    assert prompt(ask(signed_in, team="t\n{{ current_datetime }}")) == "t\n2025-11-19T12:34:56.789012+00:00"


def test_nothing_is_stored_by_previewing(
    prompt_set: PromptSet, signed_in: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(4) as queries:
        ask(signed_in, team="new text\n{{ user_prompt }}")
    assert not [each for each in queries.captured_queries if not each["sql"].startswith("SELECT")]
    signed_in.post(PREVIEW, fields(team="new text", context="third"))
    assert (Draft.objects.count(), DraftCopy.objects.count(), PromptVersion.objects.count()) == (0, 0, 1)


def test_a_plain_preview_says_that_its_text_is_not_stored(prompt_set: PromptSet, signed_in: Client) -> None:
    """With no draft, and beside one that has another text; once that very text is kept, it is the draft."""
    for kept in ("", "kept"):
        if kept:
            signed_in.post(DRAFT, fields(team=kept))
        page = signed_in.post(PREVIEW, fields(team="only shown", revision=int(bool(kept)))).content.decode()
        assert "Unsaved changes" in page and "Draft, not saved as a version" not in page
        assert "Leave without saving" in page
        assert len(re.findall(r'data-when="changed" hidden', tight(page))) == 2  # compare and discard
    page = signed_in.post(PREVIEW, fields(team="kept", revision=1)).content.decode()
    assert "Draft, not saved as a version" in page and 'data-when="changed" hidden' not in tight(page)
    assert "No changes" in signed_in.post(PREVIEW, fields(revision=1)).content.decode()


def test_a_plain_preview_on_an_older_version_leads_to_no_conflict_page_that_is_not_there(
    prompt_set: PromptSet, signed_in: Client, person: User
) -> None:
    prompt_set.save_version(Templates("a", "b", "c"), base=1, message="m", author=person, at=NOW)
    page = signed_in.post(PREVIEW, fields(team="only shown")).content.decode()
    assert "This text is based on v1, but v2 was saved since" in page
    assert page.count("/prompts/set/conflict/") == 1  # that of the hidden bar


def test_what_changed_against_the_saved_version_is_counted_and_marked(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    page = ask(signed_in, team=TEAM.replace("Task", "Duty") + "one more\n")
    assert "Since v1" in page and ">+2<" in page and ">−1<" in page
    assert "<del>Task</del>" in page and "<ins>Duty</ins>" in page


def test_lines_that_differ_from_the_saved_version_are_marked_in_the_prompt(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    page = ask(signed_in, team="# Task\n<brief>\nRound {{ round_number }}\nlast\n")
    assert (
        '# Task\n<ins class="new-lines">&lt;brief&gt;\n</ins>Round 3\n<ins class="new-lines">last</ins></pre>'
        in page
    )
    page = ask(signed_in, team="# Task\nRound {{ round_number }}\n")
    assert '# Task\n<span class="lines-gone" title="1 line removed"></span>Round 3</pre>' in page
    for unchanged in (ask(signed_in), ask(signed_in, team=TEAM.replace("Round", "{# a note #}Round"))):
        assert "<ins" not in unchanged and "lines-gone" not in unchanged


def test_an_unchanged_text_needs_no_sentence(prompt_set: PromptSet, signed_in: Client) -> None:
    assert 'class="changes' not in ask(signed_in)


def test_a_changed_template_that_gives_the_same_prompt_says_so(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    assert "The template changed since v1; the prompt is the same here." in ask(
        signed_in, team=TEAM.replace("{{ round_number }}", "{{ round_number }}{# a note #}")
    )


def test_a_set_without_versions_has_nothing_to_compare(signed_in: Client, prompt_set: PromptSet) -> None:
    PromptSet.objects.update(revision=0)
    assert "Since v" not in ask(signed_in, team="x\ny")


def test_problems_stand_above_the_saved_versions_prompt_and_nowhere_else(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    page = ask(signed_in, team="# Task\n{{ submision_history }}\n")
    assert '<pre class="prompt"' not in page and 'data-state="problems"' in page
    assert re.search(
        r"Prompt of v1:.*<pre class=\"prompt last-good\"[^>]*>\n# Task\ncount the stars", page, re.S
    )
    assert page.count('class="finding error"') == 1 and page.index("Can't render") < page.index("<pre")
    (problem,) = problems(page)
    assert (problem["severity"], problem["line"]) == ("error", 2)
    assert (problem["replaces"], problem["replacement"]) == ("submision_history", "submission_history")
    assert 'hx-swap-oob="true"' in page and "Line 2" in page


def test_errors_come_first(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="{{ user_prompt|upper }}\n{{ user_prompt|lower }} {{ submision_history }}\n")
    assert [(each["line"], each["severity"]) for each in problems(page)] == [
        (2, "error"),
        (1, "hint"),
        (2, "hint"),
    ]
    above, _, listed = page.partition('id="problems"')
    assert re.findall(r'class="finding (\w+)"', above) == ["error"]
    assert re.findall(r'class="finding (\w+)"', listed) == ["hint", "hint"]


def test_names_in_a_problem_stand_as_code(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="# Task\n{{ submision_history }}{{ '<b>' ~ a }}\n")
    assert "Did you mean <code>submission_history</code>?" in page and "`" not in page.partition("<ol")[2]


def test_hints_stand_below_the_text(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="a\n{{ user_prompt|upper }}")
    assert prompt(page) == "a\nCOUNT THE STARS"
    assert [each["severity"] for each in problems(page)] == ["hint"]


def test_a_prompt_that_cannot_be_made_here_says_why(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="a\n{{ user_prompt + 1 }}")
    assert 'data-state="problems"' in page and "Jinja2 template error" in page


def test_a_limit_is_named_and_the_next_preview_works(
    prompt_set: PromptSet, signed_in: Client, own_jail: JailPool
) -> None:
    page = ask(signed_in, team="a\n" + SLOW)
    assert "Stopped at the time limit: this took longer than 1 s" in page
    assert prompt(ask(signed_in)) == "# Task\ncount the stars\nRound 3"


def test_a_prompt_keeps_its_blank_lines_at_the_top(prompt_set: PromptSet, signed_in: Client) -> None:
    # The first line end after <pre> is none of the text: a browser drops it.
    assert prompt(ask(signed_in, team="\n\na\nb")) == "\n\na\nb"


def test_words_are_in_the_readers_language(prompt_set: PromptSet, signed_in: Client) -> None:
    signed_in.cookies["studio-language"] = "ja"
    page = ask(signed_in, team="a\n{{ teem }}")
    assert re.search(r"[ぁ-ん]", problems(page)[0]["message"])


def test_what_is_rendered_is_text_on_the_page(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="<script>alert(1)</script>\n{{ user_prompt }}")
    assert "<script>" not in page and prompt(page).startswith("<script>alert(1)</script>")


def test_a_very_long_prompt_is_cut_for_the_page_alone(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="{% for i in range(9) %}" + "x" * 60_000 + "\n{% endfor %}")
    assert "Shortened." in page and "540,009 characters" in page
    assert len(prompt(page)) == studio.preview.rendering.MOST_SHOWN
    assert "Not compared with v1" in page


def test_a_prompt_of_very_many_lines_is_not_compared(prompt_set: PromptSet, signed_in: Client) -> None:
    page = ask(signed_in, team="{% for i in range(7000) %}{{ i }}\n{% endfor %}")
    assert "Not compared with v1" in page and prompt(page).startswith("0\n1\n2\n")


def test_without_a_context_the_variables_have_sample_values(person: User, signed_in: Client) -> None:
    make_set(person)
    page = ask(signed_in, context="")
    assert prompt(page) == "# Task\nデータ分析タスク\nRound 2" and 'name="go"' not in page


def test_the_context_of_another_set_is_not_found(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    make_context("foreign", prompt_set=make_set(person, "other"))
    for slug in ("foreign", "nothing"):
        answer = signed_in.post(PREVIEW, fields(context=slug), headers=HTMX)
        page = answer.content.decode()
        assert answer.status_code == 404 and "no longer exists" in page
        assert '<div id="preview"' in page  # where the next preview goes


def test_a_plain_form_gets_the_whole_page_with_the_text_it_sent(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    answer = signed_in.post(
        PREVIEW, fields(team="typed\n{{ user_prompt }}", context="third", go=2, message="later")
    )
    page = answer.content.decode()
    assert answer.status_code == 200 and "<html" in page
    assert prompt(page) == "typed\ncount the stars"
    assert "typed\n{{ user_prompt }}</textarea>" in page and 'value="later"' in page


def test_a_plain_tab_button_shows_the_other_template_and_loses_nothing(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    page = signed_in.post(PREVIEW, fields(team="typed\n", show="evaluator", context="third")).content.decode()
    assert prompt(page) == "Judge:\nhanded in" and "typed\n</textarea>" in page
    assert 'id="panel-team" data-panel="team" aria-labelledby="tab-team" hidden' in tight(page)


# --- when the jail does not take it ------------------------------------------------------


def test_a_stopped_jail_is_said_calmly(prompt_set: PromptSet, signed_in: Client, use_jail: UseJail) -> None:
    stopped = JailPool()
    stopped.close()
    use_jail(stopped)
    answer = signed_in.post(PREVIEW, fields(context="third"), headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 503 and 'id="preview"' in page and problems(page) == []
    assert "The workers that render templates are stopped" in page
    assert signed_in.get("/prompts/set/edit/").status_code == 200


@pytest.mark.slow
def test_who_was_stopped_twice_is_told_how_long_to_wait(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    with JailPool(size=1, spares=1, limits=Limits(time=0.2, cool_down=30.0)) as pool:
        use_jail(pool)
        for line in ("first\n", "second\n"):  # a text that was stopped is not tried again
            ask(signed_in, team=line + SLOW)
        answer = signed_in.post(PREVIEW, fields(context="third"), headers=HTMX)
    assert answer.status_code == 429 and "30 s" in answer.content.decode()
    assert answer["Retry-After"] == "30"


def test_an_answer_that_a_newer_one_replaced_changes_nothing(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    class Busy(JailPool):
        def examine(self, *args: Any, **more: Any) -> Any:
            raise Superseded("jail-superseded")

    use_jail(Busy())
    answer = signed_in.post(PREVIEW, fields(context="third"), headers=HTMX)
    assert (answer.status_code, answer.content) == (204, b"")
    assert signed_in.post(PREVIEW, fields(context="third")).status_code == 200


def test_a_newer_preview_of_the_same_tab_takes_the_place_of_one_that_waits(
    prompt_set: PromptSet, person: User
) -> None:
    assert preview_topic(prompt_set, "team", "a") != preview_topic(prompt_set, "team", "b")
    assert preview_topic(prompt_set, "team", "a") != preview_topic(prompt_set, "evaluator", "a")


@pytest.mark.slow
def test_the_saved_side_is_rendered_once_for_many_previews(
    prompt_set: PromptSet, signed_in: Client, use_jail: UseJail
) -> None:
    with JailPool(size=1, spares=1) as pool:
        use_jail(pool)
        for number in range(5):
            ask(signed_in, team=f"{TEAM}{number}\n")
        assert pool.stats().jobs == 6


def test_a_text_that_met_a_limit_is_not_tried_again(
    prompt_set: PromptSet, signed_in: Client, own_jail: JailPool
) -> None:
    assert "Stopped at the time limit" in ask(signed_in, team=SLOW)
    stops = own_jail.stats().stops
    for _ in range(3):
        # Of another person's or in another tab, it is the same text in the same context.
        assert "Stopped at the time limit" in ask(signed_in, team=SLOW)
    assert own_jail.stats().stops == stops
    assert "Stopped" not in ask(signed_in, team="{{ user_prompt }}\n")
