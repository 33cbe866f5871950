"""The leaderboard as the commands open it: a warning says when only an old copy can be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from builder.commands import terminal
from builder.leaderboard import AggregationStore, Freshness
from builder.messages import message, say
from builder.template.dialect import Dialect

OLD_COPY = message(
    "command-old-copy",
    "What is shown is {seconds} s old ({moment}). {reason}",
    "表示しているのは{seconds}秒前（{moment}）の内容です。{reason}",
)


@contextmanager
def opened(workspace: Path, dialect: Dialect) -> Iterator[AggregationStore]:
    """The workspace's store; where only an earlier copy can be read, its age goes to stderr."""
    with AggregationStore(workspace, dialect=dialect) as store:
        # Before the question: the answer is then at least as fresh as what was said.
        shown = store.freshness()
        if shown.stale:
            terminal.warn(_age(shown))
        yield store


def _age(shown: Freshness) -> str:
    moment = shown.as_of.isoformat(timespec="seconds")
    seconds = round(shown.age_seconds(datetime.now(UTC)))
    return say(OLD_COPY, {"seconds": seconds, "moment": moment, "reason": str(shown.reason or "")}).rstrip()
