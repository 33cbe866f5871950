"""Budgets: set for a set, shown against each prompt, with what the priority levels would leave out."""

import csv
import html
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from builder.cache.tokens import TokenCount, count
from builder.contract.round_context import round_context_of
from builder.contract.round_prompt import Kept, PlainTextPromptBuilder, RoundPromptConfig
from studio.contexts.at_round import ContextAtRound, context_at
from studio.models import LanguageModel, PromptSet
from studio.preview.budgets import budget_of, budget_view, config_of, fill_of, parts_of
from studio.prompts.language_models import add_missing
from tests.studio.clock import NOW
from tests.studio.editing import HTMX, PREVIEW, TEAM, TEXTS, fields, make_context, make_set

BUDGETS = "/prompts/set/budgets/"
SETTINGS = "/prompts/set/settings/"
LONG = "The stars of the southern sky are many, and each has a name of its own. " * 12


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    """With a context of three rounds."""
    made = make_set(person)
    ranking = [
        {"team_id": f"t{n}", "team_name": f"Team {n}", "max_score": 90.0 - n, "total_rounds": 2}
        for n in range(6)
    ]
    history = [
        {
            "round_number": n,
            "submission_content": LONG,
            "evaluation_score": 50.0 + n,
            "evaluation_feedback": LONG,
        }
        for n in (1, 2)
    ]
    make_context("third", rounds=3, prompt_set=made, ranking=ranking, round_history=history, team_id="t1")
    return made


def said(**more: Any) -> dict[str, Any]:
    return {"language_model": "", "team": "", "evaluator": "", "judgment": ""} | more


