"""Means with bars: joined where they compare, broken where not, legible with few runs and many points."""

import re

from builder.results.statistics import Estimate
from studio.shell.charts import Words
from studio.shell.charts.intervals import Point, Stretch, interval_chart

WORDS = Words("Score over versions", "Two versions.", "Version", "Mean")
SURE = Estimate(80.0, 5, 78.0, 82.0)


def point(name: str, estimate: Estimate = SURE) -> Point:
    return Point(name, estimate, f"{name} says")


def draw(*stretches: Stretch) -> str:
    return str(interval_chart("c", stretches, WORDS).svg)


def test_nothing_to_draw_is_no_chart() -> None:
    assert not interval_chart("c", [], WORDS)
    assert not interval_chart("c", [Stretch((point("v1", Estimate(float("nan"), 1)),))], WORDS)


def test_only_points_of_one_stretch_are_joined() -> None:
    svg = draw(Stretch((point("v1"), point("v2"))), Stretch((point("v3"),), "v3 changed <it>.", look=1))
    assert svg.count('class="line"') == 1
    assert svg.count('class="basis-break"') == 1 and "v3 changed &lt;it&gt;." in svg
    # Told apart without colour: another marker.
    assert svg.count("<circle") == 2 and svg.count('<path class="mark"') == 1


def test_a_ruler_that_comes_back_looks_as_before() -> None:
    svg = draw(Stretch((point("v1"),)), Stretch((point("v2"),), look=1), Stretch((point("v3"),)))
    assert re.findall(r"interval look-\d", svg) == ["interval look-1", "interval look-2", "interval look-1"]


def test_a_mean_of_one_run_has_no_bar() -> None:
    assert "whisker" not in draw(Stretch((point("v1", Estimate(80.0, 1)),)))
    assert draw(Stretch((point("v1"),))).count('class="whisker"') == 3


def test_two_runs_do_not_flatten_the_others_and_their_bar_stays_open() -> None:
    svg = draw(Stretch((point("v1"), point("v2", Estimate(80.0, 2, -900.0, 1060.0)))))
    assert "1,000" not in svg and "78" in svg
    assert svg.count('class="whisker"') == 4


def test_many_points_leave_out_figures_and_names_but_the_newest() -> None:
    svg = draw(Stretch(tuple(point(f"v{number}") for number in range(1, 42))))
    assert "point-score" not in svg
    assert ">v41<" in svg and ">v40<" not in svg and svg.count("<title>") == 41


def test_points_are_links_and_tab_stops_at_the_end_of_each_line() -> None:
    linked = [Point(name, SURE, f"{name} says", f"/{name}/") for name in ("v1", "v2")]
    svg = draw(Stretch(tuple(linked)))
    assert re.findall(r'<a href="([^"]+)" ([^>]+)>', svg) == [
        ("/v1/", 'tabindex="-1"'),
        ("/v2/", 'aria-label="v2 says"'),
    ]
    assert 'role="group"' in svg and 'role="img"' in draw(Stretch((point("v1"),)))
