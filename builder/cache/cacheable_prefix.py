"""The cacheable prefix of a prompt: how much of it stays the same from call to call, and what cuts it short.

Only shapes and words: templates are analysed by ``builder.cache.lints``, for a page inside the jail.
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from builder.cache.tokens import recount
from builder.messages import message
from builder.problems import Problem

Level = Literal[0, 1, 2]
"""Renders compared: any two, two of the same task, two of the same round."""
LEVELS: tuple[Level, ...] = get_args(Level)

LintCode = Literal["C001", "C002", "C003", "C004", "C005", "C006", "C007"]

DEFAULT_MODEL = "o200k_base"

message(
    "C001",
    "`{name}` changes with every call and comes before text that stays the same.",
    "`{name}` は呼び出しごとに変わりますが、変わらないテキストより前にあります。",
    fix_en="Move it to the end of the template.",
    fix_ja="テンプレートの末尾に移してください。",
)
message(
    "C002",
    "`{name}` changes with each round and comes before `{later}`, which stays the same for the task.",
    "`{name}` はラウンドごとに変わりますが、タスク中は変わらない `{later}` より前にあります。",
    fix_en="Put the parts that belong to the task first.",
    fix_ja="タスクに関するものを先に書いてください。",
)
message(
    "C003",
    "`{later}` only grows at its end, but comes after `{name}`, which changes with each round.",
    "`{later}` は末尾に追記されるだけですが、ラウンドごとに変わる `{name}` より後にあります。",
    fix_en="Write it before the round's other values: the next round then begins with the same text.",
    fix_ja="ラウンドの他の値より前に書くと、次のラウンドも同じテキストで始まります。",
)
message(
    "C004",
    "This {% if %} depends on `{name}` and comes before text that stays the same.",
    "この {% if %} は `{name}` に依存し、変わらないテキストより前にあります。",
    fix_en="Move the text that does not depend on it before the {% if %}.",
    fix_ja="これに依存しないテキストを {% if %} の前に移してください。",
)
message(
    "C005",
    "`{name}` is printed to the microsecond, and other text follows.",
    "`{name}` がマイクロ秒まで表示され、その後にテキストが続きます。",
    fix_en="If the date is enough, write `{{ {name}[:10] }}`: it changes once a day.",
    fix_ja="日付だけでよければ `{{ {name}[:10] }}` と書きます。変わるのは1日に1回です。",
)
message(
    "C006",
    "Tokens that stay the same for a task: {tokens}. Providers cache {minimum} tokens or more.",
    "タスク中に変わらない部分：{tokens}トークン。キャッシュされるのは{minimum}トークンからです。",
    fix_en="Write more of the fixed text before the first value that changes.",
    fix_ja="変わる値より前に、固定のテキストをより多く書いてください。",
)
message(
    "C007",
    "It is unknown how often `{name}` changes: the text after it counts as new in every call.",
    "`{name}` がいつ変わるかは不明です。以降のテキストは呼び出しごとに新しいものとみなされます。",
    fix_en="Use the variables of this template.",
    fix_ja="このテンプレートの変数を使ってください。",
)


@dataclass(frozen=True)
class CacheablePrefix:
    """The cacheable prefix of one level: the text that every render begins with whose values up to the level
    are these."""

    level: Level
    text: str
    bytes: int
    chars: int
    source_end: int
    """How many characters of the template make it."""
    culprit_line: int | None
    culprit: str
    """The name or the tag that ends it; empty, as the line is, where nothing does."""


@dataclass(frozen=True)
class PrefixAnalysis:
    """The cacheable prefixes of a prompt, one for each level, and what keeps them short."""

    prefixes: tuple[CacheablePrefix, ...]
    total_bytes: int
    lints: tuple[Problem, ...] = ()
    """Habits that cost a cache, each with the whole template in a better order where there is one."""

    def prefix(self, level: Level) -> CacheablePrefix:
        return self.prefixes[level]


def common_prefix(one: str, other: str) -> int:
    """How many characters two texts have in common from the start; halving, since comparing is fast."""
    same, differs = 0, min(len(one), len(other)) + 1
    while differs - same > 1:
        middle = (same + differs) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            differs = middle
    return same


def shared_prefix(one: str, other: str) -> tuple[int, int]:
    """How many characters two renders share from the start, and how many bytes these are."""
    chars = common_prefix(one, other)
    return chars, len(one[:chars].encode())


def against_minimum(
    analysis: PrefixAnalysis, minimum_tokens: int | None, model: str = DEFAULT_MODEL
) -> PrefixAnalysis:
    """The same with a C006 only where the text of a task is too short. Apart from the analysis, since
    the vocabularies are files, which nobody can open in a jail."""
    tokens = 0 if minimum_tokens is None else recount(analysis.prefix(1).text, model).tokens
    if minimum_tokens is None or tokens >= minimum_tokens:
        return replace(analysis, lints=tuple(lint for lint in analysis.lints if lint.code != "C006"))
    params: dict[str, str | int] = {"tokens": tokens, "minimum": minimum_tokens}
    lints = (replace(lint, params=params) if lint.code == "C006" else lint for lint in analysis.lints)
    return replace(analysis, lints=tuple(lints))
