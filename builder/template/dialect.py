"""The formats of a prompt (``Dialect``): what differs between MixSeek's releases and its documents.

``contract`` is what the documents say, ``english`` the same in English sentences, each ``mixseek-…`` what
that release delivers, to the byte. ``dialect_table`` shows what differs; the templates that each release
brings are in ``defaults``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

DialectName = Literal["mixseek-0.1.0a19", "mixseek-0.1.0a18", "mixseek-0.1.0a15", "contract", "english"]
NEWEST = "mixseek"
"""As a name: the newest release that is known."""
RankingOrder = Literal["latest_round", "team_id"]
"""How equal best scores are ordered: by the later last round, or by team id alone."""


@dataclass(frozen=True)
class Sentences:
    """The words around the values; names in braces are filled in by the formatters."""

    round_heading: str
    score: str
    details_heading: str
    feedback: str
    """An empty text where the dialect delivers no feedback."""
    submission: str
    no_history: str
    ranking_own: str
    ranking_other: str
    no_ranking: str
    no_store: str
    first_place: str
    top_three: str
    other_place: str
    no_position: str


@dataclass(frozen=True, repr=False)
class Dialect:
    """One way of turning a context into a prompt."""

    name: DialectName
    sentences: Sentences
    trim_blocks: bool
    lstrip_blocks: bool
    ranking_order: RankingOrder
    environment_prefix: str
    """``<prefix><FIELD>`` overrides the field of the prompt file."""
    errors_name_line: bool
    round_one_is_bare: bool
    """Round 1 shows no history and no ranking, whatever the context carries."""
    release: str = ""
    """The release of MixSeek that delivers prompts in this format."""
    neutralises_tags: bool = False
    """The template's own tags are neutralised in what is put in: see ``boundaries``."""

    def __repr__(self) -> str:
        """Short: it stands in the signatures that ``help`` shows."""
        return f"<Dialect {self.name}>"


_CONTRACT_SENTENCES = Sentences(
    round_heading="## ラウンド {round_number}",
    score="スコア: {score:.2f}/100",
    details_heading="スコア詳細:",
    feedback="評価フィードバック: {feedback}",
    submission="あなたの提出内容: {content}",
    no_history="まだ過去のSubmissionはありません。",
    ranking_own=(
        "**#{rank} {team_name} (あなたのチーム) - スコア: {max_score:.2f}/100 (ラウンド数: {total_rounds})**"
    ),
    ranking_other="#{rank} {team_name} - スコア: {max_score:.2f}/100 (ラウンド数: {total_rounds})",
    no_ranking="現在はランキング情報がありません。",
    no_store="",
    first_place="🏆 現在、あなたのチームは1位です！この調子で頑張ってください。",
    top_three="現在、{total_teams}チーム中{position}位です。素晴らしい成績です！",
    other_place="現在、{total_teams}チーム中{position}位です。",
    no_position="",
)

CONTRACT = Dialect(
    name="contract",
    sentences=_CONTRACT_SENTENCES,
    trim_blocks=True,
    lstrip_blocks=True,
    ranking_order="latest_round",
    environment_prefix="MIXSEEK_",
    errors_name_line=True,
    round_one_is_bare=True,
)

MIXSEEK_A15 = Dialect(
    name="mixseek-0.1.0a15",
    sentences=replace(
        _CONTRACT_SENTENCES,
        score="### スコア: {score:.2f}/100",
        details_heading="### スコア詳細:",
        feedback="",
        submission="### あなたの提出内容:\n{content}",
        no_ranking="まだランキング情報がありません。",
        no_store="まだランキング情報がありません。",
        no_position="まだあなたのチームの順位はありません。",
    ),
    trim_blocks=False,
    lstrip_blocks=False,
    ranking_order="team_id",
    environment_prefix="MIXSEEK_PROMPT_BUILDER__",
    errors_name_line=False,
    round_one_is_bare=False,
    release="0.1.0a15",
)

MIXSEEK_A18 = replace(
    MIXSEEK_A15,
    name="mixseek-0.1.0a18",
    sentences=replace(MIXSEEK_A15.sentences, submission="<submission>\n{content}\n</submission>"),
    release="0.1.0a18",
)

MIXSEEK_A19 = replace(MIXSEEK_A18, name="mixseek-0.1.0a19", release="0.1.0a19", neutralises_tags=True)

RELEASES: tuple[Dialect, ...] = (MIXSEEK_A19, MIXSEEK_A18, MIXSEEK_A15)
"""The formats of MixSeek's releases, the newest first."""
MIXSEEK = RELEASES[0]
"""The newest release's."""

ENGLISH = replace(
    CONTRACT,
    name="english",
    sentences=Sentences(
        round_heading="## Round {round_number}",
        score="Score: {score:.2f}/100",
        details_heading="Score details:",
        feedback="Evaluation feedback: {feedback}",
        submission="Your submission: {content}",
        no_history="There are no earlier submissions yet.",
        ranking_own=(
            "**#{rank} {team_name} (your team) - Score: {max_score:.2f}/100 (rounds: {total_rounds})**"
        ),
        ranking_other="#{rank} {team_name} - Score: {max_score:.2f}/100 (rounds: {total_rounds})",
        no_ranking="There is no ranking yet.",
        no_store="",
        first_place="🏆 Your team is in 1st place! Keep it up.",
        top_three="Your team is in place {position} of {total_teams}. Great work!",
        other_place="Your team is in place {position} of {total_teams}.",
        no_position="",
    ),
)

DIALECTS: Mapping[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (*RELEASES, CONTRACT, ENGLISH)
}


def dialect_named(name: str) -> Dialect | None:
    """The format of this name; ``mixseek`` is the newest release's.

    >>> dialect_named("mixseek").name
    'mixseek-0.1.0a19'
    """
    if name == NEWEST:
        return MIXSEEK
    return next((dialect for dialect in DIALECTS.values() if dialect.name == name), None)
