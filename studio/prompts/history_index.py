"""The index behind the search in a set's history.

Where a version has a word and the next one does not, the line with the word went in between. So for each
version the index notes the lines that its successor dropped, and its message and author: from any version
without the word, the newest older one with it has a note. Edits are small, hence so are the notes, and
neither common words nor words of two characters nor words that nobody wrote need a scan.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from django.db import connection, models

from studio.prompts.texts import fold

if TYPE_CHECKING:
    from studio.prompts.models import PromptVersion

_LONGEST = 3  # characters of a gram; a word of up to three is one gram, and found without a doubt
_BITS = 63  # versions in a block: the bits of a signed 64-bit column that are free of its sign
_JOINED = 6  # grams of a long word that are looked up together
_BLOCKS_AT_ONCE = 4096
# Of a step that rewrote a book: beyond them it is noted that any word may be there, and the search looks.
_MOST_GRAMS = 20_000


class HistoryNote(models.Model):
    """In which versions, of a block of 63, a gram is noted.

    Derived from the versions: ``manage.py reindex`` makes it anew. What it says is verified in the versions'
    own text, so a note too many costs a moment and never a wrong answer.
    """

    pk = models.CompositePrimaryKey("prompt_set", "gram", "block")
    prompt_set = models.ForeignKey(
        "studio.PromptSet", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    gram = models.IntegerField()
    block = models.IntegerField()
    numbers = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.gram} in {self.block}"


def note_version(version: "PromptVersion", before: "PromptVersion | None") -> None:
    """Enter a new version, made from the one before; belongs into the transaction that stores it."""
    noted = [(version, _told(version))]
    if before is not None:
        noted.append((before, _dropped(before, version)))
    for row, numbers in noted:
        block, bit = divmod(row.number, _BITS)
        _write(row.prompt_set_id, block, dict.fromkeys(numbers, 1 << bit))


def note_versions(versions: Iterable["PromptVersion"]) -> None:
    """Enter stored versions, by set and number; what is noted already stays, saves may go on meanwhile."""
    place, notes = (0, 0), defaultdict[int, int](int)
    for version, successor in pairwise(chain(versions, [None])):
        if version is None:
            break
        block, bit = divmod(version.number, _BITS)
        if (version.prompt_set_id, block) != place:
            _write(*place, notes)
            place, notes = (version.prompt_set_id, block), defaultdict(int)
        noted = _told(version)
        if successor is not None and successor.prompt_set_id == version.prompt_set_id:
            noted |= _dropped(version, successor)
        for gram in noted:
            notes[gram] |= 1 << bit
    _write(*place, notes)


def grams(text: str) -> set[int]:
    """The runs of one to three characters in the lines of a folded text, as numbers."""
    runs = {text[at : at + size] for size in range(1, _LONGEST + 1) for at in range(len(text) - size + 1)}
    return {_gram(run) for run in runs if "\n" not in run}


class Notes:
    """The versions of a set that may have a word, the newest first, read as far as they are asked for."""

    def __init__(self, prompt_set: int, word: str) -> None:
        """The notes of a folded word; those of an empty one are where any word may be."""
        self._prompt_set = prompt_set
        self._grams = _grams_of(word)
        self._ahead: list[int] = []  # numbers read but not asked for, the newest last
        self._over = False
        self.lookups = 0

    def newest_below(self, number: int) -> int:
        """The newest version below the number with a note; 0 where there is none."""
        while self._ahead and self._ahead[-1] >= number:
            self._ahead.pop()
        if not self._ahead and not self._over:
            self._read(number)
            self._over = not self._ahead
        return self._ahead[-1] if self._ahead else 0

    def next_few(self, few: int) -> list[int]:
        """Some of the versions that `newest_below` would come to, already read."""
        return self._ahead[-few:]

    def _read(self, number: int) -> None:
        top = (number - 1) // _BITS
        while top >= 0 and not self._ahead:
            chosen = self._rarest(top)
            if not chosen:
                return
            top = min(newest for newest, _ in chosen)
            bottom = max(top - _BLOCKS_AT_ONCE, -1)
            rows = self._blocks([gram for _, gram in chosen], top, bottom)
            read = [
                version
                for block, numbers in rows
                for bit in reversed(range(_BITS))
                if numbers >> bit & 1 and (version := block * _BITS + bit) < number
            ]
            self._ahead = read[::-1]
            top = bottom

    def _rarest(self, top: int) -> list[tuple[int, int]]:
        """Grams, each with its newest block; none at all where one of the word's grams is nowhere."""
        values = ",".join(f"({gram})" for gram in self._grams)
        newest_blocks = self._rows(
            f"SELECT (SELECT max(block) FROM {_TABLE} WHERE prompt_set_id = %s"
            f" AND gram = wanted.column1 AND block <= %s), column1 FROM (VALUES {values}) AS wanted",
            [self._prompt_set, top],
        )
        if any(newest is None for newest, _ in newest_blocks):
            return []
        # What was noted longest ago is likely to be rare.
        return sorted(newest_blocks)[:_JOINED]

    def _blocks(self, chosen: list[int], top: int, bottom: int) -> list[tuple[int, int]]:
        names = [f"n{at}" for at in range(len(chosen))]
        tables = " CROSS JOIN ".join(f"{_TABLE} {name}" for name in names)
        same = "".join(
            f" AND {name}.prompt_set_id = n0.prompt_set_id"
            f" AND {name}.gram = {gram} AND {name}.block = n0.block"
            for name, gram in zip(names[1:], chosen[1:], strict=True)
        )
        both = " & ".join(f"{name}.numbers" for name in names)
        return self._rows(
            f"SELECT n0.block, {both} FROM {tables} WHERE n0.prompt_set_id = %s AND n0.gram = %s"
            f" AND n0.block <= %s AND n0.block > %s{same} AND ({both}) <> 0 ORDER BY n0.block DESC LIMIT 4",
            [self._prompt_set, chosen[0], top, bottom],
        )

    def _rows(self, sql: str, parameters: list[int]) -> list[tuple[int, int]]:
        self.lookups += 1
        with connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            rows: list[tuple[int, int]] = cursor.fetchall()
        return rows


