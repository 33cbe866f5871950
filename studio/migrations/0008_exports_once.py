from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studio", "0007_uploads")]

    operations = [
        migrations.AddConstraint(
            model_name="export",
            constraint=models.UniqueConstraint(
                fields=("batch", "workspace"), name="workspace_once_per_batch"
            ),
        ),
    ]
