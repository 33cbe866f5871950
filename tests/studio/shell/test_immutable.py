"""What is written once stays, whoever asks: the model, raw SQL, a later migration."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, models, transaction

from studio.models import Label, LabelMove, PromptSet, PromptVersion
from studio.prompts.texts import Templates
from studio.shell.immutable import ImmutableRow, triggers_lifted
from tests.studio.clock import NOW


def make_version(person: User) -> PromptVersion:
    prompt_set = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    version = prompt_set.save_version(
        Templates("team", "evaluator", "judgment"), base=0, message="one", author=person, at=NOW
    )
    Label.objects.move("production", version, by=person, at=NOW)
    return version


@pytest.fixture
def version(person: User) -> PromptVersion:
    return make_version(person)


@pytest.mark.parametrize(
    "change",
    [
        lambda version: version.save(),
        lambda version: version.delete(),
        lambda version: PromptVersion.objects.update(message="other"),
        lambda version: PromptVersion.objects.all().delete(),
        lambda version: PromptVersion.objects.bulk_update([version], ["message"]),
        lambda version: LabelMove.objects.all().delete(),
    ],
)
def test_the_model_refuses_to_change_or_delete(
    version: PromptVersion, change: Callable[[PromptVersion], object]
) -> None:
    with pytest.raises(ImmutableRow):
        change(version)
    assert PromptVersion.objects.get().message == "one"


RAW = [
    "UPDATE studio_promptversion SET message = 'other'",
    "DELETE FROM studio_promptversion",
    "UPDATE studio_labelmove SET name = 'other'",
    "DELETE FROM studio_labelmove",
]


@pytest.mark.parametrize("statement", RAW)
def test_the_database_refuses_raw_sql(version: PromptVersion, statement: str) -> None:
    with (
        pytest.raises(DatabaseError, match="rows are immutable"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert PromptVersion.objects.get().message == "one"
    assert LabelMove.objects.get().name == "production"


@pytest.mark.parametrize("column", ["id", "number"])
def test_a_row_cannot_be_replaced_by_inserting_over_it(version: PromptVersion, column: str) -> None:
    """SQLite's REPLACE asks no delete trigger; on PostgreSQL the same wish is an upsert."""
    columns = [field.column for field in PromptVersion._meta.concrete_fields]
    if column == "number":
        columns.remove("id")
    names = ", ".join(columns)
    values = ", ".join("'other'" if name == "message" else name for name in columns)
    if connection.vendor == "sqlite":
        statement = (
            f"INSERT OR REPLACE INTO studio_promptversion ({names}) SELECT {values} FROM studio_promptversion"
        )
    else:
        key = "(id)" if column == "id" else "(prompt_set_id, number)"
        statement = (
            f"INSERT INTO studio_promptversion ({names}) SELECT {values} FROM studio_promptversion"
            f" ON CONFLICT {key} DO UPDATE SET message = 'other'"
        )
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert PromptVersion.objects.get().message == "one"


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_rebuilds_the_table_does_not_open_it() -> None:
    """SQLite drops the triggers with the old table; the migrate command brings them back."""
    person = User.objects.create_user("yuki")
    make_version(person)
    old = PromptVersion._meta.get_field("message")
    wider = models.CharField(max_length=501)
    wider.set_attributes_from_name("message")
    wider.model = PromptVersion
    with connection.schema_editor() as editor:
        editor.alter_field(PromptVersion, old, wider)
    with connection.schema_editor() as editor:
        editor.alter_field(PromptVersion, wider, old)
    call_command("migrate", verbosity=0)
    for statement in RAW:
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_flush_is_the_stated_way_round_and_leaves_the_triggers_in_place() -> None:
    make_version(User.objects.create_user("yuki"))
    call_command("flush", interactive=False, verbosity=0)
    assert not PromptVersion.objects.exists()
    make_version(User.objects.create_user("yuki"))
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(RAW[0])


def test_a_migration_that_must_can_lift_the_triggers(version: PromptVersion) -> None:
    with triggers_lifted(connection), connection.cursor() as cursor:
        cursor.execute("UPDATE studio_promptversion SET message = 'repaired'")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(RAW[0])
    assert PromptVersion.objects.get().message == "repaired"
