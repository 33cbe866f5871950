"""A fork server as its users see it: started with the first worker, started again after it was killed. Used
by the jail's processes and by the readers of databases; ``forking`` is what runs inside."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from builder.jail.wire import Frames, WireError, pack, unpack

_ANSWER_SECONDS = 10.0
_MOST_ANSWER = 65536


class ForkServerEnded(Exception):
    """It could not start, or was killed; the text says why. Its workers live on until their pipes end."""


class _Process:
    """One start of it. Safe for threads, which take turns."""

    def __init__(self, program: Path) -> None:
        self._channel, theirs = socket.socketpair()
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", str(program)],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                # Ctrl-C at the terminal is for the parent; a worker ends with its pipe. In a session of its
                # own its priority would not count beside other sessions (sched_autogroup).
                process_group=0,
            )
        except BaseException:
            self._channel.close()
            raise
        finally:
            theirs.close()
        self._channel.settimeout(_ANSWER_SECONDS)
        self._frames = Frames(_MOST_ANSWER)
        self._said = select.poll()
        self._said.register(self._channel, select.POLLIN)
        self._turn = threading.Lock()
        self._started = time.monotonic()
        self._ready = False
        self._ended = False

    def become_ready(self, most: float, wait: float) -> bool:
        with self._turn:
            if not self._ready and self._said.poll(wait * 1000):
                answer = self._answer()
                if not answer.get("ready"):
                    raise self._failed(str(answer.get("failed", "")))
                self._ready = True
            if not self._ready and time.monotonic() - self._started > most:
                raise self._failed(f"not ready after {most:g} s")
            return self._ready

    def ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        with self._turn:
            if self._ended:
                raise ForkServerEnded("killed")
            try:
                socket.send_fds(self._channel, [pack(request)], descriptors)
                return self._answer()
            except OSError as error:
                raise self._failed(str(error)) from error
            except ForkServerEnded:
                raise
            except BaseException:
                # An interrupt between question and answer: the answer must not reach the next question.
                self._failed("interrupted")
                raise

    def _answer(self) -> dict[str, Any]:
        try:
            while (frame := self._frames.next()) is None:
                if not (data := self._channel.recv(_MOST_ANSWER)):
                    raise self._failed("")
                self._frames.feed(data)
            answer: dict[str, Any] = unpack(frame)
            return answer
        except (OSError, WireError) as error:
            raise self._failed(str(error)) from error

    def _failed(self, reason: str) -> ForkServerEnded:
        """Ends it, if it has not ended by itself; then its status is what there is to say."""
        self._ended = True
        with suppress(subprocess.TimeoutExpired):
            if not reason:
                return ForkServerEnded(f"exit {self._popen.wait(1.0)}")
        self._popen.kill()
        self._popen.wait()
        return ForkServerEnded(reason or "killed")

    def is_running(self) -> bool:
        return self._popen.poll() is None

    def close(self) -> None:
        self._ended = True
        self._popen.kill()
        self._popen.wait()
        self._channel.close()

    def forget(self) -> None:
        """In a forked child: it is the parent's."""
        self._channel.close()
        self._popen.returncode = 0


class Fork:
    """A worker process and this end of its two pipes."""

    def __init__(self, server: _Process, settings: dict[str, Any]) -> None:
        self._server = server
        self._ours: list[int] = []
        theirs: list[int] = []
        try:
            for ours_at in (1, 0):
                ends = os.pipe()
                self._ours.append(ends[ours_at])
                theirs.append(ends[1 - ours_at])
            self.stdin, self.stdout = self._ours
            answer = server.ask({"fork": settings}, theirs)
            if "failed" in answer:
                raise OSError(answer["failed"])
            self.pid = int(answer["pid"])
        except BaseException:
            self.close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def kill(self) -> None:
        """Only while its server runs, which keeps the number from being another process's by now. Without
        it, the worker ends with its pipe or at its CPU limit."""
        if self._server.is_running():
            os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> tuple[int, float] | None:
        """Wait for its end: the status and the CPU seconds; None where its server has ended before."""
        try:
            answer = self._server.ask({"reap": self.pid})
        except ForkServerEnded:
            return None
        return int(answer["status"]), float(answer["cpu"])

    def close(self) -> None:
        """Close the pipes, which ends a worker that is idle."""
        while self._ours:
            os.close(self._ours.pop())


class ForkServer:
    """The server of one program. Nothing runs before the first worker is asked for."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._process: _Process | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Have it load; while it does, its user can do something else."""
        self._running()

    def become_ready(self, most: float, wait: float = 0.0) -> bool:
        """Whether it has loaded what workers need, after ``wait`` seconds at most. ``ForkServerEnded`` where
        it did not within ``most`` seconds of its start."""
        return self._running().become_ready(most, wait)

    def fork(self, settings: dict[str, Any], most: float = _ANSWER_SECONDS) -> Fork:
        """A worker with these settings. ``OSError`` or ``ForkServerEnded`` where there can be none."""
        process = self._running()
        while not process.become_ready(most, wait=most):
            pass
        return Fork(process, settings)

    def _running(self) -> _Process:
        with self._lock:
            if self._process and not self._process.is_running():
                self._process.close()
                self._process = None
            if self._process is None:
                self._process = _Process(self._program)
            return self._process

    def close(self) -> None:
        """End it. Whoever asks for another worker starts it again."""
        with self._lock:
            process, self._process = self._process, None
        if process:
            process.close()

    def forget(self) -> None:
        """In a forked child: it is the parent's. A new lock: the old one's holder did not come along."""
        self._lock = threading.Lock()
        process, self._process = self._process, None
        if process:
            process.forget()
