"""Japanese is complete: every string of code and templates is translated, and nothing else is kept."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = ROOT / "studio" / "locale" / "ja" / "LC_MESSAGES" / "django.po"

# Names and signs that are the same in Japanese.
SAME_IN_BOTH: set[str] = set()

KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}

COMMENTS = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)

Message = tuple[str | None, str | tuple[str, ...]]


def sources() -> Iterator[bytes]:
    """Python code as it is; templates as the pseudo code that Django's own extraction reads."""
    for path in sorted((ROOT / "studio").rglob("*.py")):
        yield path.read_bytes()
    for path in sorted((ROOT / "templates").rglob("*.html")):
        # As pseudo code a comment would hide everything that follows it in the one line.
        text = COMMENTS.sub("", path.read_text(encoding="utf-8"))
        code = templatize(text, origin=str(path))
        # One line: what remains of the HTML is indented as no Python is.
        yield " ".join(code.split("\n")).encode()


def extracted() -> set[Message]:
    found: set[Message] = set()
    for source in sources():
        for _line, message, _comments, context in extract("python", BytesIO(source), keywords=KEYWORDS):
            found.add((context, tuple(message) if isinstance(message, tuple) else message))
    return found


def catalogue() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file, locale="ja")


def test_the_catalogue_holds_just_the_strings_in_use() -> None:
    kept = {(message.context, message.id) for message in catalogue() if message.id}
    used = extracted()
    assert (used - kept, kept - used) == (set(), set())
    assert len(used) > 100


def test_every_string_is_translated() -> None:
    for message in catalogue():
        if not message.id:
            continue
        texts = [message.string] if isinstance(message.string, str) else list(message.string)
        assert all(texts), f"no translation of {message.id!r}"
        assert not message.fuzzy, f"fuzzy translation of {message.id!r}"
        identifiers = {message.id} if isinstance(message.id, str) else set(message.id)
        assert not identifiers & set(texts) or identifiers <= SAME_IN_BOTH, f"{message.id!r} is still English"


def test_translations_keep_the_placeholders() -> None:
    messages = catalogue()
    for message in messages:
        assert not list(message.check(messages))


# Words that only this project used, or spellings beside the chosen one; "|" separates them.
PRIVATE_WORDS = re.compile(
    r"\bruler|\bnoise\b|dialect|contract’s order|\breplay|Read from a copy|take (it )?up again|put aside"
    r"|\bmend\b|Every line reached|\bShade|There is no prompt yet|somebody (was|else)|\breceipt|\breckon"
    r"|to the byte|Whoever runs|handed in|gives no prompt|Draft kept",
    re.IGNORECASE,
)
PRIVATE_WORDS_JA = re.compile(
    "物差し|方言|控え(?!め)|知っておくこと|リプレイ|ノイズ|網かけ|マトリクス|エディタ(?!ー)|ブラウザ(?!ー)|手で(?=編集|書)|順位表"
    r"|[ぁ-んァ-ヶ一-龠]([,;]|: |\()"
)


def test_pages_use_plain_words_and_japanese_one_spelling() -> None:
    for message in catalogue():
        identifiers = [message.id] if isinstance(message.id, str) else message.id
        english = re.sub(r"%\(\w+\)\w|<[^>]*>|`[^`]*`", "", " ".join(identifiers))
        assert not PRIVATE_WORDS.search(english), message.id
        japanese = message.string if isinstance(message.string, str) else " ".join(message.string)
        assert not message.id or not PRIVATE_WORDS_JA.search(japanese), japanese
