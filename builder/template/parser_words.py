"""The sentences of Jinja2's parser in Japanese: it speaks English only. Used by ``syntax``."""

import re

_QUOTED = r"""("[^"]*"|'[^']*')"""

_TOKENS = {
    "'end of print statement'": "`}}`",
    "'begin of print statement'": "`{{`",
    "'end of statement block'": "`%}`",
    "'begin of statement block'": "`{%`",
    "'end of template'": "テンプレートの終わり",
    "'template data / text'": "地の文",
    "'name'": "名前",
    "'integer'": "整数",
    "'float'": "小数",
    "'string'": "文字列",
    "'const'": "値",
}

# In this order: a sentence that begins like another stands before it.
_SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(english), japanese)
    for english, japanese in (
        (
            rf"[Uu]nexpected end of template, expected {_QUOTED}\.?",
            r"テンプレートが途中で終わっています（\1が必要です）。",
        ),
        (r"[Uu]nexpected end of template\.?", "テンプレートが途中で終わっています。"),
        (rf"Encountered unknown tag {_QUOTED}\.", r"\1というタグはここでは使えません。"),
        (
            r"You probably made a nesting mistake\. Jinja is expecting this tag, but currently looking for "
            rf"{_QUOTED}\.",
            r"入れ子が崩れています。先に\1が必要です。",
        ),
        (r"Jinja was looking for the following tags: (.+?)\.(?= |$)", r"必要なタグ：\1。"),
        (
            rf"The innermost block that needs to be closed is {_QUOTED}\.",
            r"閉じられていない一番内側のブロックは\1です。",
        ),
        (r"Missing end of comment tag", "コメントが `#}` で閉じられていません。"),
        (r"Missing end of raw directive", "{% raw %} が {% endraw %} で閉じられていません。"),
        (rf"expected token {_QUOTED}, got {_QUOTED}", r"\1が必要ですが、\2があります。"),
        (rf"Expected an expression, got {_QUOTED}", r"式が必要ですが、\1があります。"),
        (rf"unexpected {_QUOTED}, expected {_QUOTED}", r"\1がありますが、\2が必要です。"),
        (rf"unexpected char {_QUOTED}", r"文字\1はここでは使えません。"),
        (rf"unexpected {_QUOTED}", r"ここに\1は置けません。"),
        (rf"can't assign to {_QUOTED}", r"\1には代入できません。"),
        (r"expected name or number", "名前か番号が必要です。"),
        (r"tag name expected", "タグの名前が必要です。"),
    )
)


def in_japanese(reason: str) -> str:
    """The parser's sentence; what is not known here stays as it is."""
    for english, japanese in _SENTENCES:
        reason = english.sub(japanese, reason)
    for token, words in _TOKENS.items():
        reason = reason.replace(token, words)
    return re.sub(r"(?<=。) ", "", reason).replace("' or '", "' / '")
