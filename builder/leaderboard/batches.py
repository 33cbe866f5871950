"""Batches: rows of a MixSeek database as Parquet files, taken out on one machine and put together on another.

``extract`` is used by the agent beside MixSeek, ``check`` and ``assemble`` by the studio, in a process of its
own: `python batches.py assemble DATABASE PLAN`. An execution whose rows changed is sent whole and replaces
what was sent of it before, so a batch that arrives twice does no harm.
"""

import hashlib
import json
import os
import resource
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

if __name__ == "__main__":
    # As a script nothing of the builder's front doors is loaded.
    _package = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(_package.parent))
    for _name in ("builder", "builder.leaderboard"):
        sys.modules[_name] = _module = ModuleType(_name)
        _module.__path__ = [str(_package.parent / _name.replace(".", "/"))]

from builder.leaderboard.schema import COLUMNS

LONGEST_ID = 200
"""Of an execution; MixSeek's have 36 characters. Longer ones are not sent."""
MOST_ROWS = 200_000
MOST_BYTES = 16 * 1024 * 1024
"""Of texts in one batch; a team with more of them in one run makes a batch of its own."""

MOST_UNPACKED = 512 * 1024**2
"""Bytes of texts in a batch that the studio takes: a few kilobytes can unpack to any number."""
_MOST_ROWS_TAKEN = 2_000_000

_MEMORY = "1GB"
_ADDRESS_SPACE = 6 * 1024**3
_CPU_SECONDS = {"check": 60, "assemble": 600, "merge": 600}
_LARGEST_FILE = 32 * 1024**3
_PLAIN = frozenset(
    {
        "VARCHAR",
        "JSON",
        "INTEGER",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "BOOLEAN",
        "TIMESTAMP",
        "TIMESTAMP WITH TIME ZONE",
    }
)
_SUMMARY = "execution_summary"
_ROUND_TABLES = tuple(table for table in COLUMNS if table != _SUMMARY)

_WITHOUT_TEXTS: Mapping[tuple[str, str], str] = {
    ("round_history", "message_history"): "NULL::VARCHAR",
    ("leader_board", "submission_content"): "''",
    # Metrics by name and value; an evaluator's comment speaks of the submission.
    ("leader_board", "score_details"): (
        "to_json(struct_pack(overall_score := TRY_CAST(json_extract(TRY_CAST(score_details AS JSON),"
        " '$.overall_score') AS DOUBLE), metrics := from_json(json_extract(TRY_CAST(score_details AS JSON),"
        ' \'$.metrics\'), \'[{"metric_name":"VARCHAR","score":"DOUBLE"}]\')))::VARCHAR'
    ),
    ("round_status", "reasoning"): "NULL::VARCHAR",
    (_SUMMARY, "user_prompt"): "NULL::VARCHAR",
    (_SUMMARY, "team_results"): "NULL::VARCHAR",
}
"""What is sent instead of texts where a workspace sends scores alone."""


@dataclass(frozen=True)
class Batch:
    """Rows of one table in a Parquet file. Before they are put in, the executions of ``replaces`` go."""

    path: Path
    table: str
    replaces: tuple[str, ...]


@dataclass(frozen=True)
class _Unit:
    """A team's rows in one execution."""

    execution_id: str
    team_id: str | None
    rows: int
    bytes: int


# --- out ---------------------------------------------------------------------------------


def digests(copy: Path, *, texts: bool) -> dict[str, str]:
    """A hash over the rows of each execution in a copy of a database: equal hashes, equal rows."""
    with _opened(copy) as connection:
        found: dict[str, list[str]] = {}
        for table, columns in _present(connection).items():
            values = ", ".join(f'"{column}"' for column in sorted(columns))
            rows = connection.execute(
                f"SELECT execution_id, count(*), bit_xor(hash({values})), sum(hash({values}) % 1000003)"
                f" FROM {table} WHERE execution_id IS NOT NULL AND length(execution_id) <= {LONGEST_ID}"
                " AND NOT contains(execution_id, chr(0)) GROUP BY execution_id"
            )
            for execution_id, *values_of in rows.fetchall():
                found.setdefault(execution_id, []).append(f"{table}:{values_of}")
    return {name: _digest([str(texts), *sorted(parts)]) for name, parts in found.items()}


