"""The demo's workspaces: folders as MixSeek leaves them, whose runs used the stories' versions."""

import json
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from builder.files.reading import PROMPT_FILE
from builder.simulation import TASKS, Run, prompt_file_of, simulate
from studio.home.demo.agent import write_agent
from studio.home.demo.story import BRIEFING, RESEARCH, LabelStep, Story


@dataclass(frozen=True)
class Played:
    """Runs of one version: how many days ago each began, and how much the version helped."""

    number: int
    days_ago: Sequence[float]
    shift: float


@dataclass(frozen=True)
class HandEdit:
    """What somebody changed in the prompt file itself, and how long ago."""

    old: str
    new: str
    days_ago: float


@dataclass(frozen=True)
class DemoWorkspace:
    """A workspace that follows the ``production`` label of a story. Its last run's version is its file's."""

    slug: str
    name: str
    story: Story
    zone: str
    played: tuple[Played, ...]
    tasks: tuple[str, ...]
    running: bool
    edit: HandEdit | None = None
    agent: bool = False
    """Whether an agent with a system prompt of its own works there."""

    @property
    def runs(self) -> int:
        """How many the demo has of it."""
        return sum(len(played.days_ago) for played in self.played) + self.running

    @property
    def steps(self) -> tuple[LabelStep, ...]:
        """The moves of the label that were exported here: none before its first run, or after its last."""
        since, last = max(self.played[0].days_ago) + 1, self.played[-1].number
        return tuple(
            step
            for step in self.story.label_steps
            if step.label == FOLLOWED and step.days_ago <= since and step.number <= last
        )


FOLLOWED = "production"

RUNNING_NOTE = "running"
"""A file beside the demo's workspaces: where the reports of the run lie that is kept going."""
_SPREAD = 3.0
"""Of scores: little enough that a few runs tell a version that helps from one that does not."""
_RUNS_FOR, _PAUSE = timedelta(days=1), timedelta(minutes=1)

WORKSPACES = (
    DemoWorkspace(
        slug="research",
        name="調査 · research",
        story=RESEARCH,
        zone="Asia/Tokyo",
        played=(
            Played(1, (23, 21.5, 20.4), shift=-2.0),
            Played(2, (18.5, 17, 15.6, 14.2), shift=0.0),
            Played(3, (11.5, 10, 8.2, 5), shift=2.5),
            Played(4, (3.8, 3.1, 2.2, 0.9), shift=9.0),
        ),
        tasks=TASKS["ja"],
        running=True,
        agent=True,
    ),
    DemoWorkspace(
        slug="briefing",
        name="Briefing",
        story=BRIEFING,
        zone="UTC",
        played=(
            Played(2, (13.5, 12.4, 11.2, 9.8), shift=0.0),
            Played(3, (7.6, 7.1, 6.4, 6.0, 5.5), shift=-1.5),
            Played(4, (3.5, 3.1, 2.6, 2.0, 1.5), shift=5.0),
        ),
        tasks=TASKS["en"],
        running=False,
    ),
    DemoWorkspace(
        slug="research-lab",
        name="調査 · lab",
        story=RESEARCH,
        zone="Asia/Tokyo",
        played=(Played(4, (3.6, 1.4), shift=9.0),),
        tasks=TASKS["ja"][:2],
        running=False,
        edit=HandEdit(
            "冒頭に三行の要約を置いてください",
            "冒頭に五行の要約を置き、各行に出典を付けてください",
            days_ago=0.3,
        ),
    ),
    DemoWorkspace(
        slug="briefing-lab",
        name="Briefing · lab",
        story=BRIEFING,
        zone="UTC",
        played=(Played(5, (0.55, 0.5, 0.45), shift=2.0),),
        tasks=TASKS["en"],
        running=False,
        edit=HandEdit(
            "one page, conclusion first, no repetition.",
            "half a page, conclusion first, a source beside each figure.",
            days_ago=0.1,
        ),
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
    *_over, last = simulate(aside, _runs(demo, now), seed=11)
    _write_prompt_file(demo, aside / PROMPT_FILE, now)
    if demo.agent:
        write_agent(aside)
    if demo.running:
        (folder.parent / RUNNING_NOTE).write_text(f"{demo.slug}/logs/{last}", "utf-8")
    else:
        # A list of what was written last begins with the workspace in which something runs.
        finished = (now - timedelta(days=min(demo.played[-1].days_ago))).timestamp()
        os.utime(aside / "mixseek.db", (finished, finished))
    os.replace(aside, folder)


def keep_running(folder: Path, now: datetime) -> None:
    """Have the teams of the demo's run report anew, until the demo is old.

    Nobody plays on in the demo, and a run of which nothing is heard for 15 minutes counts as stopped.
    """
    note = folder / RUNNING_NOTE
    with suppress(OSError, ValueError, KeyError):
        if now.timestamp() - note.stat().st_mtime > _RUNS_FOR.total_seconds():
            note.unlink()
            return
        for file in folder.glob(f"{note.read_text('utf-8')}.*.progress.json"):
            report = json.loads(file.read_text("utf-8"))
            if (
                report["status"] == "running"
                and now.timestamp() - file.stat().st_mtime > _PAUSE.total_seconds()
            ):
                # Made aside: whoever reads meanwhile sees the whole report before or after.
                aside = file.with_suffix(".new")
                aside.write_text(
                    json.dumps(report | {"updated_at": now.isoformat()}, ensure_ascii=False), "utf-8"
                )
                os.replace(aside, file)


def exported_files(demo: DemoWorkspace, folder: Path) -> list[bytes]:
    """The prompt file after each export, as the folder's own file goes on from it."""
    head = (folder / PROMPT_FILE).read_bytes()[:200].decode(errors="replace")
    day = re.search(r"\d{4}-\d\d-\d\d", head)
    return _files(demo, date.fromisoformat(day[0]) if day else date.min)


def demo_file(demo: DemoWorkspace, folder: Path) -> bytes:
    """The prompt file as the demo made it."""
    return _edited(demo, exported_files(demo, folder)[-1])


def _edited(demo: DemoWorkspace, data: bytes) -> bytes:
    return data.replace(demo.edit.old.encode(), demo.edit.new.encode()) if demo.edit else data


def _files(demo: DemoWorkspace, day: date) -> list[bytes]:
    return [
        prompt_file_of(demo.story.chapters[step.number - 1].templates.by_kind, day) for step in demo.steps
    ]


def _write_prompt_file(demo: DemoWorkspace, path: Path, now: datetime) -> None:
    first, last = demo.steps[0], demo.steps[-1]
    data, days_ago = _files(demo, (now - timedelta(days=first.days_ago)).date())[-1], last.days_ago
    if demo.edit:
        days_ago = demo.edit.days_ago
    path.write_bytes(_edited(demo, data))
    changed = (now - timedelta(days=days_ago)).timestamp()
    os.utime(path, (changed, changed))


def _runs(demo: DemoWorkspace, now: datetime) -> list[Run]:
    runs = [
        Run(
            task=demo.tasks[number % len(demo.tasks)],
            started_at=now - timedelta(days=days),
            templates=demo.story.chapters[played.number - 1].templates.by_kind,
            zone=demo.zone,
            shift=played.shift,
            spread=_SPREAD,
            # The story is the same on every day: a version that helps in it is seen to help.
            dice=f"{demo.slug}/{played.number}/{number}",
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
                spread=_SPREAD,
                dice=f"{demo.slug}/running",
                state="running",
            )
        )
    return runs
