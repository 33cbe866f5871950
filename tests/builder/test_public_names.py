"""What ``import builder`` gives, and what it does not cost."""

import subprocess
import sys
from pathlib import Path

import pytest

import builder

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", builder.__all__)
def test_public_name_is_there_and_is_the_one_of_its_module(name: str) -> None:
    public = getattr(builder, name)
    room = sys.modules[getattr(public, "__module__", None) or "builder.template.dialect"]
    assert room.__name__.startswith("builder.")
    assert name.isupper() or getattr(room, name) is public


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = "import builder, sys; print([name for name in sys.modules if name.startswith('builder.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_contexts_and_builder_come_without_duckdb() -> None:
    code = "import sys; from builder import RoundState, UserPromptBuilder; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_other_name_is_made_up() -> None:
    assert not hasattr(builder, "nothing")
