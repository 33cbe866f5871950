"""A cache with a limit on its size, for values that can be computed again; the least used go first.

Used for examinations, prefixes, coverage and the matrix.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Value = TypeVar("Value")


_all: WeakSet["SizedCache[Any]"] = WeakSet()


def clear_all() -> None:
    """Empty every cache of this process."""
    for cache in list(_all):
        cache.clear()


class SizedCache(Generic[Value]):
    """A cache bounded by the sizes that its values are put in with. Safe from any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        _all.add(self)

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Keep the value; one that would take a tenth of the room by itself is not worth it."""
        if size * 10 > self._most:
            return
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self._size += size - before
            while self._size > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._size -= gone

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._size = 0
