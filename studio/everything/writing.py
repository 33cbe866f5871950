"""Everything written as plain files, of one moment. Used by `manage.py write_all` and by its page."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db import connection, models

from builder.files.new_prompt_file import new_file
from studio import __version__
from studio.contexts.models import SampleContext
from studio.everything.places import Target
from studio.everything.rows import Row, row_of
from studio.everything.tables import RECORDS
from studio.prompts.models import PromptSet, PromptVersion
from studio.prompts.texts import SYSTEM_FIELD, TEXT_FIELDS, SystemText

FORMAT = "prompt-studio-everything-1"
_AT_ONCE = 200
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)\Z", re.IGNORECASE)

README = """\
Everything that a Prompt Studio holds, as plain files.

  studio.json               when it was written, by which version, how many rows of each kind
  people.jsonl              names and roles; no passwords
  sets/SET/set.json         a prompt set: name, tags, format, budgets
  sets/SET/versions.jsonl   a line for each version: message, author, time, SHA-256 of its text
  sets/SET/versions/        the texts: 0001.toml is a prompt file as MixSeek reads it
                            (0001.system_prompt.toml in a set of system prompts)
  sets/SET/labels.jsonl, label_moves.jsonl
  sets/SET/contexts/        sample contexts of the set, as JSON
  contexts/                 those that all sets share
  records/                  a line for each row: models, workspaces, exports with receipts and the
                            files before and after, examined runs with rounds and scores, kept
                            builds of system prompts

«manage.py read_all FOLDER» (or the zip) reads it into a studio that is empty. A version whose text
was changed here is refused, because its SHA-256 differs: change it in the studio.

Not in it: passwords, e-mail addresses, sessions, links, tokens; drafts and uploads, which are private to
their authors; the audit; which folders the studio may use; the workspaces' own files and databases.
People sign in with a password that is set anew, or by the link that the studio prints. Backups hold
all of the database: «manage.py backup».
"""


def write_everything(target: Target, at: datetime) -> dict[str, int]:
    """Write all files; returns how many rows there are of each kind."""
    with _one_moment():
        return _Writer(target).write(at)


@contextmanager
def _one_moment() -> Iterator[None]:
    """All that is read is of the moment of the first read; nobody has to wait for it."""
    if connection.in_atomic_block:  # a test's
        yield
        return
    read_only = " ISOLATION LEVEL REPEATABLE READ READ ONLY" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"BEGIN{read_only}")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


class _Writer:
    def __init__(self, target: Target) -> None:
        self._target = target
        self._names = dict(User.objects.values_list("pk", "username"))
        self._counts: dict[str, int] = {}

    def write(self, at: datetime) -> dict[str, int]:
        self._target.write("README.txt", [README.encode()])
        self._lines(
            "people.jsonl", "people", map(_person, User.objects.select_related("account").order_by("pk"))
        )
        folders = _folder_names(PromptSet.objects.order_by("pk").values_list("pk", "slug"))
        for prompt_set in PromptSet.objects.order_by("pk").prefetch_related("tags").iterator(_AT_ONCE):
            self._set(prompt_set, f"sets/{folders[prompt_set.pk]}")
        self._contexts(folders)
        for name, table in RECORDS.items():
            rows = table._base_manager.order_by("pk").iterator(_AT_ONCE)
            self._lines(f"records/{name}.jsonl", name, (row_of(row, self._names) for row in rows))
        about = {"format": FORMAT, "version": __version__, "made_at": at.isoformat(), "rows": self._counts}
        self._target.write("studio.json", [_json(about)])
        return self._counts

    def _set(self, prompt_set: PromptSet, folder: str) -> None:
        tags = sorted(tag.name for tag in prompt_set.tags.all())
        self._target.write(f"{folder}/set.json", [_json({**row_of(prompt_set, self._names), "tags": tags})])
        self._count("sets", 1)
        self._lines(f"{folder}/versions.jsonl", "versions", self._versions(prompt_set))
        for version in _versions_of(prompt_set):
            self._target.write(f"{folder}/versions/{file_name(version)}", [_text(version)])
        for name, rows in (("labels", prompt_set.labels), ("label_moves", prompt_set.label_moves)):
            things = rows.order_by("pk").iterator(_AT_ONCE)
            self._lines(f"{folder}/{name}.jsonl", name, (row_of(thing, self._names) for thing in things))

    def _versions(self, prompt_set: PromptSet) -> Iterator[Row]:
        texts = TEXT_FIELDS.values()
        for version in prompt_set.versions.defer(*texts).order_by("number").iterator(_AT_ONCE):
            yield row_of(version, self._names, without=texts)

    def _contexts(self, folders: Mapping[int, str]) -> None:
        slugs = _folder_names(SampleContext.objects.order_by("pk").values_list("pk", "slug"))
        for context in SampleContext.objects.order_by("pk").iterator(_AT_ONCE):
            own = f"sets/{folders[context.prompt_set_id]}/" if context.prompt_set_id else ""
            row = _json(row_of(context, self._names))
            self._target.write(f"{own}contexts/{slugs[context.pk]}.json", [row])
            self._count("contexts", 1)

    def _lines(self, path: str, kind: str, rows: Iterable[Row]) -> None:
        def parts() -> Iterator[bytes]:
            for row in rows:
                self._count(kind, 1)
                yield json.dumps(row, ensure_ascii=False).encode() + b"\n"

        self._count(kind, 0)
        self._target.write(path, parts())

    def _count(self, kind: str, number: int) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + number


def file_name(version: PromptVersion) -> str:
    """Of the file with a version's text."""
    system = "" if version.system_prompt is None else f".{SYSTEM_FIELD}"
    return f"{version.number:04d}{system}.toml"


def _versions_of(prompt_set: PromptSet) -> "models.query.QuerySet[PromptVersion]":
    return prompt_set.versions.order_by("number").iterator(_AT_ONCE)  # type: ignore[return-value]


def _text(version: PromptVersion) -> bytes:
    texts = version.templates
    if isinstance(texts, SystemText):
        return texts.system_prompt.encode()
    return new_file(vars(texts), version.created_at.astimezone(UTC).date()).encode()


def _person(user: User) -> Row:
    return {
        "name": user.username,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "active": user.is_active,
        "account": row_of(user.account, {}, without=("user",)),
    }


def _folder_names(slugs: Iterable[tuple[int, str]]) -> dict[int, str]:
    """A name for each, also where a system ignores case or keeps names for itself."""
    taken: set[str] = set()
    names = {}
    for key, slug in slugs:
        name = slug if re.fullmatch(r"[\w-]{1,80}", slug) and not _RESERVED.match(slug) else "_"
        if name == "_" or name.casefold() in taken:
            name = f"{name[:60]}.{key}"
        taken.add(name.casefold())
        names[key] = name
    return names


def _json(value: Row) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"
