"""A receiver of webhooks on this machine that does as it is told: answers 500, hangs, redirects, works."""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Received = tuple[dict[str, str], bytes]


@dataclass
class Receiver:
    """Answers by the list, and with the last of it from then on."""

    answers: list[int | str] = field(default_factory=lambda: [204])
    received: list[Received] = field(default_factory=list)
    path: str = "/hook"

    def __enter__(self) -> "Receiver":
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                number = len(receiver.received)
                receiver.received.append(({k.lower(): v for k, v in self.headers.items()}, body))
                answer = receiver.answers[min(number, len(receiver.answers) - 1)]
                if answer == "hang":
                    receiver.let_go.wait(30)
                    return
                if answer == "drip":
                    with suppress(OSError):
                        while not receiver.let_go.wait(0.05):
                            self.wfile.write(b"H")
                    return
                assert isinstance(answer, int)
                self.send_response(answer)
                self.send_header("Location", f"{receiver.url}-elsewhere")
                self.end_headers()
                if answer != 204:
                    self.wfile.write(b"x" * 200_000 if answer == 502 else f"answered {answer}".encode())

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self.let_go = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{self.path}"
