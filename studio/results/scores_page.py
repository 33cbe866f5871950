"""The scores of a set's versions: a chart, a table and what keeps parts of them from being compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from builder.results.statistics import Estimate
from studio.models import PromptSet
from studio.results.round_scores import RoundScore, rounds_of
from studio.results.scoring_basis import Ruler, RulerChange, change_between
from studio.results.tables import rounds_table, versions_table
from studio.results.version_scores import NotCounted, VersionScore, not_counted, scores_of, versions_that_ran
from studio.shell.charts import Chart, Series, Words, line_chart
from studio.shell.charts.intervals import Point, Stretch, interval_chart
from studio.shell.downloads import Table
from studio.shell.numbers import score

VERSIONS_PER_PAGE = 40
VERSIONS_IN_A_FILE = 1_000
VERSIONS_BY_ROUND = 6
"""Lines over the rounds: more could not be told apart."""


@dataclass(frozen=True)
class VersionRow:
    """A version and its figures; ``broken`` where the one below it was measured with another ruler."""

    score: VersionScore
    message: str
    broken: RulerChange | None = None


@dataclass(frozen=True)
class ScorePage:
    """What the page shows, the newest version first."""

    rows: tuple[VersionRow, ...]
    older: int | None
    chart: Chart
    left_out: NotCounted
    by_round: tuple[tuple[int, list[RoundScore]], ...] = ()
    """For the newest versions that one ruler measured."""
    rounds_chart: Chart = Chart()  # noqa: RUF009 (frozen)

    @property
    def is_split(self) -> bool:
        return any(row.broken for row in self.rows)

    @property
    def round_numbers(self) -> list[tuple[int, list[RoundScore | None]]]:
        """By round number, the figures of each version."""
        figures = [{each.number: each for each in rounds} for _, rounds in self.by_round]
        numbers = sorted({number for each in figures for number in each})
        return [(number, [each.get(number) for each in figures]) for number in numbers]


def score_page(
    prompt_set: PromptSet, *, before: int | None, anyway: bool, most: int = VERSIONS_PER_PAGE
) -> ScorePage:
    """The versions that ran; none of the others has anything to say here."""
    numbers = versions_that_ran(prompt_set, before=before, most=most + 1)
    scores = scores_of(prompt_set, numbers, anyway=anyway)
    shown = [scores[number] for number in numbers[:most]]
    older = numbers[most - 1] if len(numbers) > most else None
    messages = dict(
        prompt_set.versions.filter(number__in=numbers[:most]).values_list("number", "message").order_by()
    )
    rows = tuple(
        VersionRow(each, messages[each.number], _broken(_before(each, scores), each)) for each in shown
    )
    by_round = _by_round(prompt_set, shown)
    return ScorePage(
        rows, older, _chart(shown[::-1], rows), not_counted(prompt_set), by_round, _rounds_chart(by_round)
    )


def _before(score: VersionScore, scores: dict[int, VersionScore]) -> VersionScore | None:
    return scores.get(score.change.old) if score.change else None


def _broken(old: VersionScore | None, new: VersionScore) -> RulerChange | None:
    """Where the means in the table and the chart are of different rulers, whatever runs they share."""
    if old is None or old.main is None or new.main is None:
        return None
    if new.change and new.change.ruler:
        return new.change.ruler
    return change_between((old.number, old.main.ruler), (new.number, new.main.ruler), {})


# --- charts ------------------------------------------------------------------------------


def _chart(scores: Sequence[VersionScore], rows: Sequence[VersionRow]) -> Chart:
    because = {row.score.number: row.broken.why for row in rows if row.broken}
    looks: dict[Ruler, int] = {}
    stretches = []
    for ruler, some in groupby((each for each in scores if each.main), key=_ruler):
        points = list(some)
        look = looks.setdefault(ruler, len(looks))
        stretches.append(
            Stretch(tuple(_point(each) for each in points), because.get(points[0].number, ""), look)
        )
    if not stretches:
        return Chart()
    words = Words(
        title=_("Score over versions"),
        description=" ".join(point.says + "." for stretch in stretches for point in stretch.points),
        across=_("Version"),
        up=_("Mean best score of a run (bars: 95 %)"),
    )
    return interval_chart("versions-chart", stretches, words)


def _ruler(score: VersionScore) -> Ruler:
    assert score.main is not None
    return score.main.ruler


def _point(version: VersionScore) -> Point:
    assert version.main is not None
    return Point(
        f"v{version.number}", version.main.estimate, f"v{version.number}: {spoken(version.main.estimate)}"
    )


def spoken(estimate: Estimate) -> str:
    """An estimate in words, such as «81.20 ± 2.30 over 12 runs»."""
    mean = score(estimate.mean) + ("" if estimate.margin is None else f" ± {score(estimate.margin)}")
    return ngettext("%(mean)s over %(n)d run", "%(mean)s over %(n)d runs", estimate.runs) % {
        "mean": mean,
        "n": estimate.runs,
    }


def _by_round(
    prompt_set: PromptSet, scores: Sequence[VersionScore]
) -> tuple[tuple[int, list[RoundScore]], ...]:
    measured = [(each.number, each.main) for each in scores if each.main]
    alike = [(number, main) for number, main in measured if main.ruler == measured[0][1].ruler]
    return tuple((number, rounds_of(prompt_set, number, main)) for number, main in alike[:VERSIONS_BY_ROUND])


def _rounds_chart(by_round: Sequence[tuple[int, list[RoundScore]]]) -> Chart:
    words = Words(
        title=_("Score per round number"),
        description=" ".join(
            f"v{number}: " + ", ".join(f"{each.number}: {score(each.estimate.mean)}" for each in rounds) + "."
            for number, rounds in by_round
        ),
        across=_("Round"),
        up=_("Mean score"),
    )
    series = [
        Series(f"v{number}", tuple((each.number, each.estimate.mean) for each in rounds))
        for number, rounds in by_round
    ]
    return line_chart("rounds-chart", series, words)


def tables(prompt_set: PromptSet, page: ScorePage) -> dict[str, Callable[[], Table]]:
    """The tables of the page by name."""
    name = f"{prompt_set.slug}-scores"
    versions = ((row.score, row.message) for row in page.rows)
    return {
        "versions": lambda: versions_table(name, versions, is_cut=page.older is not None),
        "rounds": lambda: rounds_table(f"{name}-by-round", page.by_round),
    }
