"""``python -m builder`` in the process of a test."""

import io
import sys
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from builder.__main__ import main


class Outcome(NamedTuple):
    """What a command leaves behind."""

    code: int
    out: str
    err: str


def run(
    captured: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    arguments: Sequence[object],
    stdin: str,
) -> Outcome:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    try:
        code = main([str(each) for each in arguments])
    except SystemExit as stop:  # argparse
        code = int(stop.code or 0)
    out, err = captured.readouterr()
    return Outcome(code, out.decode(), err.decode())
