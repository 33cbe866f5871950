"""A small workspace with stored rounds, made by the project's own code."""

from datetime import UTC, datetime
from pathlib import Path

from builder.simulation import Run, simulate
from builder.template.defaults import DEFAULT_TEMPLATES

START = datetime(2026, 4, 1, 9, tzinfo=UTC)


def play_small_workspace(folder: Path) -> Path:
    """Two finished runs, one with ties and a writer in Tokyo, and one that goes on."""
    simulate(
        folder,
        [
            Run("社内規程の検索システムの要件を整理してください。", START),
            Run(
                "Compare three ways to cache prompts.",
                START.replace(day=2),
                rounds=4,
                ties=True,
                zone="Asia/Tokyo",
                races=0.5,
                system_prompt=True,
            ),
            Run("続いている調査", START.replace(day=3), state="running"),
        ],
        seed=11,
        prompt_file=DEFAULT_TEMPLATES,
    )
    return folder
