"""The reader process: opens copies of databases and answers queries over them, until its pipe ends.

Forked by ``python -I worker.py``, one for each database. DuckDB evaluates what a file defines
(views, macros, generated columns, a log that is replayed) in whatever process opens it; this one can read
the folder of its copies and nothing else, writes no file, has no network, and may be killed at any moment.
"""

import datetime  # noqa: F401 (DuckDB's, for values; no file can be opened any more when it needs them)
import decimal  # noqa: F401
import math
import os
import re
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb

EXIT_MEMORY = 3
MEMORY = "512MB"
"""What DuckDB plans with; the process's own limit is above that."""
NICENESS = 10
KEPT = 3
"""Copies that stay open: a question that began before the file changed ends on the copy it began on."""

_FILE_ERRORS = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.SerializationException,
)
_PATH = re.compile(r"""(["'`])[^"'`]*/[^"'`]*\1|["'`]?[^\s"'`]*(?:/[^\s"'`:,;)]+)+["'`]?""")
"""In quotes with all that is in them: the name of a folder may have spaces."""
_PLAIN_INDEX = re.compile(r"\[[\w, \"']*\]")


def open_packages() -> None:
    """Make the builder's modules importable, from a checkout as from a wheel, without its front doors."""
    package = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(package.parent))
    for name in ("builder", "builder.jail", "builder.leaderboard"):
        module = ModuleType(name)
        module.__path__ = [str(package.parent / name.replace(".", "/"))]
        sys.modules[name] = module


if __name__ == "__main__":
    open_packages()

from builder.jail import forking, landlock, seccomp, wire  # noqa: E402
from builder.leaderboard import digest  # noqa: E402
from builder.leaderboard.schema import COLUMNS, Schema  # noqa: E402
from builder.leaderboard.values import encoded, revived  # noqa: E402


