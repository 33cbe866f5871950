"""``UserPromptBuilder``, the API contract's main class: a context in, the finished prompt out."""

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from builder.contract.settings import load_settings
from builder.template.dialect import CONTRACT, Dialect
from builder.template.formatters import current_time, variables
from builder.template.models import (
    EvaluatorPromptContext,
    PromptContext,
    RankingStore,
    RoundPromptContext,
    taken,
)
from builder.template.render import render
from builder.template.shapes import EvaluatorContextLike, Ranking, RoundContextLike, Row
from builder.template.variables import PromptKind, field_name


class UserPromptBuilder:
    """Builds the three prompts with a workspace's settings.

    A program that has MixSeek's own store open passes that; it is asked as it is, and nothing is copied:

    >>> builder = UserPromptBuilder(Path("workspace"), store)
    >>> prompt = await builder.build_team_prompt(context)

    Beside a run of another process, ``AggregationStore("workspace")`` reads a copy of the database that is
    at least as new as the call. It waits for it, and raises a ``LeaderboardError`` where that takes too long.

    ``clock`` and ``environ`` are read from the machine where they are not given. Raises
    ``WorkspaceMissing`` (a ``FileNotFoundError``) and ``SettingsError`` (a pydantic ``ValidationError``).
    """

    def __init__(
        self,
        workspace: Path | str,
        store: RankingStore | None = None,
        *,
        dialect: Dialect = CONTRACT,
        clock: Callable[[], datetime] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.workspace = Path(workspace)
        self.store = store
        self.dialect = dialect
        self.settings = load_settings(self.workspace, dialect, environ)
        self._clock = clock or (lambda: current_time(environ))

    async def build_team_prompt(self, context: RoundContextLike | Row) -> str:
        """What a team receives at the start of a round, from a ``RoundPromptContext``, another library's
        object with its attributes, or a dict.

        Raises ``ContextError`` (a pydantic ``ValidationError``) for a context or ranking that breaks a rule,
        ``TemplateFailure`` (a jinja2 ``TemplateError``) where the template is wrong, ``TimezoneError`` (a
        ``ValueError``) for an odd ``TZ``, and whatever the store raises.
        """
        return await self._build("team", context)

    async def build_judgment_prompt(self, context: RoundContextLike | Row) -> str:
        """What decides whether the team goes on. Takes and raises what ``build_team_prompt`` does."""
        return await self._build("judgment", context)

    def build_evaluator_prompt(self, context: EvaluatorContextLike | Row) -> str:
        """What the evaluator receives for one submission. Raises what ``build_team_prompt`` does."""
        return self._render("evaluator", taken(EvaluatorPromptContext, context), None)

    async def _build(self, kind: PromptKind, given: RoundContextLike | Row) -> str:
        context = taken(RoundPromptContext, given)
        return self._render(kind, context, await self._ranking(context))

    async def _ranking(self, context: RoundPromptContext) -> Ranking | None:
        # Not `or`: a store may well be empty, and so false.
        store = self.store if context.store is None else context.store
        # Nobody has a place before the first round is over, so no dialect asks for one.
        if context.ranking is not None or context.round_number == 1 or store is None:
            return context.ranking
        answer = store.get_leader_board_ranking(context.execution_id)
        # The documents show the store's method both as a coroutine and as a plain one.
        return await answer if inspect.isawaitable(answer) else answer

    def __repr__(self) -> str:
        return f"UserPromptBuilder({str(self.workspace)!r}, dialect={self.dialect.name!r})"

    def _render(self, kind: PromptKind, context: PromptContext, ranking: Ranking | None) -> str:
        template = getattr(self.settings, field_name(kind))
        values = variables(kind, context, ranking, self._clock(), self.dialect, template)
        return render(kind, template, values, self.dialect)
