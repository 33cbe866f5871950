"""Document 003, API Contract: UserPromptBuilder: §1, §3 and §4. Beside it: the formatters of §2.

The times of §5 are measured by ``tests/benchmarks``, as the document says: none is asserted.
"""

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jinja2
import pytest
from pydantic import ValidationError

import builder
from builder import (
    AggregationStore,
    EvaluatorPromptContext,
    RoundPromptContext,
    RoundState,
    UserPromptBuilder,
)
from tests.contract.documents import ROUND_ONE, ROUND_TWO
from tests.contract.leaderboards import write_leaderboard
from tests.contract.mixseek_shapes import NOW, MixSeekContext, Row, Scores, mixseek_state

FIRST_ROUND = RoundState(
    round_number=1,
    submission_content="初回の分析結果",
    evaluation_score=75.5,
    score_details={"accuracy": 80.0, "completeness": 70.0},
    round_started_at=NOW,
    round_ended_at=NOW,
)
ALPHA = {"team_id": "team1", "team_name": "Alpha", "max_score": 75.5, "total_rounds": 1}
BETA = {"team_id": "team2", "team_name": "Beta", "max_score": 90.0, "total_rounds": 1}
NO_RANKING = "現在はランキング情報がありません。"


def given(round_number: int, **changes: Any) -> dict[str, Any]:
    return {
        "user_prompt": "データ分析タスク",
        "round_number": round_number,
        "round_history": [] if round_number == 1 else [FIRST_ROUND],
        "team_id": "team1",
        "team_name": "Alpha",
        "execution_id": "exec1",
    } | changes


def context(round_number: int, **changes: Any) -> RoundPromptContext:
    return RoundPromptContext(**given(round_number, **changes))


def made(workspace: Path, template: str | None = None, **options: Any) -> UserPromptBuilder:
    if template is not None:
        text = f"[prompt_builder]\nteam_user_prompt = '''\n{template}'''\n"
        (workspace / "configs" / "prompt_builder.toml").write_text(text, encoding="utf-8")
    return UserPromptBuilder(workspace, clock=lambda: NOW, environ={}, **options)


def prompt(workspace: Path, given: Any, template: str | None = None, **options: Any) -> str:
    return asyncio.run(made(workspace, template, **options).build_team_prompt(given))


