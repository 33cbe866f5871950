"""Document 001, Data Model: UserPromptBuilder, in its order."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings

import builder
from builder import (
    AggregationStore,
    ContextError,
    PromptBuilderSettings,
    RankingStore,
    RoundPromptContext,
    RoundState,
    SettingsError,
    UserPromptBuilder,
    load_settings,
)
from tests.contract.command_line import Outcome
from tests.contract.documents import DEFAULT, NEW_FILE
from tests.contract.leaderboards import write_leaderboard
from tests.contract.mixseek_shapes import NOW, Row, Scores, mixseek_state

VARIABLE = "MIXSEEK_TEAM_USER_PROMPT"
BLANK = ["", "  ", "\n\t", "\u3000"]
TEXTS = ["user_prompt", "team_id", "team_name", "execution_id"]
STATE: dict[str, Any] = {"round_number": 1, "submission_content": "初回", "evaluation_score": 75.5}
CONTEXT: dict[str, Any] = {
    "user_prompt": "データ分析タスク",
    "round_number": 2,
    "round_history": [STATE],
    "team_id": "team1",
    "team_name": "Alpha",
    "execution_id": "exec1",
}
Command = Callable[..., Outcome]


def write(workspace: Path, text: str) -> None:
    (workspace / "configs" / "prompt_builder.toml").write_text(text, encoding="utf-8")


def refused(model: type[BaseModel], data: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as error:
        model.model_validate(data)
    return [(".".join(map(str, found["loc"])), found["msg"]) for found in error.value.errors()]


@pytest.mark.parametrize(
    "name",
    [
        *("UserPromptBuilder", "PromptBuilderSettings", "RoundPromptContext", "RoundState"),
        *("AggregationStore", "format_submission_history", "format_ranking_table"),
        *("generate_position_message", "get_current_datetime_with_timezone"),
        *("DEFAULT_TEAM_USER_PROMPT", "TemplateFailure", "TimezoneError", "ContextError", "SettingsError"),
        *("WorkspaceMissing",),
    ],
)
def test_names_are_imported_from_builder(name: str) -> None:
    assert name in builder.__all__ and getattr(builder, name) is not None


# --- 1.1 PromptBuilderSettings ------------------------------------------------------------


def test_1_1_is_a_settings_class_with_the_documents_configuration() -> None:
    assert issubclass(PromptBuilderSettings, BaseSettings)
    assert get_type_hints(PromptBuilderSettings)["team_user_prompt"] is str
    told = PromptBuilderSettings.model_config
    assert (told["env_prefix"], told["toml_file"], told["env_file_encoding"]) == (
        "MIXSEEK_",
        "configs/prompt_builder.toml",
        "utf-8",
    )


def test_1_1_environment_before_file_before_default(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> tuple[str, str]:
        settings = load_settings(workspace)
        return settings.team_user_prompt, settings.source_of("team_user_prompt").kind

    assert found() == (DEFAULT, "default")
    write(workspace, "[prompt_builder]\nteam_user_prompt = 'file'\n")
    assert found() == ("file", "file")
    monkeypatch.setenv(VARIABLE, "environment")
    assert found() == ("environment", "environment")


def test_1_1_called_directly_it_reads_the_workspace_of_the_environment(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "[prompt_builder]\nteam_user_prompt = 'file'\n")
    assert PromptBuilderSettings().team_user_prompt == DEFAULT
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace))
    settings = PromptBuilderSettings()
    assert (settings.team_user_prompt, settings.source_of("team_user_prompt").line) == ("file", 2)
    monkeypatch.setenv(VARIABLE, "environment")
    assert PromptBuilderSettings().team_user_prompt == "environment"
    assert PromptBuilderSettings(team_user_prompt="argument").team_user_prompt == "argument"
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace / "nowhere"))
    with pytest.raises(builder.WorkspaceMissing):
        PromptBuilderSettings()


def test_1_1_a_file_that_cannot_be_read_is_a_validation_error_called_directly_too(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "[prompt_builder]\nteam_user_prompt = 5\n")
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace))
    with pytest.raises(ValidationError, match="line 2: team_user_prompt must be a string"):
        PromptBuilderSettings()


@pytest.mark.parametrize("name", [VARIABLE, VARIABLE.lower(), "MixSeek_Team_User_Prompt"])
def test_1_1_variables_are_read_in_any_case(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "from the environment")
    settings = PromptBuilderSettings()
    assert settings.team_user_prompt == "from the environment"
    assert settings.source_of("team_user_prompt").name == name


def test_1_1_of_two_spellings_the_one_in_capitals_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE.lower(), "small")
    monkeypatch.setenv(VARIABLE, "capitals")
    assert PromptBuilderSettings().team_user_prompt == "capitals"


@pytest.mark.parametrize("blank", BLANK)
def test_1_1_a_blank_template_is_refused(blank: str) -> None:
    assert refused(PromptBuilderSettings, {"team_user_prompt": blank}) == [
        ("team_user_prompt", "Value error, team_user_prompt cannot be empty")
    ]


def test_1_1_an_empty_variable_is_refused(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(SettingsError, match=r"\Ateam_user_prompt cannot be empty\Z"):
        load_settings(workspace)


def test_1_1_syntax_is_checked_when_it_is_rendered(workspace: Path) -> None:
    write(workspace, "[prompt_builder]\nteam_user_prompt = '{% if %}'\n")
    assert load_settings(workspace).team_user_prompt == "{% if %}"


def test_1_1_a_subclass_may_have_a_field_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(PromptBuilderSettings):
        greeting: str = "hello"

    monkeypatch.setenv(VARIABLE, "mine")
    assert (Own().team_user_prompt, Own(greeting="hi").greeting) == ("mine", "hi")


# --- 1.2 RoundPromptContext ---------------------------------------------------------------


def test_1_2_fields_are_those_of_the_table() -> None:
    hints = get_type_hints(RoundPromptContext)
    assert issubclass(RoundPromptContext, BaseModel)
    assert [hints[name] for name in TEXTS] == [str] * 4
    assert (hints["round_number"], hints["round_history"]) == (int, list[RoundState])
    assert RoundPromptContext(**CONTEXT).store is None


@pytest.mark.parametrize("field", CONTEXT)
def test_1_2_each_of_them_is_required(field: str) -> None:
    given = {name: value for name, value in CONTEXT.items() if name != field}
    assert refused(RoundPromptContext, given) == [(field, "Field required")]


def test_1_2_a_store_is_anything_that_tells_a_ranking() -> None:
    store = Scores()
    assert isinstance(store, RankingStore)
    assert RoundPromptContext(**CONTEXT, store=store).store is store
    assert refused(RoundPromptContext, CONTEXT | {"store": object()})[0][0] == "store"


def test_1_2_a_context_does_not_change() -> None:
    """Decided differently: the document's example is not frozen."""
    with pytest.raises(ValidationError, match="Instance is frozen"):
        RoundPromptContext(**CONTEXT).team_id = "other"  # type: ignore[misc]


