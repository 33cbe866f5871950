"""The leaderboards of workspaces, kept open: opening a copy costs more than asking it."""

import threading
from collections import OrderedDict
from pathlib import Path

from django.conf import settings

from builder.dialect import DIALECTS
from builder.leaderboard import AggregationStore
from studio.models import Workspace

_MOST = 64
_kept: OrderedDict[tuple[str, str], AggregationStore] = OrderedDict()
_guard = threading.Lock()


def store_of(workspace: Workspace) -> AggregationStore:
    """The workspace's store; the same object for every request, safe from several threads."""
    key = (workspace.path, workspace.dialect)
    with _guard:
        store = _kept.pop(key, None) or _opened(workspace)
        _kept[key] = store
        evicted = [_kept.popitem(last=False)[1] for _ in range(len(_kept) - _MOST)]
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


def _opened(workspace: Workspace) -> AggregationStore:
    return AggregationStore(
        Path(workspace.path),
        dialect=next(each for name, each in DIALECTS.items() if name == workspace.dialect),
        cache_folder=settings.STUDIO_DATA / "copies",
    )
