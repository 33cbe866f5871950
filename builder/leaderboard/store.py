"""The store of a workspace's leaderboard: what ran, who scored what, what was sent. The builder's own API;
used by the studio's pages of runs and by ``python -m builder``."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from builder.errors import LeaderboardError, PromptNotStored, TaskUnknown
from builder.leaderboard import executions as listing
from builder.leaderboard.across import Across
from builder.leaderboard.executions import Filter
from builder.leaderboard.process import Failed, Gone, ReaderStopped
from builder.leaderboard.queries import (
    KEY,
    RANKING_NEEDS,
    RoundOf,
    read_lengths,
    read_ranking,
    read_submissions,
    require,
)
from builder.leaderboard.reader import Reader
from builder.leaderboard.rebuild import DeliveredRun, For, Renderer, StoredRound, rebuild, recover_task
from builder.leaderboard.records import (
    Activity,
    DeliveredPrompt,
    Execution,
    ExecutionOrder,
    ExecutionState,
    RebuiltRound,
    RoundRecord,
    ScorePoint,
    Standing,
    SubmissionLength,
    TeamFailure,
)
from builder.leaderboard.rows import (
    SubmissionRow,
    delivered_of,
    feedback_of,
    is_without_agents,
    metrics_of,
)
from builder.leaderboard.sentences import NO_AGENTS, PROMPT_NOT_STORED, TASK_UNKNOWN
from builder.leaderboard.source import Source, T
from builder.leaderboard.story import Story, Texts, read_conversation, read_story
from builder.template.dialect import RankingOrder
from builder.template.models import EvaluationResult, LeaderboardEntry, RankingEntry, SubmissionRecord


class AggregationStore(Source):
    """Reads a workspace's ``mixseek.db`` without ever opening it: answers come from a verified copy.

    >>> with AggregationStore("workspace", dialect=MIXSEEK) as store:
    ...     store.ranking("3f0c…")  # or: await store.get_leader_board_ranking("3f0c…")

    Every coroutine has a plain method beside it. Methods may be called from several threads at once. An
    answer is at least as new as the call. All raise a ``LeaderboardError``: where there is no database, where
    it cannot be read, or where its copy takes longer than ``patience``.
    """

    def __repr__(self) -> str:
        return f"AggregationStore({str(self.path)!r})"

    @property
    def across(self) -> Across:
        """Teams and their history, how scores spread, rounds and executions side by side."""
        return Across(self)

    def _answer_with(self, columns: Iterable[str], question: Callable[[Reader], T]) -> T:
        """An answer that cannot do without these columns of the leaderboard."""

        def asked(reader: Reader) -> T:
            require(reader.schema, "leader_board", columns)
            return question(reader)

        return self.answer(asked)

    # --- rankings ------------------------------------------------------------------------

    def ranking(self, execution_id: str, order: RankingOrder | None = None) -> list[RankingEntry]:
        """All teams, best first, in the dialect's order; empty for an execution without rows.
        ``get_leader_board_ranking`` is the documents' name for the same, as a coroutine and with dicts.

        The scores are MixSeek's own 32-bit ones, which prompts print; for pages there is ``standings``.
        """
        wanted = order or self.dialect.ranking_order
        return self._answer_with(RANKING_NEEDS, lambda reader: read_ranking(reader, execution_id, wanted))

    def standings(self, execution_id: str, order: RankingOrder | None = None) -> list[Standing]:
        """The ranking with all its digits: in MixSeek's order (``team_id``), in the contract's
        (``latest_round``), or in the dialect's."""
        wanted = order or self.dialect.ranking_order
        return self._answer_with(
            RANKING_NEEDS, lambda reader: listing.standings(reader, execution_id, wanted)
        )

    def scores(self, execution_id: str, team_id: str | None = None) -> list[ScorePoint]:
        """Scores by team and round, no texts: what a chart needs."""
        return self.answer(lambda reader: listing.scores(reader, execution_id, team_id))

    async def get_leader_board_ranking(self, execution_id: str) -> list[dict[str, Any]]:
        return [entry.model_dump() for entry in await asyncio.to_thread(self.ranking, execution_id)]

    def top(self, execution_id: str, limit: int = 10) -> list[LeaderboardEntry]:
        """The best teams with their ranks."""
        return [
            LeaderboardEntry(
                rank=rank, team_id=entry.team_id, team_name=entry.team_name, best_score=entry.max_score
            )
            for rank, entry in enumerate(self.ranking(execution_id)[: max(0, limit)], start=1)
        ]

    async def get_leaderboard_ranking_by_execution(
        self, execution_id: str, limit: int = 10
    ) -> list[LeaderboardEntry]:
        return await asyncio.to_thread(self.top, execution_id, limit)

    def rank_of(self, execution_id: str, team_id: str) -> int | None:
        """The team's place, from 1; ``None`` while it has none."""
        places = [entry.team_id for entry in self.ranking(execution_id)]
        return places.index(team_id) + 1 if team_id in places else None

    async def get_team_current_rank(self, execution_id: str, team_id: str) -> int | None:
        return await asyncio.to_thread(self.rank_of, execution_id, team_id)

    # --- rounds --------------------------------------------------------------------------

    def rounds(self, execution_id: str, team_id: str | None = None) -> list[RoundRecord]:
        """Everything stored about the rounds of an execution or of one of its teams, conversations aside."""
        return self.answer(lambda reader: list(read_story(reader, execution_id, team_id).records()))

    def round(self, execution_id: str, team_id: str, round_number: int) -> RoundRecord:
        """One round; raises ``UnknownRound``, ``UnknownTeam`` or ``UnknownExecution``."""

        def question(reader: Reader) -> RoundRecord:
            story = read_story(reader, execution_id, team_id)
            for record in story.records():
                if record.round_number == round_number:
                    return record
            raise story.unknown(team_id, round_number)

        return self.answer(question)

    async def get_rounds(self, execution_id: str, team_id: str | None = None) -> list[RoundRecord]:
        return await asyncio.to_thread(self.rounds, execution_id, team_id)

    def submissions(
        self, execution_id: str, team_id: str, limit: int | None = None
    ) -> list[SubmissionRecord]:
        """A team's submissions in the order of its rounds; with ``limit``, the latest that many."""
        records = [
            SubmissionRecord(
                round_number=number,
                content=submission.content or "",
                score=submission.score,
                feedback=feedback_of(metrics_of(submission.details)),
            )
            for (_, number), submission in self._submitted(execution_id, team_id).items()
            if submission.score is not None
        ]
        return records if limit is None else records[max(0, len(records) - max(0, limit)) :]

    async def get_team_submission_history(
        self, execution_id: str, team_id: str, limit: int | None = None
    ) -> list[SubmissionRecord]:
        return await asyncio.to_thread(self.submissions, execution_id, team_id, limit)

    def lengths(self, execution_ids: Sequence[str]) -> list[SubmissionLength]:
        """How long the submissions of some executions are; of very many, those of the first ones."""
        return self.answer(lambda reader: read_lengths(reader, execution_ids))

    def evaluations(self, execution_id: str, team_id: str | None = None) -> list[EvaluationResult]:
        """How the submissions were judged, by team and round."""
        return [
            EvaluationResult(
                overall_score=submission.score,
                feedback_summary=feedback_of(metrics),
                metrics={metric.name: metric.score for metric in metrics if metric.score is not None},
            )
            for submission in self._submitted(execution_id, team_id).values()
            if submission.score is not None
            for metrics in [metrics_of(submission.details)]
        ]

    async def get_evaluation_results_by_execution(
        self, execution_id: str, team_id: str | None = None
    ) -> list[EvaluationResult]:
        return await asyncio.to_thread(self.evaluations, execution_id, team_id)

    def _submitted(self, execution_id: str, team_id: str | None) -> dict[RoundOf, SubmissionRow]:
        """Empty where nothing was submitted yet: a first round asks for a history, too."""
        return self._answer_with(
            (*KEY, "score"), lambda reader: read_submissions(reader, execution_id, team_id)
        )

    # --- executions ----------------------------------------------------------------------

    def executions(
        self,
        search: str = "",
        *,
        state: ExecutionState | None = None,
        team: str | None = None,
        order: ExecutionOrder = "newest",
        limit: int | None = None,
        offset: int = 0,
        now: datetime | None = None,
    ) -> list[Execution]:
        """What ran here, the latest first.

        Each word of ``search`` must stand in the task, in a team's name or id, or begin the execution's
        id. ``team`` is the id of a team that took part.
        """
        wanted = Filter(search, state, team)
        rows = self.answer(
            lambda reader: reader.rows(*listing.page(wanted, self.signs(reader, now), order, limit, offset))
        )
        return [listing.execution_of(row) for row in rows]

    async def list_executions(
        self, search: str = "", *, limit: int | None = None, offset: int = 0, now: datetime | None = None
    ) -> list[Execution]:
        return await asyncio.to_thread(self.executions, search, limit=limit, offset=offset, now=now)

    def count_executions(
        self,
        search: str = "",
        *,
        state: ExecutionState | None = None,
        team: str | None = None,
        now: datetime | None = None,
    ) -> int:
        """How many there are on all pages."""
        wanted = Filter(search, state, team)
        rows = self.answer(lambda reader: reader.rows(*listing.count(wanted, self.signs(reader, now))))
        return int(rows[0][0])

    def execution(self, execution_id: str, *, now: datetime | None = None) -> Execution | None:
        """One execution with the reasons of teams that failed; ``None`` where there is none of this id."""
        execution = self.answer(lambda reader: listing.find(reader, execution_id, self.signs(reader, now)))
        if execution is None:
            return None
        failures = (
            TeamFailure(team.team_id, team.team_name, team.error)
            for team in self.progress([execution_id])
            if team.error is not None
        )
        return replace(execution, failures=tuple(failures))

    def activity(self, now: datetime | None = None, *, wait: float = 0.0) -> Activity:
        """The workspace at a glance; waits at most ``wait`` seconds for a copy and does without one."""
        for _ in range(2):
            with suppress(LeaderboardError):
                self.refresh(wait)
            reader = self._snapshots.shown()
            if reader is None:
                break
            try:
                return listing.activity(reader, self.signs(reader, now))
            except Gone:
                self._snapshots.forget(reader)
            except Failed:
                # The next real question finds out what is wrong; a glance need not.
                break
            except ReaderStopped as stop:
                self._snapshots.quarantine(reader, stop)
        alive = self.signs(None, now).alive
        return Activity(tuple(alive), executions=None if self.path.exists() else 0)

    # --- what was sent -------------------------------------------------------------------

    def delivered(self, execution_id: str, team_id: str, round_number: int) -> DeliveredPrompt:
        """The prompt that a team really received."""
        stored = self.answer(lambda reader: read_conversation(reader, execution_id, team_id, round_number))
        delivered = delivered_of(stored)
        if delivered is None:
            why = NO_AGENTS if is_without_agents(stored) else PROMPT_NOT_STORED
            raise PromptNotStored(why, team_id=team_id, round_number=round_number)
        return delivered

    async def delivered_prompt(self, execution_id: str, team_id: str, round_number: int) -> DeliveredPrompt:
        return await asyncio.to_thread(self.delivered, execution_id, team_id, round_number)

    def rebuild(
        self,
        execution_id: str,
        team_id: str,
        round_number: int,
        for_: For = "team",
        *,
        task: str | None = None,
        renderer: Renderer | None = None,
    ) -> RebuiltRound:
        """A stored round's context with the ranking as of its delivery.

        The task of a run that is not over is stored nowhere by itself: give it, or a ``renderer`` of the
        team template that this run used, and it is read out of a stored prompt.
        """
        story = self._scored_story(execution_id, team_id, round_number)
        stored = story.round(team_id, round_number, for_)
        known = task or story.task or self._recovered(stored, renderer)
        if known is None:
            raise TaskUnknown(TASK_UNKNOWN, execution_id=execution_id)
        return rebuild(stored, for_, known)

    async def rebuild_context(
        self,
        execution_id: str,
        team_id: str,
        round_number: int,
        for_: For = "team",
        *,
        task: str | None = None,
        renderer: Renderer | None = None,
    ) -> RebuiltRound:
        return await asyncio.to_thread(
            self.rebuild, execution_id, team_id, round_number, for_, task=task, renderer=renderer
        )

    def delivered_rounds(self, execution_id: str) -> DeliveredRun:
        """Every round of an execution whose prompt is stored, ready for rebuilding, from one pass."""
        story = self._scored_story(execution_id, None, "all")
        return DeliveredRun(story.task, tuple(story.delivered_rounds()))

    def _scored_story(self, execution_id: str, team_id: str | None, texts: Texts) -> Story:
        return self._answer_with(
            RANKING_NEEDS, lambda reader: read_story(reader, execution_id, team_id, texts)
        )

    def _recovered(self, stored: StoredRound, renderer: Renderer | None) -> str | None:
        """Out of this round's prompt or the first one's, which has less around the task."""
        if renderer is None:
            return None
        task = recover_task(stored, renderer)
        if task is not None or stored.round_number == 1:
            return task
        story = self._scored_story(stored.execution_id, stored.team_id, 1)
        return (
            recover_task(story.round(stored.team_id, 1), renderer)
            if (stored.team_id, 1) in story.histories
            else None
        )
