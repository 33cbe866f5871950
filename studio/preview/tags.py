"""Tags of the preview: rounds, figures, the prompt with its marks, and the bar of its budget.

HTML is made here in one go, because it is rendered at every pause of somebody who types. Sentences stand
outside of the f-strings: what collects them for translation does not look into those.
"""

from decimal import Decimal
from functools import lru_cache
from html import escape
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from builder.cache.tokens import TokenCount
from studio.contexts.at_round import ContextAtRound
from studio.models import LanguageModel, PromptSet
from studio.preview.budgets import BudgetView, Fill, PartName
from studio.preview.cacheable_prefix import CacheablePrefixes
from studio.preview.costs import Cost
from studio.preview.prompt_html import marked_lines, rounds_line, shaded
from studio.preview.rendering import Preview

register = template.Library()

_NOT_KNOWN = "–"


@register.simple_tag
def round_control(preview: Preview) -> SafeString:
    """The rounds of the context on one line: a button each, or of many a list between two arrows."""
    seen = preview.at_round
    return mark_safe(rounds_line(get_language(), preview.url, seen.rounds, seen.round))


@register.simple_tag
def prefixes_address(
    prompt_set: PromptSet, new: object, old: object = None, at_round: ContextAtRound | str = ""
) -> str:
    """Where a page asks for the cacheable prefixes of a version, in the context that it shows."""
    query = {"new": new} | ({"old": old} if old else {})
    if isinstance(at_round, ContextAtRound) and at_round.context:
        query |= {"context": at_round.context.slug, "round": at_round.round}
    return f"{reverse('prompt-prefixes', args=[prompt_set.slug])}?{urlencode(query)}"


@register.simple_tag
def figures(preview: Preview) -> SafeString:
    """How long the prompt is, whether that is too long, and what it costs."""
    view = preview.budget
    count = view.counted.tokens
    words = ngettext("%(tokens)s token", "%(tokens)s tokens", count) % {"tokens": "\0"}
    shown = escape(about(grouped(count), view.counted.exact))
    if view.budget is not None:
        shown += f'<span class="long"> / {grouped(view.budget)}</span>'
    tokens, sign, style, more = escape(words).replace("\0", shown), "", "", tokenizer(view.counted)
    if view.fill in ("over", "close"):
        over = view.fill == "over"
        more = fill_words(view.fill, view.over_by)
        sign = f'<span aria-hidden="true">{"▲" if over else "≈"}</span> '
        style = " badge bad" if over else " badge warn"
        tokens += f'<span class="visually-hidden">, {escape(more)}</span>'
    cost = ""
    if view.model is not None and view.cost is not None and view.cost.plain is not None:
        title = f"{view.model.name}. {priced(view.model)}"
        amount = about(dollars(view.cost.plain), view.cost.exact)
        cost = f'<span class="num cost" title="{escape(title)}">{escape(amount)}</span>'
    return mark_safe(
        f'<p class="figures"><span class="num{style}" title="{escape(more)}">'
        f"{sign}<span>{tokens}</span></span>{cost}</p>"
    )


@register.simple_tag
def prompt_text(preview: Preview, prefixes: CacheablePrefixes | str | None = None) -> SafeString:
    """The prompt as it is shown: lines that differ from the saved version's are marked.

    Where somebody without scripts asked for it, its cacheable prefix is marked instead.
    """
    text = preview.shown
    if isinstance(prefixes, CacheablePrefixes):
        return mark_safe(shaded(text, prefixes))
    if preview.diff is None or not preview.template_changed:
        return mark_safe(escape(text))
    return mark_safe("".join(marked_lines(text, preview.diff)))


@register.filter
def grouped(number: int | None) -> str:
    """1,204; a dash where nothing is known."""
    return _NOT_KNOWN if number is None else _grouped(get_language(), number)


@lru_cache(maxsize=4096)
def _grouped(language: str | None, number: int) -> str:
    """Cached: a preview has many figures, and most are those of the one before."""
    return number_format(number, force_grouping=True)


@register.filter
def about(shown: str, exact: bool) -> str:
    """≈ 1,204 where nobody counted."""
    return shown if exact else f"≈\N{NO-BREAK SPACE}{shown}"


@register.filter
def told(counted: TokenCount | None) -> str:
    """A count, or an estimate that is marked as one."""
    return _NOT_KNOWN if counted is None else about(grouped(counted.tokens), counted.exact)


