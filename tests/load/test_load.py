"""The short form of the load: what must hold however busy the machine is. ``run`` prints the times."""

from pathlib import Path

import pytest

from tests.load.run import SHORT, run

pytestmark = pytest.mark.slow


def test_nothing_fails_and_nothing_is_lost_beside_attackers(tmp_path: Path) -> None:
    outcome = run(SHORT, tmp_path)
    assert outcome.problems == []
    assert outcome.record.drafts and outcome.record.versions
    assert {"attack", "preview", "draft", "save", "run page"} <= outcome.record.statuses.keys()
