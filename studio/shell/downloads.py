"""Tables of pages as files: CSV for spreadsheets, JSON for programs. Called by views that show tables.

A page offers its tables by name; the address of the page with ``?format=csv&table=NAME`` is the file.
Columns have the names that a program would look for and are the same in every language.
"""

import csv
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from operator import attrgetter

from django import forms
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studio.shell.refusal import RequestRefused
from studio.shell.requests import valid_or_refuse

Cell = str | int | float | bool | datetime | date | timedelta | None

MOST_ROWS = 100_000
"""Of one file; its name says so where there were more."""

_AT_ONCE = 500

# What a spreadsheet takes for a formula, the full-width forms that a Japanese one accepts included.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_BOM = "\ufeff"
_NO_FILE_NAME = re.compile(r'[/\\:*?"<>|]+')
_LINE_ENDS = "\u2028\u2029"
_LONGEST_NAME, _LONGEST_ENDING = 120, 20


@dataclass(frozen=True)
class Table:
    """Rows under the names of their columns."""

    name: str
    """The beginning of the file's name."""
    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]
    is_cut: bool = False
    """There are more rows than these, the first ``MOST_ROWS``."""

    @classmethod
    def of(cls, name: str, objects: Iterable[object], columns: str, *, is_cut: bool = False) -> "Table":
        """A row for each object; columns are attributes, or ``column=attribute`` where names differ."""
        pairs = [column.partition("=") for column in columns.split()]
        cells = [attrgetter(attribute or column) for column, _sign, attribute in pairs]
        rows = ([cell(thing) for cell in cells] for thing in objects)
        return cls(name, [column for column, *_rest in pairs], rows, is_cut)


class DownloadForm(forms.Form):
    """Which table of a page, in which form."""

    format = forms.ChoiceField(
        choices=[("csv", "CSV"), ("json", "JSON")], required=False, label=gettext_lazy("Format")
    )
    table = forms.CharField(max_length=40, required=False, label=gettext_lazy("Table"))


def download(request: HttpRequest, tables: Mapping[str, Callable[[], Table]]) -> StreamingHttpResponse | None:
    """The file that the request asks for, or None where it asks for the page.

    >>> if (file := download(request, {"ranking": lambda: ranking_table(run)})) is not None:
    ...     return file
    """
    if "format" not in request.GET:
        return None
    wanted = valid_or_refuse(DownloadForm(request.GET)).cleaned_data
    name = wanted["table"] or next(iter(tables))
    if name not in tables:
        raise RequestRefused(404, _("This page has no table “%(name)s”.") % {"name": name})
    if not wanted["format"]:
        return None
    return file_of(tables[name](), wanted["format"])


def file_of(table: Table, form: str) -> StreamingHttpResponse:
    """The table as an attachment, written as it is sent."""
    rows = islice(table.rows, MOST_ROWS)
    pieces, kind = (
        (as_csv(table.columns, rows), "text/csv; charset=utf-8")
        if form == "csv"
        else (as_json(table.columns, rows), "application/json")
    )
    answer = StreamingHttpResponse(_gathered(pieces), content_type=kind)
    cut = f"-first-{MOST_ROWS}" if table.is_cut else ""
    answer.headers["Content-Disposition"] = attachment(f"{table.name}{cut}.{form}")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def attachment(name: str) -> str:
    """The header of an answer that is saved as a file. Parts of the name may come from a team or a person:
    no path, nothing invisible, and no mark that turns ``exe.txt`` into ``txt.exe`` on the screen is left."""
    seen = "".join(sign for sign in name if unicodedata.category(sign)[0] != "C" and sign not in _LINE_ENDS)
    stem, dot, ending = _NO_FILE_NAME.sub("-", seen).strip(" .-").rpartition(".")
    safe = f"{stem[:_LONGEST_NAME]}{dot}{ending[:_LONGEST_ENDING]}" or "download"
    return content_disposition_header(as_attachment=True, filename=safe) or "attachment"


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Lines of CSV. They begin with a byte order mark: without one Excel in Japan reads Shift_JIS."""
    writer = csv.writer(_Echo(), lineterminator="\r\n")
    yield _BOM + writer.writerow(columns)
    for row in rows:
        yield writer.writerow([_csv_cell(cell) for cell in row])


def as_json(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """A list of objects, one on a line."""
    before = "[\n"
    for row in rows:
        values = {name: _json_cell(cell) for name, cell in zip(columns, row, strict=True)}
        yield before + json.dumps(values, ensure_ascii=False, allow_nan=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


class _Echo:
    """The csv module wants a file; this one hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _csv_cell(cell: Cell) -> str | int | float:
    plain = _json_cell(cell)
    if plain is None:
        return ""
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, str) and plain.startswith(_FORMULA):
        # A team can be named =HYPERLINK(…): an apostrophe keeps the cell a text. JSON has it unchanged.
        return f"'{plain}"
    return plain


def _json_cell(cell: Cell) -> str | int | float | None:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat() if cell.tzinfo else cell.isoformat()
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return cell


def _gathered(pieces: Iterator[str]) -> Iterator[bytes]:
    """Lines by the hundred: each piece that is sent costs a system call."""
    while some := list(islice(pieces, _AT_ONCE)):
        yield "".join(some).encode("utf-8", "replace")
