"""The link that signs its reader in, with the address at which the studio is reached."""

from pathlib import Path

from django.conf import settings
from django.urls import reverse

from studio.shell.signin import issue_link_token

_DEFAULT = "http://127.0.0.1:8000"


def remember_address(data: Path, address: str) -> None:
    """Keep where the server listens, for commands that run beside it."""
    (data / "address").write_text(address)


def signin_link() -> str:
    """A fresh one-time link: at the first origin of the settings, else where the server last listened."""
    if settings.ENVIRONMENT.origins:
        address = settings.ENVIRONMENT.origins[0]
    else:
        kept = settings.STUDIO_DATA / "address"
        address = kept.read_text() if kept.is_file() else _DEFAULT
    return address + reverse("signin-link", args=[issue_link_token()])
