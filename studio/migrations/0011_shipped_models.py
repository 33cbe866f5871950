"""The table of models begins with what the studio ships."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from studio.prompts.model_table import SHIPPED


def add_shipped(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    # A new studio begins with the newest figures; one that has models already keeps its own.
    models = apps.get_model("studio", "LanguageModel").objects.using(schema_editor.connection.alias)
    there = set(models.values_list("name", flat=True))
    models.bulk_create([models.model(**each.columns) for name, each in SHIPPED.items() if name not in there])


class Migration(migrations.Migration):
    dependencies = [("studio", "0010_system_prompts_and_budgets")]

    operations = [migrations.RunPython(add_shipped, migrations.RunPython.noop, elidable=False)]
