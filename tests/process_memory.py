"""The memory of a studio with all its processes, as the kernel counts it: PSS, in which a page that several
processes have in common counts once."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class ProcessMemory:
    """One process: what it is, its share of the memory, and what it holds alone, in bytes."""

    pid: int
    name: str
    pss: int
    own: int


def children(pid: int) -> set[int]:
    """What the process started itself and still runs."""
    found: set[int] = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found.update(map(int, listed.read_text(encoding="ascii").split()))
    return found


def descendants(pid: int) -> Iterator[int]:
    """The process and whatever was started below it and still runs."""
    yield pid
    for child in sorted(children(pid)):
        yield from descendants(child)


def memory_of(pid: int) -> list[ProcessMemory]:
    """Each process of the tree below ``pid``; one that ended meanwhile is left out."""
    return [found for each in descendants(pid) if (found := _memory(each))]


def total(processes: list[ProcessMemory]) -> int:
    return sum(process.pss for process in processes)


def _memory(pid: int) -> ProcessMemory | None:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        counted = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    kilobytes = {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB", counted, re.M)}
    if "Pss" not in kilobytes:
        return None
    own = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return ProcessMemory(pid, _name(command), kilobytes["Pss"] * 1024, own * 1024)


def _name(command: list[bytes]) -> str:
    words = [word.decode(errors="replace") for word in command]
    program = next((word for word in words if word.endswith(".py")), words[0])
    path = Path(program)
    return "server" if path.name == "manage.py" else f"{path.parent.name}/{path.name}"
