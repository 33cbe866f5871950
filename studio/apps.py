"""The one app of the project."""

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """Prompt Studio."""

    name = "studio"
    default_auto_field = "django.db.models.BigAutoField"
