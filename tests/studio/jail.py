"""The jail that a test hands to the studio."""

from collections.abc import Callable

from builder.jail import JailPool, Limits

UseJail = Callable[[JailPool | None], JailPool | None]
"""The fixture ``use_jail``: the studio uses this pool until the test ends."""

PATIENT = Limits(wall=120, file_wall=120, wait=120, batch_wait=120, start=120)
"""On a machine that is busy with other tests a worker takes its time; what a text may use stays as it is."""
