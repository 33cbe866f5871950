"""The leaderboards of workspaces, kept open: opening a copy costs more than asking it.

Used by every page about runs and by attribution.
"""

import threading
from collections import OrderedDict
from pathlib import Path

from django.conf import settings

from builder.errors import LeaderboardError
from builder.files.answering import answers
from builder.leaderboard import AggregationStore, CopyFolder, Retries
from builder.messages import message
from builder.template.dialect import Dialect
from studio.machines.mirror import mirror_root
from studio.models import Workspace
from studio.workspaces.roots import FolderMissing, FolderRefused, require_allowed, roots

NOT_ALLOWED = message("store-not-allowed", "{reason}", "{reason}", fix_en="{advice}", fix_ja="{advice}")

_MOST = 32
_WAITED_FOR_BYTES = 32 * 1024**2
"""A changed database up to this size is copied in the time that nobody notices; larger ones are not waited
for while there is an earlier copy to show."""

_Key = tuple[str, Dialect, tuple[Path, ...]]
_kept: OrderedDict[_Key, AggregationStore] = OrderedDict()
_guard = threading.Lock()


class NotAllowed(LeaderboardError):
    """The workspace's folder is not, or not any more, one that the studio may look into."""


def store_of(workspace: Workspace) -> AggregationStore:
    """The workspace's store; the same object for every request, safe from several threads.

    Raises ``NotAllowed`` where the folder has become a link or left the roots since it was registered.
    """
    try:
        require_allowed(workspace)
    except FolderMissing:
        pass  # the store says what is missing, and is there when the folder is back
    except FolderRefused as refusal:
        raise NotAllowed(NOT_ALLOWED, reason=refusal.what, advice=refusal.advice) from refusal
    key = (str(workspace.folder), workspace.spoken, (*roots(), mirror_root()))
    with _guard:
        store = _kept.pop(key, None)
        # One that went by other roots: a folder was allowed or taken back since.
        earlier = [] if store else [other for other in _kept if other[:2] == key[:2]]
        evicted = [_kept.pop(other) for other in earlier]
        _kept[key] = store = store or _opened(*key)
        evicted += [_kept.popitem(last=False)[1] for _ in range(len(_kept) - _MOST)]
    # Outside the lock: ending a copy under way takes a moment. Questions being answered are answered.
    for old in evicted:
        old.close()
    return store


def close_all() -> None:
    """Let go of every copy; the files stay for the next start."""
    with _guard:
        stores = [*_kept.values()]
        _kept.clear()
    for store in stores:
        store.close()


def forget_gone() -> None:
    """Let go of workspaces whose folder is no longer there, and drop the copies of their databases."""
    with _guard:
        gone = [_kept.pop(key) for key in [*_kept] if answers(key[0]) and not Path(key[0]).exists()]
    for store in gone:
        store.close()
    CopyFolder(settings.STUDIO_DATA / "copies").drop_gone()


def _opened(path: str, dialect: Dialect, inside: tuple[Path, ...]) -> AggregationStore:
    return AggregationStore(
        Path(path),
        dialect=dialect,
        cache_folder=settings.STUDIO_DATA / "copies",
        background_bytes=_WAITED_FOR_BYTES,
        patience=settings.STUDIO_COPY_PATIENCE,
        largest=settings.STUDIO_LARGEST_DATABASE,
        # A server that shares the folder may be at a large file: waiting for it costs no page anything.
        retries=Retries(lock_wait=600.0),
        roots=inside,
    )
