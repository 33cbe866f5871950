"""The frames that the two sides of the jail exchange: JSON behind its length, over a pipe.

Not pickle: what comes out of a worker is read as data, whatever happened inside.
"""

import json
import os
import struct
from collections.abc import Callable
from typing import Any

HEADER = struct.Struct(">I")


class WireError(Exception):
    """The other side sent what this one does not take."""


def pack(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """A frame ready to be written. Lone surrogates pass: the check inside reports them with their line.

    ``default`` says what to write for a value that JSON has not.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=default)
    body = text.encode("utf-8", "surrogatepass")
    return HEADER.pack(len(body)) + body


def unpack(body: bytes | bytearray, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    try:
        return json.loads(body.decode("utf-8", "surrogatepass"), object_hook=object_hook)
    except (ValueError, RecursionError) as error:
        raise WireError(str(error)) from error


class Frames:
    """Cuts a stream of bytes into frames and refuses one that is larger than ``cap``."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        self._held += data

    def next(self) -> bytearray | None:
        """The next whole frame, or None until more has arrived."""
        if len(self._held) < HEADER.size:
            return None
        (length,) = HEADER.unpack_from(self._held)
        if length > self._cap:
            raise WireError(f"a frame of {length} bytes, {self._cap} are taken")
        end = HEADER.size + length
        if len(self._held) < end:
            return None
        frame = self._held[HEADER.size : end]
        del self._held[:end]
        return frame


def read(fd: int, cap: int) -> bytes | None:
    """The next frame of a blocking descriptor; None at its end."""
    header = _exactly(fd, HEADER.size)
    if header is None:
        return None
    (length,) = HEADER.unpack(header)
    if length > cap:
        raise WireError(f"a frame of {length} bytes, {cap} are taken")
    return _exactly(fd, length)


def write(fd: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(fd, view) :]


def _exactly(fd: int, count: int) -> bytes | None:
    data = os.read(fd, count)
    if len(data) == count:
        return data
    parts, left = [data], count - len(data)
    while left and data:
        data = os.read(fd, left)
        parts.append(data)
        left -= len(data)
    return None if left else b"".join(parts)
