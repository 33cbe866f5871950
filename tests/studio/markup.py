"""Markup as tests read it."""

import re


def tight(page: str) -> str:
    """The page without the line ends and the indentation of its template."""
    page = re.sub(r"\s+", " ", page).replace(" >", ">").replace(" </", "</")
    return re.sub(r"(<[a-z][^>]*>) ", r"\1", page)
