"""Words for addresses, made from names in any script."""

from typing import Any
from unicodedata import normalize

from django.db.models import QuerySet
from django.utils.text import slugify

_LONGEST = 80
_RESERVED = {"import", "new"}  # addresses of pages


def free_slug(taken_by: QuerySet[Any], name: str, fallback: str) -> str:
    """A slug that no row of the query has: ``research``, then ``research-2``; ``fallback`` for «!?»."""
    stem = slugify(normalize("NFKC", name), allow_unicode=True)[: _LONGEST - 8].strip("-_") or fallback
    taken = _RESERVED | set(taken_by.filter(slug__startswith=stem).values_list("slug", flat=True))
    number, slug = 1, stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
