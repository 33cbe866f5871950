"""Markdown out of a submission is shown, and can do nothing else."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.shell.markdown import MOST_CHARACTERS, markdown

PIECES = st.sampled_from(
    [
        "# ", "\n", "\n\n", "- ", "1. ", "> ", "**", "*", "`", "```\n", "[", "](", ")", "![", "<", ">", "&",
        '"', "'", "<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "javascript:alert(1)",
        "JaVaScRiPt&colon;", "data:text/html,x", "https://example.org/", "mailto:a@b", "//example.org",
        "/runs/", "|a|b|\n|-|:-:|\n|1|2|\n",
        "~~", "順位", "\\", "&#106;avascript:", "\x00", "\u202e", "<https://example.org>",
        "<javascript:alert(1)>", "[a]: javascript:alert(1)\n", "[a]", " ", "\t",
    ]
)  # fmt: skip
ALLOWED = {
    "p", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a", "br",
    "hr", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class Seen(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_was_written_only_harmless_elements_come_out(text: str) -> None:
    for tag, attributes in Seen(markdown(text)).found:
        assert tag in ALLOWED
        assert set(attributes) <= {"href", "rel", "title", "class", "start"}
        if "href" in attributes:
            assert re.match(r"(?i)(https?|mailto):", attributes["href"] or "")
            assert attributes["rel"] == "noopener noreferrer nofollow"


def test_usual_markdown_is_shown() -> None:
    html = markdown(
        "# 提案\n\n**要点** は [こちら](https://example.org/?a=1&b=2)\n\n- 一\n- 二\n\n|a|b|\n|-|-:|\n|1|2|\n"
    )
    assert html.startswith("<h4>提案</h4>")
    assert '<a href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer nofollow">こちら</a>' in html
    for part in ("<strong>要点</strong>", "<li>一</li>", "<th>a</th>", '<td class="align-right">2</td>'):
        assert part in html


def test_html_in_it_is_text() -> None:
    assert markdown("<b onclick=x>hi</b>") == "<p>&lt;b onclick=x&gt;hi&lt;/b&gt;</p>\n"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/runs/", "x", "//a"]
)
def test_other_addresses_are_no_links(url: str) -> None:
    assert "<a" not in markdown(f"[here]({url}) ![pic]({url}) <{url}>")


def test_pictures_are_links_and_load_nothing() -> None:
    html = markdown(
        "![図 1](https://example.org/a.png) [![logo](https://a.example/x.png)](https://b.example/) ![](https://c.example/)"
    )
    assert "<img" not in html
    assert (
        '<a class="picture" href="https://example.org/a.png" rel="noopener noreferrer nofollow">図 1</a>'
        in html
    )
    assert '<a href="https://b.example/" rel="noopener noreferrer nofollow">logo</a>' in html
    assert ">https://c.example/</a>" in html


def test_a_very_long_text_is_shown_as_it_is() -> None:
    html = markdown("# <x>\n" * MOST_CHARACTERS)
    assert html.startswith("<pre># &lt;x&gt;\n") and "<h4>" not in html


@pytest.mark.slow
def test_a_short_text_cannot_make_a_table_of_megabytes() -> None:
    small = "|a|b|\n|-|-|\n" + "|1|2|\n" * 1_000
    assert markdown(small).count("<td") == 2_000
    wide = "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n" + "|\n" * 15_000
    assert "<table" not in markdown(wide) and len(markdown(wide)) < 2 * len(wide)
