"""The inside of a fork server: a bare process that has loaded what a worker needs and forks one for each
request. Called by the programs of workers; ``fork_server`` is its other end.

A worker that starts from nothing takes a tenth of a second of CPU and 18 MB; a fork takes milliseconds and
shares what it does not change. In return all forks of one server have the same layout of memory and the same
seed for hashes: what one of them gave away would be true of the next. No template can print an address, and
each fork has the system calls, memory and time of one that was started alone.
"""

import gc
import os
import signal

# Not the module ``socket``, which loads much that a worker has no use for.
from _socket import CMSG_LEN, socket
from array import array
from typing import Any

from builder.jail import wire

_DESCRIPTORS = 2
_MOST_OPEN = 64


def forked() -> dict[str, Any]:
    """Fork on request. Returns in each worker, with its settings, and never in the server."""
    # Where the parent ignores it, which is inherited, the kernel would keep no status for us.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.collect()
    # Nothing of this is garbage any more: no worker need touch, and so copy, it to find that out.
    gc.freeze()
    # Standard input and output are both this channel, in the server alone.
    channel = socket(fileno=0)
    channel.setblocking(True)
    wire.write(1, wire.pack({"ready": True}))
    frames = wire.Frames(65536)
    pipes = array("i")
    answer: dict[str, Any]
    while True:
        data, ancillary, _, _ = channel.recvmsg(65536, CMSG_LEN(_DESCRIPTORS * pipes.itemsize))
        if not data:
            os._exit(0)
        for _, _, received in ancillary:
            pipes.frombytes(received)
        frames.feed(data)
        if (frame := frames.next()) is None:
            continue
        request = wire.unpack(frame)
        if "reap" in request:
            wire.write(1, wire.pack(_reaped(request["reap"])))
            continue
        try:
            pid = os.fork()
        except OSError as error:
            answer = {"failed": str(error)}
        else:
            if pid == 0:
                _take(pipes)
                channel.detach()
                settings: dict[str, Any] = request["fork"]
                return settings
            answer = {"pid": pid}
        while pipes:
            os.close(pipes.pop())
        wire.write(1, wire.pack(answer))


def _take(pipes: "array[int]") -> None:
    """In the fork: its own two pipes in place of the server's channel, and nothing else that is open."""
    for standard, pipe in enumerate(pipes):
        os.dup2(pipe, standard)
    os.closerange(3, _MOST_OPEN)


def _reaped(pid: int) -> dict[str, Any]:
    """The status of a worker that was killed, once it has ended. Until it is asked for, nobody else gets the
    number."""
    _, status, usage = os.wait4(pid, 0)
    return {"status": status, "cpu": usage.ru_utime + usage.ru_stime}
