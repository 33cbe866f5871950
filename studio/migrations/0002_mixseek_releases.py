"""Formats by release: what was stored as `mixseek` was 0.1.0a15's. Workspaces and runs get what is found out."""

from django.db import migrations, models

import studio.prompts.models


def name_the_release(apps, schema_editor):
    for name in ("PromptSet", "Workspace"):
        apps.get_model("studio", name).objects.filter(dialect="mixseek").update(dialect="mixseek-0.1.0a15")
    # A first round looks the same in every release; a later one that was recognised was 0.1.0a15's.
    runs = apps.get_model("studio", "RunResult").objects.filter(found__in=["exact", "several"], rounds__gt=1)
    runs.update(formats=["mixseek-0.1.0a15"])


class Migration(migrations.Migration):
    dependencies = [("studio", "0001_first_release")]

    operations = [
        migrations.AlterField(
            "promptset",
            "dialect",
            models.CharField(default=studio.prompts.models.newest_format, max_length=20),
        ),
        migrations.AlterField("workspace", "dialect", models.CharField(blank=True, default="", max_length=20)),
        migrations.AddField(
            "workspace", "found_dialect", models.CharField(blank=True, default="", max_length=20)
        ),
        migrations.AddField(
            "workspace",
            "found_by",
            models.CharField(
                blank=True,
                choices=[("prompts", "Prompts of a run"), ("package", "Installed package")],
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField("workspace", "found_in", models.CharField(blank=True, default="", max_length=255)),
        migrations.AddField("runresult", "formats", models.JSONField(default=None, null=True)),
        migrations.RunPython(name_the_release, migrations.RunPython.noop),
    ]
