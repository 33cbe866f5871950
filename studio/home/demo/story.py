"""The demo's prompt sets, one in Japanese and one in English: five versions each, every one a change that a
prompt engineer would make. Both tell the same: what helped, what did not, and what cannot be compared."""

from dataclasses import dataclass, replace

from builder.messages import Language
from builder.template.defaults import DEFAULT_TEMPLATES
from studio.prompts.texts import Templates


@dataclass(frozen=True)
class Chapter:
    """A version of the story: what changed, who did it, how long ago."""

    message: str
    author: str
    days_ago: float
    templates: Templates


@dataclass(frozen=True)
class LabelStep:
    """A move of a label: to which version, by whom, how long ago."""

    label: str
    number: int
    by: str
    days_ago: float


@dataclass(frozen=True)
class Story:
    """A prompt set with its versions and the moves of its labels."""

    slug: str
    name: str
    tags: tuple[str, ...]
    language: Language
    chapters: tuple[Chapter, ...]
    label_steps: tuple[LabelStep, ...]
    helped: int
    """The version that scored significantly more than the one before."""
    did_not_help: int
    """The one whose scores show no significant difference."""
    not_comparable: int
    """The one that changed the evaluator, so that its scores mean something else."""


_JA_1 = Templates(DEFAULT_TEMPLATES["team"], DEFAULT_TEMPLATES["evaluator"], DEFAULT_TEMPLATES["judgment"])

_JA_EVALUATOR = """---
現在日時: {{ current_datetime }}
---

# 評価タスク
以下の提出内容を、ユーザタスクに対する適切性で評価してください。

## ユーザタスク
{{ user_prompt }}

## 提出内容
{{ submission }}

## 評価観点
1. 正確性: 事実と数値は正しいか
2. 網羅性: 必要な論点が揃っているか
3. 出典: 主張ごとに、日付のある情報源が示されているか
"""

_JA_2 = replace(
    _JA_1,
    team_user_prompt="""---
現在日時: {{ current_datetime }}
---

# ユーザから指定されたタスク
{{ user_prompt }}
{% if round_number > 1 %}
# 過去の提出履歴
{{ submission_history }}

# 今回のラウンドの目標
上記のフィードバックを基に、弱点を改善してください。情報が古い箇所は、現在日時を基準に更新してください。
{% endif %}""",
    evaluator_user_prompt=_JA_EVALUATOR,
    judgment_user_prompt="""---
現在日時: {{ current_datetime }}
---

# 継続判定タスク
調査を次のラウンドへ続けるか、ここで終えるかを判定してください。

## ユーザタスク
{{ user_prompt }}

## 提出履歴
{{ submission_history }}

## 現在の順位
{{ ranking_table }}

{{ team_position_message }}

## 判定基準
- **継続**: 重要な論点が欠けている、または直近のラウンドで得点が3点以上伸びている
- **終了**: 十分な回答があり、直近のラウンドで得点が伸びていない
""",
)

_JA_3_TEAM = """---
現在日時: {{ current_datetime }}
---

# ユーザから指定されたタスク
{{ user_prompt }}

# ラウンド {{ round_number }}
{%- if round_number == 1 %}
## 初期調査: 広く集める
- 結論を急がず、論点と情報源をできるだけ多く挙げてください
- 情報源には発行日を添えてください
{%- elif round_number == 2 %}
## 深掘り: 足りないものを補う
- 前回の評価で低かった観点から着手してください
- 数値には必ず出典を付けてください

### 前回の提出
{{ submission_history }}
{%- else %}
## 統合: ひとつの回答にまとめる
- 新しい調査は最小限にし、これまでの提出を統合してください
- 冒頭に三行の要約を置いてください

### これまでの提出履暦
{{ submission_history }}
{%- endif %}
"""
_JA_3 = replace(_JA_2, team_user_prompt=_JA_3_TEAM)

_JA_RANKING = """
{%- if round_number > 1 and ranking_table %}

# 現在の順位
{{ ranking_table }}

{{ team_position_message }}
上位との差が大きい観点を一つ選び、今回はそこに集中してください。
{%- endif %}
"""

_JA_4 = replace(_JA_3, team_user_prompt=_JA_3_TEAM.removesuffix("\n") + _JA_RANKING)

