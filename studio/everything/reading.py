"""Everything read back from plain files, all of it or nothing. Used by `manage.py read_all`."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.core.management.color import no_style
from django.db import DatabaseError, connection, models, transaction

from builder.errors import BuilderError
from builder.template.variables import FIELDS
from studio.access.accounts import Account
from studio.access.audit import Event, record
from studio.contexts.models import SampleContext
from studio.everything.places import EverythingError, Source
from studio.everything.rows import BadRow, thing_of
from studio.everything.tables import IN_FOLDERS, RECORDS
from studio.everything.writing import FORMAT, file_name
from studio.prompts.history_index import note_versions
from studio.prompts.labels import Label, LabelMove
from studio.prompts.language_models import LanguageModel
from studio.prompts.models import PromptSet, PromptVersion, Tag
from studio.prompts.texts import SystemText, Templates
from studio.shell.jail import pool

_AT_ONCE = 500
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,150}\Z")
_WRONG = "It is not what «write_all» wrote"


def read_everything(source: Source) -> dict[str, int]:
    """Fill an empty studio; returns how many rows came.

    Raises ``EverythingError``, and nothing is stored then.
    """
    try:
        with transaction.atomic():
            _require_empty()
            reader = _Reader(source)
            reader.read()
            _check(reader.counts, reader.promised)
            _continue_numbers()
            record(Event.EVERYTHING_READ, after=reader.counts)
            connection.check_constraints()
    except DatabaseError as error:
        raise EverythingError(f"{_WRONG}: the database refuses it ({error}).") from error
    return reader.counts


def _require_empty() -> None:
    for table in (*IN_FOLDERS, *RECORDS.values()):
        if table is not LanguageModel and table._base_manager.exists():
            what = table._meta.verbose_name_plural
            raise EverythingError(
                f"This studio is not empty: it has {what}. Read it into a new one: name a new folder "
                "with --data."
            )


def _check(counts: Mapping[str, int], promised: Mapping[str, int]) -> None:
    for kind, number in promised.items():
        if counts.get(kind, 0) != number:
            raise EverythingError(f"{number} {kind} were written, but {counts.get(kind, 0)} are there.")


def _continue_numbers() -> None:
    """Rows keep their keys; what is stored next must get others."""
    tables = [*IN_FOLDERS, *RECORDS.values()]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), tables):
            cursor.execute(statement)


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.counts: dict[str, int] = {}
        about = self._json("studio.json")
        if about.get("format") != FORMAT:
            raise EverythingError(f"{_WRONG}, or a newer studio wrote it: studio.json names another format.")
        self.promised: dict[str, int] = {
            str(kind): number
            for kind, number in dict(about.get("rows", {})).items()
            if isinstance(number, int)
        }
        self._people: dict[str, int] = {}

    def read(self) -> None:
        for row in self._rows("people.jsonl", "people"):
            self._person(row)
        # The prices that a new studio comes with make way for those that were written.
        LanguageModel.objects.all().delete()
        self._records("models")
        folders = self._source.folders("sets")
        for folder in folders:
            self._set(folder)
        for folder in ("", *(f"{folder}/" for folder in folders)):
            for path in self._source.paths(f"{folder}contexts", ".json"):
                self._store(SampleContext, [self._thing(SampleContext, self._json(path), path)], "contexts")
        for name in RECORDS:
            if name != "models":
                self._records(name)

    def _person(self, row: Any) -> None:
        """Somebody of that name who is here already stays as they are."""
        if not (isinstance(row, dict) and isinstance(row.get("name"), str) and _NAME.match(row["name"])):
            raise EverythingError("people.jsonl: a line has no name.")
        name = row["name"]
        user = User.objects.filter(username=name).first()
        if user is None:
            texts = {key: str(row.get(key, ""))[:150] for key in ("first_name", "last_name")}
            user = User(username=name, is_active=row.get("active") is True, **texts)
            user.set_unusable_password()
            user.save()
            account = self._thing(Account, row.get("account"), "people.jsonl")
            columns = [field.attname for field in Account._meta.concrete_fields if not field.primary_key]
            Account.objects.filter(user=user).update(
                **{column: getattr(account, column) for column in columns}
            )
        self._people[name] = user.pk

    def _set(self, folder: str) -> None:
        path = f"{folder}/set.json"
        row = self._json(path)
        tags = row.pop("tags", [])
        prompt_set = self._thing(PromptSet, row, path)
        assert isinstance(prompt_set, PromptSet)
        self._store(PromptSet, [prompt_set], "sets")
        prompt_set.tags.set([self._tag(tag, path) for tag in tags])
        self._versions(prompt_set, folder)
        for name, table in (("labels", Label), ("label_moves", LabelMove)):
            self._table(f"{folder}/{name}.jsonl", table, name)

    def _tag(self, name: Any, path: str) -> Tag:
        if not isinstance(name, str) or not 0 < len(name) <= 40:
            raise EverythingError(f"{path}: {str(name)[:60]!r} is no tag.")
        return Tag.objects.get_or_create(name=name)[0]

    def _versions(self, prompt_set: PromptSet, folder: str) -> None:
        path = f"{folder}/versions.jsonl"
        rows = enumerate(self._rows(path, "versions"), start=1)
        while some := list(islice(rows, _AT_ONCE)):
            versions = [self._version(prompt_set, number, row, path, folder) for number, row in some]
            PromptVersion.objects.bulk_create(versions)
        if prompt_set.revision != prompt_set.versions.count():
            raise EverythingError(f"{path} does not have the {prompt_set.revision} versions of the set.")
        for start in range(1, prompt_set.revision + 1, _AT_ONCE):
            # With the first of the next ones, which tells what the last of these lost.
            noted = prompt_set.versions.filter(number__range=(start, start + _AT_ONCE))
            note_versions(noted.select_related("author").order_by("number"))

    def _version(self, prompt_set: PromptSet, number: int, row: Any, path: str, folder: str) -> PromptVersion:
        version = self._thing(PromptVersion, row, path)
        assert isinstance(version, PromptVersion)
        if version.number != number or version.prompt_set_id != prompt_set.pk:
            raise EverythingError(f"{path}: version {number} is missing, or is of another set.")
        # Only which of them it is decides the file's name.
        version.system_prompt = "" if prompt_set.file_kind.is_system else None
        texts = self._texts(f"{folder}/versions/{file_name(version)}", prompt_set)
        if texts.content_hash != version.content_hash:
            file = file_name(version)
            raise EverythingError(
                f"{folder}/versions/{file} was changed: versions never are. Save it in the studio."
            )
        for column, text in texts.columns.items():
            setattr(version, column, text)
        return version

    def _texts(self, path: str, prompt_set: PromptSet) -> Templates | SystemText:
        data = self._source.read(path)
        try:
            if prompt_set.file_kind.is_system:
                return SystemText(data.decode())
            values = pool().read(data, path).values
        except (BuilderError, UnicodeDecodeError) as error:
            raise EverythingError(f"{path}: {error}") from error
        return Templates(*(values.get(field, "") for field in FIELDS))

    def _records(self, name: str) -> None:
        self._table(f"records/{name}.jsonl", RECORDS[name], name)

    def _table(self, path: str, table: type[models.Model], kind: str) -> None:
        rows = self._rows(path, kind)
        while some := list(islice(rows, _AT_ONCE)):
            table._base_manager.bulk_create([self._thing(table, row, path) for row in some])

    def _store(self, table: type[models.Model], things: list[models.Model], kind: str) -> None:
        table._base_manager.bulk_create(things)
        self.counts[kind] = self.counts.get(kind, 0) + len(things)

    def _thing(self, table: type[models.Model], row: Any, path: str) -> models.Model:
        try:
            return thing_of(table, row, self._people)
        except BadRow as bad:
            raise EverythingError(f"{path}: {bad}.") from bad

    def _rows(self, path: str, kind: str) -> Iterator[Any]:
        for number, line in enumerate(self._source.lines(path), start=1):
            self.counts[kind] = self.counts.get(kind, 0) + 1
            yield _parsed(line, f"{path}, line {number}")

    def _json(self, path: str) -> dict[str, Any]:
        value = _parsed(self._source.read(path), path)
        if not isinstance(value, dict):
            raise EverythingError(f"{path} is no object.")
        return value


def _parsed(data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise EverythingError(f"{place} is no JSON ({error}).") from error