@register.filter
def price(dollars: Decimal | None) -> str:
    """$2.50 with at least two decimals and no idle noughts beyond."""
    if dollars is None:
        return _NOT_KNOWN
    decimals = max(2, -int(dollars.normalize().as_tuple().exponent))
    return f"${number_format(dollars, decimal_pos=decimals, force_grouping=True)}"


@register.filter
def dollars(amount: Decimal | None) -> str:
    """What something costs, with as many decimals as say something: $0.00301, $12.40."""
    if amount is None:
        return _NOT_KNOWN
    if not amount:
        return "$0"
    decimals = min(max(2, 2 - amount.adjusted()), 8)
    return f"${number_format(amount, decimal_pos=decimals, force_grouping=True)}"


@register.filter
def tokenizer(counted: TokenCount) -> str:
    """Who counted: «o200k_base, exact», or how far an estimate may be off."""
    if counted.exact:
        return _("%(tokenizer)s, exact") % {"tokenizer": counted.tokenizer}
    return _("estimate, ±%(percent)d %%") % {"percent": round(100 * counted.margin)}


def against(counted: TokenCount, budget: int | None) -> str:
    """«1,204 of 3,000 tokens», «about 1,204 tokens»."""
    tokens = grouped(counted.tokens)
    if budget is None:
        words = ngettext("%(tokens)s token", "%(tokens)s tokens", counted.tokens) % {"tokens": tokens}
        return words if counted.exact else _("about %(words)s") % {"words": words}
    named = {"tokens": tokens, "budget": grouped(budget)}
    if counted.exact:
        return _("%(tokens)s of %(budget)s tokens") % named
    return _("about %(tokens)s of %(budget)s tokens") % named


def part_names() -> dict[PartName, str]:
    """What the parts of a prompt are called."""
    return {
        "task": pgettext("part of a prompt", "Task"),
        "history": pgettext("part of a prompt", "History"),
        "ranking": pgettext("part of a prompt", "Ranking"),
        "submission": pgettext("part of a prompt", "Submission"),
        "own": pgettext("part of a prompt", "Own text"),
    }


def fill_words(fill: Fill, over_by: int) -> str:
    """Whether a prompt is over its budget, in words."""
    if fill == "over":
        return _("over by %(tokens)s") % {"tokens": grouped(over_by)}
    return _("too close to say") if fill == "close" else ""


def mark(fill: Fill, over_by: int) -> str:
    """A word, not only a colour, where a prompt is over its budget."""
    said = fill_words(fill, over_by)
    if fill == "over":
        return _badge(said)
    return f' <span class="badge warn">{escape(said)}</span>' if said else ""


def bar(view: BudgetView) -> str:
    """The parts side by side; beyond the budget's mark the bar is underlined."""
    drawn, start = "", 0.0
    for part, tokens in view.parts.items():
        width = 100 * tokens / view.length
        drawn += f'<rect class="share {part}" x="{start:.2f}" y="0" width="{width:.2f}" height="8"/>'
        start += width
    if view.mark is not None:
        drawn += f'<rect class="beyond" x="{view.mark:.2f}" y="5" width="{100 - view.mark:.2f}" height="3"/>'
        drawn += f'<rect class="limit" x="{view.mark - 0.4:.2f}" y="0" width="0.8" height="8"/>'
    return (
        f'<svg class="budget-bar {view.fill}" viewBox="0 0 100 8" preserveAspectRatio="none"'
        f' aria-hidden="true">{drawn}</svg>'
    )


@register.simple_tag
def budget_details(preview: Preview) -> SafeString:
    """Half of the drawer: the parts, what the levels would leave out, the model, how it was counted."""
    view = preview.budget
    said = against(view.counted, view.budget)
    by = tokenizer(view.counted) if view.budget is not None else _("no budget")
    return mark_safe(
        f'<p class="budget-sum"><span class="num">{escape(said)}</span>'
        f' <span class="soft">({escape(by)})</span>'
        f"{mark(view.fill, view.over_by)}</p>{bar(view)}"
        f"{_parts(view)}{_levels(view)}{_model(view, preview.prompt_set)}{_counted(preview)}"
    )


