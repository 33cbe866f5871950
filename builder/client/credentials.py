"""The studio's address and a token: from the environment, or as `prompt-studio login` stored them."""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from builder.errors import ClientError
from builder.messages import message

URL, TOKEN = "PROMPT_STUDIO_URL", "PROMPT_STUDIO_TOKEN"

NONE = message(
    "client-no-studio",
    "No studio is configured",
    "接続先のスタジオが設定されていません",
    fix_en="Run `prompt-studio login URL`, or set PROMPT_STUDIO_URL and PROMPT_STUDIO_TOKEN.",
    fix_ja="`prompt-studio login URL` を実行するか、環境変数 PROMPT_STUDIO_URL と "
    "PROMPT_STUDIO_TOKEN を設定してください。",
)
NO_TOKEN = message(
    "client-no-token",
    "There is no token for {url}",
    "{url} のトークンがありません",
    fix_en="Run `prompt-studio login {url}`, or set PROMPT_STUDIO_TOKEN.",
    fix_ja="`prompt-studio login {url}` を実行するか、PROMPT_STUDIO_TOKEN を設定してください。",
)
NO_ADDRESS = message(
    "client-bad-address",
    "{url} is not the address of a studio",
    "{url} はスタジオのアドレスではありません",
    fix_en="Write it as https://studio.example.org or http://127.0.0.1:8000.",
    fix_ja="https://studio.example.org や http://127.0.0.1:8000 のように書いてください。",
)


@dataclass(frozen=True)
class Credentials:
    url: str
    token: str = field(repr=False)


def address(text: str) -> str:
    """The address of a studio, without what may follow it."""
    parts = urlsplit(text.strip().rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise ClientError(NO_ADDRESS, url=text)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def read_credentials(environ: Mapping[str, str]) -> Credentials:
    """What the environment says wins; each of the two by itself."""
    stored = _stored(environ)
    url = address(environ[URL]) if environ.get(URL) else stored.get("url", "")
    if not url:
        raise ClientError(NONE)
    # A stored token is for the studio that it was stored for.
    token = environ.get(TOKEN) or (stored.get("token", "") if stored.get("url") == url else "")
    if not token:
        raise ClientError(NO_TOKEN, url=url)
    return Credentials(url, token)


def store_credentials(credentials: Credentials, environ: Mapping[str, str]) -> Path:
    """Keep them in a file that is its owner's alone, whole or not at all."""
    path = _path(environ)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = json.dumps({"url": credentials.url, "token": credentials.token}, indent=2) + "\n"
    write_private(path, data.encode())
    return path


def write_private(path: Path, data: bytes) -> None:
    """A file with mode 0600 in a folder that is there, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _path(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME") or str(Path.home()), ".config")
    return Path(base) / "prompt-studio" / "credentials.json"


def _stored(environ: Mapping[str, str]) -> dict[str, str]:
    try:
        stored = json.loads(_path(environ).read_bytes())
    except (OSError, ValueError):
        return {}
    return {key: str(stored.get(key, "")) for key in ("url", "token")} if isinstance(stored, dict) else {}
