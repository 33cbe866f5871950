"""How many examples the long fuzz tests try: a fifth in CI, all with `manage.py test -m slow --thorough`.

Used by tests that are marked slow. Without `--thorough` the examples are the same in every run, so that a
test fails for what was changed and for nothing else.
"""

import hypothesis

_ONE_IN = 5
_thorough = False


def be_thorough(thorough: bool) -> None:
    """Decide for the whole run, before any test file is read."""
    global _thorough
    _thorough = thorough
    # Few examples where a test does not say how many: those are tests of the inner loop.
    hypothesis.settings.register_profile(
        "tests", max_examples=20, deadline=None, derandomize=not thorough, database=None
    )
    hypothesis.settings.load_profile("tests")


def share_of(examples: int, one_in: int = _ONE_IN) -> int:
    """How many of so many examples this run tries; ``one_in`` is for those that take seconds each."""
    return examples if _thorough else examples // one_in