def extract(
    copy: Path, changed: Sequence[str], folder: Path, *, texts: bool, gone: Sequence[str] = ()
) -> Iterator[Batch]:
    """The rows of some executions as files in ``folder``, each made when it is asked for. Those of ``gone``
    are replaced by nothing."""
    with _opened(copy) as connection:
        present = _present(connection)
        connection.execute("CREATE TEMP TABLE wanted (execution_id VARCHAR)")
        connection.execute("INSERT INTO wanted SELECT unnest(?::VARCHAR[])", [list(changed)])
        known: set[str] = set()
        chunks = list(_chunks(_units(connection, present))) or ([[]] if gone else [])
        for number, units in enumerate(chunks):
            first = tuple(dict.fromkeys(u.execution_id for u in units if u.execution_id not in known))
            known.update(first)
            connection.execute("CREATE OR REPLACE TEMP TABLE sent (execution_id VARCHAR, team_id VARCHAR)")
            connection.execute(
                "INSERT INTO sent SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])",
                [[unit.execution_id for unit in units], [unit.team_id for unit in units]],
            )
            for table, columns in present.items():
                path = folder / f"{number:06}-{table}.parquet"
                _write(connection, table, columns, path, texts=texts)
                yield Batch(path, table, (*first, *(gone if number == 0 else ())))


def _opened(copy: Path) -> "duckdb.DuckDBPyConnection":
    connection = _connected(copy, read_only=True)
    connection.execute("SET preserve_insertion_order = false")
    return connection


def _connected(database: Path | str, *, read_only: bool = False) -> "duckdb.DuckDBPyConnection":
    # Here, because the studio knows this module and never gets so far in its own process.
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "threads": 2,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(str(database), read_only=read_only, config=config)


def _present(connection: "duckdb.DuckDBPyConnection") -> dict[str, list[str]]:
    """Which of MixSeek's tables and columns there are; views and generated columns are not read."""
    rows = connection.execute(
        "SELECT c.table_name, c.column_name FROM duckdb_columns() c JOIN duckdb_tables() t"
        " ON c.table_oid = t.table_oid WHERE NOT c.is_generated AND NOT t.temporary"
    ).fetchall()
    present: dict[str, list[str]] = {}
    for table, column in rows:
        if column in COLUMNS.get(table, ()):
            present.setdefault(table, []).append(column)
    return {table: present[table] for table in COLUMNS if "execution_id" in present.get(table, ())}


def _units(connection: "duckdb.DuckDBPyConnection", present: Mapping[str, list[str]]) -> list[_Unit]:
    parts = []
    for table, columns in present.items():
        long = [name for name in columns if COLUMNS[table][name] == "VARCHAR"]
        size = " + ".join(f'coalesce(length("{name}"::VARCHAR), 0)' for name in long) or "0"
        team = "team_id" if "team_id" in columns else "NULL::VARCHAR"
        parts.append(
            f"SELECT execution_id, {team} AS team_id, count(*) AS n, sum({size}) AS size FROM {table}"
            " WHERE execution_id IN (SELECT execution_id FROM wanted) GROUP BY ALL"
        )
    if not parts:
        return []
    rows = connection.execute(
        f"SELECT execution_id, team_id, sum(n), sum(size) FROM ({' UNION ALL '.join(parts)})"
        " GROUP BY ALL ORDER BY execution_id, team_id NULLS FIRST"
    ).fetchall()
    return [_Unit(execution, team, int(count), int(size)) for execution, team, count, size in rows]


def _chunks(units: Iterable[_Unit]) -> Iterator[list[_Unit]]:
    chunk: list[_Unit] = []
    rows = size = 0
    for unit in units:
        rows, size = rows + unit.rows, size + unit.bytes
        if chunk and (rows > MOST_ROWS or size > MOST_BYTES):
            yield chunk
            chunk, rows, size = [], unit.rows, unit.bytes
        chunk.append(unit)
    if chunk:
        yield chunk


def _write(
    connection: "duckdb.DuckDBPyConnection", table: str, columns: Sequence[str], path: Path, *, texts: bool
) -> None:
    chosen = ", ".join(_column(table, name, texts=texts) for name in columns)
    same_team = " AND sent.team_id IS NOT DISTINCT FROM t.team_id" if "team_id" in columns else ""
    only_once = "" if same_team else " AND sent.team_id IS NULL"
    connection.execute(
        f"COPY (SELECT {chosen} FROM {table} t WHERE EXISTS (SELECT 1 FROM sent"
        f" WHERE sent.execution_id = t.execution_id{same_team}{only_once}))"
        f" TO '{_quoted(path)}' (FORMAT parquet, COMPRESSION zstd)"
    )


