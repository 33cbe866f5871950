"""What must not happen in a browser while a test uses it. Used by the fixture `watch`."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response


@dataclass
class Watch:
    """What went wrong while a page was used; a test names the error answers that it provokes."""

    complaints: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)
    ended: bool = False

    def expect(self, *statuses: int) -> None:
        self.expected.update(statuses)

    def begin(self) -> None:
        """Another test, which knows nothing of those before it."""
        self.complaints.clear()
        self.expected.clear()
        self.ended = False

    def end(self) -> None:
        """What pages say while they are signed out and closed is nobody's business."""
        self.ended = True

    def attach(self, context: BrowserContext) -> None:
        # Not by a route, which would switch off the browser's cache; Chromium itself finds no other host.
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self._complain(f"uncaught: {error.error}"))
        context.on("response", self._response)

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname not in ("localhost", "127.0.0.1"):
            self._complain(f"outside request: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        # A failed answer shows up in the console too; `_response` tells which.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self._complain(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self._complain(f"{response.status} for {response.url}")

    def _complain(self, complaint: str) -> None:
        if not self.ended:
            self.complaints.append(complaint)
