"""The watch: a thread that examines the new runs of a workspace whose database has changed, finds out what
needs attention, and keeps the demo's run going.

Started by `manage.py studio`. Several servers of one database share the work: each piece has one claim.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection
from django.db.models import Max
from django.utils import timezone

from builder.client.manifest import LOGS
from builder.errors import (
    DatabaseDamaged,
    DatabaseQuarantined,
    DatabaseRefused,
    DatabaseTooLarge,
    DatabaseTooNew,
    JailError,
    LeaderboardError,
    MissingColumn,
    MissingTable,
    NotADatabase,
)
from builder.files.answering import answers
from builder.leaderboard import database_path
from studio.access.audit import clean_audit
from studio.access.counts import clean_counts
from studio.access.webhooks import clean_deliveries
from studio.home.attention import note_pass, out_of_step, try_contexts
from studio.home.demo.workspaces import keep_running
from studio.machines.mirror import drop_gone
from studio.machines.rewriting import NotRewritten, merge_many
from studio.models import PromptVersion, Workspace
from studio.results.attribution import attribute_workspace
from studio.shell.claims import claimed
from studio.workspaces.found_drift import note_drift
from studio.workspaces.models import LABELLED
from studio.workspaces.roots import folder_refusal
from studio.workspaces.stores import forget_gone, store_of

SECONDS = 10.0
MOST_TRIES = 30
"""Of one state of a workspace: what fails so often fails for good, until something changes."""

_COPY_SECONDS = 2.0
_CLEANED_EVERY = timedelta(hours=1)

_log = logging.getLogger(__name__)

_State = tuple[object, ...]
_LASTING = (
    NotADatabase,
    DatabaseTooNew,
    DatabaseTooLarge,
    DatabaseRefused,
    DatabaseQuarantined,
    DatabaseDamaged,
    MissingTable,
    MissingColumn,
)


def examining(workspace: Workspace) -> str:
    """The claim that goes with the examination of a workspace's runs."""
    return f"examine {workspace.pk}"


class Watch:
    """Remembers what it has seen: a look at a workspace in which nothing happens costs two stats."""

    def __init__(self) -> None:
        self._seen: dict[int, _State] = {}
        self._tries: Counter[tuple[int, _State]] = Counter()
        self._ended = threading.Event()
        self._cleaned: datetime | None = None

    def start(self) -> None:
        """Look every few seconds, in a thread that ends with the process."""
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def end(self) -> None:
        """Stop after the look that is under way."""
        self._ended.set()

    def look(self) -> int:
        """Examine the workspaces that have changed since the last look; tells how many."""
        keep_running(settings.STUDIO_DATA / "demo", timezone.now())
        newest = PromptVersion.objects.filter(system_prompt=None).aggregate(newest=Max("pk"))["newest"]
        looked = 0
        workspaces = list(Workspace.objects.filter(archived=False).select_related(*LABELLED))
        if drop_gone():
            forget_gone()
        for workspace in workspaces:
            if workspace.is_remote:
                folder_refusal(workspace)  # this server's copy follows; texts may have been deleted
            if not answers(workspace.folder):
                continue
            state = (newest, *_stamps(workspace))
            if self._seen.get(workspace.pk) == state:
                continue
            with claimed(examining(workspace)) as mine:
                # Where another server is at it, the next look finds nothing left to do, or takes it over.
                if mine:
                    if self._examine(workspace) or self._is_enough((workspace.pk, state)):
                        self._seen[workspace.pk] = state
                    looked += 1
        with claimed("watch") as mine:
            if mine:
                self._look_around(workspaces)
        return looked

    def _look_around(self, workspaces: Sequence[Workspace]) -> None:
        """What one server does for all."""
        self._clean()
        with suppress(NotRewritten):
            merge_many()
        with suppress(JailError):  # the next look does better
            note_drift(list(out_of_step(workspaces, most=None)), timezone.now())
            try_contexts()

    def _clean(self) -> None:
        """Delete what is older than the settings say, once an hour."""
        now = timezone.now()
        if self._cleaned is None or now - self._cleaned > _CLEANED_EVERY:
            self._cleaned = now
            clean_audit(settings.ENVIRONMENT.keep_audit, now)
            clean_counts(now)
            clean_deliveries(settings.ENVIRONMENT.keep_deliveries, now)

    def _is_enough(self, state: tuple[int, _State]) -> bool:
        """Whether to wait for a change: a jail that is starting or a copy under way needs another look."""
        self._tries[state] += 1
        if self._tries[state] < MOST_TRIES:
            return False
        del self._tries[state]
        return True

    def _examine(self, workspace: Workspace) -> bool:
        """Whether another look at the same state would be in vain."""
        stale = _is_stale(workspace)
        try:
            # Another server may be at it that took so long that its claim ended; then one of the two has it.
            with suppress(IntegrityError):
                done = attribute_workspace(workspace, timezone.now())
                problem = done.problem
                if problem is not None:
                    _log.info("The runs of %s were not all examined: %s", workspace.path, problem.text())
                if problem is not None and not isinstance(problem, _LASTING):
                    return False
                note_pass(workspace, done)
        except DatabaseError:
            raise
        except Exception:
            # What is odd about one workspace must not keep the others from being examined.
            _log.exception("The runs of %s could not be examined", workspace.path)
        return not stale

    def _run(self) -> None:
        # The first page comes first.
        pause = 1.0
        while not self._ended.wait(pause):
            pause = SECONDS
            try:
                self.look()
            except DatabaseError as error:
                _log.warning("The runs could not be examined: %s", error)
            except Exception:
                # Whatever is wrong with one look, the next one may do better.
                _log.exception("The runs could not be examined")
            finally:
                connection.close()


def _is_stale(workspace: Workspace) -> bool:
    """Whether an earlier copy of its database is what is examined, because the new one takes its time."""
    with suppress(LeaderboardError):
        fresh = store_of(workspace).refresh(_COPY_SECONDS).freshness
        return fresh is not None and fresh.stale
    return False


def _stamps(workspace: Workspace) -> _State:
    """What tells two states of the database apart, without opening it."""
    stamps: list[object] = []
    path = str(database_path(workspace.folder))
    # Manifests of pinned runs are written when the database is not any longer.
    for name in (path, f"{path}.wal", str(workspace.folder / LOGS)):
        try:
            status = os.stat(name)
            stamps += [status.st_ino, status.st_size, status.st_mtime_ns]
        except OSError:
            stamps.append(None)
    return tuple(stamps)