def _column(table: str, name: str, *, texts: bool) -> str:
    value = None if texts else _WITHOUT_TEXTS.get((table, name))
    return f'{value} AS "{name}"' if value else f'TRY_CAST("{name}" AS {COLUMNS[table][name]}) AS "{name}"'


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- in ----------------------------------------------------------------------------------


def check(path: Path, table: str) -> str:
    """What is wrong with a file that came as a batch of the table; empty where nothing is. It is read to its
    end, so that one that is taken can be put together later."""
    import duckdb

    try:
        with _connected(":memory:") as connection:
            source = f"read_parquet('{_quoted(path)}')"
            found = dict(
                connection.execute(
                    f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {source})"
                ).fetchall()
            )
            if "execution_id" not in found or found.keys() - COLUMNS[table].keys():
                return f"other columns than those of {table}"
            if set(found.values()) - _PLAIN:
                return "a column of another type"
            (declared,) = connection.execute(
                f"SELECT coalesce(sum(total_uncompressed_size), 0) FROM parquet_metadata('{_quoted(path)}')"
            ).fetchall()[0]
            if declared > MOST_UNPACKED:
                return f"more than {MOST_UNPACKED} bytes of rows"
            size = " + ".join(f'coalesce(strlen("{name}"::VARCHAR), 0)' for name in found)
            rows, length = connection.execute(
                f"SELECT count(*), coalesce(sum({size}), 0) FROM {source}"
            ).fetchall()[0]
            if rows > _MOST_ROWS_TAKEN or length > MOST_UNPACKED:
                return f"more than {_MOST_ROWS_TAKEN} rows or {MOST_UNPACKED} bytes of rows"
    except (duckdb.Error, MemoryError, ValueError):  # also of names and texts that are no UTF-8
        return "not a Parquet file that can be read"
    return ""


def assemble(database: Path, batches: Iterable[Batch], *, texts: bool = True) -> None:
    """Put batches into a database, in their order, all of them or none. ``texts``: keep them."""
    with _connected(database) as connection:
        connection.execute("BEGIN")
        for table, columns in COLUMNS.items():
            listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({listed})")
        for batch in batches:
            connection.execute(
                f"DELETE FROM {batch.table} WHERE execution_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(batch.replaces)],
            )
            source = f"read_parquet('{_quoted(batch.path)}')"
            found = connection.execute(
                f"SELECT column_name FROM (DESCRIBE SELECT * FROM {source})"
            ).fetchall()
            names = [name for (name,) in found if name in COLUMNS[batch.table]]
            chosen = ", ".join(_column(batch.table, name, texts=texts) for name in names)
            into = ", ".join(f'"{name}"' for name in names)
            connection.execute(f"INSERT INTO {batch.table} ({into}) SELECT {chosen} FROM {source}")
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")


def _main(arguments: Sequence[str]) -> None:
    """``check FILE TABLE``, ``assemble DATABASE PLAN``, or ``merge DATABASE FOLDER TEXTS``: the rows again as
    few files."""
    for limit, most in (
        (resource.RLIMIT_AS, _ADDRESS_SPACE),
        (resource.RLIMIT_CPU, _CPU_SECONDS[arguments[0]]),
        (resource.RLIMIT_FSIZE, _LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    os.nice(10)
    if arguments[0] == "check":
        print(json.dumps(check(Path(arguments[1]), arguments[2])))
        return
    database, plan = Path(arguments[1]), Path(arguments[2])
    if arguments[0] == "assemble":
        listed = json.loads(plan.read_text())
        assemble(
            database, [Batch(Path(each["path"]), each["table"], tuple(each["replaces"])) for each in listed]
        )
    else:
        names = list(digests(database, texts=True))
        made = extract(database, names, plan, texts=arguments[3] == "texts")
        print(json.dumps([{"path": str(b.path), "table": b.table, "replaces": b.replaces} for b in made]))


if __name__ == "__main__":
    _main(sys.argv[1:])
