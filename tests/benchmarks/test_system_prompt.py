"""500 skills and 50 MB of bootstrap files, beside the bare reading of the bytes that any build must read.

Run with ``-s`` for the figures.
"""

import time
from pathlib import Path
from statistics import median

from pytest_benchmark.fixture import BenchmarkFixture

from builder.system.builder import SystemPromptBuilder
from builder.system.cache_report import CacheReport
from tests.builder.agent_workspaces import MACHINE, add_skill, write

SKILLS = 500
FILES = ("IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "HEARTBEAT.md")
MEGABYTES_EACH = 10
LIMIT = 20_000
FRONT_MATTER = 4 * 1024


def large_workspace(folder: Path) -> Path:
    line = "毎朝、前日の記録を読み、次の一手を決める。 Read the notes of the day before.\n"
    for name in FILES:
        write(folder / name, line * (MEGABYTES_EACH * 1_000_000 // len(line.encode()) + 1))
    for number in range(SKILLS):
        body = f"## Step\n\nCall the tool {number} and write down what it answers.\n" * 120
        add_skill(folder, f"skill-{number:03}", f"Search, read and label messages of account {number}", body)
    return folder


def bare_reading(folder: Path) -> int:
    """The heads of the files, as much as the limit may need, and of the skills: nothing is made of them."""
    total = 0
    for name in FILES:
        with open(folder / name, "rb") as file:
            total += len(file.read(LIMIT * 4))
    for path in (folder / "skills").iterdir():
        with open(path / "SKILL.md", "rb") as file:
            total += len(file.read(FRONT_MATTER))
    return total


def seconds(folder: Path) -> float:
    started = time.perf_counter()
    bare_reading(folder)
    return time.perf_counter() - started


def test_building_a_large_workspace(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    folder = large_workspace(tmp_path / "ws")
    builder = SystemPromptBuilder(folder, {"skills": {"max_chars": 200_000}}, MACHINE)
    built = benchmark(builder.build)
    bare = median(seconds(folder) for _ in range(20))
    took = benchmark.stats["median"]
    assert len(built.skills) == SKILLS and {use.status for use in built.files} == {"truncated"}
    raw = sum(use.size or 0 for use in built.files)
    print(
        f"\n{SKILLS} skills, {raw / 1e6:.0f} MB of files: {took * 1e3:.0f} ms,"
        f" {took / bare:.1f} times the bare reading of {bare_reading(folder) / 1e6:.1f} MB"
        f" ({bare * 1e3:.0f} ms)"
    )


def test_what_the_figures_of_a_large_prompt_cost(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    folder = large_workspace(tmp_path / "ws")
    builder = SystemPromptBuilder(folder, {"skills": {"max_chars": 200_000}}, MACHINE)

    def figures() -> tuple[int, int, float]:
        built = builder.build()
        tokens = sum(section.tokens.tokens for section in built.included)
        return built.tokens.tokens, tokens, CacheReport(built, built).ratio

    whole, parts, ratio = benchmark(figures)
    assert ratio == 1.0 and abs(whole - parts) < 100
    took = benchmark.stats["median"]
    print(f"\n{whole} tokens of {len(FILES)} files and {SKILLS} skills: {took * 1e3:.0f} ms")
