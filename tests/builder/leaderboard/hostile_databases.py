"""Databases that somebody made to harm whoever opens them, for tests."""

from pathlib import Path

import duckdb

_COLUMNS = "'e' AS execution_id, 't' AS team_id, 'T' AS team_name, 1 AS round_number"
_TABLE = (
    "CREATE TABLE leader_board (execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR,"
    " round_number INTEGER, score FLOAT)"
)
_LONG = "levenshtein(repeat('a', 1000000), repeat('b', 1000000))"
_NESTED = 22

HOSTILE: dict[str, tuple[list[str], str]] = {
    "levenshtein": (
        [f"CREATE VIEW leader_board AS SELECT {_LONG}::FLOAT AS score, {_COLUMNS}"],
        "`leader_board` is a view",
    ),
    "range": (
        [
            "CREATE VIEW leader_board AS SELECT i::VARCHAR AS execution_id, 't' AS team_id, 'T' AS team_name,"
            " 1 AS round_number, 1.0 AS score FROM range(100000000000000) t(i)"
        ],
        "`leader_board` is a view",
    ),
    "recursive": (
        [
            "CREATE VIEW execution_summary AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r)"
            " SELECT i::VARCHAR AS execution_id, 'task' AS user_prompt FROM r"
        ],
        "`execution_summary` is a view",
    ),
    # Each is made while the one below it is still harmless: to make them takes no time.
    "nested joins": (
        [
            *(f"CREATE VIEW v{number} AS SELECT 1 AS a" for number in range(_NESTED)),
            f"CREATE VIEW round_history AS SELECT x.a::VARCHAR AS execution_id FROM v{_NESTED - 1} x",
            *(
                f"CREATE OR REPLACE VIEW v{number} AS SELECT x.a FROM v{number - 1} x, v{number - 1} y"
                for number in range(_NESTED - 1, 0, -1)
            ),
        ],
        "`round_history` is a view",
    ),
    "generated column": (
        [
            f"{_TABLE[:-1]}, long INTEGER GENERATED ALWAYS AS (levenshtein(repeat(team_id, round_number),"
            " repeat('b', round_number))) VIRTUAL)",
            "INSERT INTO leader_board VALUES ('e', 't', 'T', 1, 1.0)",
        ],
        "its column `leader_board.long` is generated",
    ),
    "macro": (
        [_TABLE, f"CREATE MACRO isfinite(x) AS {_LONG} > x"],
        "it defines the macro `isfinite`",
    ),
    "table macro": (
        [_TABLE, "CREATE MACRO anything() AS TABLE SELECT * FROM range(100000000000000)"],
        "it defines the macro `anything`",
    ),
    "index over an expression": (
        [_TABLE, "CREATE INDEX own ON leader_board (lower(team_id))"],
        "its index `own` uses an expression",
    ),
}
"""By name: what makes the file, and what the refusal names."""


def make_hostile(name: str, folder: Path) -> Path:
    """A workspace whose database is one of these."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "mixseek.db")) as connection:
        for statement in HOSTILE[name][0]:
            connection.execute(statement)
    return folder


def make_heavy(folder: Path, rows: int) -> Path:
    """A workspace with plain tables of so many equal rows: a few kilobytes, and much to work through."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(str(folder / "mixseek.db")) as connection:
        connection.execute(
            "CREATE TABLE leader_board AS SELECT 'execution' AS execution_id, i::VARCHAR AS team_id,"
            f" 'T' AS team_name, 1 AS round_number, 1.0::FLOAT AS score FROM range({rows}) t(i)"
        )
    return folder


def make_sparse(folder: Path, size: int) -> Path:
    """A workspace whose database is almost nothing but a hole."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mixseek.db").open("wb") as file:
        file.write(bytes(8) + b"DUCK" + bytes(5_000_000))
        file.truncate(size)
    return folder
