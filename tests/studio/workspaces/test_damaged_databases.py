"""A `mixseek.db` that was cut off or whose bits flipped: pages show what is left, or say what is wrong."""

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from studio.models import Workspace
from tests.builder.workspaces import play_small_workspace
from tests.fuzzing import share_of
from tests.studio.clock import NOW

SAID = re.compile(
    r"cannot be (opened|read)|is not a (DuckDB )?database|is damaged|is quarantined|was refused|is missing|"
    r"made by a newer|No runs yet|Read the database again"
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_small_workspace(tmp_path_factory.mktemp("played") / "a")


def damaged(data: bytes, seed: int) -> bytes:
    """Cut off anywhere, or with bits, bytes or whole blocks that are not what they were."""
    chance = random.Random(seed)
    changed = bytearray(data)
    match seed % 4:
        case 0:
            return data[: chance.randrange(len(data))]
        case 1:
            for _ in range(chance.choice((1, 3, 30))):
                changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 2:
            start, length = chance.randrange(len(data)), chance.choice((1, 100, 4096, 262_144))
            changed[start : start + length] = chance.randbytes(len(changed[start : start + length]))
        case _:
            # The headers are the first three blocks of 4 KiB.
            for _ in range(chance.choice((1, 4, 16))):
                changed[chance.randrange(12_288)] = chance.randrange(256)
    return bytes(changed)


def look(signed_in: Client, played: Path, folder: Path, seed: int) -> str:
    """Whether the pages of such a workspace show its runs, or say what is wrong; never anything else."""
    shutil.copytree(played, folder)
    database = folder / "mixseek.db"
    database.write_bytes(damaged(database.read_bytes(), seed))
    workspace = Workspace.objects.create(slug=f"w{seed}", name="W", path=str(folder), created_at=NOW)
    seen = set()
    for address in (f"/workspaces/w{seed}/", f"/workspaces/w{seed}/runs/", "/workspaces/"):
        answer = signed_in.get(address)
        page = answer.content.decode()
        assert answer.status_code == 200, (seed, address, answer.status_code)
        shows, says = re.search(rf"/workspaces/w{seed}/runs/[0-9a-f]{{8}}", page), SAID.search(page)
        assert shows or says or address == "/workspaces/", (seed, address, page)
        seen.add("says" if says else "shows")
    workspace.delete()
    shutil.rmtree(folder)
    return "says" if "says" in seen else "shows"


def test_a_damaged_database_is_shown_or_said(
    signed_in: Client, played: Path, tmp_path: Path, settings: Any
) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    assert {look(signed_in, played, tmp_path / "w", seed) for seed in range(8)} >= {"says"}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 100))
def test_hundreds_of_damaged_databases(
    signed_in: Client, played: Path, tmp_path: Path, settings: Any, start: int
) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    for seed in range(start, start + share_of(100)):
        look(signed_in, played, tmp_path / "w", seed)
