"""Hints for moving a template to another release of MixSeek: what in it relies on how things were. Used by
the studio's page about releases."""

import re
from collections.abc import Iterator
from itertools import islice

from builder.messages import message
from builder.problems import Problem
from builder.template.boundaries import ALWAYS, own_tags
from builder.template.defaults import default_templates
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind

HISTORY_WORDS = message(
    "release-history-words",
    "`{words}` was the heading of a round's submission; {release} uses `<submission>` instead.",
    "`{words}` は以前の提出内容の見出しです。{release} では `<submission>` で囲まれます。",
    fix_en="Refer to the `<submission>` blocks instead.",
    fix_ja="`<submission>` ブロックとして説明してください。",
)
HISTORY_PARTS = message(
    "release-history-parts",
    "The template processes the history; {release} formats its rounds differently.",
    "テンプレートが履歴を加工しています。{release} では各ラウンドの形式が異なります。",
    fix_en="Check the preview of a later round.",
    fix_ja="2ラウンド目以降のプレビューを確認してください。",
)
OWN_TAGS = message(
    "release-own-tags",
    "`<{tag}>` encloses a part of the prompt, so {release} neutralises tags of this name in values.",
    "`<{tag}>` が区切りに使われているため、{release} は値の中の同名のタグを無効にします。",
    fix_en="Nothing to do, unless a task or submission needs to contain such tags.",
    fix_ja="タスクや提出物にこのタグを含める必要がなければ、対応は不要です。",
)
OLD_DEFAULT = message(
    "release-old-default",
    "This is the default template of {before}; {release} has a new one.",
    "{before} のデフォルトテンプレートのままです。{release} では新しいものになっています。",
    fix_en="Use the new default below.",
    fix_ja="下の新しいデフォルトを取り込んでください。",
)
OLD_DEFAULT_CHANGED = message(
    "release-old-default-changed",
    "This is based on the default template of {before}; {release} has a new one.",
    "{before} のデフォルトテンプレートを基にしています。{release} では新しいものになっています。",
    fix_en="Merge the new default below.",
    fix_ja="下で新しいデフォルトとマージしてください。",
)

_TAKEN_APART = re.compile(r"\bsubmission_history\s*(?:\|(?!\s*(?:trim|safe)\b)|\.|\[)")
_SHARED_LINES = 0.6
_MOST_TAGS = 40


def release_hints(kind: PromptKind, text: str, old: Dialect, new: Dialect) -> list[Problem]:
    """What to look at in a template before it is used with another release, line by line."""
    return [*_default(kind, text, old, new), *_history(kind, text, old, new), *_tags(text, old, new)]


def is_based_on_default(kind: PromptKind, text: str, dialect: Dialect) -> bool:
    """Whether most lines of this format's default template stand in the text."""
    own = {line.strip() for line in text.splitlines()}
    lines = [line.strip() for line in default_templates(dialect)[kind].splitlines() if line.strip()]
    return sum(line in own for line in lines) >= _SHARED_LINES * len(lines)


def _default(kind: PromptKind, text: str, old: Dialect, new: Dialect) -> Iterator[Problem]:
    before, after = default_templates(old)[kind], default_templates(new)[kind]
    if before == after or text == after:
        return
    params: dict[str, str | int] = {"before": old.release or old.name, "release": new.release or new.name}
    if text == before:
        yield Problem("warning", OLD_DEFAULT, params=params)
    elif is_based_on_default(kind, text, old):
        yield Problem("warning", OLD_DEFAULT_CHANGED, params=params)


def _history(kind: PromptKind, text: str, old: Dialect, new: Dialect) -> Iterator[Problem]:
    if kind == "evaluator" or old.sentences.submission == new.sentences.submission:
        return
    release = new.release or new.name
    heading = old.sentences.submission.partition("{content}")[0].strip("#: \n")
    for number, line in enumerate(text.splitlines(), start=1):
        if heading and heading in line:
            yield Problem("warning", HISTORY_WORDS, number, params={"words": heading, "release": release})
        elif _TAKEN_APART.search(line):
            yield Problem("warning", HISTORY_PARTS, number, params={"release": release})


def _tags(text: str, old: Dialect, new: Dialect) -> Iterator[Problem]:
    if not new.neutralises_tags or old.neutralises_tags:
        return
    own = {name: place for name, place in own_tags(text).items() if name not in ALWAYS}
    for name, place in islice(own.items(), _MOST_TAGS):
        line = text.count("\n", 0, place) + 1
        yield Problem("hint", OWN_TAGS, line, params={"tag": name, "release": new.release or new.name})
