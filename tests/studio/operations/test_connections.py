"""The web server's connections: who sends slowly, or too often, keeps nobody else from an answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from waitress.parser import HTTPRequestParser

from studio.operations.connections import BoundedChannel, BoundedServer, Bounds

Start = Callable[[Bounds], tuple[str, int]]


def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"x" * 1_000_000] * 40 if environ["PATH_INFO"] == "/large" else [b"%d" % len(body)]


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[BoundedServer] = []

    def started(bounds: Bounds) -> tuple[str, int]:
        taken = socket.create_server(("127.0.0.1", 0))
        server = BoundedServer(
            answer, taken, bounds, threads=1, cleanup_interval=0, asyncore_loop_timeout=0.05
        )
        servers.append(server)
        threading.Thread(target=server.run, daemon=True).start()
        return taken.getsockname()[:2]

    yield started
    for server in servers:
        server.close()
        server.task_dispatcher.shutdown()


def ended(connection: socket.socket) -> bool:
    """Whether the other side closes it, by waiting for that."""
    connection.settimeout(20)
    with suppress(ConnectionError):
        while connection.recv(65_536):
            pass
    return True


def get(address: tuple[str, int]) -> bytes:
    with closing(socket.create_connection(address, timeout=20)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        received = b""
        while data := connection.recv(65_536):
            received += data
    return received.rpartition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nA: ", b"POST / HTTP/1.1\r\nContent-Length: 9999\r\n\r\n"]
)
def test_a_request_that_trickles_in_is_ended_at_its_deadline(start: Start, begun: bytes) -> None:
    connection = socket.create_connection(start(Bounds(headers=0.3, body=0.3)))
    connection.sendall(begun)
    with closing(connection), suppress(ConnectionError):
        connection.settimeout(0.02)
        for _ in range(1000):
            connection.sendall(b"a")
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                continue
        raise AssertionError("each byte gave it more time")


def test_a_connection_without_a_request_is_ended(start: Start) -> None:
    with closing(socket.create_connection(start(Bounds(idle=0.2)))) as connection:
        assert ended(connection)


def test_an_answer_that_nobody_takes_gives_its_thread_back(start: Start) -> None:
    address = start(Bounds(stalled=0.3))
    with closing(socket.create_connection(address)) as connection:
        connection.sendall(b"GET /large HTTP/1.0\r\n\r\n")
        # The only thread is held by an answer of 40 MB that is not read.
        assert get(address) == b"0"


def test_whoever_waited_longest_makes_room_for_a_new_connection(start: Start) -> None:
    address = start(Bounds(of_address=5))
    held = []
    for _ in range(8):
        held.append(socket.create_connection(address))
        held[-1].sendall(b"GET / HTTP/1.1\r\nA: ")
        time.sleep(0.01)
    assert get(address) == b"0"
    # Those that came last wait on.
    assert ended(held[0]) and ended(held[3])
    held[-1].sendall(b"b\r\n\r\n")
    assert held[-1].recv(12) == b"HTTP/1.1 200"
    for connection in held:
        connection.close()


def test_behind_a_proxy_only_all_connections_together_are_counted(start: Start) -> None:
    address = start(Bounds(of_address=None, connections=200))
    held = [socket.create_connection(address) for _ in range(150)]
    assert get(address) == b"0"
    held[0].sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert held[0].recv(12) == b"HTTP/1.0 200"
    more = [socket.create_connection(address) for _ in range(60)]
    assert get(address) == b"0" and ended(held[1])
    for connection in held + more:
        connection.close()


def test_bodies_that_are_too_large_together_are_cut_off(start: Start) -> None:
    address = start(Bounds(incoming=3_000_000))
    held = [socket.create_connection(address) for _ in range(4)]
    for connection in held:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n" + b"a" * 100_000)
    with suppress(ConnectionError):
        held[2].sendall(b"a" * 4_000_000)
    assert ended(held[2])
    assert get(address) == b"0"
    for connection in held:
        connection.close()


@pytest.mark.parametrize("begun", [b"5;a=", b"0\r\na: "])
def test_a_chunk_line_without_end_is_cut_off(start: Start, begun: bytes) -> None:
    connection = socket.create_connection(start(Bounds()))
    with closing(connection), suppress(ConnectionError):
        connection.sendall(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + begun)
        for _ in range(30):
            connection.sendall(b"a" * 1_000_000)
        raise AssertionError("30 MB of it were taken")


def test_blank_lines_before_a_request_are_no_requests(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[HTTPRequestParser] = []

    class Counted(HTTPRequestParser):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            parsers.append(self)

    monkeypatch.setattr(BoundedChannel, "parser_class", Counted)
    with closing(socket.create_connection(start(Bounds()), timeout=20)) as connection:
        connection.sendall(b"\r\n" * 500_000 + b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.0 200"
    assert len(parsers) == 1


def test_a_body_in_chunks_is_read(start: Start) -> None:
    with closing(socket.create_connection(start(Bounds()), timeout=20)) as connection:
        chunks = b"5;a=b\r\naaaaa\r\n" * 20_000 + b"0\r\na: b\r\n\r\n"
        head = b"POST / HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + chunks)
        received = b""
        while data := connection.recv(65_536):
            received += data
    assert received.startswith(b"HTTP/1.1 200") and received.endswith(b"100000")