def _counted(preview: Preview) -> str:
    size = preview.characters
    characters = ngettext("%(count)s character", "%(count)s characters", size) % {"count": grouped(size)}
    formatting = _("Formatting: %(name)s") % {"name": preview.dialect.name}
    facts = [characters, formatting]
    if preview.shows_sample_time:
        facts.append(_("current_datetime is a fixed sample time, so that previews can be compared"))
    return f'<p class="soft">{escape(" · ".join(facts))}</p>'


def _parts(view: BudgetView) -> str:
    whole, names = view.counted.tokens or 1, part_names()
    rows = "".join(
        f'<li><span class="share-swatch {part}" aria-hidden="true"></span>{escape(names[part])}'
        f' <span class="num">{grouped(tokens)}</span>'
        f' <span class="soft num">{round(100 * tokens / whole)} %</span></li>'
        for part, tokens in view.parts.items()
    )
    label = _("Tokens by part")
    return f'<ul class="budget-parts" aria-label="{escape(label)}">{rows}</ul>'


def _levels(view: BudgetView) -> str:
    """What the priority levels would do; MixSeek does none of it."""
    if not view.levels:
        return ""
    shown = {
        "tokens": told(view.fitted.tokens if view.fitted else None),
        "items": view.config.max_submission_history_items,
        "characters": view.config.submission_preview_chars,
        "teams": view.config.max_leaderboard_display_teams,
    }
    said = {
        "not_round": _("Priority levels apply only to a team's round prompt."),
        "no_context": _("Choose a sample context to see what the priority levels would leave out."),
        "fits": _(
            "With the priority levels the round prompt has %(tokens)s tokens and fits: at most "
            "%(items)d submissions of %(characters)d characters each, and %(teams)d teams."
        )
        % shown,
        "left_out": _("With the priority levels the round prompt has %(tokens)s tokens:") % shown,
        "level_one": _("Level 1 alone, which is always included, is too long:"),
    }[view.levels]
    notes = "".join(f"<li>{escape(note)}</li>" for note in view.notes)
    lines = f"<ul>{notes}</ul>" if notes else ""
    mixseek = _("MixSeek does not shorten prompts: this one is sent as shown.")
    return (
        f'<div class="budget-levels"><p>{escape(said)}</p>{lines}<p class="soft">{escape(mixseek)}</p></div>'
    )


def _badge(said: str) -> str:
    return f' <span class="badge bad"><span aria-hidden="true">▲</span> {escape(said)}</span>'


def _model(view: BudgetView, prompt_set: PromptSet) -> str:
    model, cost = view.model, view.cost
    if model is None or cost is None:
        address = reverse("prompt-settings", args=[prompt_set.slug])
        said = (
            _("Choose a model in the settings")
            if view.budget
            else _("Choose a model or a budget in the settings")
        )
        return f'<p><a href="{escape(address)}#budgets">{escape(said)}</a></p>'
    facts = [escape(model.name)]
    if view.context_share is not None:
        share = number_format(100 * view.context_share, decimal_pos=1)
        said = escape(_("%(share)s %% of its context length") % {"share": share})
        if view.context_share > 1:
            said += _badge(_("exceeds the context length"))
        facts.append(said)
    facts.append(escape(_("%(cost)s for the prompt") % {"cost": about(dollars(cost.plain), cost.exact)}))
    # Asked for once somebody looks: to tell what stays the same is a job of its own.
    address = escape(reverse("prompt-costs", args=[prompt_set.slug]))
    return (
        f'<p class="budget-model">{" · ".join(facts)} <span class="soft">{escape(priced(model))}</span></p>'
        f'<p class="budget-cache" hx-post="{address}" hx-trigger="intersect once" hx-target="this"'
        ' hx-swap="outerHTML" hx-sync="this:replace"></p>'
    )


@register.filter
def priced(model: LanguageModel) -> str:
    """As of when the prices are, and what they do not cover."""
    day = date_format(model.as_of, "DATE_FORMAT")
    return _("Prices as of %(day)s; answers are not included.") % {"day": day}


@register.filter
def cache_note(cost: Cost) -> str:
    """What a cache keeps of a prompt, or why it keeps nothing."""
    kept = about(grouped(cost.cached_tokens), cost.exact)
    return {
        "read": _("%(tokens)s tokens from the cache") % {"tokens": kept},
        "too_short": _("the cacheable prefix is too short"),
        "too_close": _("the cacheable prefix is too close to the minimum to say"),
        "not_kept": _("no cache known for this model"),
        "not_known": _("the cacheable prefix is unknown"),
    }[cost.cache]
