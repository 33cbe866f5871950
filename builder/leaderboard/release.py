"""The release of MixSeek that delivered a prompt, by its bytes: neither database nor logs name one. Used by
attribution and by the pages that say which release a workspace runs."""

from collections.abc import Iterable, Sequence

from builder.leaderboard.records import RebuiltRound
from builder.template.boundaries import ALWAYS, tags_in
from builder.template.dialect import MIXSEEK_A15, MIXSEEK_A18, RELEASES, Dialect
from builder.template.formatters import format_submission_history


def shown_formats(rebuilt: RebuiltRound) -> tuple[Dialect, ...]:
    """The releases whose format a delivered prompt may be in, whatever its template; the newest first.

    A history tells 0.1.0a15 from later ones. 0.1.0a18 and a19 differ only where a value holds a tag that is
    neutralised, which people can type as well: so the values of the database are compared, not their looks.
    """
    if rebuilt.delivered is None:
        return RELEASES
    text, context = rebuilt.delivered.text, rebuilt.context
    possible = set(RELEASES)
    last = context.round_history[-1:]
    if last:
        early = format_submission_history(last, MIXSEEK_A15) in text
        late = format_submission_history(last, MIXSEEK_A18)
        stands = late in text
        neutralised = not stands and "&lt;" in text and without_entities(late) in without_entities(text)
        if early != (stands or neutralised):
            # A submission that quotes a prompt may show both; then neither tells anything.
            possible -= {dialect for dialect in RELEASES if (dialect is MIXSEEK_A15) != early}
        if neutralised:
            possible = {dialect for dialect in possible if dialect.neutralises_tags}
        if stands and tags_in(last[0].submission_content, ALWAYS):
            possible = {dialect for dialect in possible if not dialect.neutralises_tags}
    if (tags := tags_in(context.user_prompt, ALWAYS)) and context.user_prompt in text:
        possible = {dialect for dialect in possible if not dialect.neutralises_tags}
    elif tags and "&lt;" in text and without_entities(context.user_prompt) in without_entities(text):
        possible = {dialect for dialect in possible if dialect.neutralises_tags}
    return tuple(dialect for dialect in RELEASES if dialect in possible) or RELEASES


def common_formats(rounds: Iterable[tuple[Dialect, ...]]) -> tuple[Dialect, ...]:
    """The releases that all of some prompts may come from; none where nothing is known, or two disagree."""
    shown = [set(formats) for formats in rounds if formats]
    common = set.intersection(*shown) if shown else set()
    return tuple(dialect for dialect in RELEASES if dialect in common)


def likeliest(formats: Sequence[Dialect], usual: Dialect) -> Dialect:
    """The usual format, unless the prompts show that it was another."""
    return usual if usual in formats or not formats else formats[0]


def without_entities(text: str) -> str:
    """The text as it was before some of its tags were neutralised, and what people typed like that."""
    return text.replace("&lt;", "<").replace("&gt;", ">")