class Refused(Exception):
    """The file defines something that reading it would evaluate."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(what, name)
        self.what, self.name = what, name


class Copy:
    """One attached copy: a cursor whose unqualified names are those of the copy, and its digest."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: str, number: int) -> None:
        self._cursor = connection.cursor()
        self._name, self._digest = f"copy_{number}", f"digest_{number}"
        self._digested = False
        self._parsed: dict[str, duckdb.Statement] = {}
        quoted = path.replace("'", "''")
        self._cursor.execute(f"ATTACH '{quoted}' AS {self._name} (READ_ONLY)")
        try:
            self.columns = self._look()
            self._cursor.execute(f"USE {self._name}")
        except BaseException:
            self.close()
            raise

    def _look(self) -> list[tuple[str, str]]:
        """The tables and columns, once it is sure that to read them evaluates nothing of the file's own.

        The views come first: of an old file, the list of columns would bind them.
        """
        ours = f"database_name = '{self._name}' AND schema_name = 'main' AND lower({{}}) IN {tuple(COLUMNS)}"
        for (view,) in self._listed("view_name", "duckdb_views()", ours.format("view_name")):
            raise Refused("view", view)
        # Whatever their names are: one named like a function of a query would take its place.
        own = f"database_name = '{self._name}'"
        for (macro,) in self._listed("function_name", "duckdb_functions()", own):
            raise Refused("macro", macro)
        ours = ours.format("table_name")
        for index, expressions in self._listed("index_name, expressions", "duckdb_indexes()", ours):
            if not _PLAIN_INDEX.fullmatch(str(expressions)):
                raise Refused("index", index)
        columns = self._listed("table_name, column_name, is_generated", "duckdb_columns()", ours)
        for table, column, generated in columns:
            if generated:
                raise Refused("generated", f"{table}.{column}")
        return [(table, column) for table, column, _ in columns]

    def _listed(self, columns: str, source: str, condition: str) -> list[tuple[Any, ...]]:
        return self._cursor.execute(f"SELECT {columns} FROM {source} WHERE {condition}").fetchall()

    def rows(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        statement = self._parsed.get(sql)
        if statement is None:
            if digest.SCHEMA in sql:
                self.digest()
            # The store has a handful of queries; a fifth of their time would go into parsing them anew.
            (statement,) = self._cursor.extract_statements(self._qualified(sql))
            self._parsed[sql] = statement
        return self._cursor.execute(statement, [*parameters]).fetchall()

    def digest(self) -> None:
        """Work out what pages ask for, once, in memory."""
        if not self._digested:
            self._cursor.execute(f"ATTACH ':memory:' AS {self._digest} (COMPRESS)")
            self._digested = True
            for statement in digest.statements(Schema.of(self.columns)):
                self._cursor.execute(self._qualified(statement))
            self._cursor.execute(f"CHECKPOINT {self._digest}")

    def _qualified(self, sql: str) -> str:
        return sql.replace(f"{digest.SCHEMA}.", f"{self._digest}.main.")

    def close(self) -> None:
        self._cursor.execute("USE memory")
        self._cursor.execute(f"DETACH DATABASE IF EXISTS {self._name}")
        self._cursor.execute(f"DETACH DATABASE IF EXISTS {self._digest}")
        self._cursor.close()


class Worker:
    """Does one request after the other."""

    def __init__(self, settings: dict[str, Any], connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._input = settings["input"]
        self._copies: dict[int, Copy] = {}

    def serve(self) -> None:
        while (frame := wire.read(0, self._input)) is not None:
            request = wire.unpack(frame, revived)
            # Never beyond this, also where nobody is left outside to stop it.
            cpu = math.ceil(time.process_time()) + request["cpu"]
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
            answer = self._answered(request)
            answer["cpu"] = time.process_time()
            packed = wire.pack(answer, encoded)
            if len(packed) > request["most"]:
                packed = wire.pack({"failed": "large", "reason": "", "cpu": answer["cpu"]})
            wire.write(1, packed)

    def _answered(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            if request["do"] == "open":
                return {"value": self._open(request["path"], request["number"])}
            copy = self._copies.get(request["number"])
            if copy is None:
                return {"failed": "gone", "reason": ""}
            if request["do"] == "digest":
                copy.digest()
                return {"value": None}
            return {"value": copy.rows(request["sql"], request["parameters"])}
        except Refused as refusal:
            return {"failed": refusal.what, "reason": refusal.name}
        except (duckdb.OutOfMemoryException, MemoryError):
            return {"failed": "memory", "reason": ""}
        except duckdb.Error as error:
            return {"failed": _kind_of(error), "reason": _told(error)}

    def _open(self, path: str, number: int) -> list[tuple[str, str]]:
        copy = Copy(self._connection, path, number)
        self._copies[number] = copy
        for old in [*self._copies][:-KEPT]:
            self._copies.pop(old).close()
        return copy.columns


def _kind_of(error: duckdb.Error) -> str:
    if "created with a newer version" in str(error) or "storage version" in str(error).split("\n")[0]:
        return "newer"
    # A bare Error is how DuckDB reports a block whose checksum is wrong.
    if type(error) is duckdb.Error or isinstance(error, _FILE_ERRORS):
        return "damaged"
    # One that fits MixSeek's tables and not these: the columns have other types.
    return "foreign" if isinstance(error, duckdb.ProgrammingError | duckdb.DataError) else "unreadable"


def _told(error: duckdb.Error) -> str:
    """DuckDB's own first line, for people: no path of a file, no setting to change."""
    line = _PATH.sub("…", str(error).split("\n")[0][:1000])
    return re.split(r"\b(?:SET|PRAGMA)\b|\(\d", line)[0].strip()[:300]


def connected(folder: str) -> duckdb.DuckDBPyConnection:
    """DuckDB without a database of its own. Whatever a query is made to say, it reaches no other file."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "threads": "2",
            "memory_limit": MEMORY,
            "temp_directory": "",
        },
    )
    quoted = folder.replace("'", "''")
    connection.execute(f"SET allowed_directories = ['{quoted}/']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    # The first answer would pay for what is loaded late.
    connection.execute("SELECT TIMESTAMP '2026-01-01', [1.5], 1.5::DECIMAL, 'a', ?", ["b"]).fetchall()
    return connection


def step_back(priority: str) -> None:
    """Let others go first. Before DuckDB starts its threads: each has a priority of its own."""
    if priority == "idle":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    elif priority:
        os.nice(NICENESS)


def lock(settings: dict[str, Any]) -> tuple[bool, bool]:
    """Give up what no question needs, for good. Before DuckDB starts its threads, which inherit it."""
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_AS, settings["memory"]),
    ):
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    # DuckDB looks for the memory of its control group when it starts, and crashes where it may not.
    groups = [path for path in map(Path, ("/proc/self/cgroup", "/sys/fs/cgroup")) if path.exists()]
    return landlock.restrict_to(Path(settings["folder"]), *groups), seccomp.install(reads_files=True)


def main() -> None:
    try:
        settings = forking.forked()
        step_back(settings["priority"])
        confined, filtered = lock(settings)
        worker = Worker(settings, connected(settings["folder"]))
    except Exception as error:
        wire.write(1, wire.pack({"failed": f"{type(error).__name__}: {error}"}))
        raise
    ready = {"ready": True, "seccomp": filtered, "landlock": confined, "cpu": time.process_time()}
    wire.write(1, wire.pack(ready))
    worker.serve()


if __name__ == "__main__":
    code = 0
    try:
        main()
    except MemoryError:
        code = EXIT_MEMORY
    except BaseException:
        code = 1
    finally:
        # No clean-up of the interpreter: it would take longer, and there is nothing to save.
        os._exit(code)
