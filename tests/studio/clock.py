"""The moment at which tests take place."""

from datetime import UTC, datetime

NOW = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
