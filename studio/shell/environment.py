"""The environment variables of the studio: read and checked once, by settings; odd values are refused."""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

from builder.leaderboard import LARGEST
from studio.shell.proxies import Network

PACKAGE = Path(__file__).resolve().parents[1]
# A wheel has no manage.py beside the package; there the data belongs to the user, not to site-packages.
CHECKOUT = PACKAGE.parent if (PACKAGE.parent / "manage.py").is_file() else None

API_RATE = 600
SECRET_LENGTH = 50  # characters; fewer fail Django's own deployment check
# The studio speaks plain http itself: an https origin means that a proxy stands before it, usually here.
_LOCAL_PROXIES = ("127.0.0.0/8", "::1")
_POSTGRESQL_OPTIONS = {"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name"}


@dataclass(frozen=True)
class Environment:
    """The settings that a deployment chooses."""

    data: Path
    usual_data: Path
    """The data folder where nobody names another one."""
    debug: bool
    origins: tuple[str, ...]
    proxies: tuple[Network, ...]
    """Proxies that are believed about a person's address and scheme."""
    secret_key: str | None
    database: dict[str, Any] | None
    """The PostgreSQL server that `DATABASE_URL` names, as Django's settings have it; None for SQLite."""
    workspace_roots: tuple[Path, ...]
    """Folders below which workspaces lie; where there are none, folders are allowed while the studio runs."""
    largest_database: int
    """Bytes of a workspace's database that are copied; a larger one is not read."""
    batch_folder: Path | None
    """A folder that every server sees, for rows from other machines; None keeps them in the database."""
    api_rate: int
    """Requests that one token of the API may make in a minute."""
    skill_roots: tuple[Path, ...]
    """Folders outside of workspaces below which their settings may name folders of skills."""
    time_zone: str
    keep_audit: timedelta | None
    """How long entries of the audit are kept; None for ever."""
    keep_deliveries: timedelta | None
    """The same of webhooks' deliveries."""
    webhook_networks: tuple[Network, ...]
    """Networks of this machine or a private one that webhooks may be sent to."""
    mixseek_workspace: str
    """The folder that MixSeek itself is told to use; MixSeek's to judge, so an odd one is no error here."""

    def command(self, *words: str) -> str:
        """A command of this studio, as it is typed in a terminal that knows none of these settings."""
        program = "prompt-studio" if CHECKOUT is None else "python3 manage.py"
        data = () if self.data == self.usual_data else ("--data", str(self.data))
        return f"{program} {shlex.join((*words, *data))}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names of the origins, as Django's ALLOWED_HOSTS wants them."""
        names = [urlsplit(origin).hostname or "" for origin in self.origins]
        return tuple(f"[{name}]" if ":" in name else name for name in names)

    @property
    def https(self) -> bool:
        """True where every address of the studio is an https one."""
        return bool(self.origins) and all(origin.startswith("https://") for origin in self.origins)


def read_environment(environ: Mapping[str, str]) -> Environment:
    """Read and check every variable; raises ImproperlyConfigured with what to write instead."""
    usual_data = default_data(environ)
    data = _folder("STUDIO_DATA", environ["STUDIO_DATA"]) if environ.get("STUDIO_DATA") else usual_data
    origins = _origins(environ.get("STUDIO_ORIGINS", ""))
    return Environment(
        data=data,
        usual_data=usual_data,
        debug=_switch("STUDIO_DEBUG", environ.get("STUDIO_DEBUG", "")),
        origins=origins,
        proxies=_proxies(environ.get("STUDIO_PROXIES", ""), origins),
        secret_key=_secret(environ.get("STUDIO_SECRET_KEY", "")),
        database=_database(environ.get("DATABASE_URL", "")),
        largest_database=_megabytes("STUDIO_LARGEST_DATABASE", environ.get("STUDIO_LARGEST_DATABASE", "")),
        batch_folder=_folder("STUDIO_BATCH_FOLDER", environ["STUDIO_BATCH_FOLDER"])
        if environ.get("STUDIO_BATCH_FOLDER")
        else None,
        api_rate=_rate("STUDIO_API_RATE", environ.get("STUDIO_API_RATE", "")),
        workspace_roots=_roots(environ, "STUDIO_WORKSPACE_ROOTS"),
        skill_roots=_roots(environ, "STUDIO_SKILL_ROOTS"),
        time_zone=_time_zone(environ.get("STUDIO_TIME_ZONE", "")) or _machine_time_zone(environ),
        keep_audit=_days("STUDIO_KEEP_AUDIT", environ.get("STUDIO_KEEP_AUDIT", "")),
        keep_deliveries=_days("STUDIO_KEEP_DELIVERIES", environ.get("STUDIO_KEEP_DELIVERIES", "") or "30"),
        webhook_networks=_networks("STUDIO_WEBHOOK_NETWORKS", environ.get("STUDIO_WEBHOOK_NETWORKS", "")),
        mixseek_workspace=environ.get("MIXSEEK_WORKSPACE", ""),
    )


