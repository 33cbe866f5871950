"""Comparing texts, against difflib. Run with ``-s`` to see the ratios."""

import difflib
import random
import time
from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from builder.diff.lines import compare
from builder.diff.three_way import compare_three

WORDS = [
    "スコア",
    "提出",
    "内容",
    "順位",
    "改善",
    "確認",
    "team",
    "round",
    "{{ user_prompt }}",
    "の",
    "を",
    "する",
]


def written(random: random.Random) -> str:
    return f"{' '.join(random.choices(WORDS, k=8))} {random.random():.6f}"


def repeated(random: random.Random) -> str:
    return random.choice(WORDS)


def texts(lines: int, line: Callable[[random.Random], str]) -> tuple[str, str]:
    """A text, and the same after one edit in fifteen lines."""
    source = random.Random(lines)
    left = [line(source) for _ in range(lines)]
    right = list(left)
    for _ in range(lines // 15):
        place = source.randrange(len(right))
        edit = source.random()
        if edit < 0.4:
            right[place] = right[place] + " 変更" if line is written else line(source)
        elif edit < 0.7:
            del right[place]
        else:
            right.insert(place, line(source))
    return "\n".join(left) + "\n", "\n".join(right) + "\n"


def moved(lines: int) -> tuple[str, str]:
    """The edits of ``texts``, and a tenth of the text moved: nothing can be left out beforehand."""
    left, right = texts(lines, written)
    rows = right.splitlines(keepends=True)
    tenth = lines // 10
    return left, "".join(rows[tenth : 5 * tenth] + rows[:tenth] + rows[5 * tenth :])


CASES = {
    "500 lines": texts(500, written),
    "500 lines, a part moved": moved(500),
    "20,000 lines": texts(20_000, written),
    "20,000 lines, a part moved": moved(20_000),
    "20,000 repetitive lines": texts(20_000, repeated),
}


@pytest.mark.parametrize("case", CASES)
def test_side_by_side(benchmark: BenchmarkFixture, case: str) -> None:
    left, right = CASES[case]
    rows = benchmark(lambda: compare(left, right).rows)
    counts = compare(left, right).counts
    print(f"\n{case}: {benchmark.stats['median'] * 1e3:.2f} ms for {len(rows)} rows, {counts}")


@pytest.mark.parametrize("case", CASES)
def test_what_a_page_shows(benchmark: BenchmarkFixture, case: str) -> None:
    left, right = CASES[case]

    def page() -> int:
        return sum(len(section.rows) for section in compare(left, right).sections() if not section.folded)

    rows = benchmark(page)
    print(f"\n{case}, folded: {benchmark.stats['median'] * 1e3:.2f} ms for {rows} rows")


@pytest.mark.parametrize("line", [written, repeated])
def test_against_difflib(benchmark: BenchmarkFixture, line: Callable[[random.Random], str]) -> None:
    # 2,000 lines: at 20,000 difflib's exact mode takes longer than anyone would wait.
    left, right = texts(2_000, line)
    diff = benchmark(compare, left, right)
    ours = len(diff) - diff.counts.equal
    for name, junk in (("default", True), ("exact", False)):
        started = time.perf_counter()
        matcher = difflib.SequenceMatcher(None, left.splitlines(), right.splitlines(), autojunk=junk)
        kept = sum(block.size for block in matcher.get_matching_blocks())
        took = time.perf_counter() - started
        ratio = took / benchmark.stats["median"]
        print(
            f"\ndifflib {name}: {ratio:.0f} × our time; equal lines {kept}, ours {diff.counts.equal}"
            f" ({ours} rows not equal)"
        )
        assert diff.counts.equal >= kept


@pytest.mark.parametrize("lines", [500, 20_000])
def test_three_way(benchmark: BenchmarkFixture, lines: int) -> None:
    base, mine = texts(lines, written)
    theirs = base.replace("\n", "\n新しい行\n", 1)
    regions = benchmark(compare_three, base, mine, theirs).regions
    print(f"\n{lines} lines, three ways: {benchmark.stats['median'] * 1e3:.2f} ms, {len(regions)} regions")
