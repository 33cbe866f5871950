"""The builder's exceptions: their contract types, their sentences, their way across processes."""

import copy
import inspect
import pickle

import jinja2
import pydantic
import pytest
from pydantic_core import InitErrorDetails, PydanticCustomError

from builder import errors, invalid_input
from builder.errors import (
    POSITION,
    SYNTAX,
    TEMPLATE,
    TIMEZONE,
    TOTAL_TEAMS,
    WORKSPACE_MISSING,
    BuilderError,
    PositionError,
    TemplateFailure,
    TemplateSyntaxFailure,
    TimezoneError,
    UndefinedFailure,
    WorkspaceMissing,
)
from builder.invalid_input import CONTEXT_INVALID, ContextError, InvalidInput, SettingsError
from builder.messages import MESSAGES
from builder.template.models import read_context

SYNTAX_ERROR = TemplateSyntaxFailure(SYNTAX, line=5, reason="unexpected end of template")
UNDEFINED = UndefinedFailure(TEMPLATE, line=2, reason="'unknown_variable' is undefined")
TEMPLATE_ERROR = TemplateFailure(TEMPLATE, line=1, reason="division by zero")
ZONE = TimezoneError(TIMEZONE, value="Invalid/Timezone")
PLACE = PositionError(POSITION)
TEAMS = PositionError(TOTAL_TEAMS)
WORKSPACE = WorkspaceMissing(WORKSPACE_MISSING, path="/no/such")
CONTEXT = ContextError.of(
    "RoundPromptContext", CONTEXT_INVALID, field="round_history.0.score", reason="{bad}"
)

ALL = [SYNTAX_ERROR, UNDEFINED, TEMPLATE_ERROR, ZONE, PLACE, TEAMS, WORKSPACE, CONTEXT]


def context_error(text: str) -> ContextError:
    with pytest.raises(ContextError) as refused:
        read_context("team", text)
    return refused.value


@pytest.mark.parametrize(
    ("error", "contract", "sentence"),
    [
        (
            SYNTAX_ERROR,
            jinja2.TemplateSyntaxError,
            "Jinja2 template syntax error at line 5: unexpected end of template",
        ),
        (UNDEFINED, jinja2.UndefinedError, "Jinja2 template error: 'unknown_variable' is undefined"),
        (TEMPLATE_ERROR, jinja2.TemplateError, "Jinja2 template error: division by zero"),
        (
            ZONE,
            ValueError,
            "Invalid timezone in TZ environment variable: Invalid/Timezone."
            " Valid examples: 'UTC', 'Asia/Tokyo', 'America/New_York'",
        ),
        (PLACE, ValueError, "Invalid position"),
        (TEAMS, ValueError, "Invalid total_teams"),
        (WORKSPACE, FileNotFoundError, "Workspace does not exist: /no/such"),
        (CONTEXT, pydantic.ValidationError, "round_history.0.score: {bad}"),
    ],
)
def test_an_error_has_the_type_and_the_words_of_the_contract(
    error: BuilderError, contract: type[Exception], sentence: str
) -> None:
    assert isinstance(error, contract)
    assert isinstance(error, BuilderError)
    assert str(error) == error.text() == sentence


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_survives_a_pipe(error: BuilderError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.text("ja") == error.text("ja")
        assert (again.code, again.line, again.params) == (error.code, error.line, error.params)


def test_a_syntax_error_keeps_what_jinja_users_read_from_it() -> None:
    assert SYNTAX_ERROR.lineno == SYNTAX_ERROR.line == 5
    assert SYNTAX_ERROR.message == str(SYNTAX_ERROR)


def test_an_error_speaks_japanese() -> None:
    assert UNDEFINED.text("ja") == "Jinja2テンプレートエラー: 'unknown_variable' is undefined"
    assert WORKSPACE.advice("ja").endswith("`python -m builder init /no/such` を実行してください。")


def test_every_exception_of_the_builder_is_a_builder_error() -> None:
    own = [
        each
        for module in (errors, invalid_input)
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, Exception) and each.__module__ == module.__name__
    ]
    assert len(own) > 10
    assert all(issubclass(each, BuilderError) for each in own)


def test_all_findings_are_kept_and_the_sentence_names_the_first() -> None:
    error = context_error('{"round_number": 0, "user_prompt": " ", "round_history": []}')
    assert str(error) == "user_prompt cannot be empty"
    assert error.field == "user_prompt"
    assert [(found["loc"], found["msg"]) for found in error.errors()] == [
        (("user_prompt",), "user_prompt cannot be empty"),
        (("round_number",), "round_number must be >= 1"),
        (("team_id",), "Field required"),
        (("team_name",), "Field required"),
        (("execution_id",), "Field required"),
    ]


VALID = '"user_prompt":"u","round_number":1,"team_id":"t","team_name":"T","execution_id":"e"'


@pytest.mark.parametrize(
    ("text", "english", "japanese"),
    [
        ("{}", "user_prompt: Field required", "user_prompt: この項目は必須です"),
        (
            '{"user_prompt": " "}',
            "user_prompt cannot be empty",
            "user_promptは空にできません",
        ),
        (
            '{"user_prompt":"u","round_number":0}',
            "round_number must be >= 1",
            "round_numberは1以上にしてください",
        ),
        (
            f'{{{VALID},"round_history":[{{"round_number":1,"submission_content":"c","evaluation_score":"x"}}]}}',
            "round_history.0.evaluation_score: Input should be a valid number,"
            " unable to parse string as a number",
            "round_history.0.evaluation_score: 数値を指定してください",
        ),
        (
            "[]",
            "Not a context: Input should be an object",
            "コンテキストとして読めません：オブジェクトを指定してください",
        ),
        (
            "{",
            "Not a context: Invalid JSON: EOF while parsing an object at line 1 column 1",
            "コンテキストとして読めません：JSONの構文が正しくありません"
            "（EOF while parsing an object at line 1 column 1）",
        ),
    ],
)
def test_a_context_error_names_its_field_in_both_languages(text: str, english: str, japanese: str) -> None:
    error = context_error(text)
    assert (str(error), error.text("ja")) == (english, japanese)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.text("ja")) == (english, japanese)


def test_a_reason_that_has_no_japanese_is_told_in_english() -> None:
    odd = InitErrorDetails(
        type=PydanticCustomError("odd", "This is {what}", {"what": "odd"}), loc=("a", 1), input=0
    )
    error = ContextError.wrap(pydantic.ValidationError.from_exception_data("T", [odd]), CONTEXT_INVALID)
    assert str(error) == error.text("ja") == "a.1: This is odd"


def test_settings_and_contexts_are_told_apart_though_both_are_invalid_input() -> None:
    settings = SettingsError.of("Settings", CONTEXT_INVALID, field="team_user_prompt", reason="no")
    assert isinstance(settings, InvalidInput)
    assert not isinstance(settings, ContextError)
    assert settings.params["field"] == settings.field == "team_user_prompt"


def test_every_code_of_an_error_is_a_registered_message() -> None:
    assert {error.code for error in ALL} <= MESSAGES.keys()
