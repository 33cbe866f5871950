"""The nginx configuration of the help page, with a server behind it whose answers the test holds."""

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.nginx import free_port, nginx

pytestmark = pytest.mark.slow


class HalfAnswer(BaseHTTPRequestHandler):
    """Sends half of its answer, and the other half when the browser has that."""

    protocol_version = "HTTP/1.1"
    arrived = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.send_header("X-Told", f"{self.headers['Host']} {self.headers['X-Forwarded-Proto']}")
        self.end_headers()
        self.wfile.write(b"half")
        self.arrived.wait(20)
        self.wfile.write(b"half")

    def log_message(self, *args: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def upstream() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), HalfAnswer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_an_answer_arrives_as_it_is_written_and_says_how_it_was_asked_for(
    tmp_path: Path, upstream: int
) -> None:
    with nginx(tmp_path, free_port(), [upstream]) as proxy:
        host = urlsplit(proxy.base).netloc
        connection = http.client.HTTPSConnection(host, context=proxy.trust, timeout=10)
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert answer.read(4) == b"half"
        HalfAnswer.arrived.set()
        assert answer.read() == b"half"
        assert answer.headers["X-Told"] == f"{host} https"
        connection.close()
