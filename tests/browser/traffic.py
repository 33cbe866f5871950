"""What the server is still working on when a test ends; the next one must not meet it."""

from threading import Condition
from typing import Any

from django.core.signals import request_finished, request_started


class Traffic:
    """Counts the requests that came and are not answered yet; the server's threads run in this process."""

    def __init__(self) -> None:
        self._open = 0
        self._changed = Condition()
        request_started.connect(self._came)
        request_finished.connect(self._went)

    def _came(self, **_signal: Any) -> None:
        with self._changed:
            self._open += 1

    def _went(self, **_signal: Any) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def wait_for_silence(self, seconds: float) -> None:
        """At most so long: a request that hangs is the business of the test that it belongs to."""
        with self._changed:
            self._changed.wait_for(lambda: self._open <= 0, seconds)
