"""Shares and token counts as the pages of system prompts show them."""

from django import template
from django.utils import formats
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from builder.cache.tokens import TokenCount
from studio.system.page import percent

register = template.Library()


register.filter("share", percent)


@register.filter
def tokens(counted: TokenCount) -> SafeString:
    """How many tokens; an estimate is marked as one, and who counted stands on hover."""
    return format_html(
        '<span class="num" title="{}">{}{}</span>',
        counting(counted),
        "" if counted.exact else "≈ ",
        formats.localize(counted.tokens),
    )


@register.filter
def counting(counted: TokenCount) -> str:
    """Who counted: a vocabulary by name, or an estimate and how far it may be off."""
    if counted.exact:
        return counted.tokenizer
    margin = {"name": counted.tokenizer, "margin": percent(counted.margin)}
    return _("%(name)s, ± %(margin)s") % margin
