"""The moment at which tests take place, and a clock that stands still."""

from datetime import UTC, datetime

import pytest

NOW = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


def stop_clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    """Every page and tag takes this for the present until the test ends, or until it is told another."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: at)
