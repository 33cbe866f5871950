"""Names of the files that an agent reports. Used by the agent, and by the studio before it keeps a file."""

from pathlib import PurePosixPath

from builder.files.toml_file import MAX_FILE_BYTES
from builder.leaderboard import DATABASE_NAME

MOST_FILES = 6_000
LARGEST_FILE = MAX_FILE_BYTES
_LONGEST_NAME, _LONGEST_PART = 500, 200


def is_shared_name(name: str) -> bool:
    """Whether a file of a workspace may be called so: inside it, not hidden, not the database."""
    path = PurePosixPath(name)
    return (
        0 < len(name) <= _LONGEST_NAME
        and str(path) == name
        and not path.is_absolute()
        and name.isprintable()
        and not any(part.startswith(".") or len(part.encode()) > _LONGEST_PART for part in path.parts)
        and not is_database(path)
    )


def is_database(name: PurePosixPath) -> bool:
    return name.parts[0].lower().startswith(DATABASE_NAME)
