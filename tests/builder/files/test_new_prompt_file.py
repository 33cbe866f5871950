from datetime import date

from builder.files.new_prompt_file import new_file
from builder.template.defaults import DEFAULT_TEMPLATES
from builder.template.variables import KINDS, VARIABLES, field_name

DEFAULTS = {field_name(kind): text for kind, text in DEFAULT_TEMPLATES.items()}

# The document's own example of a new file, to the byte.
DOCUMENTED = '''# UserPromptBuilder 設定ファイル
# 生成日時: 2025-11-19

[prompt_builder]
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

team_user_prompt = """
# ユーザから指定されたタスク
{{ user_prompt }}

{% if round_number > 1 %}
# 過去の提出履歴
{{ submission_history }}

{% if ranking_table %}
# 現在のチームランキング
現在のリーダーボードに基づく順位:

{{ ranking_table }}

{{ team_position_message }}
{% endif %}

# 今回のラウンドの目標
上記のフィードバックを基に提出内容を改善してください。これまでのラウンドで指摘された弱点に焦点を当てましょう。
{% else %}
現在はラウンド1です。過去のSubmissionとランキング情報はまだありません。
{% endif %}

---
現在日時: {{ current_datetime }}
"""
'''


def test_a_new_file_begins_as_documented() -> None:
    team = {"team_user_prompt": DEFAULTS["team_user_prompt"]}

    assert new_file(team, date(2025, 11, 19)) == DOCUMENTED
    assert new_file(DEFAULTS, date(2025, 11, 19)).startswith(DOCUMENTED)


def test_the_evaluator_has_help_of_its_own() -> None:
    assert new_file({"evaluator_user_prompt": "{{ submission }}\n"}, date(2026, 1, 2)) == (
        "# UserPromptBuilder 設定ファイル\n# 生成日時: 2026-01-02\n\n[prompt_builder]\n"
        "# Evaluatorに渡すユーザプロンプトのJinja2テンプレート\n# 利用可能なプレースホルダー変数:\n"
        "#   - {{ user_prompt }}      : 元のユーザプロンプト\n"
        "#   - {{ submission }}       : 評価対象のエージェント提出内容\n"
        "#   - {{ current_datetime }} : 現在日時（ISO 8601形式、タイムゾーン付き）\n"
        '\nevaluator_user_prompt = """\n{{ submission }}\n"""\n'
    )


def test_every_variable_is_explained_above_its_template() -> None:
    text = new_file(DEFAULTS, date(2026, 1, 2))

    for kind in KINDS:
        above = text.partition(f'{field_name(kind)} = """')[0].rpartition('"""\n')[2]
        for variable in VARIABLES[kind]:
            assert f"#   - {{{{ {variable.name} }}}}" in above