# --- 1.3 RoundState -----------------------------------------------------------------------


def test_1_3_has_the_four_fields_of_001_and_the_six_of_003() -> None:
    four = RoundState(**STATE, evaluation_feedback="根拠")
    six = RoundState(**STATE, score_details={"a": 1}, round_started_at=NOW, round_ended_at=NOW)
    assert (four.evaluation_feedback, six.evaluation_feedback) == ("根拠", None)


def test_1_3_mixseeks_own_states_are_taken() -> None:
    context = RoundPromptContext(**CONTEXT | {"round_history": [mixseek_state(), STATE]})
    first, second = context.round_history
    assert isinstance(first, RoundState) and isinstance(second, RoundState)
    assert (first.score_details, first.round_ended_at) == ({"accuracy": 80.0, "completeness": 70.0}, NOW)
    assert builder.format_submission_history([mixseek_state()]) == (
        "## ラウンド 1\nスコア: 75.50/100\nスコア詳細:\n"
        '{\n  "accuracy": 80.0,\n  "completeness": 70.0\n}\nあなたの提出内容: 初回の分析結果'
    )


@pytest.mark.parametrize("thing", [object(), None, 5, "text", {"round_number": 1}])
def test_1_3_what_is_no_round_is_a_validation_error(thing: Any) -> None:
    with pytest.raises(ContextError):
        builder.format_submission_history([thing])


# --- 3, 4 -----------------------------------------------------------------------------------


def test_3_1_default_template_to_the_byte() -> None:
    assert builder.DEFAULT_TEAM_USER_PROMPT == DEFAULT
    assert PromptBuilderSettings().team_user_prompt == DEFAULT


