"""The worker, inside the jail: one process that takes jobs from its pipe until the pipe ends.

Forked by ``python -I worker.py``, which has loaded everything that a job may need. The worker first gives
up files, memory beyond its limit and, where the kernel can, every system call that reaches the outside.
"""

import gc
import json
import math
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

EXIT_MEMORY = 3
"""Not even the answer «out of memory» could be made."""

# Values nested tens of thousands deep overrun the interpreter's stack, here or in MixSeek. A
# small one makes that show here on every machine; Python's own compiler needs less.
STACK = 2 * 1024 * 1024


class TimeUp(BaseException):
    """Raised by the alarm. No Exception: nothing between here and the loop may catch it."""


class Alarm:
    """Ends Python code by itself at its CPU time, where it still knows the template's line.

    What runs inside C does not hear it; the process outside kills that a moment later.
    """

    def __init__(self) -> None:
        self._armed = False
        signal.signal(signal.SIGPROF, self._ring)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise TimeUp

    @contextmanager
    def set(self, seconds: float) -> Iterator[None]:
        self._armed = True
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_PROF, 0)


class Worker:
    """Does one request after the other; each answer is a frame of its own."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from builder.jail import jobs, wire

        self._jobs, self._wire = jobs, wire
        self._input = settings["input"]
        self._alarm = Alarm()

    def serve(self) -> None:
        while (frame := self._wire.read(0, self._input)) is not None:
            request = self._wire.unpack(frame)
            job = self._jobs.JOBS[request["do"]]
            if "each" in request:
                for item in request["each"]:
                    if not self._do(job, request | {request["vary"]: item}, request):
                        return
            elif not self._do(job, request, request):
                return

    def _do(self, job: Callable[[dict[str, Any]], Any], args: dict[str, Any], limits: dict[str, Any]) -> bool:
        """Answer one job; False when the process should not do another."""
        answer: dict[str, Any]
        try:
            # Never beyond this for one job, also where nobody is left outside to stop it.
            cpu = math.ceil(time.process_time()) + limits["cpu"]
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
            with self._alarm.set(limits["time"]):
                answer = self._jobs.answer(job, args)
        except TimeUp as stop:
            answer = {"limit": "time", "line": template_line(stop.__traceback__), "retire": True}
        except MemoryError as stop:
            answer = {"limit": "memory", "line": template_line(stop.__traceback__), "retire": True}
        answer["cpu"] = time.process_time()
        self._wire.write(1, self._wire.pack(answer))
        return "retire" not in answer


def template_line(traceback: TracebackType | None) -> int | None:
    """The line of the template that was at work, where the stop came from one."""
    line = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def open_packages() -> None:
    """Make the builder's modules importable, from a checkout as from a wheel, without its front doors.

    Those open everything, DuckDB and the pool included; in here only the jobs are wanted.
    """
    package = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(package.parent))
    for name, folder in (("builder", package), ("builder.jail", package / "jail")):
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module


def load() -> None:
    """Import and use once whatever a job may need: afterwards no file can be opened."""
    from builder.jail import jobs

    jobs.warm_up()


def lock(settings: dict[str, Any]) -> bool:
    """Give up what a job does not need, for good; tells whether the system calls are filtered."""
    from builder.jail import seccomp

    gc.collect()
    gc.freeze()
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_STACK, STACK),
        (resource.RLIMIT_AS, settings["memory"]),
    ):
        _, hard = resource.getrlimit(limit)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    return seccomp.install()


def main() -> None:
    warnings.simplefilter("ignore")
    open_packages()
    from builder.jail import forking, wire

    try:
        load()
        settings = json.loads(sys.argv[1]) if sys.argv[1:] else forking.forked()
        worker = Worker(settings)
        filtered = lock(settings)
    except Exception as error:
        wire.write(1, wire.pack({"failed": f"{type(error).__name__}: {error}"}))
        raise
    wire.write(1, wire.pack({"ready": True, "seccomp": filtered, "cpu": time.process_time()}))
    worker.serve()


if __name__ == "__main__":
    code = 0
    try:
        main()
    except MemoryError:
        code = EXIT_MEMORY
    except BaseException:
        code = 1
    finally:
        # No clean-up of the interpreter: it would take longer, and there is nothing to save.
        os._exit(code)