class Answer:
    """A store whose method is a plain one and gives whatever it was told to."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def get_leader_board_ranking(self, execution_id: str) -> Any:
        return self.answer()


# --- 1.1 初期化 ---------------------------------------------------------------------------


def test_1_1_takes_workspace_and_store_by_position_or_name(workspace: Path) -> None:
    store = Scores()
    assert UserPromptBuilder(workspace).store is None
    assert UserPromptBuilder(workspace, store).store is store
    assert UserPromptBuilder(workspace=workspace, store=store).store is store
    assert UserPromptBuilder(str(workspace)).workspace == workspace


def test_1_1_a_missing_workspace_is_a_file_not_found_error(workspace: Path) -> None:
    (workspace / "file").touch()
    for path in (workspace / "nowhere", workspace / "file"):
        with pytest.raises(FileNotFoundError, match="Workspace does not exist"):
            UserPromptBuilder(path)


@pytest.mark.parametrize(
    "data",
    [
        b"[prompt_builder]\nteam_user_prompt = \n",
        b"[prompt_builder]\nteam_user_prompt = 5\n",
        b"prompt_builder = 1\n",
        b"\xef\xbb\xbf[prompt_builder]\n",
        b"\xff",
        b"[prompt_builder]\nteam_user_prompt = ''\n",
    ],
    ids=["broken_toml", "not_string", "not_table", "bom", "not_utf8", "empty"],
)
def test_1_1_a_settings_file_that_cannot_be_used_is_a_validation_error(workspace: Path, data: bytes) -> None:
    (workspace / "configs" / "prompt_builder.toml").write_bytes(data)
    with pytest.raises(ValidationError) as error:
        UserPromptBuilder(workspace)
    assert isinstance(error.value, builder.SettingsError) and error.value.text("ja")


def test_1_1_a_file_without_the_table_means_the_defaults(workspace: Path) -> None:
    (workspace / "configs" / "prompt_builder.toml").write_text("[other]\n")
    assert UserPromptBuilder(workspace).settings.team_user_prompt == builder.DEFAULT_TEAM_USER_PROMPT


# --- 1.2 build_team_prompt ----------------------------------------------------------------


def test_1_2_is_a_coroutine_of_a_context() -> None:
    assert inspect.iscoroutinefunction(UserPromptBuilder.build_team_prompt)
    assert [*inspect.signature(UserPromptBuilder.build_team_prompt).parameters] == ["self", "context"]


def test_1_2_round_one_does_not_ask_the_store(workspace: Path) -> None:
    store = Scores([ALPHA])
    assert prompt(workspace, context(1, store=store, round_history=[FIRST_ROUND])) == ROUND_ONE
    assert store.asked == []


def test_1_2_a_later_round_asks_it_once_even_where_it_is_empty(workspace: Path) -> None:
    of_context, of_builder = Scores([ALPHA]), Scores([BETA])
    assert len(of_context) == 0
    assert prompt(workspace, context(2, store=of_context), store=of_builder) == ROUND_TWO
    assert (of_context.asked, of_builder.asked) == (["exec1"], [])
    assert "#1 Beta" in prompt(workspace, context(2), store=of_builder)


@pytest.mark.parametrize(
    "answer",
    [
        lambda: [ALPHA],
        lambda: (ALPHA,),
        lambda: (row for row in [ALPHA]),
        lambda: [ALPHA | {"rank": 1, "more": None}],
        lambda: [Row(**ALPHA)],  # type: ignore[arg-type]
        lambda: [builder.RankingEntry(**ALPHA)],  # type: ignore[arg-type]
    ],
    ids=["list", "tuple", "generator", "more keys", "objects", "records"],
)
def test_1_2_a_plain_store_may_answer_in_any_shape(workspace: Path, answer: Callable[[], Any]) -> None:
    assert prompt(workspace, context(2, store=Answer(answer))) == ROUND_TWO
    assert prompt(workspace, context(2), store=Answer(answer)) == ROUND_TWO


def test_1_2_no_store_and_no_answer_skip_the_ranking(workspace: Path) -> None:
    without = prompt(workspace, context(2))
    assert "# 現在のチームランキング" not in without and "# 今回のラウンドの目標" in without
    assert prompt(workspace, context(2, store=Answer(lambda: None))) == without


def test_1_2_an_empty_ranking_is_a_sentence(workspace: Path) -> None:
    assert prompt(workspace, context(2, store=Scores()), "{{ ranking_table }}") == NO_RANKING


@pytest.mark.parametrize(
    "row", [ALPHA | {"max_score": float("nan")}, None, {"team_id": "t"}, ALPHA | {"max_score": None}]
)
def test_1_2_a_row_that_is_none_is_a_validation_error(workspace: Path, row: Any) -> None:
    with pytest.raises(ValidationError):
        prompt(workspace, context(2, store=Scores([row])))


def test_1_2_a_team_without_a_place_has_no_message(workspace: Path) -> None:
    text = prompt(
        workspace, context(2, store=Scores([BETA])), "{{ ranking_table }}|{{ team_position_message }}"
    )
    assert text == "#1 Beta - スコア: 90.00/100 (ラウンド数: 1)|"


@pytest.mark.parametrize("error", [TimeoutError("late"), ZeroDivisionError("own")])
def test_1_2_what_a_store_raises_comes_through(workspace: Path, error: Exception) -> None:
    def fail() -> None:
        raise error

    class Late(Scores):
        async def get_leader_board_ranking(self, execution_id: str) -> list[Any]:
            raise error

    for store in (Answer(fail), Late()):
        with pytest.raises(type(error)) as raised:
            prompt(workspace, context(2, store=store))
        assert raised.value is error


def test_1_2_history_is_shown_in_the_order_given(workspace: Path) -> None:
    history = [FIRST_ROUND.model_copy(update={"round_number": number}) for number in (3, 1, 2)]
    text = prompt(workspace, context(4, round_history=history), "{{ submission_history }}")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## ラウンド 3",
        "## ラウンド 1",
        "## ラウンド 2",
    ]


def test_1_2_mixseeks_own_context_and_dicts_are_taken(workspace: Path) -> None:
    own = MixSeekContext(**given(2, round_history=[mixseek_state()], store=Scores([Row(**ALPHA)])))  # type: ignore[arg-type]
    assert prompt(workspace, own) == ROUND_TWO
    plain = given(2, round_history=[FIRST_ROUND.model_dump()], ranking=[ALPHA])
    assert prompt(workspace, plain) == ROUND_TWO
    for shape in ({"user_query": "課題", "submission": "提出"}, EvaluatorPromptContext):
        evaluated = (
            shape if isinstance(shape, dict) else EvaluatorPromptContext(user_query="課題", submission="提出")
        )
        assert "提出" in made(workspace).build_evaluator_prompt(evaluated)


@pytest.mark.parametrize("thing", [None, {}, 5, "text", object(), given(0), given(2, store=object())])
def test_1_2_what_is_no_context_is_a_validation_error(workspace: Path, thing: Any) -> None:
    for build in ("build_team_prompt", "build_judgment_prompt"):
        with pytest.raises(ValidationError):
            asyncio.run(getattr(made(workspace), build)(thing))
    with pytest.raises(ValidationError):
        made(workspace).build_evaluator_prompt(thing)


# --- a real database ----------------------------------------------------------------------


def test_1_2_a_store_over_a_database(workspace: Path, tmp_path: Path) -> None:
    path = write_leaderboard(
        workspace, [("exec1", "team1", "Alpha", 1, 75.5), ("other", "team9", "Omega", 1, 99.0)]
    )
    for options in ({"workspace": workspace}, {"db_path": path}):
        with AggregationStore(**options, cache_folder=tmp_path / "cache") as store:
            assert prompt(workspace, context(2, store=store)) == ROUND_TWO
            assert prompt(workspace, context(2), store=store) == ROUND_TWO
            empty = context(2, execution_id="nothing ran", store=store)
            assert prompt(workspace, empty, "{{ ranking_table }}") == NO_RANKING
        (workspace / "configs" / "prompt_builder.toml").unlink()


@pytest.mark.parametrize("zero_bytes", [True, False])
def test_1_2_no_database_is_an_error_not_a_prompt_without_ranking(
    workspace: Path, tmp_path: Path, zero_bytes: bool
) -> None:
    """Decided differently for a missing one: a wrong path must not pass unseen."""
    if zero_bytes:
        (workspace / "mixseek.db").touch()
    store = AggregationStore(workspace, cache_folder=tmp_path / "cache")
    with store, pytest.raises(builder.LeaderboardError) as error:
        prompt(workspace, context(2, store=store))
    assert isinstance(error.value, FileNotFoundError) != zero_bytes
    assert "mixseek.db" in error.value.text() and "mixseek.db" in error.value.text("ja")


# --- concurrency --------------------------------------------------------------------------


def test_1_2_builds_at_once_are_not_mixed_up(workspace: Path) -> None:
    shared = made(workspace, "{{ user_prompt }}|{{ ranking_table }}")

    def one(number: int) -> RoundPromptContext:
        row = ALPHA | {"team_name": f"Team {number}", "max_score": number}
        return context(2, user_prompt=f"課題 {number}", store=Scores([row]))

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(shared.build_team_prompt(one(number)) for number in range(120)))

    assert asyncio.run(all_of_them()) == [
        f"課題 {number}|**#1 Team {number} (あなたのチーム) - スコア: {number:.2f}/100 (ラウンド数: 1)**"
        for number in range(120)
    ]


def test_1_1_settings_from_threads_are_not_mixed_up(tmp_path: Path) -> None:
    def read(number: int) -> str:
        folder = tmp_path / str(number)
        (folder / "configs").mkdir(parents=True)
        text = f"[prompt_builder]\nteam_user_prompt = 'template {number}'\n"
        (folder / "configs" / "prompt_builder.toml").write_text(text)
        return UserPromptBuilder(folder, environ={}).settings.team_user_prompt

    with ThreadPoolExecutor(20) as threads:
        assert [*threads.map(read, range(20))] == [f"template {number}" for number in range(20)]


# --- 3 エラーハンドリング -------------------------------------------------------------------


def failed(workspace: Path, template: str) -> jinja2.TemplateError:
    with pytest.raises(jinja2.TemplateError) as error:
        prompt(workspace, context(1), template)
    return error.value


def test_3_2_syntax_names_its_line(workspace: Path) -> None:
    error = failed(workspace, "1\n2\n3\n4\n{% if round_number %}")
    assert isinstance(error, jinja2.TemplateSyntaxError | builder.TemplateSyntaxFailure)
    assert str(error).startswith("Jinja2 template syntax error at line 5: Unexpected end of template")
    assert (error.lineno, error.message) == (5, str(error))  # type: ignore[union-attr]


@pytest.mark.parametrize("template", ["{{ unknown_variable }}", "{% if unknown_variable %}{% endif %}"])
def test_3_2_a_name_that_is_undefined(workspace: Path, template: str) -> None:
    error = failed(workspace, template)
    assert isinstance(error, jinja2.UndefinedError)
    assert str(error) == "Jinja2 template error: 'unknown_variable' is undefined"


def test_3_1_a_failure_while_rendering_is_a_template_error(workspace: Path) -> None:
    error = failed(workspace, "{{ 1 / 0 }}")
    assert isinstance(error, builder.TemplateFailure) and "division by zero" in str(error)


@pytest.mark.parametrize("template", ["{{ '{0}'.format(1) }}", "{{ lipsum() }}", "{{ dict(a=1) }}"])
def test_3_1_what_only_programs_need_is_an_error_of_the_check(template: str) -> None:
    """Decided differently: templates come from people, and these have been ways out of a sandbox."""
    text = f'[prompt_builder]\nteam_user_prompt = """\n{template}\n"""\n'
    found = builder.check_file(text.encode(), "f.toml")
    assert [(each.line, each.field) for each in found if each.severity == "error" and each.column] == [
        (3, "team_user_prompt")
    ]


# --- 4 契約テスト例 -------------------------------------------------------------------------


def test_4_1_round_one_to_the_byte(workspace: Path) -> None:
    assert prompt(workspace, context(1)) == ROUND_ONE


def test_4_2_round_two_to_the_byte(workspace: Path) -> None:
    assert prompt(workspace, context(2, store=Scores([ALPHA]))) == ROUND_TWO
