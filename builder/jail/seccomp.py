"""Seccomp filters for worker processes: what their work needs, nothing that reaches the outside.

A worker of the jail reads and writes its pipes, manages its memory and looks at the
clock. Opening a file fails there; a socket, a program or a process ends it at once.
A reader of databases may open files as well, as far as ``landlock`` lets it.
"""

import ctypes
import errno
import platform
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass

# Fails with EPERM instead of ending the process: Python asks for these by itself, for
# instance for a module that is not loaded yet, and copes with the refusal.
REFUSED = (
    "open", "openat", "openat2", "stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat",
    "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd", "lseek", "ioctl", "fcntl", "uname",
)  # fmt: skip
ALLOWED = (
    "read", "write", "close", "brk", "munmap", "mremap", "madvise", "rt_sigreturn", "rt_sigprocmask",
    "futex", "getrandom", "clock_gettime", "gettimeofday", "time", "getpid", "gettid", "getrusage",
    "sched_yield", "setitimer", "restart_syscall", "exit", "exit_group",
)  # fmt: skip
# Allowed, but never with PROT_EXEC: a worker makes no new machine code.
MAPPING = ("mmap", "mprotect")
READING = (
    "open", "openat", "stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getdents64", "getcwd", "lseek", "fcntl", "uname", "pread64", "fadvise64",
    "fstatfs", "sched_getaffinity", "sysinfo", "nanosleep", "clock_nanosleep", "set_robust_list", "rseq",
    "rt_sigaction", "sigaltstack",
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """What the kernel calls an architecture, and its numbers of the calls above."""

    audit_arch: int
    calls: Mapping[str, int]


# fmt: off
X86_64 = Machine(0xC000003E, {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16,
    "access": 21, "sched_yield": 24, "mremap": 25, "madvise": 28, "setitimer": 38, "getpid": 39, "exit": 60,
    "uname": 63, "fcntl": 72, "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getrusage": 98,
    "gettid": 186, "time": 201, "futex": 202, "getdents64": 217, "restart_syscall": 219,
    "clock_gettime": 228, "exit_group": 231, "openat": 257, "newfstatat": 262, "readlinkat": 267,
    "faccessat": 269, "prlimit64": 302, "getrandom": 318, "statx": 332, "openat2": 437, "faccessat2": 439,
    "rt_sigaction": 13, "pread64": 17, "nanosleep": 35, "clone": 56, "sysinfo": 99, "sigaltstack": 131,
    "fstatfs": 138, "sched_getaffinity": 204, "fadvise64": 221, "clock_nanosleep": 230,
    "set_robust_list": 273, "rseq": 334, "clone3": 435,
})
AARCH64 = Machine(0xC00000B7, {
    "getcwd": 17, "fcntl": 25, "ioctl": 29, "faccessat": 48, "openat": 56, "close": 57, "getdents64": 61,
    "lseek": 62, "read": 63, "write": 64, "readlinkat": 78, "newfstatat": 79, "fstat": 80, "exit": 93,
    "exit_group": 94, "futex": 98, "setitimer": 103, "clock_gettime": 113, "sched_yield": 124,
    "restart_syscall": 128, "rt_sigprocmask": 135, "rt_sigreturn": 139, "uname": 160, "getrusage": 165,
    "gettimeofday": 169, "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216,
    "mmap": 222, "mprotect": 226, "madvise": 233, "prlimit64": 261, "getrandom": 278, "statx": 291,
    "openat2": 437, "faccessat2": 439, "fstatfs": 44, "pread64": 67, "set_robust_list": 99,
    "nanosleep": 101, "clock_nanosleep": 115, "sched_getaffinity": 123, "sigaltstack": 132,
    "rt_sigaction": 134, "sysinfo": 179, "clone": 220, "fadvise64": 223, "rseq": 293, "clone3": 435,
})
# fmt: on
MACHINES: Mapping[str, Machine] = {"x86_64": X86_64, "aarch64": AARCH64}

# struct seccomp_data: nr, arch, instruction pointer, six arguments of 64 bits.
_NR, _ARCH, _ARGS = 0, 4, 16

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_KILL = 0x80000000
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_GET_SECCOMP = 38, 22, 21
_MODE_FILTER = 2

_RLIMIT_CPU = 0
_PROT_EXEC = 4
_CLONE_THREAD = 0x00010000


def machine() -> Machine | None:
    """This computer's table, or None where there is none and workers start without a filter."""
    # A 32-bit Python on a 64-bit kernel makes other calls than the table says.
    if sys.platform != "linux" or struct.calcsize("P") != 8:
        return None
    return MACHINES.get(platform.machine())


def supported() -> bool:
    """Whether workers on this computer run behind the filter."""
    if machine() is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    # The kernel answers EINVAL where it was built without seccomp.
    return bool(libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)


def program(table: Machine, *, reads_files: bool = False) -> bytes:
    """The filter as the kernel's BPF instructions: a chain of comparisons, each with its verdict.

    With ``reads_files``, files may be opened and threads started, and what is not foreseen fails instead of
    ending the process: a database library's next release may try something new.
    """
    otherwise = _ERRNO | errno.EPERM if reads_files else _KILL
    code = [
        _step(_LOAD, _ARCH),
        _step(_EQUAL, table.audit_arch, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NR),
    ]
    for name in (*ALLOWED, *READING) if reads_files else ALLOWED:
        code += _when(table, name, [_step(_RETURN, _ALLOW)])
    if reads_files:
        thread = [_step(_LOAD, _ARGS), _step(_ANY_BIT, _CLONE_THREAD, 0, 1), _step(_RETURN, _ALLOW)]
        code += _when(table, "clone", [*thread, _step(_RETURN, _ERRNO | errno.EPERM)])
        # Its flags lie in memory, where no filter can look; the C library then takes the other one.
        code += _when(table, "clone3", [_step(_RETURN, _ERRNO | errno.ENOSYS)])
    for name in MAPPING:
        protection = _ARGS + 2 * 8
        code += _when(
            table,
            name,
            [
                _step(_LOAD, protection),
                _step(_ANY_BIT, _PROT_EXEC, 0, 1),
                _step(_RETURN, otherwise),
                _step(_RETURN, _ALLOW),
            ],
        )
    # Each job raises its own CPU limit: of this process (0), and no other limit than that.
    code += _when(
        table,
        "prlimit64",
        [
            _step(_LOAD, _ARGS),
            _step(_EQUAL, 0, 1, 0),
            _step(_RETURN, otherwise),
            _step(_LOAD, _ARGS + 8),
            _step(_EQUAL, _RLIMIT_CPU, 1, 0),
            _step(_RETURN, otherwise),
            _step(_RETURN, _ALLOW),
        ],
    )
    for name in REFUSED:
        code += _when(table, name, [_step(_RETURN, _ERRNO | errno.EPERM)])
    code.append(_step(_RETURN, otherwise))
    return b"".join(code)


def install(*, reads_files: bool = False) -> bool:
    """Put this thread, and those it starts, behind the filter for good; False where that is not possible."""
    table = machine()
    if table is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    code = program(table, reads_files=reads_files)
    instructions = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    filter_ = Program(len(code) // 8, ctypes.addressof(instructions))
    zero = ctypes.c_ulong(0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        return False
    return bool(
        libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), ctypes.byref(filter_), zero, zero) == 0
    )


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _when(table: Machine, name: str, verdict: list[bytes]) -> list[bytes]:
    """The verdict on one call; a machine that has no such call needs none."""
    number = table.calls.get(name)
    if number is None:
        return []
    return [_step(_EQUAL, number, 0, len(verdict)), *verdict]
