"""Charts: any numbers give a drawing that is well formed, within its frame, and said in words."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.shell.charts import Chart, Group, Series, Words, line_chart, strip_chart, swatches
from studio.shell.charts.lines import NAMED
from studio.shell.charts.scale import counting_scale, scale
from studio.shell.charts.svg import shortened, spread

WORDS = Words("Score by round", "Alpha leads with 91.", "Round", "Score")
SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, 50.0, 100.0, -1e308, 1e308, 5e-324]))


def parsed(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(chart.svg)


def texts(chart: Chart) -> list[str]:
    return ["".join(each.itertext()) for each in parsed(chart).iter("text")]


def numbers(chart: Chart) -> list[float]:
    """Every number of the drawing's geometry."""
    found = []
    for element in parsed(chart).iter():
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "d", "width", "height"):
            found += [float(value) for value in re.findall(r"-?[\d.]+", element.get(name, ""))]
    return found


@given(st.lists(st.lists(NUMBERS, max_size=6), max_size=30))
def test_any_scores_give_lines_within_the_frame(scores: list[list[float | None]]) -> None:
    series = [Series(f"team {at}", tuple(enumerate(values, start=1))) for at, values in enumerate(scores)]
    chart = line_chart("c", series, WORDS)
    finite = [value for values in scores for value in values if value is not None and math.isfinite(value)]
    assert bool(chart) == bool(finite)
    if chart:
        assert all(-20 <= number <= 800 for number in numbers(chart))
        assert chart.left_out == sum(map(len, scores)) - len(finite)


@given(st.lists(NUMBERS, max_size=40))
def test_any_values_give_strips_within_the_frame(values: list[float | None]) -> None:
    chart = strip_chart("s", [Group("all", tuple(values)), Group("none", ())], WORDS)
    assert bool(chart) == any(value is not None and math.isfinite(value) for value in values)
    if chart:
        assert all(-20 <= number <= 800 for number in numbers(chart))


def test_a_chart_has_a_name_and_a_description_for_those_who_do_not_see_it() -> None:
    drawn = parsed(line_chart("runs", [Series("Alpha", ((1, 80.0),))], WORDS))
    assert drawn.get("role") == "img" and drawn.get("aria-labelledby") == "runs-title runs-desc"
    assert [drawn[0].text, drawn[1].text] == ["Score by round", "Alpha leads with 91."]


def test_names_out_of_a_database_are_no_markup() -> None:
    chart = line_chart("c", [Series("<script>&\"'", ((1, 1.0),))], WORDS)
    assert "<script" not in chart.svg
    assert any("<script>" in text for text in texts(chart))


def test_each_line_is_told_apart_by_more_than_colour() -> None:
    series = [Series(f"t{at}", ((1, at), (2, at + 1.0))) for at in range(NAMED)]
    drawn = parsed(line_chart("c", series, WORDS))
    lines = [each for each in drawn.iter("path") if each.get("class") == "line"]
    assert len({each.get("stroke-dasharray") for each in lines}) == NAMED
    marks = [
        (each.tag, each.get("class"), re.sub(r"[\d.]+", "n", each.get("d", "")))
        for group in drawn.iter("g")
        if group.get("class", "").startswith("series")
        for each in [child for child in group if child.get("class", "").startswith("mark")][:1]
    ]
    assert len({(tag, kind, shape.count("L"), shape) for tag, kind, shape in marks}) >= 5
    assert len(set(swatches(NAMED))) == NAMED


def test_lines_beyond_those_that_can_be_told_apart_are_drawn_without_a_name() -> None:
    series = [Series(f"team-{at:02}", ((1, at), (2, 40.0 - at))) for at in range(25)]
    chart = line_chart("c", series, WORDS)
    assert chart.left_unnamed == 25 - NAMED
    others = [each for each in parsed(chart).iter("text") if each.get("class") == "raised-name"]
    assert len(others) == 25 - NAMED, "shown while somebody points at the line"
    named = [text for text in texts(chart) if "team-" in text]
    assert len(named) == NAMED + len(others)
    assert len([g for g in parsed(chart).iter("g") if g.get("class", "").startswith("series")]) == 25


