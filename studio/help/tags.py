"""`{% term "label" %}`: a "?" that shows a glossary entry. A builtin of all templates (settings)."""

import re
from typing import Any

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from studio.help.glossary import TERMS

register = template.Library()


@register.inclusion_tag("help/_term.html", takes_context=True)
def term(context: Context, slug: str) -> dict[str, Any]:
    """The "?" of a term, once per page: where it stood already, nothing. Unknown terms are mistakes."""
    request = context.get("request")
    shown: set[str] = getattr(request, "shown_terms", set())
    again = slug in shown
    if request is not None:
        request.shown_terms = shown | {slug}
    return {"term": None if again else TERMS[slug]}


@register.simple_block_tag
def joined(content: str) -> SafeString:
    """Japanese sentences on lines of their own, put together: browsers would show line ends as spaces."""
    return SafeString(re.sub(r"(?<=[。、）」])\n\s*(?!<)", "", content))
