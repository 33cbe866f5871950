"""The digest of a database: small tables with what pages ask for. Worked out by the reader process, in its
memory, when a question first needs them.

A pass over a million rows takes a second; the pages then read hundreds of rows.
"""

from collections.abc import Iterator

from builder.leaderboard.schema import PARTIAL, Schema, column_of, source_of

SCHEMA = "prompt_studio"
"""What stands for the digest in a query: the reader process puts in the name of the copy's own."""
SCORES, STANDINGS, EXECUTIONS, TEAMS = (
    f"{SCHEMA}.{name}" for name in ("scores", "standings", "executions", "teams")
)
IS_PARTIAL = f"starts_with(COALESCE(exit_reason, ''), '{PARTIAL}')"
"""Of a row of standings: whether the team failed, or ran out of time, after some rounds."""

_LONGEST = 1e9
"""Seconds; no run takes thirty years."""


def statements(schema: Schema) -> Iterator[str]:
    """Makes the tables. Columns that a file lacks are NULL; values of other types are converted or NULL."""
    yield f"CREATE TABLE {SCORES} AS {_scores(schema)}"
    yield f"CREATE TABLE {STANDINGS} AS {_standings(schema)}"
    yield f"CREATE TABLE {EXECUTIONS} AS {_executions(schema)}"
    yield f"CREATE TABLE {TEAMS} AS {_teams()}"


def _scores(schema: Schema) -> str:
    """One narrow row for each leaderboard row, an execution's rows side by side."""
    execution, team, name, number, score, details, final, reason, created, updated = (
        column_of(schema, "leader_board", column)
        for column in (
            "execution_id",
            "team_id",
            "team_name",
            "round_number",
            "score",
            "score_details",
            "final_submission",
            "exit_reason",
            "created_at",
            "updated_at",
        )
    )
    return (
        "WITH given AS ("
        f"SELECT {execution} AS execution_id, {team} AS team_id, COALESCE({name}, {team}) AS team_name,"
        f" {number} AS round_number, CASE WHEN isfinite({score}) THEN {score} END AS kept,"
        f" TRY_CAST(TRY(json_extract_string({details}, '$.overall_score')) AS DOUBLE) AS overall,"
        f" COALESCE({final}, FALSE) AS final, {reason} AS exit_reason,"
        f" {created} AS local_at, {updated} AS updated_at{source_of(schema, 'leader_board')})"
        " SELECT execution_id, team_id, team_name, round_number, kept,"
        # The evaluator's own digits, as long as the ranking's 32-bit score is theirs.
        " CASE WHEN TRY_CAST(overall AS FLOAT) = kept THEN overall ELSE kept::DOUBLE END AS score,"
        " final, exit_reason, local_at, updated_at"
        " FROM given WHERE execution_id IS NOT NULL AND team_id IS NOT NULL"
        " ORDER BY execution_id, team_id, round_number"
    )


def _standings(schema: Schema) -> str:
    """Teams as MixSeek groups them: by id and name.

    A team without a final row in a run that is over, where others have one, broke off: MixSeek stores no
    reason for that, so it gets the one of a failure.
    """
    over = f"SELECT execution_id FROM ({_summaries(schema)}) WHERE status IS NOT NULL"
    return (
        "WITH grouped AS (SELECT execution_id, team_id, team_name, MAX(kept) AS kept, MAX(score) AS best,"
        " max_by(round_number, ROW(score, -round_number)) FILTER (score IS NOT NULL) AS best_round,"
        " arg_max_null(score, round_number) AS latest_score, COUNT(*) AS rounds,"
        " MAX(round_number) AS latest_round, any_value(exit_reason) FILTER (final) AS exit_reason,"
        " bool_or(final) AS ended,"
        f" MAX(local_at) AS last_at FROM {SCORES} GROUP BY ALL)"
        " SELECT * EXCLUDE (ended) REPLACE (CASE WHEN NOT bool_or(ended) OVER team"
        " AND bool_or(ended) OVER (PARTITION BY execution_id)"
        f" AND execution_id IN ({over}) THEN '{PARTIAL}' ELSE exit_reason END AS exit_reason),"
        " row_number() OVER (PARTITION BY execution_id"
        " ORDER BY kept DESC NULLS LAST, team_id, team_name) AS by_team_id,"
        " row_number() OVER (PARTITION BY execution_id"
        " ORDER BY kept DESC NULLS LAST, latest_round DESC, team_id, team_name) AS by_latest_round"
        " FROM grouped WINDOW team AS (PARTITION BY execution_id, team_id)"
        " ORDER BY execution_id, by_team_id"
    )


