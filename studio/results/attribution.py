"""Attribution: finds the version that made each run's prompts, by rendering again, and stores it.

Used by `manage.py attribute` and by the watching thread; `origins` reads what is stored. A run is examined
once, and again only where it has gone on or where newer versions may explain it.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from builder.errors import BuilderError, DatabaseMissing, JailError, LeaderboardError
from builder.leaderboard import DeliveredRun, Execution, StoredRound
from builder.results.attribution import Attribution, Candidate, attribute, decide, formats_of, nearest
from builder.template.dialect import MIXSEEK
from studio.access.webhooks import Told, tell
from studio.models import Export, PromptVersion, RoundResult, RunResult, Workspace
from studio.results.kept_settings import RunSettings, note_unfinished_teams
from studio.results.manifests import Claims
from studio.results.models import LARGEST_NUMBER, LONGEST_ID, Basis, Found
from studio.results.origins import exports_into, is_id, storable
from studio.results.release import find_release
from studio.shell.jail import pool
from studio.workspaces.state import PromptFileState, prompt_states_of
from studio.workspaces.stores import store_of

Progress = Callable[[int, int], None]
"""Told after each run: how many of how many are examined."""

_OVER = frozenset({"completed", "partial_failure", "failed"})
_NOT_QUITE = 0.9999
"""How alike a prompt can be at most that is not the version's own."""
_LONGEST_ROUND = timedelta(days=1)
_MOST_TEMPLATES = 5_000
"""Different team templates that are tried, the newest first."""


@dataclass(frozen=True)
class AttributionPass:
    """What a pass over a workspace did."""

    runs: int = 0
    rounds: int = 0
    problem: BuilderError | None = None
    """Why it could not go on; what was examined before stays."""
    left: int = 0
    """Runs that it did not come to, as far as it knew of them."""


def attribute_workspace(
    workspace: Workspace, now: datetime, progress: Progress = lambda done, total: None
) -> AttributionPass:
    """Examine the runs that are new, that have gone on, or that newer versions may explain."""
    runs = rounds = 0
    pending: list[Execution] = []
    try:
        store = store_of(workspace)
        claims = Claims.of(workspace)
        pending = _pending(workspace, store.executions(now=now), claims)
        if pending:
            settings, files = RunSettings(workspace, now), prompt_states_of([workspace])
            exports = list(exports_into(workspace))
            attributor = _RunAttributor(
                workspace, settings, TeamTemplates.read(), files[0], now, files, exports, claims
            )
            for execution in pending:
                rounds += attributor.attribute(execution, store.delivered_rounds(execution.execution_id))
                runs += 1
                progress(runs, len(pending))
        note_unfinished_teams(workspace, store)
    except DatabaseMissing:
        return AttributionPass()  # nothing has run there yet
    except (LeaderboardError, JailError) as error:
        return AttributionPass(runs, rounds, error, len(pending) - runs)
    finally:
        find_release(workspace)
    return AttributionPass(runs, rounds)


# --- which runs --------------------------------------------------------------------------


def _pending(workspace: Workspace, executions: Sequence[Execution], claims: Claims) -> list[Execution]:
    # Columns, not objects: with nothing to do, this is what a pass costs.
    results = RunResult.objects.filter(workspace=workspace)
    known = {
        execution_id: None if over else (rounds, best)
        for execution_id, over, rounds, best in results.values_list(
            "execution_id", "over", "rounds", "best_score"
        )
    }
    claimed = claims.news(results)
    explicable = set(_explicable(results).values_list("execution_id", flat=True))
    return [
        execution
        for execution in executions
        if is_id(execution.execution_id)
        if execution.execution_id not in known
        or execution.execution_id in explicable
        or execution.execution_id in claimed
        or _has_gone_on(known[execution.execution_id], execution)
    ]


def _has_gone_on(before: tuple[int, float | None] | None, execution: Execution) -> bool:
    """``before``: rounds and best score of a run that was not over."""
    return before is not None and (
        execution.state in _OVER or (execution.rounds, execution.best_score) != before
    )


def _explicable(results: QuerySet[RunResult]) -> QuerySet[RunResult]:
    """Those that newer versions may explain: a hand edit, too, for once adopted it is a version."""
    newest = PromptVersion.objects.filter(system_prompt=None).aggregate(newest=Max("pk"))["newest"] or 0
    # Nor had anybody looked for other formats than 0.1.0a15's.
    worthwhile = Q(examined_up_to__lt=newest) | Q(formats__isnull=True)
    return results.filter(worthwhile, found__in=(Found.UNKNOWN, Found.EDITED))


# --- which version -----------------------------------------------------------------------


