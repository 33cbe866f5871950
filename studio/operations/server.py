"""The web server: waitress, one process with threads, which a kill ends whole. Used by `manage.py studio`."""

import errno
import gc
import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from builder.leaderboard import yield_to_others
from studio.operations.connections import BoundedServer, Bounds, raise_file_limit
from studio.shell.precedence import ShortFirst, pages_give_way

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

THREADS = 16  # a streamed answer holds one for as long as it lasts
MAX_BODY = 32 * 1024 * 1024
MAX_HEADERS = 64 * 1024
OTHER_FILES = 1000  # of databases, workers and temporary bodies
SWITCH_SECONDS = 0.00003
"""After so long a thread that computes lets another one go on, if one waits. By default it is 170 times as
much, and a short request has to ask several times while somebody else's long one is worked on."""


class AddressError(Exception):
    """The server cannot listen where it was told to; the text says what to do."""


def listen(host: str, port: int) -> socket.socket:
    """Take the address; from here on nobody else can have it."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise AddressError(f"{host!r} is not an address of this machine: try --host 127.0.0.1.") from error
    family, kind, protocol, _, address = addresses[0]
    server = socket.socket(family, kind, protocol)
    try:
        server.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # a restart need not wait for old connections
        server.bind(address)
        server.listen(128)
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressError(
                f"Port {port} of {host} is taken, perhaps by another studio: "
                f"end that one, or choose another port with --port {port + 1 if port < 65535 else 8000}."
            ) from error
        if error.errno == errno.EACCES:
            raise AddressError(
                f"This user may not use port {port}: choose one above 1023 with --port."
            ) from error
        raise AddressError(
            f"{host} port {port} cannot be used ({error.strerror}): try --host 127.0.0.1."
        ) from error
    return server


def base_url(server: socket.socket) -> str:
    """The address to type into a browser on this machine."""
    host, port = server.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def prepare(server: socket.socket, application: "WSGIApplication", behind_proxy: bool) -> Callable[[], None]:
    """Make everything ready; what this returns answers requests until Ctrl-C or SIGTERM."""
    # Of a proxy's many connections none is more a stranger's than another.
    bounds = Bounds(of_address=None) if behind_proxy else Bounds()
    raise_file_limit(2 * bounds.connections + OTHER_FILES)
    sys.setswitchinterval(SWITCH_SECONDS)
    yield_to_others()  # previews and pages go before the processes that read databases
    pages_give_way()
    # What is there now stays: to go through it again and again would take 70 ms of somebody's answer.
    gc.collect()
    gc.freeze()
    waitress = BoundedServer(
        ShortFirst(application),
        server,
        bounds,
        threads=THREADS,
        max_request_body_size=MAX_BODY,
        max_request_header_size=MAX_HEADERS,
        inbuf_overflow=MAX_HEADERS,  # a larger body goes to a temporary file
        cleanup_interval=1,
        send_bytes=1,  # streamed answers go out at once instead of in blocks of 18 kB
        clear_untrusted_proxy_headers=False,  # `shell.proxies` knows whom to believe
        ident=None,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def run() -> None:
        """Returns after Ctrl-C, when the requests under way are done."""
        try:
            waitress.run()
        finally:
            gc.unfreeze()  # else libraries complain at the end about objects that nobody freed

    return run
