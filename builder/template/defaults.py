"""The default templates: what a workspace has before anybody writes one."""

from collections.abc import Mapping

from builder.template.variables import PromptKind

DEFAULT_TEAM_USER_PROMPT = """# ユーザから指定されたタスク
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

DEFAULT_EVALUATOR_USER_PROMPT = """# 評価タスク
以下の提出内容を、ユーザタスクに対する適切性で評価してください。

## ユーザタスク
{{ user_prompt }}

## 提出内容
{{ submission }}

---
現在日時: {{ current_datetime }}
"""

DEFAULT_JUDGMENT_USER_PROMPT = """# 継続判定タスク
次のラウンドに進むか、ここで終了するかを判定してください。

## ユーザタスク
{{ user_prompt }}

## 提出履歴
{{ submission_history }}

{% if ranking_table %}
## 現在の順位
{{ ranking_table }}

{{ team_position_message }}
{% endif %}

---
現在日時: {{ current_datetime }}
"""

DEFAULT_TEMPLATES: Mapping[PromptKind, str] = {
    "team": DEFAULT_TEAM_USER_PROMPT,
    "evaluator": DEFAULT_EVALUATOR_USER_PROMPT,
    "judgment": DEFAULT_JUDGMENT_USER_PROMPT,
}
