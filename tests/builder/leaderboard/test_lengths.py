"""Lengths of submissions, for many executions in one question."""

from collections.abc import Callable

import duckdb
import pytest

from builder.leaderboard import AggregationStore, SubmissionLength
from tests.builder.leaderboard.conftest import Played


def test_lengths_are_those_of_the_submissions_of_the_executions_asked_for(
    original: Played, kept: AggregationStore
) -> None:
    first, second = original.ids[:2]
    found = kept.lengths([first])
    expected = [
        SubmissionLength(first, record.team_id, record.round_number, len(record.submission or ""))
        for record in kept.rounds(first)
        if record.submission is not None
    ]
    assert expected and found == expected
    assert {each.execution_id for each in kept.lengths([first, second, "nobody's"])} == {first, second}
    assert kept.lengths([]) == []


@pytest.mark.slow
def test_rows_without_a_text_have_no_length(
    played: Played, open_store: Callable[..., AggregationStore]
) -> None:
    with duckdb.connect(str(played.path / "mixseek.db")) as connection:
        connection.execute("CREATE TABLE narrow AS SELECT * EXCLUDE (submission_content) FROM leader_board")
        connection.execute("DROP TABLE leader_board")
        connection.execute("ALTER TABLE narrow RENAME TO leader_board")
    assert open_store(played.path).lengths(played.ids) == []
