"""Every user has an account with a role.

Superusers and the person of the sign-in link become administrators. Everybody else could do everything so far,
register workspaces included: they become releasers, and an administrator decides from there. Where this would
leave no administrator, all who can sign in become one.
"""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

VIEWER, RELEASER, ADMINISTRATOR = 1, 3, 4


def give_roles(apps: Any, schema_editor: Any) -> None:
    account = apps.get_model("studio", "Account")
    people = list(apps.get_model("auth", "User").objects.all())
    able = [person for person in people if person.is_active]
    runs = {person.pk for person in able if person.is_superuser or person.username == "operator"}
    administrators = runs or {person.pk for person in able}
    account.objects.bulk_create(
        account(
            user=person,
            role=ADMINISTRATOR if person.pk in administrators else RELEASER if person.is_active else VIEWER,
            # Switched off and without a password: the demo's colleagues, who are names alone.
            left_at=None if person.is_active or not person.password.startswith("!") else timezone.now(),
        )
        for person in people
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("studio", "0006_workspace_former_paths"),
    ]

    operations = [
        migrations.CreateModel(
            "Account",
            [
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="account",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "Viewer"), (2, "Editor"), (3, "Releaser"), (4, "Administrator")],
                        default=1,
                    ),
                ),
                ("left_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.RunPython(give_roles, migrations.RunPython.noop),
    ]
