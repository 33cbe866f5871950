"""A network folder whose server no longer answers: a FUSE file system that takes requests and leaves them.

`/dev/fuse` is spoken directly: all it takes is the answer to the first request.
"""

import ctypes
import os
import select
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_DETACH = 2
_INIT = 26
_REQUEST = struct.Struct("<IIQQIIII")  # length, operation, number, …
_ANSWER = struct.Struct("<IiQ")
_INIT_ANSWER = struct.Struct("<IIIIHHII32x")  # protocol 7.31, and the least of everything


@contextmanager
def hanging(folder: Path) -> Iterator[None]:
    """Whoever looks into the folder waits until this ends, and then gets an error."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if _LIBC.mount(b"hangs", os.fsencode(folder), b"fuse", 0, options):
        os.close(device)
        raise OSError(ctypes.get_errno(), f"{folder} cannot be mounted over")
    ended = threading.Event()
    reader = threading.Thread(target=_read, args=(device, ended), daemon=True)
    reader.start()
    try:
        yield
    finally:
        ended.set()
        reader.join()
        os.close(device)  # ends whatever waits
        _LIBC.umount2(os.fsencode(folder), _DETACH)


def _read(device: int, ended: threading.Event) -> None:
    """Answer the kernel's greeting; all else is taken and left."""
    while not ended.is_set():
        if not select.select([device], [], [], 0.1)[0]:
            continue  # a read that waits would hold the device open
        try:
            request = os.read(device, 1 << 18)
        except OSError:
            return
        _length, operation, number, *_ = _REQUEST.unpack_from(request)
        if operation == _INIT:
            body = _INIT_ANSWER.pack(7, 31, 0, 0, 12, 10, 4096, 1)
            os.write(device, _ANSWER.pack(_ANSWER.size + len(body), 0, number) + body)