_JA_5 = replace(_JA_4, team_user_prompt=_JA_4.team_user_prompt.replace("提出履暦", "提出履歴"))

RESEARCH = Story(
    slug="research-team",
    name="調査チーム",
    tags=("調査", "日本語"),
    language="ja",
    chapters=(
        Chapter("MixSeekの初期テンプレートから始める", "hana", 24, _JA_1),
        Chapter("評価者に出典の日付も見てもらい、判定基準を書く。現在日時は冒頭へ", "hana", 20, _JA_2),
        Chapter("ラウンドごとの指示: 1は広く、2は深く、3からは統合", "ken", 14, _JA_3),
        Chapter("順位表を見せ、差の大きい観点に集中させる", "hana", 6, _JA_4),
        Chapter("誤字を修正（履暦→履歴）。ラウンド3以降だけが変わる", "ken", 1.2, _JA_5),
    ),
    label_steps=(
        LabelStep("production", 1, "hana", 24),
        LabelStep("staging", 2, "hana", 20),
        LabelStep("production", 2, "hana", 19),
        LabelStep("production", 3, "ken", 12),
        LabelStep("staging", 4, "hana", 6),
        LabelStep("production", 4, "hana", 4),
        LabelStep("staging", 5, "ken", 1.1),
    ),
    helped=4,
    did_not_help=3,
    not_comparable=2,
)

_EN_1 = Templates(
    """# Task
{{ user_prompt }}
{% if round_number > 1 %}
# Your earlier rounds
{{ submission_history }}
{% endif %}""",
    """Judge the submission against the task.

# Task
{{ user_prompt }}

# Submission
{{ submission }}
""",
    """Decide whether another round is worth it.

# Task
{{ user_prompt }}

# Rounds so far
{{ submission_history }}
""",
)
_EN_2 = replace(_EN_1, team_user_prompt="Now: {{ current_datetime }}\n\n" + _EN_1.team_user_prompt)
_EN_3_TEAM = """Now: {{ current_datetime }}

# Task
{{ user_prompt }}

# Round {{ round_number }}
{%- if round_number == 1 %}
Draft the whole answer. Mark every claim that you could not verify with (?).
{%- elif round_number == 2 %}
Verify or drop each (?) of your draft. Do not add new sections.

## Your draft
{{ submission_history }}
{%- else %}
Edit for the reader: one page, conclusion first, no repetition.

## Your earlier rounds
{{ submission_history }}
{%- endif %}
"""
_EN_3 = replace(_EN_2, team_user_prompt=_EN_3_TEAM)
_EN_4 = replace(
    _EN_3,
    team_user_prompt=_EN_3_TEAM.removesuffix("\n")
    + """
{%- if round_number > 1 and ranking_table %}

## Leaderboard
{{ ranking_table }}
{{ team_position_message }}
{%- endif %}
""",
)
_EN_5 = replace(
    _EN_4,
    evaluator_user_prompt="""Judge the submission against the task.
Take off points for claims marked (?) that are still there.

# Task
{{ user_prompt }}

# Submission
{{ submission }}

# Criteria
1. Correct: facts and figures hold
2. Complete: nothing the reader needs is missing
3. Readable: conclusion first, one page
""",
)

BRIEFING = Story(
    slug="briefing-writers",
    name="Briefing writers",
    tags=("briefing", "english"),
    language="en",
    chapters=(
        Chapter("Start small: the task, and what the team wrote before", "alex", 17, _EN_1),
        Chapter("Tell the team what day it is; drafts quoted last year as current", "alex", 15, _EN_2),
        Chapter("One job per round: draft, verify, edit", "hana", 9, _EN_3),
        Chapter("Show the leaderboard from round 2 on", "alex", 5, _EN_4),
        Chapter("Evaluator: name the criteria and punish unverified claims", "hana", 3, _EN_5),
    ),
    label_steps=(
        LabelStep("production", 2, "alex", 14),
        LabelStep("production", 3, "alex", 8),
        LabelStep("production", 4, "alex", 4),
        LabelStep("staging", 5, "hana", 3),
        LabelStep("production", 5, "alex", 0.6),
    ),
    helped=4,
    did_not_help=3,
    not_comparable=5,
)

STORIES = (RESEARCH, BRIEFING)
