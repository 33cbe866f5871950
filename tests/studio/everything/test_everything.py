"""Everything as files: read back it is the same studio, and what is wrong with files is refused."""

import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from studio.access.accounts import Account, Role
from studio.everything.places import EverythingError, opened
from studio.everything.reading import read_everything
from studio.everything.tables import IN_FOLDERS, LEFT_OUT, RECORDS
from studio.home.demo import load_demo
from studio.models import (
    Draft,
    Export,
    ExportScoring,
    FollowedFile,
    HistoryNote,
    Label,
    LanguageModel,
    PromptSet,
    PromptVersion,
    RunResult,
    SampleContext,
    ScoringRecord,
    SystemBuild,
    Tag,
    Workspace,
)
from studio.prompts.language_models import add_missing
from studio.prompts.texts import SystemText, Templates
from studio.shell.immutable import triggers_lifted
from tests.studio.clock import NOW

Rows = dict[str, list[Any]]


def everything_stored() -> Rows:
    """Every table that is written as files, row by row; people by their names."""
    tables = [table for table in (*IN_FOLDERS, *RECORDS.values(), HistoryNote) if table is not Tag]
    rows: Rows = {}
    for table in tables:
        columns = [
            f"{field.name}__username" if field.related_model is User else field.attname
            for field in table._meta.concrete_fields
        ]
        rows[table.__name__] = [
            tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
            for row in table._base_manager.order_by("pk").values_list(*columns)
        ]
    rows["tags"] = sorted(PromptSet.objects.values_list("slug", "tags__name"))
    rows["people"] = sorted(
        (user.username, user.first_name, user.is_active, *account_of(user)) for user in User.objects.all()
    )
    return rows


def account_of(user: User) -> list[Any]:
    return [
        getattr(user.account, name.attname) for name in Account._meta.concrete_fields if name.name != "user"
    ]


def empty_the_studio() -> None:
    call_command("flush", interactive=False, verbosity=0)
    LanguageModel.objects.create(name="of-the-new-studio", as_of=NOW.date())


def read(path: Path) -> dict[str, int]:
    with opened(path) as source:
        return read_everything(source)


def test_every_table_is_written_or_left_out_for_a_reason() -> None:
    listed = {*IN_FOLDERS, *RECORDS.values(), *LEFT_OUT, PromptSet.tags.through}
    assert set(apps.get_app_config("studio").get_models(include_auto_created=True)) == listed


def add_what_the_demo_lacks(person: User) -> None:
    odd, system = (
        PromptSet.objects.create(slug=slug, name=slug, created_at=NOW, changed_at=NOW, holds=holds)
        for slug, holds in (("con", "prompts"), ("system", "system"))
    )
    texts = ["\r\n\"\"\"'''\\ \t{{ user_prompt }}\n\n", "末尾の空白 \n \x07\x1b\u2028", ""]
    version = odd.save_version(Templates(*texts), base=0, message="Odd", author=person, at=NOW)
    system.save_version(SystemText("# ☃\r\n[system_prompt]\n"), base=0, message="s", author=person, at=NOW)
    Draft.objects.create(
        prompt_set=odd, person=person, base=1, revision=1, changed_at=NOW, team_user_prompt="a secret draft"
    )
    User.objects.create(username="service:ci")
    workspace, label = Workspace.objects.first(), Label.objects.first()
    assert workspace and label
    FollowedFile.objects.create(workspace=workspace, file="configs/other.toml", label=label)
    SystemBuild.objects.create(workspace=workspace, mode="full", sha256="0" * 64, built={"a": 1}, at=NOW)
    run = RunResult.objects.first()
    assert run
    run.candidates.add(version)
    scoring = ScoringRecord.objects.create(sha256="1" * 64, content={"b": [1.5]}, at=NOW)
    ExportScoring.objects.create(export=Export.objects.first(), orchestrator="o.toml", record=scoring)


@pytest.mark.django_db(transaction=True)
def test_read_back_it_is_the_same_studio(demo_folder: Path, tmp_path: Path, client: Client) -> None:
    add_missing()  # a test that empties all tables may have run before
    load_demo(demo_folder, NOW)
    call_command("attribute", verbosity=0)
    operator = User.objects.create_superuser("yuki", password="correct horse", first_name="雪")
    add_what_the_demo_lacks(operator)
    before = everything_stored()
    assert all(before.values()), [name for name, rows in before.items() if not rows]

    call_command("write_all", str(tmp_path / "folder"), verbosity=0)
    client.force_login(operator)
    answer = client.post("/everything/")
    (tmp_path / "all.zip").write_bytes(b"".join(answer))  # type: ignore[arg-type]
    written = b"".join(path.read_bytes() for path in (tmp_path / "folder").rglob("*") if path.is_file())
    assert b"a secret draft" not in written and operator.password.encode() not in written

    for place in ("folder", "all.zip"):
        empty_the_studio()
        assert everything_stored() != before
        call_command("read_all", str(tmp_path / place), verbosity=0)
        assert everything_stored() == before
    assert not User.objects.get(username="yuki").has_usable_password()
    # The next row gets a key of its own.
    PromptSet.objects.create(slug="next", name="Next", created_at=NOW, changed_at=NOW)


@pytest.fixture
def folder(tmp_path: Path, person: User) -> Path:
    """A small studio, written; and then an empty one."""
    prompt_set = PromptSet.objects.create(slug="small", name="Small", created_at=NOW, changed_at=NOW)
    for number in (1, 2):
        prompt_set.save_version(
            Templates(f"{number} {{{{ user_prompt }}}}\n", "", ""),
            base=number - 1, message="m", author=person, at=NOW,
        )  # fmt: skip
    call_command("write_all", str(tmp_path / "small"), verbosity=0)
    with connection.cursor() as cursor, triggers_lifted(connection):
        for table in ("historynote", "promptversion", "promptset"):
            cursor.execute(f"DELETE FROM studio_{table}")
    return tmp_path / "small"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


