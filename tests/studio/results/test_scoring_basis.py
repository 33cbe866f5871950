"""Scores compare where evaluator, judgment and metrics are equal; else it is said what changed, and where."""

from dataclasses import replace

import pytest

from builder.orchestrators.scoring_settings import ScoringSettings
from studio.results.scoring_basis import Judges, ScoringBasis, basis_change_between

A, B = Judges.of("evaluator", "judgment"), Judges.of("strict evaluator", "judgment")
C = Judges.of("evaluator", "other judgment")


def why(
    old: ScoringBasis,
    new: ScoringBasis,
    judges: dict[int, Judges] | None = None,
    numbers: tuple[int, int] = (1, 3),
) -> str:
    found = basis_change_between((numbers[0], old), (numbers[1], new), judges or {})
    return found.why if found else ""


def test_equal_bases_compare() -> None:
    assert (
        basis_change_between(
            (1, ScoringBasis(A, ("x",))), (9, ScoringBasis(Judges.of("evaluator", "judgment"), ("x",))), {}
        )
        is None
    )


def test_the_border_between_two_templates_counts() -> None:
    assert Judges.of("ab", "c") != Judges.of("a", "bc")


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (ScoringBasis(B, ("x",)), "The evaluator template changed between v1 and v3."),
        (ScoringBasis(C, ("x",)), "The judgment template changed between v1 and v3."),
        (ScoringBasis(A, ("x", "y")), "The runs of v3 were scored by x, y, those of v1 by x."),
        (ScoringBasis(A, ()), "The runs of v3 were scored by no metric, those of v1 by x."),
    ],
)
def test_each_part_of_a_basis_counts(new: ScoringBasis, said: str) -> None:
    assert why(ScoringBasis(A, ("x",)), new) == said


def test_the_version_that_changed_a_template_is_named() -> None:
    old, new = ScoringBasis(A, ("x",)), ScoringBasis(B, ("x",))
    assert why(old, new, {1: A, 2: B, 3: B}) == "v2 changed the evaluator template."
    assert why(old, new, {1: A, 2: A, 3: B}) == "v3 changed the evaluator template."
    assert why(old, new, {1: A, 3: B}) == "The evaluator template changed between v1 and v3."


def test_all_that_changed_is_said() -> None:
    new = ScoringBasis(Judges.of("e", "j"), ("y",))
    assert why(ScoringBasis(A, ("x",)), new, {1: A, 2: new.judges}, (1, 2)) == (
        "v2 changed the evaluator template. v2 changed the judgment template."
        " The runs of v2 were scored by y, those of v1 by x."
    )


def test_another_release_is_another_basis_where_the_prompts_tell_it() -> None:
    def of(*formats: str) -> ScoringBasis:
        return ScoringBasis(A, ("x",), formats=formats)

    assert why(of("mixseek-0.1.0a15"), of("mixseek-0.1.0a19")) == (
        "The prompts of v3 were formatted by mixseek-0.1.0a19, those of v1 by mixseek-0.1.0a15."
    )
    assert of("mixseek-0.1.0a19").compares_with(of("mixseek-0.1.0a18", "mixseek-0.1.0a19"))
    assert of().compares_with(of("mixseek-0.1.0a19"))


def test_settings_count_where_both_are_recorded() -> None:
    flash = ScoringSettings(('default_model = "a:flash"', "Coverage.weight = 1.0"), (), (), ())
    pro = replace(flash, evaluator=('default_model = "a:pro"', "Coverage.weight = 1.0"))
    old, new = ScoringBasis(A, ("x",), flash), ScoringBasis(A, ("x",), pro)
    assert new.differs_in(old) == ("evaluator_settings",)
    assert [line.sign + line.text for line in new.changed_lines(old)] == [
        '−default_model = "a:flash"',
        '+default_model = "a:pro"',
    ]
    assert new.compares_with(ScoringBasis(A, ("x",)))
    assert ScoringBasis(A, ("x",), replace(flash, judgment=("temperature = 1.0",))).differs_in(old) == (
        "judgment_settings",
    )
    custom = replace(flash, uses_evaluator_template=False)
    assert ScoringBasis(B, ("x",), custom).compares_with(ScoringBasis(A, ("x",), custom))
