"""The command line: what `manage.py` in a checkout and `prompt-studio` from a wheel both call.

Django is imported for the studio's own commands only: the builder's need none, and are there without it.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from builder.commands import NAMES

# As many processes as cores, to which tests/conftest.py gives the tests out in order. Whoever says -n 0 after
# this gets one process; the debugger does so by itself.
PARALLEL = ("-n", "auto", "--maxprocesses", "4", "--dist", "loadscope", "--no-loadscope-reorder")

INSTALL = "pip install 'prompt-studio[web]'"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Odd settings end it with one sentence instead of a traceback."""
    argv = list(sys.argv if arguments is None else arguments)
    web = importlib.util.find_spec("django") is not None
    if Path(argv[0]).name == "prompt-studio":
        _run_builder(argv[1:], alone=not web)
        if len(argv) == 1 or argv[1].startswith("-"):
            argv.insert(1, "studio")
    if argv[1:2] == ["test"]:
        run_tests(argv[2:])
    if not web:
        sys.exit(
            f"The builder has no command «{' '.join(argv[1:2])}», and the studio is not installed: {INSTALL}"
        )
    _run_studio(argv)


def _run_builder(arguments: Sequence[str], *, alone: bool) -> None:
    """Become ``python -m builder`` where one of its commands is meant, or where there is nothing else."""
    if arguments and arguments[0] in ("--version", *NAMES, *(("-h", "--help") if alone else ())):
        from builder.__main__ import main as run

        sys.exit(run(arguments, prog="prompt-studio"))


def _run_studio(argv: list[str]) -> None:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    os.umask(0o077)  # what the studio writes for itself is its owner's alone; exports say their own modes
    # Settings are read before Django looks at a command's options, and they need to know the folder.
    if data := _data_option(argv):
        os.environ["STUDIO_DATA"] = data
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    try:
        _ = settings.INSTALLED_APPS
        execute_from_command_line(argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)


def run_tests(arguments: Sequence[str]) -> NoReturn:
    """Become pytest. Django is not set up for it: tests have settings and data of their own."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "manage.py").is_file():
        sys.exit(
            "The tests are not part of the installed package: run «python3 manage.py test» in a checkout."
        )
    os.chdir(checkout)
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    parallel = () if _names_single_tests(arguments) else PARALLEL
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *parallel, *arguments])


def _names_single_tests(arguments: Sequence[str]) -> bool:
    """Whether files or benchmarks are named: too little to share out, or figures that company would spoil."""
    paths = [Path(argument.partition("::")[0]) for argument in arguments if not argument.startswith("-")]
    return any(path.is_file() or "benchmarks" in path.parts for path in paths)


def _data_option(argv: Sequence[str]) -> str | None:
    for position, argument in enumerate(argv[2:], start=2):
        if argument == "--":
            break
        if argument.startswith("--data="):
            return argument.partition("=")[2]
        if argument == "--data" and position + 1 < len(argv):
            return argv[position + 1]
    return None
