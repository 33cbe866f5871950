"""What the documents print as examples, to the byte."""

MINIMAL = '''\
[prompt_builder]
team_user_prompt = """
# タスク
{{ user_prompt }}
"""

evaluator_user_prompt = """
# 評価対象
{{ submission }}
"""

judgment_user_prompt = """
# 判定対象
{{ submission_history }}
"""
'''
"""000, 最小構成."""

BY_ROUND = '''\
[prompt_builder]
team_user_prompt = """
---
現在日時: {{ current_datetime }}
---

# ユーザタスク
{{ user_prompt }}

# ラウンド {{ round_number }}

{% if round_number == 1 %}
## 初期調査フェーズ
- 広範な情報収集を行ってください
- 主要な情報源を特定してください
{% elif round_number == 2 %}
## 深掘りフェーズ
- 前回の結果を分析してください
- 不足している情報を補完してください

### 前回の提出
{{ submission_history }}
{% else %}
## 最終統合フェーズ
- すべての情報を統合してください
- 最終的な回答を作成してください

### これまでの提出履歴
{{ submission_history }}
{% endif %}
"""

evaluator_user_prompt = """
---
現在日時: {{ current_datetime }}
---

# 評価タスク
以下の提出内容を、ユーザタスクに対する適切性で評価してください。

## ユーザタスク
{{ user_prompt }}

## 提出内容
{{ submission }}

## 評価観点
1. 正確性: 情報は正確か
2. 網羅性: 必要な情報が揃っているか
3. 構造性: 論理的に整理されているか
"""

judgment_user_prompt = """
---
現在日時: {{ current_datetime }}
---

# 継続判定タスク
調査を継続するか終了するかを判定してください。

## ユーザタスク
{{ user_prompt }}

## 提出履歴
{{ submission_history }}

## 現在の順位
{{ ranking_table }}

## 判定基準
- **継続**: 情報が不十分、重要な観点が欠落している場合
- **終了**: ユーザタスクに対して十分な回答が可能な場合
"""
'''
"""000, ラウンド別指示."""

COMPETITION = '''\
[prompt_builder]
team_user_prompt = """
# 競合タスク
{{ user_prompt }}

## ラウンド情報
- 現在のラウンド: {{ round_number }}
- {{ team_position_message }}

## リーダーボード
{{ ranking_table }}

{% if round_number > 1 %}
## 過去の提出
{{ submission_history }}

上位チームの戦略を参考に、より良い回答を目指してください。
{% endif %}
"""

evaluator_user_prompt = """
# 競合評価
以下の提出を他チームと比較して評価してください。

## タスク
{{ user_prompt }}

## 提出内容
{{ submission }}
"""

judgment_user_prompt = """
# 競合判定
十分な品質に達したか判定してください。

## リーダーボード
{{ ranking_table }}

## 履歴
{{ submission_history }}
"""
'''
"""000, 競合形式（リーダーボード活用）."""

DEFAULT = """\
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
"""001 §3.1, DEFAULT_TEAM_USER_PROMPT."""

NEW_FILE = '''\
# UserPromptBuilder 設定ファイル
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
"""001 §4.1, the file that init writes begins so."""

CONTINUATION = """\
ユーザのクエリに対して、継続的に改善した回答を提供してください。

元のクエリ:
{{ user_query }}

これまでのあなたのSubmission履歴と評価結果:
{% for record in submission_history %}
ラウンド {{ record.round_number }}:
- Submission: {{ record.content[:200] }}...
- スコア: {{ record.score }}/100
- フィードバック: {{ record.feedback }}

{% endfor %}

チーム全体のランキング:
全チーム最高スコアランキング:
{% for ranking in leaderboard_ranking[:10] %}
  {{ ranking.rank }}位: {{ ranking.team_name }} (スコア: {{ ranking.best_score }}/100)
  {% if ranking.team_id == team_id %}← あなたのチーム{% endif %}
{% endfor %}

あなたのチームの現在順位: {{ current_team_rank }}位

このラウンドでの改善点:
- 前回の評価フィードバックに基づいて改善してください
- 自分たちの現在順位（{{ current_team_rank }}位）を念頭に、品質向上に注力してください
"""
"""002, templates/continuation_prompt.jinja2."""

ROUND_ONE = """\
# ユーザから指定されたタスク
データ分析タスク

現在はラウンド1です。過去のSubmissionとランキング情報はまだありません。

---
現在日時: 2025-11-19T12:34:56.789012+00:00"""
"""003 §4.1."""

ROUND_TWO = """\
# ユーザから指定されたタスク
データ分析タスク

# 過去の提出履歴
## ラウンド 1
スコア: 75.50/100
スコア詳細:
{
  "accuracy": 80.0,
  "completeness": 70.0
}
あなたの提出内容: 初回の分析結果

# 現在のチームランキング
現在のリーダーボードに基づく順位:

**#1 Alpha (あなたのチーム) - スコア: 75.50/100 (ラウンド数: 1)**

🏆 現在、あなたのチームは1位です！この調子で頑張ってください。

# 今回のラウンドの目標
上記のフィードバックを基に提出内容を改善してください。これまでのラウンドで指摘された弱点に焦点を当てましょう。

---
現在日時: 2025-11-19T12:34:56.789012+00:00"""
"""003 §4.2."""