def test_labels_of_equal_scores_stand_apart() -> None:
    series = [Series(f"t{at}", ((1, 50.0), (2, 70.0))) for at in range(NAMED)]
    labels = [each for each in parsed(line_chart("c", series, WORDS)).iter("text") if len(each) == 3]
    places = sorted(float(each.get("y", "")) for each in labels)
    assert len(places) == NAMED
    assert all(after - before >= 14 for before, after in itertools.pairwise(places))


def test_a_round_without_a_score_breaks_the_line() -> None:
    series = [Series("t", ((1, 1.0), (2, None), (3, 3.0), (4, 4.0)))]
    path = next(
        each for each in parsed(line_chart("c", series, WORDS)).iter("path") if each.get("class") == "line"
    )
    assert [path.get("d", "").count(step) for step in "ML"] == [2, 1]


def test_a_thousand_rounds_stay_a_small_drawing() -> None:
    series = [
        Series(f"t{at}", tuple((n, float((n * 7 + at) % 50)) for n in range(1, 5001))) for at in range(8)
    ]
    assert len(line_chart("c", series, WORDS).svg) < 200_000


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([61.2, 84.9], ["60", "65", "70", "75", "80", "85"]),
        ([-12.0, 130.0], ["−50", "0", "50", "100", "150"]),
        ([55.0, 67.0], ["55.0", "57.5", "60.0", "62.5", "65.0", "67.5"]),
        ([0.1, 0.3], ["0.10", "0.15", "0.20", "0.25", "0.30"]),
        ([70.0, 70.0], ["66", "68", "70", "72", "74"]),
    ],
)
def test_ticks_are_round_numbers(values: list[float], labels: list[str]) -> None:
    found = scale(values, 0.0, 100.0)
    assert [found.label(tick) for tick in found.ticks] == labels


def test_rounds_are_whole_and_one_round_stands_in_the_middle() -> None:
    assert counting_scale(1, 1, 0.0, 100.0).at(1) == 50.0
    assert counting_scale(1, 3, 0.0, 100.0).ticks == (1.0, 2.0, 3.0)
    assert len(counting_scale(1, 500, 0.0, 100.0).ticks) <= 13


@given(st.lists(st.floats(-50, 150), max_size=20))
def test_spread_places_keep_their_order_their_distance_and_the_bounds(wanted: list[float]) -> None:
    places = spread(wanted, 5.0, 0.0, 100.0)
    pairs = sorted(zip(wanted, places, strict=True))
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)
    assert all(low <= high + 1e-6 for (_, low), (_, high) in itertools.pairwise(pairs))
    ordered = sorted(places)
    assert all(after - before >= 4.99 for before, after in itertools.pairwise(ordered))


def test_long_names_are_cut_by_the_room_they_take() -> None:
    assert shortened("Beta Analysts", 18) == "Beta Analysts"
    assert shortened("深掘りチーム東京支店", 10) == "深掘りチ…"
    assert shortened("x" * 50, 10) == "x" * 9 + "…"


def test_points_lead_to_their_rounds_and_tab_stops_once_at_each_line() -> None:
    series = [
        Series(f"team-{at:02}", ((1, 10.0 + at), (2, 20.0), (3, None)), {1: f"/{at}/1/", 2: f"/{at}/2/"})
        for at in range(30)
    ]
    drawn = parsed(line_chart("c", series, WORDS))
    links = list(drawn.iter("a"))
    assert {link.get("href") for link in links} == {
        f"/{at}/{number}/" for at in range(30) for number in (1, 2)
    }
    stops = [link for link in links if link.get("tabindex") != "-1"]
    assert {link.get("href") for link in stops} == {f"/{at}/2/" for at in range(30)}
    assert {link.get("aria-label") for link in stops} >= {"team-29 · round 2 · 20.00"}
    # An image has no parts for a screen reader; a group of links does.
    assert drawn.get("role") == "group"
    assert parsed(line_chart("c", [Series("t", ((1, 1.0),))], WORDS)).get("role") == "img"
