"""The jail that a test hands to the studio."""

from collections.abc import Callable

from builder.jail import JailPool

UseJail = Callable[[JailPool | None], JailPool | None]
"""The fixture ``use_jail``: the studio uses this pool until the test ends."""
