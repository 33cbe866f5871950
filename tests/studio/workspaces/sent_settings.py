"""The form of a workspace's settings, as a browser would send it back."""

from typing import Any

from django.test import Client


def sent_settings(client: Client, slug: str, **changes: Any) -> dict[str, Any]:
    """What the page was filled with, and these changes."""
    form = client.get(f"/workspaces/{slug}/settings/").context["form"]
    filled = {field.html_name: field.value() for field in form}
    return {name: "" if value is None else value for name, value in filled.items()} | changes
