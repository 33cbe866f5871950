"""The table ``[system_prompt]`` of a TOML file as plain values, and on which line each of them stands. Read
in the jail, checked by ``file``.

Parsing is apart from checking: a worker that reads what strangers wrote loads nothing that it can do without.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from builder.files.toml_file import TomlFile, located, type_name
from builder.problems import MOST_PROBLEMS

TABLE = "system_prompt"

MOST_ENTRIES = 2_000
"""Keys, values of lists and tables together: what leaves the worker is checked outside of it."""
TOO_MANY_ENTRIES = located(
    "system-too-many-entries",
    "[system_prompt] holds more than {most} keys and values",
    "[system_prompt] のキーと値が多すぎます（{most}個まで）",
    fix_en="Take out what is no setting, and name fewer tools and skills.",
    fix_ja="設定でないものを取り除き、ツールやスキルの数を減らしてください。",
)

_DATE = "TOML date or time"


@dataclass(frozen=True)
class Mention:
    """A key or a table where it is written; ``path`` begins below the table."""

    path: tuple[str, ...]
    line: int
    entry: bool = False
    """Whether it begins the next one of an array of tables."""


@dataclass(frozen=True)
class SystemTable:
    """What the table says, and what else is in the file."""

    name: str
    values: dict[str, Any] = field(repr=False)
    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    others: tuple[Mention, ...] = ()

    def line_of(self, loc: Sequence[str | int]) -> int:
        """Where a value is written, or else the nearest table around it."""
        within = self._entry(loc)
        names = tuple(part for part in loc if isinstance(part, str))
        # Some keys may also stand right below the table, as the contract's example has them.
        paths = [names, names[-1:], *(names[:length] for length in range(len(names) - 1, -1, -1))]
        for path in paths:
            for mention in within:
                if mention.path[: len(path)] == path:
                    return mention.line
        return 1

    def _entry(self, loc: Sequence[str | int]) -> Sequence[Mention]:
        """Of an array of tables, the mentions of the entry that is meant."""
        if len(loc) < 2 or not isinstance(loc[1], int):
            return self.mentions
        starts = [
            at for at, mention in enumerate(self.mentions) if mention.entry and mention.path == (loc[0],)
        ]
        if loc[1] >= len(starts):
            return self.mentions
        return self.mentions[starts[loc[1]] : (*starts, len(self.mentions))[loc[1] + 1]]


def read_system_table(data: bytes, name: str) -> SystemTable:
    """The table of a file; what is no TOML is refused with its line. ``name`` is what errors call it."""
    file = TomlFile(data, name)
    table = file.table(TABLE)
    if _entries(table) > MOST_ENTRIES:
        raise file.refuse(TOO_MANY_ENTRIES, file.line_of((TABLE,)), most=MOST_ENTRIES)
    mentions = tuple(
        Mention(statement.path[1:], file.line_at(statement.start), statement.kind == "array")
        for statement in file.statements
        if statement.path[0] == TABLE
    )
    elsewhere = islice((key for key in file.document if key != TABLE), MOST_PROBLEMS)
    others = tuple(Mention((key,), file.line_of((key,))) for key in elsewhere)
    return SystemTable(name, _plain(table), mentions, others)


def toml_type(value: object) -> str:
    """What TOML calls the type of a value of a table."""
    return "date or time" if isinstance(value, dict) and value.keys() == {_DATE} else type_name(value)


def _entries(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(inside) + sum(map(_entries, inside))


def _plain(value: Any) -> Any:
    """Values that can leave a worker: dates, of which no setting has any, are marked as such."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float) else {_DATE: str(value)}
