"""Values that pydantic refuses: the exceptions that say so, and the sentences for its findings.

Raised where settings and contexts are read; ``field_problems`` is for the studio's forms. Pydantic speaks
English only, so each of its kinds of finding has a sentence in both languages here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from builder.errors import BuilderError, with_line
from builder.messages import Language, message, say
from builder.problems import Problem

REASONS: Mapping[str, str] = {
    kind: message(f"reason-{kind}", en, ja)
    for kind, en, ja in (
        ("missing", "Field required", "この項目は必須です"),
        ("cannot_be_empty", "{name} cannot be empty", "{name}は空にできません"),
        ("must_be_from_one", "{name} must be >= 1", "{name}は1以上にしてください"),
        ("cannot_be_utf8", "text that UTF-8 cannot encode", "UTF-8で表せない文字が含まれています"),
        ("cannot_be_shown", "a number that JSON cannot represent", "JSONで表せない数値が含まれています"),
        ("int_type", "Input should be a valid integer", "整数を指定してください"),
        ("int_parsing", "Input should be a valid integer", "整数を指定してください"),
        ("int_parsing_size", "Input should be a valid integer", "整数の桁数が多すぎます"),
        ("int_from_float", "Input should be a valid integer", "整数を指定してください"),
        ("less_than_equal", "Input should be less than or equal to {le}", "{le}以下の値を指定してください"),
        ("float_type", "Input should be a valid number", "数値を指定してください"),
        ("float_parsing", "Input should be a valid number", "数値を指定してください"),
        ("finite_number", "Input should be a finite number", "有限の数値を指定してください"),
        ("string_type", "Input should be a valid string", "文字列を指定してください"),
        ("string_unicode", "Input should be a valid string", "UTF-8で表せない文字が含まれています"),
        ("list_type", "Input should be a valid list", "リストを指定してください"),
        ("dict_type", "Input should be a valid dictionary", "オブジェクトを指定してください"),
        ("model_type", "Input should be an object", "オブジェクトを指定してください"),
        ("model_attributes_type", "Input should be an object", "オブジェクトを指定してください"),
        ("datetime_type", "Input should be a valid datetime", "日時をISO 8601形式で指定してください"),
        ("datetime_parsing", "Input should be a valid datetime", "日時をISO 8601形式で指定してください"),
        (
            "datetime_from_date_parsing",
            "Input should be a valid datetime",
            "日時をISO 8601形式で指定してください",
        ),
        ("json_invalid", "Invalid JSON: {error}", "JSONの構文が正しくありません（{error}）"),
        ("recursion_loop", "Recursion error", "値が自分自身を含んでいるか、入れ子が深すぎます"),
        ("is_instance_of", "Input should be an instance", "この値は使えません"),
    )
}

OTHER_REASON = message("reason-other", "{reason}", "{reason}")

NAMING_REASONS = frozenset({"cannot_be_empty", "must_be_from_one"})
"""Reasons of the contract's own: their sentences name the field themselves."""

CONTEXT_INVALID = message("context-invalid", "{field}: {reason}", "{field}: {reason}")
# The contract's sentence, word for word: it begins with the field's name.
CONTEXT_RULE = message("context-rule", "{reason}", "{reason}")
CONTEXT_UNREADABLE = message(
    "context-unreadable", "Not a context: {reason}", "コンテキストとして読めません：{reason}"
)


class InvalidInput(BuilderError, ValidationError):
    """Settings or a context that break a rule; a pydantic ``ValidationError`` as well.

    ``field`` is the dotted path of the first field that is wrong; ``errors()`` has them all.
    """

    field: str

    def __init__(self, *parts: object) -> None:
        """Made by ``of`` and ``wrap``: pydantic fills the instance before this is called."""

    @classmethod
    def of(
        cls, title: str, code: str, *, field: str = "", line: int | None = None, **params: str | int
    ) -> Self:
        """One problem of our own finding."""
        if field:
            params = {"field": field, **params}
        sentence = say(code, with_line(line, params))
        detail = InitErrorDetails(
            type=PydanticCustomError("value_error", "{sentence}", {"sentence": sentence}),
            loc=tuple(field.split(".")) if field else (),
            input=None,
        )
        return cls._made(title, [detail], field, code, line, params)

    @classmethod
    def wrap(cls, error: ValidationError, code: str, *, line: int | None = None, **params: str | int) -> Self:
        """Pydantic's findings, all kept; the sentence names the first."""
        details: list[InitErrorDetails] = [
            InitErrorDetails(
                type=PydanticCustomError("value_error", "{sentence}", {"sentence": _plain(detail["msg"])}),
                loc=detail["loc"],
                input=detail["input"],
            )
            for detail in error.errors()
        ]
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        values: dict[str, str | int] = {"field": field, "reason": _plain(first["msg"])}
        if reason := REASONS.get(first["type"]):
            values |= {"reason_code": reason, **_plain_values(first.get("ctx", {}))}
        return cls._made(error.title, details, field, code, line, values | params)

    def text(self, language: Language = "en") -> str:
        """The sentence; its reason is pydantic's own in English, ours in Japanese."""
        params = with_line(self.line, self.params)
        if language != "en" and "reason_code" in params:
            params = {**params, "reason": say(str(params["reason_code"]), params, language)}
        return say(self.code, params, language)

    @classmethod
    def _made(
        cls,
        title: str,
        details: Sequence[InitErrorDetails],
        field: str,
        code: str,
        line: int | None,
        params: dict[str, str | int],
    ) -> Self:
        made = cls.from_exception_data(title, list(details))
        made.field = field
        made._describe(code, line, params)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_invalid, (type(self), self.title, self.field, self.code, self.line, self.params)


def _rebuild_invalid(
    kind: type[InvalidInput],
    title: str,
    field: str,
    code: str,
    line: int | None,
    params: dict[str, str | int],
) -> InvalidInput:
    made = kind.of(title, code, field=field, line=line, **{k: v for k, v in params.items() if k != "field"})
    made.params = params
    return made


def _plain(sentence: str) -> str:
    """Pydantic puts its own words before ours; the contract's text stands alone."""
    return sentence.removeprefix("Value error, ")


def _plain_values(context: dict[str, Any]) -> dict[str, str | int]:
    return {
        name: value for name, value in context.items() if isinstance(value, str | int) and name != "field"
    }


def field_problems(error: ValidationError, name: Callable[[tuple[str | int, ...]], str]) -> list[Problem]:
    """All that pydantic found, for a form that shows each beside its field; ``name`` gives a label."""
    return [
        Problem(
            "error",
            REASONS.get(detail["type"], OTHER_REASON),
            params={
                **_plain_values(detail.get("ctx", {})),
                "name": name(detail["loc"]),
                "reason": _plain(detail["msg"]),
            },
            field=".".join(map(str, detail["loc"])),
        )
        for detail in error.errors(include_url=False, include_input=False)
    ]


class SettingsError(InvalidInput):
    """The workspace's settings cannot be used."""


class ContextError(InvalidInput):
    """A context that breaks a rule; ``field`` says which part of it."""

    @classmethod
    def wrap(cls, error: ValidationError, code: str, *, line: int | None = None, **params: str | int) -> Self:
        """As any invalid input; what is no context at all has no field to name."""
        first = error.errors()[0]
        if not first["loc"]:
            code = CONTEXT_UNREADABLE
        elif first["type"] in NAMING_REASONS and len(first["loc"]) == 1:
            code = CONTEXT_RULE
        return super().wrap(error, code, line=line, **params)
