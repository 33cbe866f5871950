import pytest

from builder.jail import LIMIT_NAMES, LimitName, Limits
from builder.jail.limits import exceeded


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_each_limit_says_what_was_met_and_what_to_do_in_both_languages(name: LimitName) -> None:
    error = exceeded(name, Limits(), line=3, reason="SIGSEGV")
    assert error.limit == name
    assert error.line == 3
    for language in ("en", "ja"):
        assert error.text(language) and "{" not in error.text(language)
        assert error.advice(language)
    assert error.text("en") != error.text("ja")


def test_the_numbers_are_those_of_the_limits() -> None:
    limits = Limits(time=0.5, cpu=3, memory=64 * 1024 * 1024, output=20_000)
    assert "0.5 s" in str(exceeded("time", limits))
    assert "3 s" in str(exceeded("cpu", limits))
    assert "64 MB" in str(exceeded("memory", limits))
    assert "20,000" in str(exceeded("output", limits))
    assert "15 s" in str(exceeded("time", limits, seconds=15.0))
