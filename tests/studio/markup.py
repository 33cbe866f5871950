"""Markup as tests read it."""

import html
import re

from django.test import Client


def tight(page: str) -> str:
    """The page without the line ends and the indentation of its template."""
    page = re.sub(r"\s+", " ", page).replace(" >", ">").replace(" </", "</")
    return re.sub(r"(<[a-z][^>]*>) ", r"\1", page)


def words_of(client: Client, address: str) -> str:
    """The words of a page as a person reads them, blanks and lines as one blank each."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.status_code
    text = re.sub(r"<(script|style|title)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(text)).replace(" ,", ",").replace(" .", ".")