@dataclass(frozen=True)
class TeamTemplates:
    """The team templates of all versions: those of equal text cannot be told apart by a team's prompt."""

    candidates: list[Candidate]
    keys: list[list[int]]
    """Of the versions with each candidate's text, the newest first."""
    newest: int

    @classmethod
    def read(cls) -> "TeamTemplates":
        by_text: dict[str, list[int]] = {}
        newest = 0
        versions = PromptVersion.objects.filter(system_prompt=None)
        rows = versions.order_by("-pk").values_list("pk", "team_user_prompt")
        for key, text in rows.iterator():
            newest = newest or key
            if text in by_text or len(by_text) < _MOST_TEMPLATES:
                by_text.setdefault(text, []).append(key)
        marks = pool().landmarks(list(by_text), MIXSEEK)
        # One that does not pass the check today cannot be rendered, and was never shipped from here.
        passed = [
            (Candidate(text, mark), keys)
            for (text, keys), mark in zip(by_text.items(), marks, strict=True)
            if mark is not None
        ]
        return cls([candidate for candidate, _ in passed], [keys for _, keys in passed], newest)

    def versions_of(self, numbers: Iterable[int]) -> list[int]:
        """The keys of the versions behind some of the candidates."""
        return sorted(key for number in numbers for key in self.keys[number])


@dataclass(frozen=True)
class _RunAttributor:
    workspace: Workspace
    settings: RunSettings
    templates: TeamTemplates
    file: PromptFileState
    now: datetime
    files: Sequence[PromptFileState]
    """All prompt files of the workspace; ``file`` is the one that a run is held against."""
    exports: Sequence[Export]
    """Into the workspace, the last first."""
    claims: Claims

    def attribute(self, execution: Execution, delivered: DeliveredRun) -> int:
        """Find out what made the prompts of a run, keep it, and tell how many rounds it had."""
        attributions = attribute(delivered.rounds, delivered.task, self.templates.candidates, pool())
        task = storable(execution.user_prompt or "")
        result = RunResult(
            workspace=self.workspace,
            execution_id=execution.execution_id,
            over=execution.state in _OVER,
            state=execution.state,
            task=task,
            task_key=hashlib.sha256(task.encode()).hexdigest() if task else "",
            started_at=_began(execution, delivered.rounds),
            teams=min(max(execution.teams, 0), LARGEST_NUMBER),
            rounds=min(max(execution.rounds, 0), LARGEST_NUMBER),
            best_score=execution.best_score,
            metrics=_metrics(delivered.rounds),
            formats=[dialect.name for dialect in formats_of(attributions)],
            examined_up_to=self.templates.newest,
            examined_at=self.now,
        )
        decided = decide(attributions)
        texts = {self.templates.candidates[number].text for number in decided}
        self.settings.recognise(result, execution, {stored.team_id for stored in delivered.rounds}, texts)
        keys = self.templates.versions_of(decided)
        claimed = self.claims.note(result)
        if claimed in keys:
            # The manifest names one version, and the bytes that were sent are that version's.
            result.found, result.version_id, result.basis = Found.EXACT, claimed, Basis.MANIFEST
        elif keys:
            self._with_their_file(keys)._settle(result, keys)
        else:
            self._explain(result, attributions, delivered.task)
        _store(result, keys if result.found == Found.SEVERAL else [], self._rounds(result, attributions))
        return len(attributions)

    def _with_their_file(self, keys: list[int]) -> "_RunAttributor":
        """The same for the prompt file whose team template is that of the versions, else for the main one."""
        each = (replace(self, file=file) for file in self.files)
        return next((one for one in each if one._has_their_team_template(keys)), self)

    def _settle(self, result: RunResult, keys: list[int]) -> None:
        """One version; or several, of which a receipt or the file itself may name the one."""
        shipped = self._last_export_before(result.started_at)
        named = None if shipped is None else shipped.version_id
        basis, speaking = Basis.RECEIPT, [named] if named in keys else []
        if self._is_what_ran(result, shipped):
            held = self._held(keys)
            if not held and self._has_their_team_template(keys):
                # The team's prompts are the version's; what they were scored with is not.
                result.found, result.likeness = Found.EDITED, 1.0
                result.version_id = named if named in keys else keys[-1]
                return
            if named not in held:
                basis, speaking = Basis.FILE, held
        if len(speaking) == 1:
            result.found, result.version_id, result.basis = Found.EXACT, speaking[0], basis
        else:
            result.found = Found.EXACT if len(keys) == 1 else Found.SEVERAL
            result.version_id = keys[0] if len(keys) == 1 else None

    def _last_export_before(self, started: datetime | None) -> Export | None:
        """Into this file, where the workspace has several."""
        path = str(self.file.path) if len(self.files) > 1 else None
        known = (each for each in self.exports if path in (None, each.path))
        return next((each for each in known if started is not None and each.at <= started), None)

    def _is_what_ran(self, result: RunResult, shipped: Export | None) -> bool:
        """Whether nobody has touched the file since before the run; nor put an old one over the export."""
        modified, started = self.file.modified_at, result.started_at
        if modified is None or started is None or self.file.content is None or modified > started:
            return False
        return shipped is None or modified >= shipped.at

    def _held(self, keys: list[int]) -> list[int]:
        """Those of the versions that have all three texts of the file: a restored one has an older one's."""
        if self.file.version is None:
            return []
        equal = PromptVersion.objects.filter(content_hash=self.file.version.content_hash).order_by("pk")
        return sorted(set(keys).intersection(equal.values_list("pk", flat=True)))

    def _has_their_team_template(self, keys: list[int]) -> bool:
        templates = self.file.templates
        return templates is not None and any(
            candidate.text == templates.parts["team"] and own[0] in keys
            for candidate, own in zip(self.templates.candidates, self.templates.keys, strict=True)
        )

    def _explain(self, result: RunResult, attributions: list[Attribution], task: str | None) -> None:
        """No version made its prompts: perhaps one of them, edited by hand."""
        result.found = Found.UNKNOWN
        if not attributions or task is None:
            return
        # The last round has the most to go by.
        rounds = (attribution.stored for attribution in attributions)
        last = max(rounds, key=lambda stored: (stored.round_number, stored.team_id))
        near = nearest(last, task, self.templates.candidates, pool())
        if near is not None and near.related:
            # Another round than this one may be what differs.
            result.found, result.likeness = Found.EDITED, min(near.likeness, _NOT_QUITE)
            result.version_id = self.templates.keys[near.candidate][0]

    def _rounds(self, result: RunResult, attributions: list[Attribution]) -> list[RoundResult]:
        scores = {
            (attribution.stored.team_id, state.round_number): state.evaluation_score
            for attribution in attributions
            for state in attribution.stored.states
        }
        return [
            RoundResult(
                run=result,
                team_id=stored.team_id,
                team_name=storable(stored.team_name)[:LONGEST_ID],
                round_number=stored.round_number,
                score=scores.get((stored.team_id, stored.round_number)),
                found=_found_in_round(result, len(versions)),
                versions=versions,
            )
            for attribution in attributions
            for stored in [attribution.stored]
            if is_id(stored.team_id) and 0 <= stored.round_number <= LARGEST_NUMBER
            for versions in [self.templates.versions_of(attribution.matches)]
        ]


