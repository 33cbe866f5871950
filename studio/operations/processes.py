"""Processes under one parent: servers that share a listening socket, and one for the background work.

Used by `manage.py studio --workers N`. The parent loads everything, so that its children share that memory,
but starts no thread, jail worker or reader of databases: each child has its own, made after the fork. A child
that died is started again. When the parent itself is killed, its children see the end of a pipe and end, too.
"""

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping

from django.core.management.base import CommandError
from django.db import connections

Work = Callable[[], None]

SECONDS_TO_END = 4.0
"""That children have for the requests under way; then they are killed."""
SHORT_LIFE, PAUSE = 5.0, 1.0
"""A child that dies so soon is started again after a pause: what ended it is likely to be there still."""

_STOPS = (signal.SIGTERM, signal.SIGINT)


def run_apart(work: Work) -> None:
    """Have a process do it whose memory and threads go with it; ``SystemExit`` where it failed."""
    child = os.fork()
    if child == 0:
        _be_child(work)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(abs(os.waitstatus_to_exitcode(status)))


def run_all(works: Mapping[str, Work], announce: Work) -> None:
    """Keep a process at each work until Ctrl-C or SIGTERM; returns when all have ended."""
    watched = {*_STOPS, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)  # from here on they wait to be asked for
    announce()
    for connection in connections.all(initialized_only=True):
        connection.close()
    gc.collect()
    gc.freeze()  # else the first collection of a child would copy what all share
    alive, mine = os.pipe()

    def start(work: Work) -> int:
        child = os.fork()
        if child == 0:
            os.close(mine)
            signal.signal(
                signal.SIGINT, signal.SIG_IGN
            )  # Ctrl-C reaches all at once; the parent passes it on
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, before - watched)
            threading.Thread(target=_end_with_parent, args=(alive,), name="parent", daemon=True).start()
            _be_child(work)
        return child

    running: dict[int, tuple[str, float]] = {}
    due: dict[str, float] = dict.fromkeys(works, 0.0)
    try:
        while True:
            now = time.monotonic()
            for name in [name for name, at in due.items() if at <= now]:
                del due[name]
                running[start(works[name])] = name, now
            # None comes of a child that died between the look and the wait: its signal is still there.
            wait = max(0.0, min(due.values()) - time.monotonic()) if due else 3600.0
            told = signal.sigtimedwait(watched, wait)
            if told is not None and told.si_signo in _STOPS:
                return
            for child, status in _dead():
                name, since = running.pop(child, ("", 0.0))
                if name:
                    _report(name, child, status)
                    due[name] = time.monotonic() + (PAUSE if time.monotonic() - since < SHORT_LIFE else 0.0)
    finally:
        _end(set(running))
        gc.unfreeze()


def _be_child(work: Work) -> None:
    """Never returns: the parent's own way out is not the child's."""
    status = 1
    try:
        work()
        status = 0
    except CommandError as error:
        print(f"CommandError: {error}", file=sys.stderr)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _end_with_parent(alive: int) -> None:
    """Wait for the end of a pipe that only the parent can write to. Unlike a signal at a parent's death it
    does not depend on which thread made the child."""
    os.read(alive, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


def _dead() -> list[tuple[int, int]]:
    found = []
    try:
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(one)
    except ChildProcessError:
        pass
    return found


def _report(name: str, child: int, status: int) -> None:
    code = os.waitstatus_to_exitcode(status)
    how = f"by signal {-code}" if code < 0 else f"with status {code}"
    print(f"The {name} (process {child}) ended {how}; another one starts.", file=sys.stderr, flush=True)


def _end(children: set[int]) -> None:
    for child in children:
        os.kill(child, signal.SIGTERM)
    deadline = time.monotonic() + SECONDS_TO_END
    while children and time.monotonic() < deadline:
        children -= {child for child, _ in _dead()}
        if children:
            signal.sigtimedwait({signal.SIGCHLD}, max(0.0, deadline - time.monotonic()))
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
