"""The demo's workspaces: folders as MixSeek leaves them, whose runs used the stories' versions."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from builder.simulation import TASKS, Run, simulate
from studio.demo.story import BRIEFING, RESEARCH, Story


@dataclass(frozen=True)
class Played:
    """Runs of one version: how many days ago each began, and how much the version helped."""

    number: int
    days_ago: Sequence[float]
    shift: float


@dataclass(frozen=True)
class DemoWorkspace:
    """A workspace that follows the ``production`` label of a story."""

    slug: str
    name: str
    story: Story
    zone: str
    played: tuple[Played, ...]
    tasks: tuple[str, ...]
    running: bool


WORKSPACES = (
    DemoWorkspace(
        slug="research",
        name="調査 · research",
        story=RESEARCH,
        zone="Asia/Tokyo",
        played=(
            Played(1, (23, 21.5, 19, 15), shift=-2.0),
            Played(3, (11.5, 10, 8.2, 5), shift=2.5),
            Played(4, (3.8, 3.1, 2.2, 0.9), shift=5.0),
        ),
        tasks=TASKS["ja"],
        running=True,
    ),
    DemoWorkspace(
        slug="briefing",
        name="Briefing",
        story=BRIEFING,
        zone="UTC",
        played=(Played(3, (7.6, 6.4, 5.5), shift=0.0), Played(4, (3.5, 2.6), shift=1.0)),
        tasks=TASKS["en"],
        running=False,
    ),
)


def make_workspace(demo: DemoWorkspace, folder: Path, now: datetime) -> None:
    """Play the runs into the folder; one that is there already stays as it is."""
    if folder.exists():
        return
    # Made aside and renamed, so that a start that is killed leaves no half workspace behind.
    aside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    current = demo.story.chapters[demo.played[-1].number - 1].templates
    simulate(aside, _runs(demo, now), seed=11, prompt_file=current.by_kind)
    os.replace(aside, folder)


def _runs(demo: DemoWorkspace, now: datetime) -> list[Run]:
    runs = [
        Run(
            task=demo.tasks[number % len(demo.tasks)],
            started_at=now - timedelta(days=days),
            templates=demo.story.chapters[played.number - 1].templates.by_kind,
            zone=demo.zone,
            shift=played.shift,
            # One run with a team that broke off: real lists have them.
            state="partial_failure" if (played.number, number) == (3, 2) else "completed",
        )
        for played in demo.played
        for number, days in enumerate(played.days_ago)
    ]
    if demo.running:
        last = demo.played[-1]
        runs.append(
            Run(
                task=demo.tasks[-1],
                started_at=now - timedelta(minutes=4),
                templates=demo.story.chapters[last.number - 1].templates.by_kind,
                zone=demo.zone,
                rounds=5,
                shift=last.shift,
                state="running",
            )
        )
    return runs
