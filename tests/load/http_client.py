"""A person's browser as far as load goes: one connection that stays open, cookies, forms; on asyncio, so that
a hundred of them are one process."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str
    seconds: float


class Browser:
    """Asks one thing at a time; a connection that the server closed is opened again."""

    def __init__(self, host: str, port: int, session: str) -> None:
        self._address = (host, port)
        self._cookies = {"studio-session": session}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Answer:
        return await self._ask("GET", path, {}, b"")

    async def post(self, path: str, fields: Mapping[str, object], *, htmx: bool = False) -> Answer:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if htmx:
            headers["HX-Request"] = "true"
        return await self._ask("POST", path, headers, urlencode(fields).encode())

    async def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        began = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        lines = [f"{method} {path} HTTP/1.1", "Host: {}:{}".format(*self._address)]
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        sent = {"Cookie": cookies, "Content-Length": str(len(body)), **headers}
        lines += [f"{name}: {value}" for name, value in sent.items()]
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            await writer.drain()
            status, received = await self._head(reader)
            content = await self._content(reader, received)
        except BaseException:
            await self.close()
            raise
        if received.get("connection", "").lower() == "close":
            await self.close()
        return Answer(status, received, content.decode(errors="replace"), time.perf_counter() - began)

    async def _head(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
        status = int((await reader.readline()).split()[1])
        headers: dict[str, str] = {}
        while line := (await reader.readline()).decode("latin-1").strip():
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                cookie, _, kept = value.partition(";")[0].strip().partition("=")
                self._cookies[cookie] = kept
            headers[name.lower()] = value.strip()
        return status, headers

    async def _content(self, reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
        if "content-length" in headers:
            return await reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding") != "chunked":
            return b"" if headers.get("connection", "").lower() != "close" else await reader.read()
        parts: list[bytes] = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)
