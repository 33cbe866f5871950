from collections.abc import Iterator
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from studio.prompts.history_index import IndexedVersion, note_versions

TEXTS = ("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")


class CreateCompactModel(migrations.CreateModel):
    """On SQLite the rows live in the primary key itself: half the size, and half the pages for a save to write."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor != "sqlite":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        schema_editor.execute(
            'CREATE TABLE "studio_historynote" ('
            '"prompt_set_id" bigint NOT NULL REFERENCES "studio_promptset" ("id") DEFERRABLE INITIALLY DEFERRED, '
            '"gram" integer NOT NULL, "block" integer NOT NULL, "numbers" bigint NOT NULL, '
            'PRIMARY KEY ("prompt_set_id", "gram", "block")) WITHOUT ROWID'
        )


def index_what_is_there(apps: Any, schema_editor: Any) -> None:
    def stored() -> Iterator[IndexedVersion]:
        columns = ("prompt_set_id", "number", "message", "author__username", *TEXTS)
        versions = apps.get_model("studio", "PromptVersion").objects.order_by("prompt_set_id", "number")
        for prompt_set, number, message, author, *texts in versions.values_list(*columns).iterator():
            yield IndexedVersion(prompt_set, number, message, author, tuple(texts))

    note_versions(stored())


class Migration(migrations.Migration):
    dependencies = [
        ("studio", "0002_drafts"),
    ]

    operations = [
        CreateCompactModel(
            name="HistoryNote",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "prompt_set",
                        "gram",
                        "block",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("gram", models.IntegerField()),
                ("block", models.IntegerField()),
                ("numbers", models.BigIntegerField()),
                (
                    "prompt_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="studio.promptset",
                    ),
                ),
            ],
        ),
        migrations.RunPython(index_what_is_there, migrations.RunPython.noop, elidable=True),
    ]