def _executions(schema: Schema) -> str:
    """One row for each execution that any table knows, the latest first."""
    return (
        "WITH board AS (SELECT execution_id, COUNT(DISTINCT team_id) AS teams, MAX(round_number) AS rounds,"
        " MAX(score) AS best, MIN(local_at) AS first_at, MAX(local_at) AS last_at,"
        # Later updates only lower the difference, so its maximum is the writer's offset from UTC.
        f" MAX(epoch(local_at) - epoch(updated_at)) AS ahead FROM {SCORES} GROUP BY 1),"
        f" history AS ({_history(schema)}), summary AS ({_summaries(schema)}),"
        f" member AS (SELECT DISTINCT execution_id, team_id, team_name FROM {STANDINGS}"
        f" UNION {_members(schema)}),"
        " named AS (SELECT execution_id, list(DISTINCT team_id) AS team_ids,"
        " string_agg(concat_ws(chr(10), team_id, team_name), chr(10)) AS names FROM member GROUP BY 1),"
        " known AS (SELECT execution_id FROM board UNION SELECT execution_id FROM history"
        " UNION SELECT execution_id FROM summary),"
        " gathered AS (SELECT known.execution_id, user_prompt, status,"
        " COALESCE(total_teams, GREATEST(board.teams, history.teams), 0) AS teams,"
        " COALESCE(GREATEST(board.rounds, history.rounds), 0) AS rounds,"
        " COALESCE(best_score, board.best) AS best, COALESCE(best_team_id, first.team_id) AS best_team_id,"
        " LEAST(board.first_at, history.first_at) AS first_at,"
        " GREATEST(board.last_at, history.last_at, completed_at) AS last_at, seconds, finished,"
        # No zone is farther from UTC: what is, tells of something else.
        " CASE WHEN ahead BETWEEN -54000 AND 54000 THEN 900 * round(ahead / 900) END AS ahead,"
        " COALESCE(team_ids, []) AS team_ids,"
        " lower(concat_ws(chr(10), user_prompt, names)) AS needle"
        " FROM known LEFT JOIN board USING (execution_id) LEFT JOIN history USING (execution_id)"
        " LEFT JOIN summary USING (execution_id) LEFT JOIN named USING (execution_id)"
        f" LEFT JOIN {STANDINGS} AS first"
        " ON first.execution_id = known.execution_id AND first.by_team_id = 1 AND first.kept IS NOT NULL"
        " WHERE known.execution_id IS NOT NULL),"
        # An execution without a score tells no offset; that of its neighbour in time is the best guess.
        " near AS (SELECT *, last_value(ahead IGNORE NULLS) OVER before AS ahead_before,"
        " last_value(told_at IGNORE NULLS) OVER before AS told_before,"
        " first_value(ahead IGNORE NULLS) OVER after AS ahead_after,"
        " first_value(told_at IGNORE NULLS) OVER after AS told_after"
        " FROM (SELECT *, CASE WHEN ahead IS NOT NULL THEN last_at END AS told_at FROM gathered)"
        " WINDOW before AS (ORDER BY last_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),"
        " after AS (ORDER BY last_at ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)),"
        " zoned AS (SELECT * REPLACE (to_seconds(COALESCE(ahead,"
        " CASE WHEN told_after - last_at < last_at - told_before THEN ahead_after END,"
        " ahead_before, ahead_after, 0)::BIGINT) AS ahead) FROM near)"
        " SELECT zoned.execution_id, user_prompt, status, teams, zoned.rounds, zoned.best,"
        " zoned.best_team_id, named_best.team_name AS best_team_name, seconds, finished,"
        # The summary knows how long the whole run took; the first row came some way into it.
        f" CASE WHEN status IS NOT NULL AND seconds BETWEEN 0 AND {_LONGEST}"
        " THEN zoned.last_at - ahead - to_microseconds((seconds * 1000000)::BIGINT)"
        " ELSE first_at - ahead END AS started_utc,"
        " zoned.last_at - ahead AS last_utc, team_ids, needle,"
        # A page of the whole list is a range of these, whatever its number.
        " row_number() OVER (ORDER BY zoned.last_at - ahead DESC NULLS LAST, zoned.execution_id) AS place"
        " FROM zoned"
        " LEFT JOIN (SELECT execution_id, team_id, any_value(team_name) AS team_name"
        f" FROM {STANDINGS} GROUP BY 1, 2) AS named_best"
        " ON named_best.execution_id = zoned.execution_id AND named_best.team_id = zoned.best_team_id"
        " ORDER BY place"
    )


