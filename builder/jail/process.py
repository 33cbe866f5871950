"""One worker process as its pool sees it: started, asked, stopped, reaped."""

import math
import os
import resource
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from builder.jail.fork_server import ForkServer
from builder.jail.limits import LimitName, Limits
from builder.jail.wire import Frames, WireError, unpack

WORKER = Path(__file__).with_name("worker.py")
EXIT_MEMORY = 3

# Six bytes of JSON for each character of a text, and room for the problems of a check.
_ANSWER_BYTES_PER_CHARACTER = 6
_ANSWER_ROOM = 4 * 1024 * 1024

# The largest template that the gate accepts takes about 0.2 s of CPU. What takes longer goes on
# at the lowest priority, so that it costs nobody's preview more than that.
_LONG = 0.3
_LOWEST = 19

# Half of the memory limit: what the cache of compiled templates holds by then is given back
# by a new process before it is missed by somebody's preview.
_FULL = 2
_PAGE = resource.getpagesize()


class Stopped(Exception):
    """The job in the worker met a limit; ``fatal`` when the worker did not survive that.

    One that was ``starved`` got too little of the machine: that says nothing about its job.
    """

    def __init__(
        self,
        limit: LimitName,
        *,
        line: int | None = None,
        reason: str = "",
        fatal: bool = True,
        starved: bool = False,
    ) -> None:
        super().__init__(limit)
        self.limit, self.line, self.reason = limit, line, reason
        self.fatal, self.starved = fatal, starved


