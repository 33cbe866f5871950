"""10,000 stored rounds and 50 versions: how long tracing takes, and what a second pass costs beside it.

Run with ``-s`` for the figures.
"""

import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_benchmark.fixture import BenchmarkFixture

from builder.simulation import TASKS, Run, simulate
from studio.home.demo.story import RESEARCH
from studio.models import PromptSet, RunResult, Workspace
from studio.results.attribution import attribute_workspace
from tests.benchmarks.one_side import RUNS, VERSIONS, team_templates


@pytest.mark.django_db
def test_attribution(benchmark: BenchmarkFixture, tmp_path: Path, settings: object) -> None:
    settings.STUDIO_WORKSPACE_ROOTS = [tmp_path]  # type: ignore[attr-defined]
    settings.STUDIO_DATA = tmp_path / "data"  # type: ignore[attr-defined]
    now = timezone.now()
    person = User.objects.create_user("yuki")
    prompt_set = PromptSet.objects.create(slug="s", name="S", created_at=now, changed_at=now)
    last = RESEARCH.chapters[-1].templates
    texts = [replace(last, team_user_prompt=text) for text in team_templates(last.team_user_prompt)]
    for base, each in enumerate(texts):
        prompt_set.save_version(each, base=base, message="m", author=person, at=now)
    folder = tmp_path / "ws"
    folder.mkdir()
    runs = [
        Run(
            TASKS["ja"][number % len(TASKS["ja"])],
            now - timedelta(hours=RUNS - number),
            rounds=4,
            templates=texts[number % VERSIONS].by_kind,
            zone="Asia/Tokyo",
        )
        for number in range(RUNS)
    ]
    simulate(folder, runs, seed=5)
    workspace = Workspace.objects.create(slug="w", name="W", path=str(folder), created_at=now)
    began = time.perf_counter()
    first = attribute_workspace(workspace, now)
    whole = time.perf_counter() - began
    assert first.problem is None and first.rounds == 16 * RUNS
    assert RunResult.objects.filter(found="exact").count() == RUNS
    assert benchmark(lambda: attribute_workspace(workspace, now).runs) == 0
    again = benchmark.stats.stats.median
    print(
        f"\n{first.rounds} rounds × {VERSIONS} versions: {whole:.1f} s; again: {again:.3f} s,"
        f" 1/{whole / again:.0f} of it"
    )