def default_data(environ: Mapping[str, str]) -> Path:
    """`data/` in a checkout, a per-user folder for an installed wheel."""
    if CHECKOUT is not None:
        return CHECKOUT / "data"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "prompt-studio"
    base = environ.get("XDG_DATA_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "share") / "prompt-studio"


def _switch(name: str, value: str) -> bool:
    if value in ("", "0"):
        return False
    if value == "1":
        return True
    raise ImproperlyConfigured(f"{name} is {value!r}: write 1 or 0.")


def _megabytes(name: str, value: str) -> int:
    if not value:
        return LARGEST
    if not (value.isascii() and value.isdigit() and 0 < int(value[:9]) == int(value)):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a number of megabytes, such as 4096.")
    return int(value) * 1024**2


def _rate(name: str, value: str) -> int:
    if not value:
        return API_RATE
    if not (value.isascii() and value.isdigit() and 0 < int(value[:9]) == int(value)):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a number of requests, such as {API_RATE}.")
    return int(value)


def _folder(name: str, value: str) -> Path:
    if "\0" in value:
        raise ImproperlyConfigured(f"{name} holds a NUL character: write the path of a folder.")
    path = Path(os.path.abspath(Path(value).expanduser()))
    if path.exists() and not path.is_dir():
        raise ImproperlyConfigured(f"{name} is {value!r}, which is not a folder: name a folder.")
    return path


def _roots(environ: Mapping[str, str], name: str) -> tuple[Path, ...]:
    parts = [part for part in environ.get(name, "").split(os.pathsep) if part]
    for part in parts:
        if not os.path.isabs(part):
            raise ImproperlyConfigured(f"{name} holds {part!r}: write absolute paths.")
    return tuple(_folder(name, part) for part in parts)


def _origins(value: str) -> tuple[str, ...]:
    origins = tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
    for origin in origins:
        try:
            parts = urlsplit(origin)
            odd = parts.path or parts.query or parts.fragment or "@" in parts.netloc or "*" in parts.netloc
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and not odd and parts.port != 0
        except ValueError:
            good = False
        if not good:
            raise ImproperlyConfigured(
                f"STUDIO_ORIGINS holds {origin!r}: "
                "write addresses like https://studio.example.org, with commas between."
            )
    return origins


def _proxies(value: str, origins: tuple[str, ...]) -> tuple[Network, ...]:
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not parts and any(origin.startswith("https://") for origin in origins):
        parts = list(_LOCAL_PROXIES)
    return _networks("STUDIO_PROXIES", ",".join(parts))


def _networks(name: str, value: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}: write addresses or networks such as 10.0.0.5, 192.168.1.0/24."
        ) from error


def _days(name: str, value: str) -> timedelta | None:
    """How long something is kept; None for ever."""
    if value in ("", "forever"):
        return None
    if not (value.isascii() and value.isdigit() and 0 < int(value[:6]) == int(value)):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a number of days, such as 365, or forever.")
    return timedelta(days=int(value))


def _secret(value: str) -> str | None:
    if value and len(value) < SECRET_LENGTH:
        raise ImproperlyConfigured(
            f"STUDIO_SECRET_KEY has {len(value)} characters: write {SECRET_LENGTH} or more random ones, "
            "or leave it out and a key is kept in the data folder."
        )
    return value or None


def _database(value: str) -> dict[str, Any] | None:
    if not value:
        return None
    # The value may hold a password, so no message repeats it.
    form = "write postgresql://USER:PASSWORD@HOST:PORT/NAME, or leave it out to use SQLite."
    try:
        parts = urlsplit(value)
        port = parts.port
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True) if parts.query else []
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not an address: {form}") from error
    if parts.scheme not in ("postgresql", "postgres"):
        raise ImproperlyConfigured(f"DATABASE_URL does not begin with postgresql://: {form}")
    name = unquote(parts.path[1:])
    if not name or "/" in name or parts.fragment:
        raise ImproperlyConfigured(f"DATABASE_URL names no database: {form}")
    for key, _ in options:
        if key not in _POSTGRESQL_OPTIONS:
            known = ", ".join(sorted(_POSTGRESQL_OPTIONS))
            raise ImproperlyConfigured(f"DATABASE_URL has the unknown option {key!r}: use one of {known}.")
    return {
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port) if port else "",
        "OPTIONS": dict(options),
    }


def _time_zone(value: str) -> str:
    if value and not _is_time_zone(value):
        raise ImproperlyConfigured(f"STUDIO_TIME_ZONE is {value!r}: write a zone name such as Asia/Tokyo.")
    return value


def _machine_time_zone(environ: Mapping[str, str]) -> str:
    # TZ belongs to the whole machine and may hold a form that only the C library knows: not ours to refuse.
    target = os.path.realpath("/etc/localtime")
    for name in (environ.get("TZ", ""), target.partition("/zoneinfo/")[2]):
        if name and _is_time_zone(name):
            return name
    return "UTC"


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found, a path out of the zone folder, a folder's name
        return False
    return True
