"""``UserPromptBuilder``, the API contract's main class: a context in, the finished prompt out."""

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from builder.contract.settings import load_settings
from builder.template.dialect import CONTRACT, Dialect
from builder.template.formatters import Ranking, current_time, variables
from builder.template.models import EvaluatorPromptContext, PromptContext, RankingStore, RoundPromptContext
from builder.template.render import render
from builder.template.variables import PromptKind, field_name


class UserPromptBuilder:
    """Builds the three prompts with a workspace's settings.

    A program that has MixSeek's own store open passes that; it is asked as it is, and nothing is copied:

    >>> builder = UserPromptBuilder(Path("workspace"), store)
    >>> prompt = await builder.build_team_prompt(context)

    Beside a run of another process, ``AggregationStore("workspace")`` reads a copy of the database that is
    at least as new as the call. It waits for it, and raises a ``LeaderboardError`` where that takes too long.

    ``clock`` and ``environ`` are read from the machine where they are not given.
    """

    def __init__(
        self,
        workspace: Path,
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

    async def build_team_prompt(self, context: RoundPromptContext) -> str:
        """What a team receives at the start of a round."""
        return self._render("team", context, await self._ranking(context))

    def build_evaluator_prompt(self, context: EvaluatorPromptContext) -> str:
        """What the evaluator receives for one submission."""
        return self._render("evaluator", context, None)

    async def build_judgment_prompt(self, context: RoundPromptContext) -> str:
        """What decides whether the team goes on."""
        return self._render("judgment", context, await self._ranking(context))

    async def _ranking(self, context: RoundPromptContext) -> Ranking | None:
        store = context.store or self.store
        # Nobody has a place before the first round is over, so no dialect asks for one.
        if context.ranking is not None or context.round_number == 1 or store is None:
            return context.ranking
        answer = store.get_leader_board_ranking(context.execution_id)
        # The documents show the store's method both as a coroutine and as a plain one.
        ranking: Ranking = await answer if inspect.isawaitable(answer) else answer
        return ranking

    def _render(self, kind: PromptKind, context: PromptContext, ranking: Ranking | None) -> str:
        values = variables(kind, context, ranking, self._clock(), self.dialect)
        return render(kind, getattr(self.settings, field_name(kind)), values, self.dialect)
