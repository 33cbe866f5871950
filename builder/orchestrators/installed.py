"""The installed MixSeek: its version, read from names of folders alone. Used by the studio's workspaces, and
by pinned runs for the program they start."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

_PACKAGE = re.compile(r"mixseek_core-([0-9][0-9A-Za-z.]{0,40})\.dist-info")
_MOST_ENTRIES = 5_000


def version_in(environment: Path) -> str:
    """The version of MixSeek in a virtual environment; empty where none is seen."""
    library = environment / "lib"
    for python in _names(library):
        if python.startswith("python"):
            for name in _names(library / python / "site-packages"):
                if package := _PACKAGE.fullmatch(name):
                    return package[1]
    return ""


def version_of_program(program: str, environ: Mapping[str, str], working_directory: Path) -> str:
    """The version beside a program as the shell would find it: `BIN/mixseek` belongs to the environment
    that holds BIN. Empty where it cannot be told."""
    found = shutil.which(program, path=environ.get("PATH"))
    if found is None:
        return ""
    return version_in((working_directory / found).parent.parent)


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False))
    except OSError:
        return []
