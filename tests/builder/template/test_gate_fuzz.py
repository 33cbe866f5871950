"""What the gate accepts does no harm where there is no sandbox, and renders as within one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzzing import share_of

ROOT = Path(__file__).parents[3]


def arena(first: int, count: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.builder.unsandboxed_arena",
        str(first),
        str(count),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    findings: dict[str, Any] = json.loads(done.stdout)
    return findings


def assert_harmless(findings: dict[str, Any], count: int) -> None:
    assert findings["bad"] == []
    counts = findings["counts"]
    assert counts["accepted"] + counts["refused"] == count
    # The generator must neither be tame nor hopeless.
    assert counts["refused"] > count / 20
    assert counts["rendered"] > count / 2
    assert counts.get("too long", 0) < count / 200


def test_accepted_templates_are_harmless_without_a_sandbox() -> None:
    assert_harmless(arena(0, 250), 250)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(share_of(25)))
def test_very_many_accepted_templates_are_harmless_without_a_sandbox(part: int) -> None:
    """With --thorough a hundred thousand."""
    count = 4_000
    assert_harmless(arena(part * count, count), count)
