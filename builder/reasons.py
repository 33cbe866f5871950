"""What pydantic finds wrong with a value, by its own name for it: it speaks English only."""

from collections.abc import Mapping

from builder.messages import message

REASONS: Mapping[str, str] = {
    kind: message(f"reason-{kind}", en, ja)
    for kind, en, ja in (
        ("missing", "Field required", "この項目は必須です"),
        ("cannot_be_empty", "{name} cannot be empty", "{name}は空にできません"),
        ("must_be_from_one", "{name} must be >= 1", "{name}は1以上にしてください"),
        ("cannot_be_utf8", "text that UTF-8 cannot carry", "UTF-8で表せない文字が含まれています"),
        ("cannot_be_shown", "a number that JSON cannot carry", "JSONで表せない数値が含まれています"),
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
