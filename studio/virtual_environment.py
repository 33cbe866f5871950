"""From a bare Python to `.venv` with everything in it, with the standard library alone.

Each finished step leaves its digest in `.venv/studio.json`. Where that is missing, the last set-up was cut
short, and the environment is made anew; where it matches, a start costs a few milliseconds.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "studio.json"

# What the project's installation and its bundle are made from.
PROJECT = ("pyproject.toml", "studio/build_hook.py")
FRONT_END = (
    "static/src/**/*",
    "static/*.json",
    "static/*.mjs",
    "static/.npmrc",
    "studio/locale/*/LC_MESSAGES/*.po",
)


def enter(argv: list[str]) -> None:
    """Make `.venv` complete and go on inside it; in somebody else's virtual environment, just go on."""
    inside = sys.prefix != sys.base_prefix
    if inside and Path(sys.prefix).resolve() != VENV.resolve():
        if importlib.util.find_spec("django") is None:
            _stop(
                f"The active virtual environment {sys.prefix} lacks Prompt Studio's packages: "
                "run «deactivate» and then this command again."
            )
        return
    try:
        with _alone():
            tests = "test" in argv[1:2]
            _complete(development=tests, postgres=tests or bool(os.environ.get("DATABASE_URL")))
    except OSError as error:
        _stop(f"The folder {ROOT} cannot be written ({error.strerror}): make it writable for this user.")
    except KeyboardInterrupt:
        _stop("Set-up was interrupted: run the command again to finish it.")
    if not inside:
        os.execv(PYTHON, [str(PYTHON), *argv])


def _complete(development: bool, postgres: bool) -> None:
    """Do the steps whose digest is not on the stamp."""
    stamp = _read_stamp()
    if any(stamp.get(step) != value for step, value in _base().items()):
        _make_venv()
        _install("requirements.txt", "the pinned packages")
        stamp = _base()
        _write_stamp(stamp)
    if development and stamp.get("development") != (digest := _digest("requirements-dev.txt")):
        _install("requirements-dev.txt", "the pinned packages for tests")
        stamp["development"] = digest
        _write_stamp(stamp)
    if postgres and stamp.get("postgres") != (digest := _digest("requirements-postgres.txt")):
        _install("requirements-postgres.txt", "the pinned packages for PostgreSQL")
        stamp["postgres"] = digest
        _write_stamp(stamp)
    # Before the installation, which would build it too, but wrap a failure into pages of pip's own.
    front_end = _digest(*FRONT_END)
    if stamp.get("front end") != front_end or not (ROOT / "static" / "dist").is_dir():
        _tell("Building the front end")
        _run(
            str(ROOT / "studio" / "build_hook.py"),
            failure="Building the front end failed (see above): mend what it names and run this again.",
        )
        stamp["front end"] = front_end
        _write_stamp(stamp)
    if stamp.get("project") != (digest := _digest(*PROJECT)):
        _tell("Installing the project")
        _run(
            *("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"),
            *("--no-build-isolation", "--editable", str(ROOT)),
            failure="Installing the project failed (see above): mend what it names and run this again.",
        )
        stamp["project"] = digest
        _write_stamp(stamp)


def _base() -> dict[str, str]:
    """What `.venv` as a whole rests on: the Python below it, its place, the pinned packages."""
    return {
        "python": os.path.realpath(PYTHON),
        "place": str(VENV),
        "requirements": _digest("requirements.txt"),
    }


def _make_venv() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("venv", "ensurepip")):
        _stop(
            "This Python has no venv module: install it, on Debian and Ubuntu with "
            "«apt-get install python3-venv», and run the command again."
        )
    if sys.prefix != sys.base_prefix:
        # We stand inside the environment that has to be made anew: step out of it first.
        base = os.path.realpath(sys.executable)
        os.execv(base, [base, *sys.argv])
    _tell("Making the virtual environment .venv")
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    STAMP.unlink(missing_ok=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    VENV.mkdir()  # says more clearly than venv does that the folder cannot be written
    _run(
        *("-m", "venv", str(VENV)),
        python=sys.executable,
        failure="Making .venv failed (see above): on Debian and Ubuntu «apt-get install python3-venv» helps.",
    )


def _install(requirements: str, what: str) -> None:
    _tell(f"Installing {what}")
    _run(
        *(
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ),
        *("--require-hashes", "--requirement", str(ROOT / requirements)),
        failure="Installing the packages failed (see above): check the network, then run the command again.",
    )


def _run(*arguments: str, failure: str, python: str | os.PathLike[str] = PYTHON) -> None:
    # A user's own pip settings (`user = true`, a required environment) must not decide where packages go.
    environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PYTHONUTF8": "1"}
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX", "__PYVENV_LAUNCHER__"):
        environment.pop(name, None)
    # Open files stay open, so that a step which outlives a killed set-up goes on holding the lock.
    done = subprocess.run([python, *arguments], env=environment, cwd=ROOT, stdout=sys.stderr, close_fds=False)
    if done.returncode != 0:
        _stop(failure)


def _digest(*patterns: str) -> str:
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _read_stamp() -> dict[str, str]:
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    # The Python that .venv was made from may be gone since.
    return stamp if isinstance(stamp, dict) and PYTHON.exists() else {}


def _write_stamp(stamp: dict[str, str]) -> None:
    aside = STAMP.with_suffix(".new")
    aside.write_text(json.dumps(stamp, indent=1))
    aside.replace(STAMP)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the checkout's folder, so that two first starts at once make one environment; kill -9 lets go."""
    folder = os.open(ROOT, os.O_RDONLY)
    os.set_inheritable(folder, True)
    try:
        # Where nothing is missing another start holds it for a moment only, of which nobody need be told.
        for _ in range(40):
            with suppress(BlockingIOError):
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.05)
        else:
            _tell("Waiting for another set-up in this folder")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


_began = time.monotonic()


def _tell(text: str) -> None:
    print(f"[{time.monotonic() - _began:4.0f} s] {text} …", file=sys.stderr, flush=True)


def _stop(sentence: str) -> NoReturn:
    sys.exit(sentence)
