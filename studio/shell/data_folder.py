"""The data folder: made on the first start, with the secret key inside. Used by settings and commands."""

import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from studio.shell.environment import SECRET_LENGTH

# A folder with one of these is the studio's.
_OURS = ("secret_key", "studio.sqlite3", "address", "backups", "demo")


def make_data_folder(data: Path) -> None:
    """Make the data folder, readable by its owner alone, or say why that cannot be."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(data)
        with tempfile.TemporaryFile(dir=data):
            pass
    except OSError as error:
        raise _unwritable(data, error) from error


def _unwritable(data: Path, error: OSError) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"The data folder {data} cannot be written or made private ({error.strerror}): "
        "make it this user's own, make room on its disk, or name another one with --data DIR or STUDIO_DATA."
    )


def _make_private(data: Path) -> None:
    """Close the folder to others, and the files of earlier versions in it."""
    if data.stat().st_mode & 0o077:
        if any(data.iterdir()) and not any((data / name).exists() for name in _OURS):
            raise ImproperlyConfigured(
                f"The data folder {data} can be read by other users and holds other files: "
                "name a folder of the studio's own with --data DIR or STUDIO_DATA, or run chmod 700 on it."
            )
        data.chmod(0o700)
    for file in (*data.glob("studio.sqlite3*"), *data.glob("backups/*.zip")):
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def kept_secret(data: Path) -> str:
    """The secret key in the data folder, made on the first run (one key, even for two first runs at once)."""
    path = data / "secret_key"
    if not path.exists():
        make_data_folder(data)
        # Written aside and linked: nobody ever reads half a key, and of two writers the first one wins.
        aside = data / f".secret_key.{os.getpid()}"
        try:
            aside.unlink(missing_ok=True)
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(64))
                file.flush()
                os.fsync(file.fileno())
            os.link(aside, path)
        except FileExistsError:
            pass
        except OSError as error:
            raise _unwritable(data, error) from error
        finally:
            aside.unlink(missing_ok=True)
    try:
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{path} cannot be read: make it readable for this user, or remove it."
        ) from error
    if len(key) < SECRET_LENGTH:
        raise ImproperlyConfigured(f"{path} is too short to be a key: remove it and a new one is made.")
    return key
