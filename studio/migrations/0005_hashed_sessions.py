"""Sessions are stored under the hash of their key, with whose they are; those under way go on."""

import hashlib
from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations, models


def hash_keys(apps: Any, schema_editor: Any) -> None:
    """Move what Django's own table holds, where the keys stood as cookies carry them."""
    old = apps.get_model("sessions", "Session")
    new = apps.get_model("studio", "StudioSession")
    people = set(apps.get_model("auth", "User").objects.values_list("pk", flat=True))
    for session in old.objects.filter(expire_date__gt=django.utils.timezone.now()).iterator():
        person = SessionStore().decode(session.session_data).get("_auth_user_id")
        if person is not None and int(person) in people:
            new.objects.create(
                session_key=hashlib.sha256(session.session_key.encode()).hexdigest(),
                session_data=session.session_data,
                expire_date=session.expire_date,
                person_id=int(person),
            )
    old.objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("studio", "0004_scoring_records"),
    ]

    operations = [
        migrations.CreateModel(
            "StudioSession",
            [
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("session_key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("used_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "person",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"db_table": "studio_session"},
        ),
        migrations.RunPython(hash_keys, migrations.RunPython.noop),
    ]
