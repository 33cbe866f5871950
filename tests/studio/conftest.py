"""Tests of the studio: Django is set up, with a database of their own."""

import tests.with_django  # noqa: F401
