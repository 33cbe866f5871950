"""Tokens: counting and estimating, against characters ÷ 4. Run with ``-s`` to see the figures."""

from statistics import median

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from builder.cache.tokens import ENCODINGS, count, estimate
from tests.builder.token_samples import ENGLISH, JAPANESE

PASSAGES = {"english": ENGLISH, "japanese": JAPANESE}


@pytest.mark.parametrize("language", PASSAGES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_exact_count_of_a_long_prompt(benchmark: BenchmarkFixture, language: str, encoding: str) -> None:
    text = "".join(PASSAGES[language]) * 100
    counted = benchmark(count, text, encoding)
    assert counted.exact
    print(f"\n{language} {encoding}: {counted.tokens / benchmark.stats['median'] / 1e6:.1f} M tokens/s")


@pytest.mark.parametrize("language", PASSAGES)
def test_estimate_of_a_long_prompt(benchmark: BenchmarkFixture, language: str) -> None:
    text = "".join(PASSAGES[language]) * 100
    estimated = benchmark(estimate, text)
    assert not estimated.exact
    print(f"\n{language}: {len(text) / benchmark.stats['median'] / 1e6:.1f} M characters/s")


@pytest.mark.parametrize("language", PASSAGES)
def test_error_of_the_estimate_and_of_characters_by_four(benchmark: BenchmarkFixture, language: str) -> None:
    passages = PASSAGES[language]
    exact = [sum(count(text, encoding).tokens for encoding in ENCODINGS) / 2 for text in passages]
    estimated = benchmark(lambda: [estimate(text).tokens for text in passages])
    ours = median(abs(tokens / real - 1) for tokens, real in zip(estimated, exact, strict=True))
    naive = median(abs(len(text) / 4 / real - 1) for text, real in zip(passages, exact, strict=True))
    assert ours < naive
    print(f"\n{language}: estimate off by {ours:.1%} in the median, characters ÷ 4 by {naive:.1%}")
