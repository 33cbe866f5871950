"""The schema of MixSeek 0.1.0a15's database: its tables, and which of their columns answers are made from.
Used by the queries and, to make such a database, by ``writer``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PARTIAL = "partial_failure"
"""How the exit reasons begin of teams that failed, or ran out of time, after some rounds."""
DATABASE_NAME = "mixseek.db"

DDL: tuple[str, ...] = (
    "CREATE SEQUENCE IF NOT EXISTS round_history_id_seq",
    "CREATE SEQUENCE IF NOT EXISTS leader_board_id_seq",
    "CREATE SEQUENCE IF NOT EXISTS execution_summary_id_seq",
    "CREATE SEQUENCE IF NOT EXISTS round_status_id_seq",
    """
    CREATE TABLE IF NOT EXISTS round_history (
        id INTEGER PRIMARY KEY DEFAULT nextval('round_history_id_seq'),
        execution_id VARCHAR NOT NULL,
        team_id VARCHAR NOT NULL,
        team_name VARCHAR NOT NULL,
        round_number INTEGER NOT NULL,
        message_history JSON,
        member_submissions_record JSON,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        UNIQUE (execution_id, team_id, round_number)
    )""",
    """
    CREATE TABLE IF NOT EXISTS leader_board (
        id INTEGER PRIMARY KEY DEFAULT nextval('leader_board_id_seq'),
        execution_id VARCHAR NOT NULL,
        team_id VARCHAR NOT NULL,
        team_name VARCHAR NOT NULL,
        round_number INTEGER NOT NULL,
        submission_content VARCHAR NOT NULL,
        submission_format VARCHAR NOT NULL DEFAULT 'md',
        score FLOAT NOT NULL,
        score_details JSON NOT NULL,
        final_submission BOOLEAN NOT NULL DEFAULT FALSE,
        exit_reason VARCHAR,
        created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        UNIQUE (execution_id, team_id, round_number)
    )""",
    """
    CREATE TABLE IF NOT EXISTS round_status (
        id INTEGER PRIMARY KEY DEFAULT nextval('round_status_id_seq'),
        execution_id VARCHAR NOT NULL,
        team_id VARCHAR NOT NULL,
        team_name VARCHAR NOT NULL,
        round_number INTEGER NOT NULL,
        should_continue BOOLEAN,
        reasoning VARCHAR,
        confidence_score FLOAT,
        round_started_at TIMESTAMP,
        round_ended_at TIMESTAMP,
        created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        UNIQUE (execution_id, team_id, round_number)
    )""",
    """
    CREATE TABLE IF NOT EXISTS execution_summary (
        execution_id VARCHAR PRIMARY KEY,
        user_prompt VARCHAR NOT NULL,
        status VARCHAR NOT NULL CHECK (status IN ('completed', 'partial_failure', 'failed')),
        team_results JSON NOT NULL,
        total_teams INTEGER NOT NULL,
        best_team_id VARCHAR,
        best_score DOUBLE,
        total_execution_time_seconds DOUBLE NOT NULL,
        completed_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
    )""",
    "CREATE INDEX IF NOT EXISTS idx_leader_board_score ON leader_board (score, created_at)",
    "CREATE INDEX IF NOT EXISTS idx_round_history_execution"
    " ON round_history (execution_id, team_id, round_number)",
    "CREATE INDEX IF NOT EXISTS idx_leader_board_execution ON leader_board (execution_id)",
    "CREATE INDEX IF NOT EXISTS idx_execution_summary_status ON execution_summary (status, completed_at)",
    "CREATE INDEX IF NOT EXISTS idx_round_status_execution_team_round"
    " ON round_status (execution_id, team_id, round_number)",
    "CREATE INDEX IF NOT EXISTS idx_leader_board_execution_score"
    " ON leader_board (execution_id, score, round_number)",
)
"""Everything MixSeek creates in an empty database, in its order."""

_ROUND = {
    "execution_id": "VARCHAR",
    "team_id": "VARCHAR",
    "team_name": "VARCHAR",
    "round_number": "INTEGER",
}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "round_history": {
        **_ROUND,
        "message_history": "VARCHAR",
        "created_at": "TIMESTAMP",
    },
    "leader_board": {
        **_ROUND,
        "submission_content": "VARCHAR",
        "submission_format": "VARCHAR",
        "score": "FLOAT",
        "score_details": "VARCHAR",
        "final_submission": "BOOLEAN",
        "exit_reason": "VARCHAR",
        "created_at": "TIMESTAMP",
        "updated_at": "TIMESTAMP",
    },
    "round_status": {
        "execution_id": "VARCHAR",
        "team_id": "VARCHAR",
        "round_number": "INTEGER",
        "should_continue": "BOOLEAN",
        "reasoning": "VARCHAR",
        "confidence_score": "FLOAT",
        "round_started_at": "TIMESTAMP",
        "round_ended_at": "TIMESTAMP",
        "created_at": "TIMESTAMP",
    },
    "execution_summary": {
        "execution_id": "VARCHAR",
        "user_prompt": "VARCHAR",
        "status": "VARCHAR",
        "team_results": "VARCHAR",
        "total_teams": "INTEGER",
        "best_team_id": "VARCHAR",
        "best_score": "DOUBLE",
        "total_execution_time_seconds": "DOUBLE",
        "completed_at": "TIMESTAMP",
    },
}
"""The columns that answers are made from, and as what they are read; a file that lacks one still gives the
rest."""

_CALENDAR = "TIMESTAMP '1900-01-01' AND TIMESTAMP '9000-01-01'"


@dataclass(frozen=True)
class Gap:
    """A table, or one column of a table, that a database lacks."""

    table: str
    column: str | None = None

    def __str__(self) -> str:
        return self.table if self.column is None else f"{self.table}.{self.column}"


@dataclass(frozen=True)
class Schema:
    """The tables and columns that one database really has."""

    tables: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str]]) -> "Schema":
        """From (table, column) pairs."""
        tables: dict[str, set[str]] = {}
        for table, column in rows:
            tables.setdefault(table, set()).add(column)
        return cls({table: frozenset(columns) for table, columns in tables.items()})

    def has(self, table: str, column: str | None = None) -> bool:
        return table in self.tables and (column is None or column in self.tables[table])

    def gap(self, table: str, columns: Iterable[str]) -> Gap | None:
        """The first thing missing for an answer that cannot do without these columns."""
        if table not in self.tables:
            return Gap(table)
        return next((Gap(table, column) for column in columns if column not in self.tables[table]), None)

    def gaps(self) -> tuple[Gap, ...]:
        """Everything that MixSeek's own schema has and this database has not."""
        missing: list[Gap] = []
        for table, columns in COLUMNS.items():
            if self.has(table):
                missing += [Gap(table, column) for column in columns if not self.has(table, column)]
            else:
                missing.append(Gap(table))
        return tuple(missing)


def column_of(schema: Schema, table: str, name: str) -> str:
    """The column's values, those that cannot be of MixSeek's type being NULL."""
    kind = COLUMNS[table][name]
    if not schema.has(table, name):
        return f"NULL::{kind}"
    value = f'TRY_CAST("{name}" AS {kind})'
    # DuckDB's calendar goes far beyond Python's.
    return f"CASE WHEN {value} BETWEEN {_CALENDAR} THEN {value} END" if kind == "TIMESTAMP" else value


def source_of(schema: Schema, table: str) -> str:
    """Where rows come from; nowhere, if the table cannot tell which execution they belong to."""
    return f" FROM {table}" if schema.has(table, "execution_id") else " FROM (SELECT 1) WHERE FALSE"
