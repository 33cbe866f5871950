"""A prompt with the beginning shaded that a cache can keep."""

from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from studio.preview.cacheable_prefix import StabilityView
from studio.preview.rendering import Preview

register = template.Library()


@register.simple_tag
def shaded(preview: Preview, stability: StabilityView | str | None = None) -> SafeString:
    """The prompt as it is shown; its stable beginning is marked where that is known."""
    text = preview.shown
    if not isinstance(stability, StabilityView):
        return mark_safe(escape(text))
    # Beyond the basic plane a character is two units; as UTF-16, offsets are the browser's.
    units = text.encode("utf-16-le", "surrogatepass")
    task, end = (2 * each.units for each in (stability.task, stability.round))
    parts = (units[:task], units[task:end], units[max(task, end) :])
    same_task, same_round, rest = (escape(part.decode("utf-16-le", "surrogatepass")) for part in parts)
    shades = "".join(
        f'<span class="stable {name}">{part}</span>'
        for name, part in (("task", same_task), ("round", same_round))
        if part
    )
    return mark_safe(f"{shades}{rest}")