def _history(schema: Schema) -> str:
    execution, team, number, created = (
        column_of(schema, "round_history", name)
        for name in ("execution_id", "team_id", "round_number", "created_at")
    )
    return (
        f"SELECT {execution} AS execution_id, COUNT(DISTINCT {team}) AS teams, MAX({number}) AS rounds,"
        f" MIN({created}) AS first_at, MAX({created}) AS last_at{source_of(schema, 'round_history')}"
        " GROUP BY 1"
    )


def _members(schema: Schema) -> str:
    execution, team, name = (
        column_of(schema, "round_history", column) for column in ("execution_id", "team_id", "team_name")
    )
    return (
        f"SELECT DISTINCT {execution} AS execution_id, {team} AS team_id, {name} AS team_name"
        f"{source_of(schema, 'round_history')}"
    )


def _summaries(schema: Schema) -> str:
    columns = {
        "execution_id": "execution_id",
        "user_prompt": "user_prompt",
        "status": "status",
        "total_teams": "total_teams",
        "best_team_id": "best_team_id",
        "best_score": "best_score",
        "total_execution_time_seconds": "seconds",
        "completed_at": "completed_at",
    }
    listed = ", ".join(
        f"{column_of(schema, 'execution_summary', column)} AS {name}" for column, name in columns.items()
    )
    results = column_of(schema, "execution_summary", "team_results")
    return (
        f"SELECT {listed}, TRY(json_array_length({results})) AS finished"
        f"{source_of(schema, 'execution_summary')}"
    )


def _teams() -> str:
    """One row for each team, over all executions; what it did not finish does not count for its mean."""
    return (
        f"WITH played AS (SELECT standing.*, last_utc FROM {STANDINGS} AS standing"
        f" JOIN (SELECT execution_id, last_utc FROM {EXECUTIONS}) USING (execution_id)),"
        " named AS (SELECT team_id, list(team_name ORDER BY latest DESC NULLS LAST, team_name) AS names"
        " FROM (SELECT team_id, team_name, MAX(last_utc) AS latest FROM played GROUP BY 1, 2) GROUP BY 1)"
        " SELECT team_id, names, COUNT(DISTINCT execution_id) AS executions, SUM(rounds)::BIGINT AS rounds,"
        " COUNT(*) FILTER (by_team_id = 1 AND kept IS NOT NULL) AS wins, MAX(best) AS best,"
        f" AVG(best) FILTER (NOT {IS_PARTIAL}) AS mean, AVG(best) AS mean_of_all,"
        f" COUNT(*) FILTER ({IS_PARTIAL}) AS partial, MAX(last_utc) AS last_utc,"
        " lower(concat_ws(chr(10), team_id, array_to_string(names, chr(10)))) AS needle"
        " FROM played JOIN named USING (team_id) GROUP BY team_id, names ORDER BY team_id"
    )
