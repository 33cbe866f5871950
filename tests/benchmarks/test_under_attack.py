"""How long health checks and previews take while a studio is attacked, beside the same studio in quiet.

Run with ``-s`` for the ratios; twice the quiet time is the goal.
"""

import statistics
from collections.abc import Iterator

import pytest

from tests.studio.besieged import (
    MANY_PROBLEMS,
    Person,
    Watch,
    half_sent_headers,
    start,
    uploads,
    watch,
    watch_during,
)
from tests.studio_process import Studio

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    started = start(tmp_path_factory.mktemp("attacked") / "data")
    yield started
    started.process.kill()
    started.process.communicate()


def told(name: str, quiet: Watch, attacked: Watch) -> None:
    for what in ("health", "previews"):
        before, during = getattr(quiet, what), getattr(attacked, what)
        middle = [statistics.median(times) for times in (before, during)]
        worst = [statistics.quantiles(times, n=20)[-1] for times in (before, during)]
        print(
            f"\n{name}, {what}: median {middle[0] * 1000:.1f} → {middle[1] * 1000:.1f} ms"
            f" ({middle[1] / middle[0]:.1f}×), p95 {worst[0] * 1000:.1f} → {worst[1] * 1000:.1f} ms"
            f" ({worst[1] / worst[0]:.1f}×), {len(during)} answers"
        )


def test_previews_while_others_attack(studio: Studio) -> None:
    carla = Person(studio, "carla")
    attackers = [Person(studio, "anna"), Person(studio, "ben")]
    watch(carla, lambda: False, at_least=20)
    quiet = watch(carla, lambda: False, at_least=60)
    with half_sent_headers(studio):
        told("110 half-sent headers", quiet, watch(carla, lambda: False, at_least=60))
    with uploads(attackers) as (under_way, answers):
        told("20 uploads of 60,000 tables", quiet, watch(carla, under_way))
    assert {answer.status for answer in answers} <= {200, 503}
    seen, _ = watch_during(carla, lambda: attackers[0].preview(MANY_PROBLEMS), at_least=60)
    told("27,000 problems", quiet, seen)