def _began(execution: Execution, rounds: Sequence[StoredRound]) -> datetime | None:
    """The earliest that is known. A run that is not over tells only when its first round had ended."""
    started = execution.started_at
    if started is None:
        return None
    sent = [
        stored.delivered.timestamp for stored in rounds if stored.delivered and stored.delivered.timestamp
    ]
    within = [moment for moment in sent if moment.tzinfo and started - _LONGEST_ROUND < moment < started]
    return min(within, default=started)


def _found_in_round(result: RunResult, versions: int) -> Found:
    if versions:
        return Found.EXACT if versions == 1 else Found.SEVERAL
    return Found.EDITED if result.found == Found.EDITED else Found.UNKNOWN


def _metrics(rounds: Sequence[StoredRound]) -> list[str]:
    """The names of what submissions were judged by: with other metrics, scores mean something else."""
    names = set[str]()
    for stored in rounds:
        for state in stored.states:
            listed = (state.score_details or {}).get("metrics")
            for metric in listed if isinstance(listed, list) else []:
                name = metric.get("metric_name") if isinstance(metric, dict) else None
                if isinstance(name, str):
                    names.add(storable(name))
    return sorted(names)


def _store(result: RunResult, candidates: list[int], rounds: list[RoundResult]) -> None:
    with transaction.atomic():
        # Another server may have been faster; what was found later counts.
        known = RunResult.objects.filter(workspace=result.workspace, execution_id=result.execution_id)
        before = known.values_list("over", "found", "version").first()
        known.delete()
        result.save()
        result.candidates.set(candidates)
        RoundResult.objects.bulk_create(rounds)
        if result.over and before != (True, result.found, result.version_id):
            tell(Told.RUN_EXAMINED, _message(result), result.examined_at)


def _message(result: RunResult) -> dict[str, object]:
    version = result.version
    return {
        "workspace": result.workspace.slug,
        "execution": result.execution_id,
        "found": result.found,
        "set": version.prompt_set.slug if version else None,
        "version": version.number if version else None,
        "best_score": result.best_score,
    }