WRONG: dict[str, tuple[Callable[[Path], None], str]] = {
    "a changed version": (
        lambda folder: change(folder / "sets/small/versions/0001.toml", "1 {{", "one {{"),
        r"sets/small/versions/0001\.toml was changed",
    ),
    "a missing version": (
        lambda folder: (folder / "sets/small/versions/0002.toml").unlink(),
        r"0002\.toml is missing",
    ),
    "a missing line": (
        lambda folder: (folder / "sets/small/versions.jsonl").write_text(
            (folder / "sets/small/versions.jsonl").read_text().splitlines(keepends=True)[0]
        ),
        "does not have the 2 versions",
    ),
    "a missing set": (
        lambda folder: (folder / "sets/small/set.json").unlink(),
        r"set\.json is missing",
    ),
    "no JSON": (lambda folder: (folder / "records/workspaces.jsonl").write_text("{"), "line 1 is no JSON"),
    "deep JSON": (
        lambda folder: (folder / "records/workspaces.jsonl").write_text("[" * 100_000),
        "line 1 is no JSON",
    ),
    "an unknown column": (
        lambda folder: (folder / "records/workspaces.jsonl").write_text('{"id": 1, "colour": "red"}'),
        "unknown column 'colour'",
    ),
    "a value of another type": (
        lambda folder: change(folder / "sets/small/set.json", '"revision": 2', '"revision": "two"'),
        "set.json: revision",
    ),
    "an unknown author": (
        lambda folder: change(folder / "sets/small/versions.jsonl", '"yuki"', '"mallory"'),
        "nobody called 'mallory'",
    ),
    "another format": (
        lambda folder: change(folder / "studio.json", "everything-1", "everything-9"),
        "another format",
    ),
    "a key that leads nowhere": (
        lambda folder: change(folder / "sets/small/set.json", 'model": null', 'model": 99999'),
        "the database refuses it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_and_nothing_is_stored(folder: Path, name: str) -> None:
    damage, said = WRONG[name]
    damage(folder)
    models = LanguageModel.objects.count()
    with pytest.raises(EverythingError, match=said):
        read(folder)
    assert not PromptSet.objects.exists() and LanguageModel.objects.count() == models


def test_undamaged_it_is_read_but_into_an_empty_studio_only(folder: Path) -> None:
    assert read(folder)["versions"] == 2
    assert PromptVersion.objects.get(number=2).team_user_prompt == "2 {{ user_prompt }}\n"
    with pytest.raises(CommandError, match="not empty"):
        call_command("read_all", str(folder))


def test_a_folder_that_exists_is_not_written_to(tmp_path: Path, db: None) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(CommandError, match="exists already"):
        call_command("write_all", str(tmp_path / "there"))
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_links_in_a_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text((folder / "studio.json").read_text())
    (folder / "studio.json").unlink()
    (folder / "studio.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(EverythingError, match=r"studio\.json is missing"):
        read(folder)


@pytest.mark.parametrize("name", ["../studio.json", "/etc/passwd", "a\\b.json", "a//b.json", "a/../b.json"])
def test_a_zip_with_paths_that_lead_elsewhere_is_refused(tmp_path: Path, db: None, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(name, "{}")
    with pytest.raises(EverythingError, match="a file with the path"):
        read(tmp_path / "bad.zip")


def test_a_zip_with_a_link_or_a_file_twice_is_refused(tmp_path: Path, db: None) -> None:
    link = zipfile.ZipInfo("prompt-studio/studio.json")
    link.external_attr = 0o120777 << 16
    for members, said in (([link], "a link"), (["studio.json", "prompt-studio/studio.json"], "twice")):
        with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
            for member in members:
                archive.writestr(member, "{}")
        with pytest.raises(EverythingError, match=said):
            read(tmp_path / "bad.zip")


def test_a_zip_that_is_too_large_is_refused(
    tmp_path: Path, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "big.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("studio.json", " " * 5_000_000)
    with pytest.raises(EverythingError, match="more than 4,194,304 bytes"):
        read(tmp_path / "big.zip")
    monkeypatch.setattr("studio.everything.places.MOST_BYTES", 4_999_999)
    with pytest.raises(EverythingError, match="more in it than"):
        read(tmp_path / "big.zip")


def test_only_administrators_take_everything(signed_in: Client, person: User) -> None:
    assert "Download everything" in signed_in.get("/everything/").content.decode()
    person.account.role = Role.RELEASER
    person.account.save()
    assert "Download everything" not in signed_in.get("/everything/").content.decode()
    assert signed_in.post("/everything/").status_code == 403


def test_contexts_lie_with_their_set_as_json(tmp_path: Path, signed_in: Client, person: User) -> None:
    prompt_set = PromptSet.objects.create(slug="調査", name="調査", created_at=NOW, changed_at=NOW)
    data = {"user_prompt": "質問", "round_number": 1, "round_history": [], "team_id": "t", "team_name": "T"}
    for name, owner in (("own", prompt_set), ("shared", None)):
        SampleContext.objects.create(
            slug=name, name=name, prompt_set=owner, data=data, submission="", created_at=NOW, changed_at=NOW
        )
    with zipfile.ZipFile(BytesIO(b"".join(signed_in.post("/everything/")))) as archive:  # type: ignore[arg-type]
        own = json.loads(archive.read("prompt-studio/sets/調査/contexts/own.json"))
        assert own["data"]["user_prompt"] == "質問"
        assert "prompt-studio/contexts/shared.json" in archive.namelist()
