"""The connection to a studio's API: requests as JSON, and its refusals as errors. Used by the client's other
modules. It follows no redirect: a token goes to the address that it was given for, and nowhere else."""

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from builder import __version__
from builder.client.credentials import Credentials
from builder.errors import ClientError, StudioRefused, StudioUnreachable
from builder.messages import message

API = "/api/v1/"
SECONDS = 30.0
MOST_BYTES = 64 * 1024 * 1024

UNREACHABLE = message(
    "client-unreachable",
    "The studio at {url} cannot be reached: {reason}",
    "{url} のスタジオに接続できません：{reason}",
)
REFUSED = message(
    "client-refused",
    "The studio answered {status}: {detail}",
    "スタジオの応答 {status}：{detail}",
)
ODD = message(
    "client-odd-answer",
    "{url} is not a Prompt Studio server",
    "{url} はPrompt Studioのサーバーではありません",
    fix_en="Check the address.",
    fix_ja="アドレスを確認してください。",
)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Connection:
    """One studio, with a token."""

    def __init__(self, credentials: Credentials, *, seconds: float = SECONDS) -> None:
        self.credentials = credentials
        self._seconds = seconds
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=ssl.create_default_context())
        )

    def get(self, *parts: str | int, **query: str | int | None) -> Any:
        """``get("sets", slug, "versions", 7)``."""
        return self.ask("GET", parts, query=query)

    def ask(
        self,
        method: str,
        parts: tuple[str | int, ...],
        body: Any = None,
        *,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> Any:
        """The answer's JSON. ``data`` is sent as it is, ``body`` as JSON."""
        request = urllib.request.Request(self._address(parts, query or {}), method=method)
        request.add_header("Authorization", f"Bearer {self.credentials.token}")
        request.add_header("User-Agent", f"prompt-studio/{__version__}")
        request.add_header("Accept", "application/json")
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        elif data is not None:
            request.add_header("Content-Type", "application/octet-stream")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        request.data = data
        return self._answer(request)

    def _address(self, parts: tuple[str | int, ...], query: Mapping[str, str | int | None]) -> str:
        path = "/".join(quote(str(part), safe="@") for part in parts)
        given = {name: value for name, value in query.items() if value is not None}
        return f"{self.credentials.url}{API}{path}" + (f"?{urlencode(given)}" if given else "")

    def _answer(self, request: urllib.request.Request) -> Any:
        url = self.credentials.url
        try:
            with self._opener.open(request, timeout=self._seconds) as response:
                data = response.read(MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            raise _refused(error, url) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise StudioUnreachable(UNREACHABLE, url=url, reason=str(reason) or "no answer") from error
        if not data:
            return None
        try:
            return json.loads(data)
        except ValueError:
            raise ClientError(ODD, url=url) from None


def _refused(error: urllib.error.HTTPError, url: str) -> ClientError:
    """A problem of RFC 9457 says what is wrong in ``detail``; a proxy before the studio says nothing."""
    if error.code in (502, 504):
        return StudioUnreachable(UNREACHABLE, url=url, reason=str(error.reason))
    try:
        problem = json.loads(error.read(1_000_000))
    except (OSError, ValueError, http.client.HTTPException):
        problem = None
    if not isinstance(problem, dict):
        return ClientError(ODD, url=url)
    detail = str(problem.get("detail") or problem.get("title") or error.reason)
    refusal = StudioRefused(REFUSED, status=error.code, detail=detail)
    refusal.problem = problem
    return refusal