def test_4_1_init_writes_the_documents_file(command: Command, tmp_path: Path) -> None:
    assert command("init", tmp_path).code == 0
    path = tmp_path / "configs" / "prompt_builder.toml"
    expected = NEW_FILE.replace("2025-11-19", date.today().isoformat())
    assert path.read_text(encoding="utf-8").startswith(expected)
    assert load_settings(tmp_path).team_user_prompt == DEFAULT
    assert command("init", tmp_path).code == 1, "a file that is there is not replaced"


# --- 5 エンティティ間の関係 -----------------------------------------------------------------


def test_5_a_builder_has_workspace_and_settings(workspace: Path) -> None:
    made = UserPromptBuilder(workspace)
    assert (made.workspace, type(made.settings)) == (workspace, PromptBuilderSettings)
    assert repr(made) == f"UserPromptBuilder('{workspace}', dialect='contract')"


def test_5_the_store_answers_with_dicts(workspace: Path, tmp_path: Path) -> None:
    write_leaderboard(workspace, [("exec1", "team1", "Alpha", 1, 75.5), ("exec1", "team2", "Beta", 1, 80)])
    with AggregationStore(workspace, cache_folder=tmp_path / "cache") as store:
        rows = asyncio.run(store.get_leader_board_ranking("exec1"))
        assert [row["team_id"] for row in rows] == ["team2", "team1"]
        assert rows[1] == {"team_id": "team1", "team_name": "Alpha", "max_score": 75.5, "total_rounds": 1}
        assert [row.model_dump() for row in store.ranking("exec1")] == rows
        assert repr(store) == f"AggregationStore('{workspace / 'mixseek.db'}')"
    objects = [Row(**row) for row in rows]
    assert builder.format_ranking_table(rows, "team1", "Alpha") == (
        "#1 Beta - スコア: 80.00/100 (ラウンド数: 1)\n"
        "**#2 Alpha (あなたのチーム) - スコア: 75.50/100 (ラウンド数: 1)**"
    )
    assert builder.format_ranking_table(objects, "team1") == builder.format_ranking_table(rows, "team1")


# --- 6 バリデーションルール -----------------------------------------------------------------


@pytest.mark.parametrize("blank", BLANK)
def test_6_1_a_blank_template_in_a_file(workspace: Path, blank: str) -> None:
    write(workspace, f'[prompt_builder]\nteam_user_prompt = """{blank}"""\n')
    with pytest.raises(ValidationError) as error:
        load_settings(workspace)
    assert str(error.value) == "team_user_prompt cannot be empty"
    assert [each["loc"] for each in error.value.errors()] == [("team_user_prompt",)]


@pytest.mark.parametrize("number", [0, -1, -1_000_000_000])
def test_6_2_rounds_are_counted_from_one(number: int) -> None:
    expected = [("round_number", "round_number must be >= 1")]
    assert refused(RoundPromptContext, CONTEXT | {"round_number": number}) == expected
    assert refused(RoundState, STATE | {"round_number": number}) == expected


@pytest.mark.parametrize("blank", BLANK)
@pytest.mark.parametrize("field", TEXTS)
def test_6_2_no_text_is_blank(field: str, blank: str) -> None:
    assert refused(RoundPromptContext, CONTEXT | {field: blank}) == [(field, f"{field} cannot be empty")]


WRONG_ZONE = (
    "Invalid timezone in TZ environment variable: Invalid/Timezone."
    " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'"
)


def test_6_3_a_wrong_zone_is_a_value_error(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Invalid/Timezone")
    with pytest.raises(ValueError) as error:
        builder.get_current_datetime_with_timezone()
    assert str(error.value) == WRONG_ZONE
    with pytest.raises(ValueError) as error:
        asyncio.run(UserPromptBuilder(workspace).build_team_prompt(RoundPromptContext(**CONTEXT)))
    assert str(error.value) == WRONG_ZONE


def test_6_3_no_zone_is_utc() -> None:
    assert builder.get_current_datetime_with_timezone().endswith("+00:00")


# --- 7 --------------------------------------------------------------------------------------


def test_7_a_context_travels_and_shows_itself_briefly() -> None:
    context = RoundPromptContext(**CONTEXT | {"user_prompt": "長い" * 5_000, "round_history": [STATE] * 50})
    assert pickle.loads(pickle.dumps(context)) == context == copy.deepcopy(context)
    assert repr(context).startswith("RoundPromptContext(user_prompt='長い長い") and len(repr(context)) < 1_000
    assert len(repr(PromptBuilderSettings())) < 200
