"""Workspaces remember where their folder was before it was moved."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studio", "0005_hashed_sessions")]

    operations = [
        migrations.AddField("workspace", "former_paths", models.JSONField(blank=True, default=list)),
    ]
