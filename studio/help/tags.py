"""`{% term "label" %}`: a "?" that shows a glossary entry. A builtin of all templates (settings)."""

import re
from functools import cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from studio.help.glossary import TERMS
from studio.shell.language import reader_language

register = template.Library()


@register.simple_tag(takes_context=True)
def term(context: Context, slug: str) -> SafeString:
    """The "?" of a term, once per page: where it stood already, nothing. Unknown terms are mistakes."""
    request = context.get("request")
    shown: set[str] = getattr(request, "shown_terms", set())
    if slug in shown:
        return SafeString("")
    if request is not None:
        request.shown_terms = shown | {slug}
    return _entry(slug, reader_language())


@cache
def _entry(slug: str, language: str) -> SafeString:
    """Kept, because it is the same on every page in one language."""
    return SafeString(render_to_string("help/_term.html", {"term": TERMS[slug]}).strip())


@register.simple_block_tag
def joined(content: str) -> SafeString:
    """Japanese sentences on lines of their own, put together: browsers would show line ends as spaces."""
    return SafeString(re.sub(r"(?<=[。、）」])\n\s*(?!<)", "", content))
