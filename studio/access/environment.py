"""Environment variables of accounts: the mail server for forgotten passwords, the OpenID Connect provider.

Both are off until they are set. Read once, by settings; odd values are refused.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# As `accounts.Role` names them, which cannot be imported before Django is set up.
ROLE_NAMES = ("viewer", "editor", "releaser", "administrator")
_MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """Where mails go out."""

    host: str
    port: int
    user: str
    password: str
    starttls: bool
    ssl: bool
    sender: str


@dataclass(frozen=True)
class Provider:
    """Who vouches for people by OpenID Connect, and which role their groups give."""

    issuer: str
    client_id: str
    secret: str
    name: str
    """What the button on the sign-in page says."""
    claim: str
    roles: Mapping[str, str]
    """The role of each group; `*` is everybody whom the provider lets in."""

    def role_of(self, groups: Collection[str]) -> str:
        """The highest role that the groups give; empty for none."""
        given = {role for group, role in self.roles.items() if group == "*" or group in groups}
        return max(given, key=ROLE_NAMES.index, default="")


def read_mail(environ: Mapping[str, str]) -> MailServer | None:
    """The mail server of STUDIO_EMAIL_URL; None where there is none."""
    value = environ.get("STUDIO_EMAIL_URL", "")
    if not value:
        return None
    # The value may hold a password, so no message repeats it.
    form = "write smtps://USER:PASSWORD@HOST, smtp+tls://USER:PASSWORD@HOST:587 or smtp://HOST."
    try:
        parts = urlsplit(value)
        port = parts.port or _MAIL_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ImproperlyConfigured(f"STUDIO_EMAIL_URL is not an address: {form}") from error
    if not port or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ImproperlyConfigured(f"STUDIO_EMAIL_URL is no address of a mail server: {form}")
    if parts.scheme == "smtp" and parts.password:
        raise ImproperlyConfigured(f"STUDIO_EMAIL_URL would send the password in plain text: {form}")
    sender = environ.get("STUDIO_EMAIL_FROM", "")
    if "@" not in sender or "\n" in sender:
        raise ImproperlyConfigured("STUDIO_EMAIL_FROM: write the address that mails come from.")
    return MailServer(
        host=parts.hostname,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp+tls",
        ssl=parts.scheme == "smtps",
        sender=sender,
    )


def read_provider(environ: Mapping[str, str]) -> Provider | None:
    """The provider of STUDIO_OIDC_ISSUER; None where there is none."""
    issuer = environ.get("STUDIO_OIDC_ISSUER", "").rstrip("/")
    if not issuer:
        return None
    parts = urlsplit(issuer)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or (parts.scheme != "https" and not (local and parts.scheme == "http")):
        raise ImproperlyConfigured("STUDIO_OIDC_ISSUER: write an address such as https://login.example.org.")
    for name in ("STUDIO_OIDC_CLIENT_ID", "STUDIO_OIDC_CLIENT_SECRET"):
        if not environ.get(name):
            raise ImproperlyConfigured(f"STUDIO_OIDC_ISSUER is set, so set {name}, too.")
    return Provider(
        issuer=issuer,
        client_id=environ["STUDIO_OIDC_CLIENT_ID"],
        secret=environ["STUDIO_OIDC_CLIENT_SECRET"],
        name=environ.get("STUDIO_OIDC_NAME", "") or (parts.hostname or ""),
        claim=environ.get("STUDIO_OIDC_GROUP_CLAIM", "") or "groups",
        roles=_roles(environ.get("STUDIO_OIDC_ROLES", "")),
    )


def _roles(value: str) -> dict[str, str]:
    roles: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in value.split(","))):
        group, equals, role = (word.strip() for word in part.rpartition("="))
        if not equals or not group or role not in ROLE_NAMES:
            raise ImproperlyConfigured(
                f"STUDIO_OIDC_ROLES holds {part!r}: write GROUP=ROLE with commas between, each role one of "
                f"{', '.join(ROLE_NAMES)}; *=viewer is everybody."
            )
        roles[group] = role
    if not roles:
        raise ImproperlyConfigured("STUDIO_OIDC_ROLES: write which group gets which role, or *=viewer.")
    return roles
