"""Landlock, the kernel's way to take files away from a process: only what lies in one folder can still be
read, nothing can be written. Used by the reader of databases."""

import ctypes
import os
import struct
import sys
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# How many rights over files the versions of Landlock know, from the first one on; a kernel refuses others.
_RIGHTS = (13, 14, 15, 15, 16)
_PR_SET_NO_NEW_PRIVS = 38


def supported() -> bool:
    """Whether this kernel has it."""
    return _version() > 0


def _version() -> int:
    if sys.platform != "linux":
        return 0
    return int(_call(_CREATE_RULESET, None, 0, _VERSION))


def restrict_to(*paths: Path) -> bool:
    """Leave this thread, and those it starts, nothing but reading these files and what lies below these
    folders, for good; False where the kernel cannot."""
    version = _version()
    if version <= 0:
        return False
    every = (1 << _RIGHTS[min(version, len(_RIGHTS)) - 1]) - 1
    handled = struct.pack("=Q", every)
    ruleset = _call(_CREATE_RULESET, handled, len(handled), 0)
    if ruleset < 0:
        return False
    try:
        return (
            all([_allow(ruleset, path) for path in paths])
            and ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            and _call(_RESTRICT_SELF, ruleset, 0) == 0
        )
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path) -> bool:
    rights = _READ_FILE | _READ_DIR if path.is_dir() else _READ_FILE
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0) == 0
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int | bytes | None) -> int:
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    values = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    return int(syscall(ctypes.c_long(number), *values))
