"""The pages of a compiled library, given back once what they hold was read. Used for tokenizers, whose
library carries its vocabularies inside."""

import ctypes
import re
from pathlib import Path

_DONT_NEED = 4
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r--p \S+ \S+ \S+ +(/.*)$")
_ANY_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ ")


def give_back(library: str) -> None:
    """Let go of the read-only pages of this file; whoever reads one of them gets it from the file again.

    Tens of megabytes of a vocabulary are read once, and would count as the process's memory ever after.
    """
    for start, end in _unchanged(library):
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _DONT_NEED)


def _unchanged(library: str) -> list[tuple[int, int]]:
    """Where the file is mapped and nothing was changed since: what the linker filled in is in no file."""
    changed: dict[tuple[int, int], int] = {}
    place: tuple[int, int] | None = None
    try:
        lines = Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []  # no Linux: other systems take such pages back by themselves when they lack memory
    for line in lines:
        if _ANY_MAPPING.match(line):
            found = _MAPPING.match(line)
            place = (int(found[1], 16), int(found[2], 16)) if found and found[3] == library else None
        elif place and line.startswith(("Anonymous:", "Swap:")):
            changed[place] = changed.get(place, 0) + int(line.split()[1])
    return [place for place, kilobytes in changed.items() if kilobytes == 0]
