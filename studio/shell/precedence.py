"""Precedence of short requests: the health check and previews go before pages that take long to write.

Used by the server and by code that computes much. All threads share one interpreter, so that a page with
thousands of rows slows down whatever is asked for meanwhile. Such work stops now and then where a short
request is under way, and goes on when that is answered.
"""

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import connection
from django.template.base import NodeList
from django.template.context import Context
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

SHORT_SECONDS = 0.008
"""Of computing, after which a request is no longer a short one: others need not wait for it."""
ARRIVAL_SECONDS, LEAVING_SECONDS = 0.004, 0.001
"""That long work stops for a request that begins, until it is known whether it is short, and for an answer
to go out."""
PATIENCE = 2.0
"""Times what it has computed a request waits for short ones at most: nobody can hold up pages with them."""


class Precedence:
    """The short requests under way, and how long each thread has waited for them."""

    def __init__(self, short_seconds: float = SHORT_SECONDS, patience: float = PATIENCE) -> None:
        self._short_seconds, self._patience = short_seconds, patience
        self._changed = threading.Condition()
        self._short: dict[int, tuple[float, float]] = {}
        """By thread: the time and the CPU time at which its request is no longer short."""
        self._quiet_until = 0.0
        """A request begins, or an answer goes out: the server's loop has something to do."""
        self._mine = threading.local()

    def arriving(self) -> None:
        """A request begins; whether it is a short one is told when it is read."""
        self._quiet_until = time.monotonic() + ARRIVAL_SECONDS

    @contextmanager
    def short(self) -> Iterator[None]:
        """Go first, for as long as this is short."""
        me = threading.get_ident()
        with self._changed:
            self._short[me] = (
                time.monotonic() + self._short_seconds,
                time.thread_time() + self._short_seconds,
            )
        try:
            yield
        finally:
            self._quiet_until = time.monotonic() + LEAVING_SECONDS
            self._over(me)
            self._mine.since = None

    @contextmanager
    def long(self) -> Iterator[None]:
        """Wait for short ones wherever ``give_way`` is called."""
        self._quiet_until = 0.0
        self._mine.since, self._mine.waited = time.thread_time(), 0.0
        try:
            yield
        finally:
            self._mine.since = None

    def short_threads(self) -> set[int]:
        return set(self._short)

    def give_way(self) -> None:
        """Wait while short requests are under way. Costs next to nothing where there are none."""
        if not self._short and time.monotonic() >= self._quiet_until:
            return
        me = threading.get_ident()
        ends = self._short.get(me)
        if ends is not None:
            # To ask for the CPU time costs more than to ask for the time.
            if time.monotonic() > ends[0] and time.thread_time() > ends[1]:
                self._over(me)
                self._mine.since, self._mine.waited = time.thread_time() - self._short_seconds, 0.0
            return
        since = getattr(self._mine, "since", None)
        # A transaction is not kept open any longer: it may be what the short one waits for.
        if since is None or connection.in_atomic_block:
            return
        left = self._patience * (time.thread_time() - since) - self._mine.waited
        if left > 0:
            before = time.monotonic()
            with self._changed:
                self._changed.wait_for(lambda: not self._short, left)
            if (quiet := self._quiet_until - time.monotonic()) > 0:
                time.sleep(min(quiet, left))
            self._mine.waited += time.monotonic() - before

    def _over(self, thread: int) -> None:
        with self._changed:
            if self._short.pop(thread, None) is not None and not self._short:
                self._changed.notify_all()


PRECEDENCE = Precedence()
give_way = PRECEDENCE.give_way


class ShortFirst:
    """The application, with short requests before the others."""

    def __init__(self, application: "WSGIApplication") -> None:
        self.application = application

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        with PRECEDENCE.short() if _is_short(environ) else PRECEDENCE.long():
            return self.application(environ, start_response)


def _is_short(environ: "WSGIEnvironment") -> bool:
    path = environ.get("PATH_INFO", "")
    return path == "/healthz" or (environ.get("REQUEST_METHOD") == "POST" and path.endswith("/preview/"))


def pages_give_way() -> None:
    """From here on templates stop for short requests between their parts; Django has no hook for that."""
    render_parts = NodeList.render

    def render(self: NodeList, context: Context) -> SafeString:
        give_way()
        return render_parts(self, context)

    NodeList.render = render  # type: ignore[method-assign]
