"""One pool for the tests that do not end it, and the plain values that templates get."""

from collections.abc import Iterator

import pytest

from builder.jail import JailPool
from builder.template.variables import sample_values


@pytest.fixture(scope="session")
def pool() -> Iterator[JailPool]:
    with JailPool(size=2, spares=1, batch_size=1) as pool:
        yield pool


@pytest.fixture
def values() -> dict[str, str | int]:
    return sample_values("team")
