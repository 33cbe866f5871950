"""The database of the first release. Replaces the twelve migrations before it: a database that has all of
those counts as having this one.
"""

from decimal import Decimal
from typing import Any

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import studio.contexts.models
from studio.prompts.language_models import SHIPPED


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


def add_shipped(apps: Any, schema_editor: Any) -> None:
    """The table of language models begins with what the studio ships; models that are there stay as they are."""
    models = apps.get_model("studio", "LanguageModel").objects.using(schema_editor.connection.alias)
    there = set(models.values_list("name", flat=True))
    models.bulk_create([models.model(**figures) for name, figures in SHIPPED.items() if name not in there])


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("studio", "0001_initial"),
        ("studio", "0002_drafts"),
        ("studio", "0003_history_search"),
        ("studio", "0004_label_notes"),
        ("studio", "0005_context_revision"),
        ("studio", "0006_exports"),
        ("studio", "0007_uploads"),
        ("studio", "0008_exports_once"),
        ("studio", "0009_results"),
        ("studio", "0010_system_prompts_and_budgets"),
        ("studio", "0011_shipped_models"),
        ("studio", "0012_reordered_drafts"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SignInAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("who", models.CharField(db_index=True, max_length=64)),
                ("address", models.CharField(db_index=True, max_length=64)),
                ("at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="SignInLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40, unique=True)),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="LanguageModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("provider", models.CharField(blank=True, max_length=80)),
                ("context_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("cache_minimum", models.PositiveIntegerField(blank=True, null=True)),
                ("cache_step", models.PositiveIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)])),
                ("input_price", models.DecimalField(blank=True, decimal_places=4, max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal("0"))])),
                ("cached_price", models.DecimalField(blank=True, decimal_places=4, max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal("0"))])),
                ("cache_write_price", models.DecimalField(blank=True, decimal_places=4, max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal("0"))])),
                ("output_price", models.DecimalField(blank=True, decimal_places=4, max_digits=10, null=True, validators=[django.core.validators.MinValueValidator(Decimal("0"))])),
                ("as_of", models.DateField()),
                ("note", models.CharField(blank=True, max_length=300)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("changed_at", models.DateTimeField(blank=True, null=True)),
                ("changed_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ("provider", "name"),
            },
        ),
        migrations.CreateModel(
            name="PromptSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(allow_unicode=True, max_length=80, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("dialect", models.CharField(default="mixseek", max_length=20)),
                ("holds", models.CharField(choices=[("prompts", "Prompt templates"), ("system", "System prompt")], default="prompts", max_length=20)),
                ("round_config", models.JSONField(default=dict)),
                ("budgets", models.JSONField(default=dict)),
                ("archived", models.BooleanField(default=False)),
                ("revision", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField(db_index=True)),
                ("language_model", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="studio.languagemodel")),
                ("tags", models.ManyToManyField(blank=True, related_name="prompt_sets", to="studio.tag")),
            ],
        ),
        CreateCompactModel(
            name="HistoryNote",
            fields=[
                ("pk", models.CompositePrimaryKey("prompt_set", "gram", "block", blank=True, editable=False, primary_key=True, serialize=False)),
                ("gram", models.IntegerField()),
                ("block", models.IntegerField()),
                ("numbers", models.BigIntegerField()),
                ("prompt_set", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studio.promptset")),
            ],
        ),
        migrations.CreateModel(
            name="PromptVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("team_user_prompt", models.TextField()),
                ("evaluator_user_prompt", models.TextField()),
                ("judgment_user_prompt", models.TextField()),
                ("system_prompt", models.TextField(null=True)),
                ("content_hash", models.CharField(db_index=True, max_length=64)),
                ("message", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField()),
                ("origin", models.CharField(choices=[("edited", "Edited here"), ("restored", "Restored"), ("copied", "Copied from another set"), ("imported", "Imported"), ("adopted", "Adopted from a workspace")], max_length=20)),
                ("origin_note", models.CharField(blank=True, max_length=500)),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("parent", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.promptversion")),
                ("prompt_set", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="studio.promptset")),
            ],
            options={
                "ordering": ("-number",),
            },
        ),
        migrations.CreateModel(
            name="LabelMove",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40)),
                ("moved_at", models.DateTimeField()),
                ("note", models.CharField(blank=True, max_length=300)),
                ("moved_by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("prompt_set", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="label_moves", to="studio.promptset")),
                ("from_version", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.promptversion")),
                ("to_version", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.promptversion")),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="Label",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(allow_unicode=True, max_length=40)),
                ("moved_at", models.DateTimeField()),
                ("prompt_set", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="labels", to="studio.promptset")),
                ("version", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="labels", to="studio.promptversion")),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="RunResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("execution_id", models.CharField(max_length=200)),
                ("over", models.BooleanField()),
                ("state", models.CharField(max_length=20)),
                ("task", models.TextField(blank=True)),
                ("task_key", models.CharField(blank=True, max_length=64)),
                ("started_at", models.DateTimeField(null=True)),
                ("teams", models.PositiveIntegerField()),
                ("rounds", models.PositiveIntegerField()),
                ("best_score", models.FloatField(null=True)),
                ("metrics", models.JSONField(default=list)),
                ("found", models.CharField(choices=[("exact", "Exact"), ("several", "Several"), ("edited", "Edited by hand"), ("unknown", "Unknown")], max_length=20)),
                ("basis", models.CharField(blank=True, choices=[("receipt", "Export record"), ("file", "File on disk"), ("", "Only the team's prompt")], max_length=20)),
                ("likeness", models.FloatField(null=True)),
                ("examined_up_to", models.PositiveBigIntegerField()),
                ("examined_at", models.DateTimeField()),
                ("candidates", models.ManyToManyField(related_name="+", to="studio.promptversion")),
                ("version", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="results", to="studio.promptversion")),
            ],
            options={
                "ordering": ("-started_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="RoundResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("team_id", models.CharField(max_length=200)),
                ("team_name", models.CharField(max_length=200)),
                ("round_number", models.PositiveIntegerField()),
                ("score", models.FloatField(null=True)),
                ("found", models.CharField(choices=[("exact", "Exact"), ("several", "Several"), ("edited", "Edited by hand"), ("unknown", "Unknown")], max_length=20)),
                ("versions", models.JSONField(default=list)),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="round_results", to="studio.runresult")),
            ],
            options={
                "ordering": ("team_id", "round_number"),
            },
        ),
        migrations.CreateModel(
            name="SampleContext",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(allow_unicode=True, max_length=80, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("description", models.CharField(blank=True, max_length=300)),
                ("data", studio.contexts.models.OrderedJSONField(validators=[studio.contexts.models.validate_round_context])),
                ("submission", models.TextField()),
                ("revision", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("changed_at", models.DateTimeField()),
                ("prompt_set", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="contexts", to="studio.promptset")),
            ],
            options={
                "ordering": ("pk",),
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=255)),
                ("data", models.BinaryField()),
                ("sha256", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name="Workspace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(allow_unicode=True, max_length=80, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("path", models.CharField(max_length=1000, unique=True)),
                ("dialect", models.CharField(default="mixseek", max_length=20)),
                ("archived", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("label", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="workspaces", to="studio.label")),
                ("system_label", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="system_workspaces", to="studio.label")),
            ],
            options={
                "ordering": ("name", "pk"),
            },
        ),
        migrations.CreateModel(
            name="SystemBuild",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(max_length=20)),
                ("sha256", models.CharField(max_length=64)),
                ("built", models.JSONField()),
                ("note", models.CharField(blank=True, max_length=200)),
                ("at", models.DateTimeField()),
                ("by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="system_builds", to="studio.workspace")),
            ],
            options={
                "ordering": ("-at", "-pk"),
            },
        ),
        migrations.AddField(
            model_name="runresult",
            name="workspace",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="results", to="studio.workspace"),
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("batch", models.UUIDField(db_index=True)),
                ("label_name", models.CharField(blank=True, max_length=40)),
                ("holds", models.CharField(choices=[("prompts", "Prompt templates"), ("system", "System prompt")], default="prompts", max_length=20)),
                ("path", models.CharField(max_length=1000)),
                ("before", models.BinaryField(null=True)),
                ("after", models.BinaryField(null=True)),
                ("hash_before", models.CharField(blank=True, max_length=64)),
                ("hash_after", models.CharField(blank=True, max_length=64)),
                ("at", models.DateTimeField()),
                ("by", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("undoes", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="undone_by", to="studio.export")),
                ("kept_as", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.promptversion")),
                ("version", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="exports", to="studio.promptversion")),
                ("workspace", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="exports", to="studio.workspace")),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="ExportReceipt",
            fields=[
                ("export", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name="receipt", serialize=False, to="studio.export")),
                ("outcome", models.CharField(choices=[("written", "Written"), ("unchanged", "No change"), ("failed", "Not written"), ("unclear", "Unclear")], max_length=20)),
                ("hash_found", models.CharField(blank=True, max_length=64)),
                ("error_code", models.CharField(blank=True, max_length=60)),
                ("error_params", models.JSONField(default=dict)),
                ("owner_kept", models.BooleanField(default=True)),
                ("durable", models.BooleanField(default=True)),
                ("reconciled", models.BooleanField(default=False)),
                ("at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("outcome", "failed"), ("error_code", ""), _connector="OR"), name="only_a_failure_has_an_error")],
            },
        ),
        migrations.CreateModel(
            name="DraftCopy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base", models.PositiveIntegerField()),
                ("team_user_prompt", models.TextField(blank=True)),
                ("evaluator_user_prompt", models.TextField(blank=True)),
                ("judgment_user_prompt", models.TextField(blank=True)),
                ("system_prompt", models.TextField(null=True)),
                ("message", models.CharField(blank=True, max_length=500)),
                ("reason", models.CharField(choices=[("other-tab", "From another tab"), ("discarded", "Discarded"), ("replaced", "Replaced by a merge"), ("imported", "Imported"), ("reordered", "Before the suggested order")], max_length=20)),
                ("tab", models.CharField(blank=True, max_length=40)),
                ("kept_at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("prompt_set", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studio.promptset")),
            ],
            options={
                "ordering": ("-kept_at", "-pk"),
                "indexes": [models.Index(fields=["prompt_set", "person", "-kept_at"], name="copies_of_a_person")],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base", models.PositiveIntegerField()),
                ("team_user_prompt", models.TextField(blank=True)),
                ("evaluator_user_prompt", models.TextField(blank=True)),
                ("judgment_user_prompt", models.TextField(blank=True)),
                ("system_prompt", models.TextField(null=True)),
                ("message", models.CharField(blank=True, max_length=500)),
                ("revision", models.PositiveIntegerField()),
                ("changed_at", models.DateTimeField()),
                ("tab", models.CharField(blank=True, max_length=40)),
                ("seq", models.PositiveIntegerField(default=0)),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("prompt_set", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studio.promptset")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("prompt_set", "person"), name="draft_once_per_person_and_set")],
            },
        ),
        migrations.AddConstraint(
            model_name="promptversion",
            constraint=models.UniqueConstraint(fields=("prompt_set", "number"), name="version_number_once_per_set"),
        ),
        migrations.AddIndex(
            model_name="labelmove",
            index=models.Index(fields=["prompt_set", "name", "-id"], name="moves_of_a_label"),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.UniqueConstraint(fields=("prompt_set", "name"), name="label_name_once_per_set"),
        ),
        migrations.AddConstraint(
            model_name="roundresult",
            constraint=models.UniqueConstraint(fields=("run", "team_id", "round_number"), name="one_result_per_round"),
        ),
        migrations.AddConstraint(
            model_name="samplecontext",
            constraint=models.UniqueConstraint(fields=("prompt_set", "name"), name="context_name_once_per_set"),
        ),
        migrations.AddConstraint(
            model_name="samplecontext",
            constraint=models.UniqueConstraint(condition=models.Q(("prompt_set", None)), fields=("name",), name="context_name_once_among_shared"),
        ),
        migrations.AddIndex(
            model_name="upload",
            index=models.Index(fields=["person", "-at"], name="uploads_of_a_person"),
        ),
        migrations.AddIndex(
            model_name="systembuild",
            index=models.Index(fields=["workspace", "mode", "-at"], name="builds_of_a_workspace"),
        ),
        migrations.AddIndex(
            model_name="runresult",
            index=models.Index(fields=["version", "found"], name="results_of_a_version"),
        ),
        migrations.AddIndex(
            model_name="runresult",
            index=models.Index(fields=["workspace", "found"], name="results_of_a_workspace"),
        ),
        migrations.AddConstraint(
            model_name="runresult",
            constraint=models.UniqueConstraint(fields=("workspace", "execution_id"), name="one_result_per_run"),
        ),
        migrations.AddIndex(
            model_name="export",
            index=models.Index(fields=["workspace", "-id"], name="exports_of_a_workspace"),
        ),
        migrations.AddConstraint(
            model_name="export",
            constraint=models.UniqueConstraint(fields=("batch", "workspace"), name="workspace_once_per_batch"),
        ),
        migrations.RunPython(add_shipped, migrations.RunPython.noop),
    ]