_TABLE = HistoryNote._meta.db_table


def sets_noting(word: str) -> set[int]:
    """The sets in which a folded word may be: in a message, or in a text that a later version changed.

    Of an empty word, those where any word may be.
    """
    names = [f"n{at}" for at in range(min(_JOINED, len(_grams_of(word))))]
    noted = " AND ".join(
        f"{name}.prompt_set_id = studio_set.id AND {name}.block = n0.block AND {name}.gram = {gram}"
        for name, gram in zip(names, _grams_of(word), strict=False)
    )
    tables = " CROSS JOIN ".join(f"{_TABLE} {name}" for name in names)
    both = " & ".join(f"{name}.numbers" for name in names)
    # A value for each set rather than a join: then both engines use the primary key and never scan the notes.
    any_block = f"SELECT 1 FROM {tables} WHERE {noted} AND ({both}) <> 0 LIMIT 1"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, ({any_block}) FROM studio_promptset AS studio_set")
        return {prompt_set for prompt_set, found in cursor.fetchall() if found}


def _grams_of(word: str) -> list[int]:
    """The grams that a text with the word has; of an empty word, the one that stands for any text."""
    size = min(_LONGEST, len(word))
    return sorted({_gram(word[at : at + size]) for at in range(len(word) - size + 1)})


def _gram(run: str) -> int:
    """A number for a run of characters; the rare two that share one are told apart by the text."""
    return crc32(run.encode()) - 2**31


def _told(version: "PromptVersion") -> set[int]:
    return grams(fold(f"{version.message}\n{version.author.get_username()}"))


def _dropped(version: "PromptVersion", successor: "PromptVersion") -> set[int]:
    before, after = (
        {line for text in row.templates.parts.values() for line in text.split("\n")}
        for row in (version, successor)
    )
    dropped = grams(fold("\n".join(before - after)))
    return dropped if len(dropped) <= _MOST_GRAMS else {_gram("")}


def _write(prompt_set: int, block: int, notes: dict[int, int]) -> None:
    rows = sorted(notes.items())  # in the order of the primary key neighbours land on one page
    insert = f"INSERT INTO {_TABLE} (prompt_set_id, block, gram, numbers)"
    key = "(prompt_set_id, gram, block)"
    merge = f"ON CONFLICT {key} DO UPDATE SET numbers = {_TABLE}.numbers | excluded.numbers"
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            values = (
                "SELECT %s, %s, gram, numbers FROM unnest(%s::int[], %s::bigint[]) AS note (gram, numbers)"
            )
            columns = [list(column) for column in zip(*rows, strict=True)]
            cursor.execute(f"{insert} {values} {merge}", [prompt_set, block, *columns])
        else:
            # Whole numbers of our own making.
            values = f"VALUES ({int(prompt_set)}, {int(block)}, %s, %s)"
            cursor.executemany(f"{insert} {values} {merge}", rows)
