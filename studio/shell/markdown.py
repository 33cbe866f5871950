"""Markdown that a model wrote, as HTML without tags of its own, pictures or scripts.

Used by the pages of rounds.
"""

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

MOST_CHARACTERS = 40_000
"""A longer text is shown as it is: reading it as Markdown would hold up the page."""

MOST_CELLS = 20_000
"""Of tables: a row of one character is filled up with as many empty cells as its head has, so that a short
text can make a page of megabytes. One that could make more is read without tables."""

_Tokens = Sequence[Token]
_Env = MutableMapping[str, Any]

_SCHEMES = ("http", "https", "mailto")
_REL = "noopener noreferrer nofollow"
_IN_LINK = "in link"
_HEADINGS_BELOW = 3
"""A submission begins with an ``h1`` of its own, while it stands below headings of the page."""


class _Renderer(RendererHTML):
    """Headings stand below the page's, links tell nobody where they were, pictures are links."""

    def heading_open(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        return f"<{_below(tokens[idx].tag)}>"

    def heading_close(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        return f"</{_below(tokens[idx].tag)}>\n"

    def link_open(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        env[_IN_LINK] = True
        tokens[idx].attrSet("rel", _REL)
        return self.renderToken(tokens, idx, options, env)

    def link_close(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        env[_IN_LINK] = False
        return self.renderToken(tokens, idx, options, env)

    def th_open(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        # The page's policy has no place for styles; a class says the same.
        style = str(tokens[idx].attrs.pop("style", ""))
        if style:
            tokens[idx].attrSet("class", style.replace("text-align:", "align-"))
        return self.renderToken(tokens, idx, options, env)

    td_open = th_open

    def image(self, tokens: _Tokens, idx: int, options: OptionsDict, env: _Env) -> str:
        # Loading it would tell a stranger who reads this page, and when.
        source = str(tokens[idx].attrs.get("src", ""))
        words = escape(tokens[idx].content or source)
        return (
            words
            if env.get(_IN_LINK)
            else f'<a class="picture" href="{escape(source)}" rel="{_REL}">{words}</a>'
        )


def _below(tag: str) -> str:
    return f"h{min(int(tag[1:]) + _HEADINGS_BELOW, 6)}"


def _may_link(url: str) -> bool:
    """An address elsewhere, spelled out; a relative one would lead into the studio."""
    try:
        return urlsplit(url.strip()).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _parser(*rules: str) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(list(rules))
    parser.validateLink = _may_link  # type: ignore[method-assign]
    return parser


_WITHOUT_TABLES = _parser("strikethrough")
_PARSER = _parser("strikethrough", "table")


def _cells(text: str) -> int:
    """How many cells the tables in the text could have at most."""
    lines = text.split("\n")
    return len(lines) * max(line.count("|") for line in lines)


@lru_cache(maxsize=64)
def markdown(text: str) -> SafeString:
    """The text as HTML; one longer than ``MOST_CHARACTERS`` as plain text."""
    if len(text) > MOST_CHARACTERS:
        return SafeString(f"<pre>{escape(text)}</pre>")
    parser = _PARSER if _cells(text) <= MOST_CELLS else _WITHOUT_TABLES
    return SafeString(parser.render(text))
