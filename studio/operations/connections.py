"""Connections of the web server in bounds: how long a request may take to arrive, and how many may be open.

Waitress by itself gives a connection two minutes after each byte and stops accepting at its limit, so that a
hundred half-sent requests end all answers. Here a request has a deadline as a whole, and where there are too
many connections the one that has waited longest makes room for the new one.
"""

import resource
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.receiver import ChunkedReceiver
from waitress.server import TcpWSGIServer

from studio.shell.precedence import PRECEDENCE

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MEBIBYTE = 1024 * 1024
LONGEST_CHUNK_LINE = 64 * 1024


@dataclass(frozen=True)
class Bounds:
    """Times are seconds. ``of_address`` is None where all people come through one proxy."""

    headers: float = 15.0
    """From the first byte of a request to the end of its headers."""
    body: float = 60.0
    """From the first byte to the last."""
    idle: float = 60.0
    """Without a request."""
    stalled: float = 30.0
    """That an answer waits for a browser which takes no byte of it."""
    connections: int = 1000
    of_address: int | None = 100
    incoming: int = 256 * MEBIBYTE
    """Bytes of all requests that are not complete yet; they lie in temporary files."""


class BoundedChannel(HTTPChannel):
    """A connection that knows since when it waits: for a request, or for the rest of one."""

    waits_since = 0.0
    _sending: tuple[float, float] | None = None
    """The last activity while there is something to send, and since when it is the last."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waits_since = self.creation_time

    def received(self, data: bytes) -> bool:
        """Note when a request begins."""
        before = self.request
        if before is None:
            # Blank lines before a request say nothing, and waitress makes a request of every second one.
            data = data.lstrip(b"\r\n")
            PRECEDENCE.arriving()
        taken: bool = super().received(data)
        if self.request is not before:
            self.waits_since = time.time()
        if self._between_chunks > LONGEST_CHUNK_LINE:
            self.drop()
        return taken

    @property
    def _between_chunks(self) -> int:
        """Bytes of a chunk's line, or behind the last chunk, that do not end. Waitress has no limit for them
        and copies all of them again with each part that arrives, in the loop that serves everybody."""
        body = self.request.body_rcv if self.request else None
        return len(body.control_line) + len(body.trailer) if isinstance(body, ChunkedReceiver) else 0

    @property
    def is_waiting(self) -> bool:
        """Whether there is nothing to answer and nothing left to send."""
        return not self.requests and not self.total_outbufs_len

    @property
    def incoming(self) -> int:
        """Bytes of a body that is not complete."""
        return self.request.body_bytes_received if self.request else 0

    def is_late(self, now: float, bounds: Bounds) -> bool:
        if self.total_outbufs_len:
            # From when it was first seen to have something to send: a request may have waited before that.
            if self._sending is None or self._sending[0] != self.last_activity:
                self._sending = (self.last_activity, now)
            return now - self._sending[1] > bounds.stalled
        self._sending = None
        if self.requests:
            return False
        if self.request is None:
            return now - self.last_activity > bounds.idle
        waited = now - self.waits_since
        return waited > (bounds.body if self.request.headers_finished else bounds.headers)

    def drop(self) -> None:
        """Close it in the next turn of the loop, also where the other side takes nothing."""
        self.will_close = True
        if self.socket is not None:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)


class BoundedServer(TcpWSGIServer):
    """Waitress's server with ``Bounds``. All of this runs in its one loop."""

    channel_class = BoundedChannel

    def __init__(
        self, application: "WSGIApplication", taken: socket.socket, bounds: Bounds, **settings: Any
    ) -> None:
        self.bounds = bounds
        adjustments = Adjustments(
            sockets=[taken],
            connection_limit=bounds.connections + 50,  # above ours, at which a new one still has a place
            asyncore_use_poll=True,  # select() knows no more than 1024 files
            **settings,
        )
        where = (taken.family, taken.type, taken.proto, taken.getsockname())
        super().__init__(application, _sock=taken, adj=adjustments, sockinfo=where, bind_socket=False)

    def handle_accept(self) -> None:
        """Take a connection; if that is one too many, the one that has waited longest goes."""
        PRECEDENCE.arriving()
        super().handle_accept()
        channels = self._channels()
        if len(channels) >= self.bounds.connections:
            self._make_room(channels)
        elif self.bounds.of_address is not None and channels:
            address = channels[-1].addr[0]
            same = [channel for channel in channels if channel.addr[0] == address]
            if len(same) > self.bounds.of_address:
                self._make_room(same)

    def maintenance(self, now: float) -> None:
        """Close what is late, and the largest of the requests that together are too large."""
        channels = self._channels()
        for channel in channels:
            if channel.is_late(now, self.bounds):
                channel.drop()
        left = sum(channel.incoming for channel in channels)
        for channel in sorted(channels, key=lambda channel: channel.incoming, reverse=True):
            if left <= self.bounds.incoming:
                break
            left -= channel.incoming
            channel.drop()

    def _channels(self) -> list[BoundedChannel]:
        """Those that are open, the newest last."""
        channels: dict[int, BoundedChannel] = self.active_channels  # type: ignore[assignment]
        return [channel for channel in channels.values() if not channel.will_close]

    def _make_room(self, channels: Iterable[BoundedChannel]) -> None:
        waiting = [channel for channel in channels if channel.is_waiting]
        if waiting:
            min(waiting, key=lambda channel: channel.waits_since).drop()


def raise_file_limit(wanted: int) -> None:
    """Let the process open so many files at a time, or as many as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