def text(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def preview(client: Client, team: str, **more: Any) -> str:
    sent = fields(team=team, kind="team", context="third", round=3) | more
    return client.post(PREVIEW, sent, headers=HTMX).content.decode()


def model(name: str) -> LanguageModel:
    add_missing()
    return LanguageModel.objects.get(name=name)


# --- parts ---------------------------------------------------------------------------------

WORDS = st.text(alphabet="ab 星\n", max_size=12)


@given(
    pieces=st.lists(
        st.one_of(WORDS, st.sampled_from(["user_prompt", "submission_history", "ranking_table"]))
    ),
    values=st.tuples(WORDS, WORDS, WORDS),
    counter=st.sampled_from(["o200k_base", "anthropic:claude-sonnet-4-5"]),
)
def test_the_parts_of_a_prompt_are_together_all_of_it(
    pieces: list[str], values: tuple[str, str, str], counter: str
) -> None:
    named = dict(zip(("user_prompt", "submission_history", "ranking_table"), values, strict=True))
    prompt = "".join(named.get(piece, piece) for piece in pieces)
    template = "".join(f"{{{{ {piece} }}}}" if piece in named else piece for piece in pieces)
    total = count(prompt, counter).tokens
    found = parts_of(prompt, template, dict(named), total, counter)
    assert sum(found.values()) == total
    assert all(tokens > 0 for tokens in found.values())


def test_each_part_has_the_tokens_of_its_values() -> None:
    values = {
        "user_prompt": "count the stars",
        "submission_history": "round 1: I was asked to count the stars and did",
        "ranking_table": "#1 Alpha\n#2 Beta",
        "team_position_message": "You are second.",
        "round_number": 2,
    }
    named = ("user_prompt", "submission_history", "ranking_table", "team_position_message")
    template = "Do: " + "\n\n".join(f"{{{{ {name} }}}}" for name in named)
    prompt = re.sub(r"\{\{ (\w+) \}\}", lambda found: str(values[found[1]]), template)
    total = count(prompt).tokens
    found = parts_of(prompt, template, values, total)
    # The task that the history repeats belongs to the history.
    assert found["task"] == count("count the stars").tokens
    assert found["history"] == count(str(values["submission_history"])).tokens
    assert found["ranking"] == count("#1 Alpha\n#2 Beta").tokens + count("You are second.").tokens
    assert found["own"] == total - sum(found[name] for name in ("task", "history", "ranking"))


def test_a_token_across_two_values_is_counted_once() -> None:
    values = {"user_prompt": "hel", "ranking_table": "lo"}
    assert count("hel").tokens + count("lo").tokens > count("hello").tokens == 1
    found = parts_of("hello", "{{ user_prompt }}{{ ranking_table }}", dict(values), 1)
    assert list(found.values()) == [1]


def test_a_value_in_the_templates_own_words_counts_as_own_text() -> None:
    found = parts_of("a task: a task", "a task: {{ user_prompt }}", {"user_prompt": "a task"}, 5)
    assert found == {"own": 5}


# --- how full ------------------------------------------------------------------------------


def test_an_estimate_near_the_budget_is_said_to_be_too_close() -> None:
    about = TokenCount(1000, "estimate", exact=False, margin=0.1)
    assert [fill_of(about, budget) for budget in (None, 800, 899, 950, 1050, 1100)] == [
        "none", "over", "over", "close", "close", "within",
    ]  # fmt: skip
    exact = TokenCount(1000, "o200k_base", exact=True)
    assert [fill_of(exact, budget) for budget in (999, 1000)] == ["over", "within"]


@given(budget=st.integers(1, 900))
def test_what_the_levels_would_send_fits_or_is_level_one_alone(budget: int) -> None:
    state = {"submission_content": LONG, "evaluation_score": 50.0, "evaluation_feedback": LONG}
    whole = make_whole([state | {"round_number": 1}, state | {"round_number": 2}])
    seen = ContextAtRound(_unsaved(), whole, 3, (1, 2, 3))
    prompt = LONG * 10
    prompt_set = PromptSet(name="Set", budgets={"team": budget})
    view = budget_view(
        prompt_set, "team", seen, template="x", prompt=prompt, values={}, counted=count(prompt)
    )
    assert view.fill == "over" and view.fitted is not None
    least = PlainTextPromptBuilder().build_reduced_prompt(round_context_of(whole), Kept())
    assert view.fitted.tokens.tokens <= budget or view.fitted.text == least
    assert (view.levels == "level_one") == view.fitted.over_budget
    levels = [each.level for each in reversed(view.fitted.left_out)]
    assert levels == sorted(levels, reverse=True)
    assert sum(view.parts.values()) == view.length


def make_whole(history: list[dict[str, Any]]) -> Any:
    from builder.template.models import RoundPromptContext

    return RoundPromptContext.model_validate(
        {
            "user_prompt": "count the stars",
            "round_number": 3,
            "round_history": history,
            "team_id": "t",
            "team_name": "T",
            "execution_id": "run",
        }
    )


def _unsaved() -> Any:
    from studio.models import SampleContext

    return SampleContext(slug="third", name="Third", submission="handed in")


# --- settings ------------------------------------------------------------------------------


def test_only_what_is_set_is_stored(signed_in: Client, prompt_set: PromptSet) -> None:
    gpt = model("openai:gpt-4o")
    answer = signed_in.post(
        BUDGETS,
        said(language_model=gpt.pk, team="1,200", submission_preview_chars="0", enable_trend_analysis="off"),
    )
    assert answer["Location"] == "/prompts/set/"
    prompt_set.refresh_from_db()
    assert prompt_set.budgets == {"team": 1200}
    assert prompt_set.round_config == {"submission_preview_chars": 0, "enable_trend_analysis": False}
    assert prompt_set.language_model == gpt
    assert config_of(prompt_set) == RoundPromptConfig(submission_preview_chars=0, enable_trend_analysis=False)
    page = signed_in.get(SETTINGS).content.decode()
    assert 'value="1200"' in page and 'value="0" id="budget_submission_preview_chars"' in page.replace(
        ' inputmode="numeric" autocomplete="off" placeholder="200"', ""
    )
    assert 'placeholder="3000"' in page
    signed_in.post(BUDGETS, said())
    prompt_set.refresh_from_db()
    assert (prompt_set.budgets, prompt_set.round_config, prompt_set.language_model) == ({}, {}, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_submission_history_items", "-1"),
        ("submission_preview_chars", "many"),
        ("enable_trend_analysis", "maybe"),
        ("team", "0"),
        ("estimated_prompt_tokens", "0"),
        ("judgment", "9" * 40),
        ("language_model", "99999"),
    ],
)
def test_what_does_not_do_is_said_at_its_field_and_nothing_is_lost(
    signed_in: Client, prompt_set: PromptSet, field: str, value: str
) -> None:
    answer = signed_in.post(BUDGETS, said(**({"evaluator": "77"} | {field: value})))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="budget_{field}_error"' in page and 'value="77"' in page
    prompt_set.refresh_from_db()
    assert (prompt_set.budgets, prompt_set.round_config) == ({}, {})


