"""Benchmarks of the studio need Django, which has to be set up before their files are read."""

import tests.with_django  # noqa: F401
