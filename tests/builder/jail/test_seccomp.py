"""The filter, run by the kernel on this machine and by a small interpreter for the other one."""

import errno
import json
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builder.jail import seccomp
from builder.jail.seccomp import AARCH64, ALLOWED, MACHINES, MAPPING, REFUSED, X86_64, Machine, program

ROOT = Path(__file__).parents[3]

KILL, ALLOW, EPERM = 0x80000000, 0x7FFF0000, 0x00050000 | errno.EPERM
# What must end a worker, with both machines' numbers.
FORBIDDEN = {
    "socket": (41, 198), "connect": (42, 203), "sendto": (44, 206), "clone": (56, 220), "fork": (57, None),
    "vfork": (58, None), "execve": (59, 221), "kill": (62, 129), "ptrace": (101, 117), "mount": (165, 40),
    "unlinkat": (263, 35), "renameat": (264, 38), "tgkill": (234, 131), "process_vm_readv": (310, 270),
    "memfd_create": (319, 279), "bpf": (321, 280), "execveat": (322, 281), "io_uring_setup": (425, 425),
    "clone3": (435, 435), "pidfd_open": (434, 434),
}  # fmt: skip


def run(table: Machine, nr: int, arch: int | None = None, args: tuple[int, ...] = ()) -> int:
    """What the filter answers: the few BPF operations that it uses, done by hand."""
    code = program(table)
    data = struct.pack("=IIQ6Q", nr, table.audit_arch if arch is None else arch, 0, *(*args, *[0] * 6)[:6])
    at = value = 0
    while True:
        operation, if_true, if_false, constant = struct.unpack_from("=HBBI", code, at * 8)
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif operation == 0x15:
            at += if_true if value == constant else if_false
        elif operation == 0x45:
            at += if_true if value & constant else if_false
        else:
            assert operation == 0x06
            return constant


MACHINES_BY_NAME = pytest.mark.parametrize("table", MACHINES.values(), ids=MACHINES.keys())


@MACHINES_BY_NAME
def test_what_a_job_needs_is_allowed(table: Machine) -> None:
    for name in ALLOWED:
        if name in table.calls:
            assert run(table, table.calls[name]) == ALLOW


@MACHINES_BY_NAME
def test_looking_at_files_fails(table: Machine) -> None:
    for name in REFUSED:
        if name in table.calls:
            assert run(table, table.calls[name]) == EPERM


@MACHINES_BY_NAME
def test_what_reaches_the_outside_ends_the_process(table: Machine) -> None:
    index = list(MACHINES.values()).index(table)
    for numbers in FORBIDDEN.values():
        if numbers[index] is not None:
            assert run(table, numbers[index] or 0) == KILL


@MACHINES_BY_NAME
def test_every_number_outside_the_table_ends_the_process(table: Machine) -> None:
    for number in [*range(600), 0x40000000, 0x40000001, 0xFFFFFFFF]:
        if number not in table.calls.values():
            assert run(table, number) == KILL


@MACHINES_BY_NAME
def test_the_calls_of_another_machine_end_the_process(table: Machine) -> None:
    other = AARCH64 if table is X86_64 else X86_64
    assert run(table, table.calls["read"], arch=other.audit_arch) == KILL


@MACHINES_BY_NAME
def test_memory_is_never_executable(table: Machine) -> None:
    for name in MAPPING:
        assert run(table, table.calls[name], args=(0, 4096, 3)) == ALLOW
        assert run(table, table.calls[name], args=(0, 4096, 7)) == KILL


@MACHINES_BY_NAME
def test_only_the_own_cpu_limit_can_be_changed(table: Machine) -> None:
    number = table.calls["prlimit64"]
    assert run(table, number, args=(0, 0)) == ALLOW
    assert run(table, number, args=(0, 9)) == KILL
    assert run(table, number, args=(1, 0)) == KILL


def test_a_name_that_only_one_machine_has_is_an_old_one() -> None:
    # AArch64 never had them: its C library uses the newer ones, which are in both tables.
    assert X86_64.calls.keys() - AARCH64.calls.keys() == {
        "open", "stat", "lstat", "access", "readlink", "time",
    }  # fmt: skip
    assert not AARCH64.calls.keys() - X86_64.calls.keys()


# Starting Python takes much longer than an attempt, so one Python forks a process for each.
FORKS = f"""
import ctypes, json, mmap, os, resource, signal, socket, subprocess, sys, time
sys.path.insert(0, {str(ROOT)!r})
from builder.jail import seccomp
for line in sys.stdin:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            assert seccomp.install()
            exec(json.loads(line))
            os.write(writer, b"done")
        except PermissionError:
            os.write(writer, b"refused")
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as answer:
        said = answer.read()
    _, status = os.waitpid(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), said]), flush=True)
"""
Attempt = Callable[[str], tuple[int, str]]


@pytest.fixture(scope="module")
def in_the_filter() -> Iterator[Attempt]:
    """Tries a statement behind the filter; tells the exit code, and whether it was done or refused."""
    command = [sys.executable, "-c", FORKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forks:

        def attempt(statement: str) -> tuple[int, str]:
            assert forks.stdin and forks.stdout
            forks.stdin.write(json.dumps(statement) + "\n")
            forks.stdin.flush()
            exit_code, said = json.loads(forks.stdout.readline())
            return exit_code, said

        yield attempt


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')",
        "open('/tmp/x', 'w')",
        "os.open('/', os.O_RDONLY)",
        "os.stat('/')",
        "os.listdir('/')",
        "os.readlink('/proc/self/exe')",
        "os.getcwd()",
        "import wave",
    ],
)
def test_the_kernel_refuses_files(in_the_filter: Attempt, attempt: str) -> None:
    assert in_the_filter(attempt) == (0, "refused")


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "subprocess.run(['/bin/true'])",
        "os.kill(os.getppid(), 0)",
        "os.pipe()",
        "os.unlink('/tmp/nothing')",
        "os.mkdir('/tmp/nothing')",
        "os.chdir('/')",
        "os.setuid(0)",
        "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "ctypes.CDLL(None).ptrace(0, 0, 0, 0)",
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)",
        "time.sleep(10)",
    ],
)
def test_the_kernel_ends_what_reaches_out(in_the_filter: Attempt, attempt: str) -> None:
    assert in_the_filter(attempt) == (-signal.SIGSYS, "")


@pytest.mark.parametrize(
    "attempt",
    [
        "sum(range(1000))",
        "bytearray(50_000_000)",
        "time.time(), time.monotonic(), time.process_time()",
        "os.urandom(8)",
        "signal.setitimer(signal.ITIMER_REAL, 10)",
        "resource.setrlimit(resource.RLIMIT_CPU, (60, -1))",
        "resource.getrusage(resource.RUSAGE_SELF)",
    ],
)
def test_the_kernel_lets_a_job_work(in_the_filter: Attempt, attempt: str) -> None:
    assert in_the_filter(attempt) == (0, "done")


def test_this_machine_says_that_it_filters() -> None:
    assert seccomp.machine() is not None
    assert seccomp.supported()


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "x86_64"), ("linux", "riscv64")])
def test_elsewhere_there_is_no_filter(monkeypatch: pytest.MonkeyPatch, platform: str, machine: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert not seccomp.supported()
    assert not seccomp.install()