class WorkerProcess:
    """A process and the two pipes to it. One thread at a time asks it; ``kill`` is safe from any."""

    def __init__(
        self,
        limits: Limits,
        nice: int = 0,
        *,
        forks: ForkServer,
        long: float = _LONG,
        object_hook: Callable[[dict[str, Any]], Any] | None = None,
        **more: str,
    ) -> None:
        settings = {"memory": limits.memory, "input": limits.input, **more}
        self._long, self._object_hook = long, object_hook
        self._fork = forks.fork(settings)
        self.pid = self._fork.pid
        if nice:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self.pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)
        self.stdin, self.stdout = self._fork.stdin, self._fork.stdout
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)
        self._readable = select.poll()
        self._readable.register(self.stdout, select.POLLIN)
        self._frames = Frames((limits.output + limits.input) * _ANSWER_BYTES_PER_CHARACTER + _ANSWER_ROOM)
        self._reaping = threading.Lock()
        self._status: int | None = None
        self.started = time.monotonic()
        self.cpu = 0.0
        self.seccomp = False
        self.jobs = 0
        self.retired = False
        self.owner: str | None = None
        self._memory: int | None = None
        self._full = limits.memory // _FULL

    def become_ready(self) -> bool:
        """Whether the worker has said that it can take a job; ``Stopped`` when it never will."""
        answer = self._poll_frame()
        if answer is None:
            return False
        if not answer.get("ready"):
            raise Stopped("crash", reason=str(answer.get("failed", "")))
        self.seccomp, self.cpu = answer["seccomp"], answer["cpu"]
        return True

    def send(self, frame: bytes, wall: float) -> None:
        """Write a request; a worker that does not take it within so many seconds is stopped."""
        view, deadline = memoryview(frame), time.monotonic() + wall
        while view:
            try:
                view = view[os.write(self.stdin, view) :]
            except BlockingIOError:
                writable = select.poll()
                writable.register(self.stdin, select.POLLOUT)
                if not writable.poll(_milliseconds(deadline - time.monotonic())):
                    raise self._killed("time", starved=True) from None
            except BrokenPipeError:
                raise self._ended() from None

    def receive(self, seconds: float, wall: float) -> dict[str, Any]:
        """The next answer. The worker is killed, and ``Stopped`` names the limit, once it has used so many
        ``seconds`` of CPU, or not come to that within ``wall`` by the clock."""
        began, pause = time.monotonic(), self._long
        while (answer := self._poll_frame()) is None:
            if self._readable.poll(_milliseconds(min(pause, began + wall - time.monotonic()))):
                continue
            passed = time.monotonic() - began
            used = self._used(passed)
            # By both: a worker with threads uses more than the clock shows.
            if min(used, passed) >= seconds:
                raise self._killed("time")
            if used > self._long:
                self._demote()
            if passed >= wall:
                raise self._killed("time", starved=used <= self._long)
            pause = seconds - min(used, passed)
            if not self.retired:
                pause = min(pause, self._long / 3)
        self.jobs += 1
        self.cpu = answer["cpu"]
        self.retired = self.retired or "retire" in answer or self._resident() > self._full
        if "limit" in answer:
            raise Stopped(answer["limit"], line=answer.get("line"), fatal="retire" in answer)
        return answer

    def _resident(self) -> int:
        """Bytes that the worker holds. Not its own getrusage: the peak there is that of its parent."""
        try:
            # Opened once: to open it takes longer than the rest of a round trip outside.
            if self._memory is None:
                self._memory = os.open(f"/proc/{self.pid}/statm", os.O_RDONLY)
            return int(os.pread(self._memory, 128, 0).split()[1]) * _PAGE
        except (OSError, IndexError):
            return 0

    def _used(self, passed: float) -> float:
        """CPU time of the job under way; what ``passed`` by the clock where that cannot be told."""
        try:
            return time.clock_gettime(_cpu_clock(self.pid)) - self.cpu
        except OSError:
            return passed

    def _demote(self) -> None:
        """Lower a long job's priority. Only root could raise it again, so it is the worker's last one."""
        with suppress(OSError):
            # Each thread has a priority of its own.
            for thread in os.listdir(f"/proc/{self.pid}/task"):
                os.setpriority(os.PRIO_PROCESS, int(thread), _LOWEST)
        self.retired = True

    def _poll_frame(self) -> dict[str, Any] | None:
        """A whole answer if one has arrived."""
        try:
            while (frame := self._frames.next()) is None:
                try:
                    data = os.read(self.stdout, 65536)
                except BlockingIOError:
                    return None
                if not data:
                    raise self._ended()
                self._frames.feed(data)
            answer = unpack(frame, self._object_hook)
        except WireError as error:
            raise self._killed("crash", str(error)) from error
        if not isinstance(answer, dict):
            raise self._killed("crash", "an answer that is none")
        return answer

    def has_ended(self) -> bool:
        """Of an idle worker: it has nothing to say but that."""
        return bool(self._readable.poll(0))

    def kill(self) -> None:
        with self._reaping:
            # Never after it was reaped: the number may be another process's by now.
            if self._status is None:
                self._fork.kill()
        self.retired = True

    def reap(self) -> int:
        """The exit status of a killed process once it has ended; its CPU time is exact from then on."""
        with self._reaping:
            if self._status is None:
                # Where the fork server was killed nobody knows: as if the worker had been, too.
                self._status, self.cpu = self._fork.reap() or (signal.SIGKILL, self.cpu)
            return self._status

    def close(self) -> None:
        """End the process and give back its descriptors; the last thing that is called."""
        self.kill()
        self.reap()
        self.release()

    def release(self) -> None:
        """Close what is open and no more: what a forked child does with its parent's worker."""
        self._fork.close()
        if self._memory is not None:
            os.close(self._memory)
            self._memory = None

    def _killed(self, limit: LimitName, reason: str = "", *, starved: bool = False) -> Stopped:
        self.kill()
        return Stopped(limit, reason=reason, starved=starved)

    def _ended(self) -> Stopped:
        """The worker closed its end: tell from its exit status which limit it met."""
        # One that only closed its pipe is killed; one that is ending keeps the reason it ends for.
        self.kill()
        status = self.reap()
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGXCPU:
                return Stopped("cpu")
            return Stopped("crash", reason=signal.Signals(number).name)
        code = os.waitstatus_to_exitcode(status)
        return Stopped("memory") if code == EXIT_MEMORY else Stopped("crash", reason=f"exit {code}")


def _cpu_clock(pid: int) -> int:
    """Linux's clock of another process's CPU time, as clock_getcpuclockid(3) makes it."""
    return (~pid << 3) | 2


def _milliseconds(seconds: float) -> int:
    return max(0, math.ceil(seconds * 1000))
