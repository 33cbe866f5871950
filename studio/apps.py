"""Django's app: the jail's system check and the triggers of immutable rows."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class StudioConfig(AppConfig):
    """Prompt Studio."""

    name = "studio"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Immutable rows get their triggers back after every migrate; the jail registers its system check."""
        from studio.shell import jail  # noqa: F401

        post_migrate.connect(_protect_immutable_rows, sender=self)


def _protect_immutable_rows(using: str, **kwargs: Any) -> None:
    from studio.shell.immutable import install_triggers

    install_triggers(connections[using])
