"""The filters that templates of round prompts have beside Jinja2's own."""

from collections.abc import Callable, MutableMapping
from typing import Any, Protocol


class TakesFilters(Protocol):
    """A ``jinja2.Environment``; only ``builder.template.render`` makes some."""

    @property
    def filters(self) -> MutableMapping[str, Callable[..., Any]]: ...


def setup_jinja2_environment(env: TakesFilters) -> None:
    """Give an environment ``format_score``, ``summarize`` and ``medal``. Raises nothing."""
    env.filters.update(format_score=format_score, summarize=summarize, medal=medal)


def format_score(score: float) -> str:
    """``{{ record.score|format_score }}``: 72.5/100"""
    return f"{score:.1f}/100"


def summarize(text: str, max_len: int = 200) -> str:
    """``{{ record.content|summarize(150) }}``: the beginning, and ``...`` where there is more"""
    return text[:max_len] + "..." if len(text) > max_len else text


def medal(rank: int) -> str:
    """``{{ entry.rank|medal }}``: 🥇, 🥈, 🥉, 4, 5 …"""
    return {1: "🥇", 2: "🥈", 3: "🥉"}.get(rank, str(rank))
