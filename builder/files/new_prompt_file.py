"""A new prompt file: the templates, with help as comments. Used by ``builder.files.prompt_file``."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import tomlkit
from tomlkit.items import Comment, String, StringType, Trivia

from builder.files.toml_source import write_value
from builder.template.variables import KINDS, VARIABLES, PromptKind, field_name

_FILE_HEADER = ("# UserPromptBuilder 設定ファイル", "# 生成日時: {today}")
_TEAM_HELP = """\
# Teamに渡すユーザプロンプトのJinja2テンプレート
# 利用可能なプレースホルダー変数:
#   - {{ user_prompt }}            : 元のユーザプロンプト
#   - {{ round_number }}            : 現在のラウンド番号（整数）
#   - {{ submission_history }}      : 過去のSubmission履歴（整形済み文字列）
#   - {{ ranking_table }}           : Leader Boardランキング情報（整形済み文字列）
#   - {{ team_position_message }}   : チーム順位メッセージ（整形済み文字列）
#   - {{ current_datetime }}        : 現在日時（ISO 8601形式、タイムゾーン付き）
#
# 注意:
#   - すべてのプレースホルダー変数は、UserPromptBuilder内で事前に整形されます
#   - テンプレート内でforループやフィルタを使用することは推奨されません
#   - 環境変数TZでタイムゾーンを設定できます（デフォルト: UTC）
"""
_READERS: Mapping[PromptKind, str] = {"evaluator": "Evaluator", "judgment": "Judgment Client"}


def new_file(values: Mapping[str, str], today: date) -> str:
    """A file of its own for these templates, by field name."""
    document = tomlkit.document()
    for line in _FILE_HEADER:
        document.add(_comment(line.replace("{today}", today.isoformat())))
    document.add(tomlkit.nl())
    return document.as_string() + new_table(values)


def new_table(values: Mapping[str, str]) -> str:
    """The table alone, to be put at the end of a file that lacks it."""
    table = tomlkit.table()
    written = [kind for kind in KINDS if field_name(kind) in values]
    for kind in written:
        for line in _help(kind):
            table.add(_comment(line))
        table.add(tomlkit.nl())
        table.add(field_name(kind), _block(values[field_name(kind)]))
        if kind != written[-1]:
            table.add(tomlkit.nl())
    document = tomlkit.document()
    document.add("prompt_builder", table)
    return document.as_string()


def _comment(line: str) -> Comment:
    # Not tomlkit.comment(): it puts a space behind a bare `#`.
    return Comment(Trivia(indent="", comment=line))


def _block(text: str) -> String:
    """The template as a block in our own escaping: tomlkit's own writes some texts unreadably."""
    return String(StringType.MLB, text, write_value(text)[3:-3], Trivia())


def _help(kind: PromptKind) -> list[str]:
    if kind == "team":
        return _TEAM_HELP.splitlines()
    width = max(len(variable.name) for variable in VARIABLES[kind])
    return [
        f"# {_READERS[kind]}に渡すユーザプロンプトのJinja2テンプレート",
        "# 利用可能なプレースホルダー変数:",
        *(
            f"#   - {{{{ {variable.name} }}}}{' ' * (width - len(variable.name))} : {variable.description.ja}"
            for variable in VARIABLES[kind]
        ),
    ]


def dumped(document: Mapping[str, Any]) -> bytes:
    """A document as TOML; comments and layout are not those of the file that it was read from."""
    return tomlkit.dumps(document).encode()
