"""The table of what differs between the formats, read from the formats themselves. Used by
``builder formats`` and by the studio's page about formats."""

from collections.abc import Callable
from dataclasses import dataclass

from builder.messages import Wording
from builder.template.boundaries import ALWAYS
from builder.template.dialect import DIALECTS, Dialect

YES = Wording("yes", "はい")
NO = Wording("no", "いいえ")


@dataclass(frozen=True)
class Difference:
    """One row: what differs, and how it is in each format, in the order of ``DIALECTS``."""

    title: Wording
    cells: tuple[Wording, ...]


def differences() -> list[Difference]:
    """Everything that is not the same in all formats."""
    rows = [Difference(title, tuple(map(cell, DIALECTS.values()))) for title, cell in _ROWS]
    return [row for row in rows if len(set(row.cells)) > 1]


def _same(text: str) -> Wording:
    return Wording(text, text)


def _literal(get: Callable[[Dialect], str]) -> Callable[[Dialect], Wording]:
    empty = Wording("(empty)", "（空）")
    return lambda dialect: _same(get(dialect)) if get(dialect) else empty


def _either(get: Callable[[Dialect], bool]) -> Callable[[Dialect], Wording]:
    return lambda dialect: YES if get(dialect) else NO


def _order(dialect: Dialect) -> Wording:
    if dialect.ranking_order == "team_id":
        return Wording("by team id", "チームIDの順")
    return Wording("by the later last round", "最終ラウンドが遅い順")


def _tags(dialect: Dialect) -> Wording:
    if not dialect.neutralises_tags:
        return Wording("stay as they are", "そのまま")
    names = " ".join(sorted(ALWAYS))
    return Wording(
        f"`<` and `>` become `&lt;` and `&gt;` in the template's own tags and in {names}",
        f"テンプレート自身のタグと {names} の `<` `>` が `&lt;` `&gt;` になる",
    )


_ROWS: tuple[tuple[Wording, Callable[[Dialect], Wording]], ...] = (
    (Wording("Score of a round", "ラウンドのスコア"), _literal(lambda d: d.sentences.score)),
    (
        Wording("Heading of its details", "スコア詳細の見出し"),
        _literal(lambda d: d.sentences.details_heading),
    ),
    (Wording("Submission of a round", "ラウンドの提出内容"), _literal(lambda d: d.sentences.submission)),
    (Wording("Feedback of a round", "ラウンドのフィードバック"), _literal(lambda d: d.sentences.feedback)),
    (Wording("No history yet", "履歴がまだないとき"), _literal(lambda d: d.sentences.no_history)),
    (Wording("No ranking yet", "ランキングがまだないとき"), _literal(lambda d: d.sentences.no_ranking)),
    (Wording("Without a leaderboard", "リーダーボードがないとき"), _literal(lambda d: d.sentences.no_store)),
    (Wording("Own place unknown", "自チームの順位が不明なとき"), _literal(lambda d: d.sentences.no_position)),
    (Wording("Equal best scores", "同点のときの順序"), _order),
    (Wording("Tags in values", "値の中のタグ"), _tags),
    (
        Wording("Line ends after `{% … %}` are dropped", "`{% … %}` の後の改行を除く"),
        _either(lambda d: d.trim_blocks),
    ),
    (
        Wording("A first round shows no history", "最初のラウンドで履歴を出さない"),
        _either(lambda d: d.round_one_is_bare),
    ),
    (
        Wording("Variables that override the file", "ファイルより優先される環境変数"),
        _literal(lambda d: f"{d.environment_prefix}…"),
    ),
)