def seen(client: Client) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', client.get(SETTINGS).content.decode())
    assert found
    return html.unescape(found[1])


def test_budgets_that_somebody_else_saved_meanwhile_are_not_written_over_unseen(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    before = seen(signed_in)
    assert signed_in.post(BUDGETS, said(team="1200", seen=before)).status_code == 302
    answer = signed_in.post(BUDGETS, said(team="900", evaluator="80", seen=before))
    page = answer.content.decode()
    assert answer.status_code == 422 and "Changed meanwhile: it is 1200 now." in page
    assert 'value="900"' in page and 'value="80"' in page
    prompt_set.refresh_from_db()
    assert prompt_set.budgets == {"team": 1200}
    # Who has seen that may save all the same.
    again = re.search(r'name="seen" value="([^"]*)"', page)
    assert again
    sent = said(team="900", evaluator="80", seen=html.unescape(again[1]))
    assert signed_in.post(BUDGETS, sent).status_code == 302
    prompt_set.refresh_from_db()
    assert prompt_set.budgets == {"team": 900, "evaluator": 80}


def test_a_set_of_a_system_prompt_has_only_a_model(signed_in: Client, prompt_set: PromptSet) -> None:
    PromptSet.objects.update(holds="system", budgets={"team": 5})
    assert "budget_team" not in signed_in.get(SETTINGS).content.decode()
    signed_in.post(BUDGETS, said(language_model=model("openai:gpt-4o").pk, team="9"))
    prompt_set.refresh_from_db()
    assert (prompt_set.budgets, str(prompt_set.language_model)) == ({"team": 5}, "openai:gpt-4o")


def test_the_round_prompts_tokens_are_the_teams_budget_where_it_has_none(prompt_set: PromptSet) -> None:
    assert budget_of(prompt_set, "team") is None
    prompt_set.round_config = {"estimated_prompt_tokens": 900}
    assert (budget_of(prompt_set, "team"), budget_of(prompt_set, "judgment")) == (900, None)
    prompt_set.budgets = {"team": 800}
    assert budget_of(prompt_set, "team") == 800


def test_what_an_odd_studio_stored_is_as_usual(prompt_set: PromptSet) -> None:
    for odd in ({"max_submission_history_items": -3}, {"enable_trend_analysis": []}, ["x"], {"new": 1}):
        prompt_set.round_config = odd
        assert config_of(prompt_set) == RoundPromptConfig()


def test_a_copy_of_a_set_has_its_budgets(signed_in: Client, prompt_set: PromptSet) -> None:
    signed_in.post(BUDGETS, said(language_model=model("openai:gpt-4o").pk, team="1200"))
    signed_in.post("/prompts/set/duplicate/", {"name": "Other"})
    copy = PromptSet.objects.get(slug="other")
    assert (copy.budgets, str(copy.language_model)) == ({"team": 1200}, "openai:gpt-4o")


# --- preview -------------------------------------------------------------------------------


def test_a_preview_shows_the_parts_and_that_there_is_no_budget(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    page = text(preview(signed_in, TEAM))
    assert "no budget" in page and "Task 3" in page and "Own text" in page


def test_a_preview_within_its_budget_says_so_by_the_tokenizers_name(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    PromptSet.objects.update(budgets={"team": 3000})
    page = text(preview(signed_in, TEAM))
    assert re.search(r"\d+ of 3,000 tokens \(o200k_base, exact\)", page)
    assert "over by" not in page and "MixSeek does not shorten prompts" not in page


def test_over_budget_it_says_what_the_levels_would_leave_out_level_three_first(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    PromptSet.objects.update(budgets={"team": 260})
    page = text(preview(signed_in, TEAM + "{{ submission_history }}\n{{ ranking_table }}\n"))
    assert re.search(r"▲ over by [\d,]+", page)
    assert "MixSeek does not shorten prompts" in page
    told = page.partition("tokens:")[2]
    assert told.index("level 3") < (told.index("level 2") if "level 2" in told else len(told))
    assert "the submissions, by round: 1, 2" in told and "level 1)" not in told


def test_where_a_round_prompt_by_the_levels_would_fit_it_says_what_that_shows(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    PromptSet.objects.update(budgets={"team": 900}, round_config={"submission_preview_chars": 30})
    page = text(preview(signed_in, TEAM + "{{ submission_history }}\n" * 3))
    assert "and fits: at most 5 submissions of 30 characters each, and 10 teams" in page


def test_where_level_one_alone_is_too_long_that_is_said(signed_in: Client, prompt_set: PromptSet) -> None:
    PromptSet.objects.update(budgets={"team": 5})
    page = text(preview(signed_in, TEAM))
    assert "The parts that are never left out need" in page and "the budget is 5" in page


def test_the_levels_are_about_the_teams_prompt_in_a_context(signed_in: Client, prompt_set: PromptSet) -> None:
    PromptSet.objects.update(budgets={"team": 1, "evaluator": 1})
    asked = {"kind": "evaluator", "evaluator_user_prompt": TEXTS.evaluator_user_prompt}
    assert "Priority levels apply only to a team's round prompt" in text(preview(signed_in, TEAM, **asked))
    assert "Choose a sample context" in text(preview(signed_in, TEAM, context=""))


def test_a_model_that_publishes_no_tokenizer_gets_an_estimate_its_share_and_its_price(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    PromptSet.objects.update(budgets={"team": 3000}, language_model=model("anthropic:claude-sonnet-4-5"))
    page = text(preview(signed_in, TEAM))
    assert re.search(r"about \d+ of 3,000 tokens \(estimate, ±\d+ %\)", page)
    assert "of its context length" in page and "≈ $0.0000" in page and "can read" not in page
    costs = text(signed_in.get("/prompts/set/versions/1/").content.decode()).partition("Cost per round")[2]
    # A name, then tokens, those that stay the same, and two prices: each is marked.
    assert re.search(r"Team ≈\s\d+ ≈\s\d+ ≈\s\$[\d.]+ ≈\s\$", costs)
    assert re.search(r"One team, one round ≈\s\$[\d.]+ ≈\s\$", costs)
    assert "answers are not included" in page and "2026" in page
    # A correction of the price shows at once, though the model is remembered.
    LanguageModel.objects.filter(name="anthropic:claude-sonnet-4-5").update(input_price=3000, revision=2)
    assert "$0.0000" not in text(preview(signed_in, TEAM))


def test_a_preview_asks_the_database_no_more_than_before(
    signed_in: Client, prompt_set: PromptSet, django_assert_max_num_queries: Any
) -> None:
    PromptSet.objects.update(budgets={"team": 5}, language_model=model("openai:gpt-4o"))
    preview(signed_in, TEAM)
    with django_assert_max_num_queries(3):  # session, person, set
        preview(signed_in, TEAM)


# --- matrix --------------------------------------------------------------------------------


@pytest.fixture
def forgotten() -> Iterator[None]:
    """No test knows what another one worked out."""
    yield


def test_the_matrix_marks_what_is_over_and_sums_up_a_contexts_rounds(
    signed_in: Client, prompt_set: PromptSet, forgotten: None, person: User
) -> None:
    long = TEAM + "{{ submission_history }}\n"
    second = type(TEXTS)(long, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    prompt_set.save_version(second, base=1, message="longer", author=person, at=NOW)
    PromptSet.objects.update(budgets={"team": 300})
    address = "/prompts/set/matrix/?plain=on&baseline=1"
    signed_in.get(address)  # a busy machine may want a second time for a row; what was tried is kept
    page = signed_in.get(address).content.decode()
    shown = text(page)
    assert "over the budget of 300 tokens" in shown and "Tokens: o200k_base, exact" in shown
    row = page.partition('id="row-2"')[2].partition("</tr>")[0]
    assert "over budget in 1 of 3 rounds" in text(row) and 'class="cell-bar over"' in row
    base = page.partition('id="row-1"')[2].partition("</tr>")[0]
    assert "all rounds together:" in text(base) and "over budget" not in text(base)
    rounds = signed_in.get(f"{address}&all=on").content.decode()
    assert rounds.partition('id="row-2"')[2].count('class="cell-bar over"') == 1
    file = b"".join(signed_in.get(f"{address}&format=csv").streaming_content)  # type: ignore[attr-defined]
    lines = list(csv.DictReader(io.StringIO(file.decode("utf-8-sig"))))
    found = {(line["version"], line["round"]): line for line in lines}
    assert [found["v2", n]["over_budget"] for n in "123"] == ["false", "false", "true"]
    assert {(line["budget"], line["tokenizer"]) for line in lines} == {("300", "o200k_base")}


def test_the_matrix_counts_for_the_sets_model(
    signed_in: Client, prompt_set: PromptSet, forgotten: None
) -> None:
    signed_in.get("/prompts/set/matrix/?plain=on")
    PromptSet.objects.update(language_model=model("google-gla:gemini-2.5-pro"))
    page = text(signed_in.get("/prompts/set/matrix/?plain=on").content.decode())
    assert "Tokens: estimate" in page and "no budget" in page


def test_situations_of_a_context_are_read_as_stored(prompt_set: PromptSet) -> None:
    seen = context_at(prompt_set.contexts.get())
    view = budget_view(
        PromptSet(name="Set", budgets={"team": 10}), "team", seen,
        template=TEAM, prompt="x " * 50, values={}, counted=count("x " * 50),
    )  # fmt: skip
    assert view.levels == "level_one" and view.mark is not None and view.over_by > 0


# --- costs ---------------------------------------------------------------------------------


def test_a_versions_page_has_its_cost_per_round_only_for_a_set_with_a_model(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    address = "/prompts/set/versions/1/"
    assert "Cost per round" not in signed_in.get(address).content.decode()
    PromptSet.objects.update(language_model=model("openai:gpt-4o"))
    page = text(signed_in.get(address).content.decode())
    costs = page.partition("Cost per round")[2]
    assert "Prices as of" in costs and "answers are not included" in costs
    assert "One team, one round" in costs and "Third, round 3" in costs
    assert costs.count("the cacheable prefix is too short") == 3


def test_a_long_stable_beginning_is_read_from_the_cache(
    signed_in: Client, prompt_set: PromptSet, person: User
) -> None:
    stable = "".join(f"Rule {n}: be brief.\n" for n in range(200))
    longer = type(TEXTS)(stable + TEAM, TEXTS.evaluator_user_prompt, TEXTS.judgment_user_prompt)
    prompt_set.save_version(longer, base=1, message="longer", author=person, at=NOW)
    LanguageModel.objects.all().update(input_price=2, cached_price=1, cache_minimum=1024, cache_step=128)
    gpt = model("openai:gpt-4o")
    PromptSet.objects.update(language_model=gpt)
    kept = count(f"{stable}# Task\ncount the stars\nRound ").tokens // 128 * 128
    page = text(signed_in.get("/prompts/set/versions/2/").content.decode())
    assert f"{kept:,} tokens from the cache" in page
    sent = fields(team=stable + TEAM, kind="team", context="third", round=3)
    part = text(signed_in.post("/prompts/set/costs/", sent, headers=HTMX).content.decode())
    assert "With a cache $" in part and f"{kept:,} tokens from the cache" in part
    short = text(signed_in.post("/prompts/set/costs/", sent | {"team_user_prompt": TEAM}).content.decode())
    assert "With a cache the same: the cacheable prefix is too short" in short and "of 1,024 tokens" in short


def test_there_is_no_cost_of_a_text_without_a_prompt_or_a_set_without_a_model(
    signed_in: Client, prompt_set: PromptSet
) -> None:
    sent = fields(team=TEAM, kind="team", context="third", round=3)
    assert signed_in.post("/prompts/set/costs/", sent).status_code == 204
    PromptSet.objects.update(language_model=model("openai:gpt-4o"))
    assert (
        signed_in.post("/prompts/set/costs/", sent | {"team_user_prompt": "{{ nothing }}"}).status_code == 204
    )
    assert signed_in.post("/prompts/set/costs/", sent | {"kind": "system"}).status_code == 400


def test_a_prompt_that_the_model_cannot_read_whole_says_so(signed_in: Client, prompt_set: PromptSet) -> None:
    LanguageModel.objects.filter(name="openai:gpt-4o").update(context_tokens=3, revision=2)
    PromptSet.objects.update(language_model=model("openai:gpt-4o"))
    assert "exceeds the context length" in text(preview(signed_in, TEAM))
