"""`manage.py studio`: from whatever state the data is in to a page in the browser."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError
from django.urls import get_resolver
from django.utils import timezone

from builder.leaderboard import stop_readers
from studio.access.actors import StudioCommand
from studio.access.signin import remember_address, signin_link
from studio.operations.backup import BackupError
from studio.operations.database import bring_up_to_date, is_empty, one_at_a_time
from studio.operations.processes import run_all, run_apart
from studio.operations.sending import Sender
from studio.operations.server import AddressError, base_url, listen, prepare
from studio.operations.watching import Watch
from studio.shell.data_folder import make_data_folder
from studio.shell.jail import pool
from studio.shell.outages import is_outage
from studio.workspaces.allowing import account_in_terminal, allow
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.roots import FolderRefused

MOST_WORKERS = 64


class Command(StudioCommand):
    """Start the studio."""

    help = "Start Prompt Studio and print a link to sign in with."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to listen, where the data is, and what to leave out."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=_port, default=8000, help="port to listen on (8000)")
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
        parser.add_argument("--no-demo", action="store_true", help="start without the demo")
        parser.add_argument(
            "--workers",
            type=_number_of_workers,
            metavar="N",
            help="so many server processes and one for the background work (default: one process does both);"
            " 0: the background work alone, beside servers elsewhere",
        )
        parser.add_argument(
            "--no-background", action="store_true", help="leave the background work to another studio"
        )
        parser.add_argument("--data", metavar="DIR", help="folder for database, key and backups")
        parser.add_argument(
            "--workspaces",
            metavar="DIR",
            action="append",
            default=[],
            help="a folder that contains MixSeek workspaces; remembered, can be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the port, bring the data up to date, serve."""
        workers, background = options["workers"], not options["no_background"]
        if workers == 0 and not background:
            raise CommandError("--workers 0 is the background work alone: leave --no-background out.")
        make_data_folder(settings.STUDIO_DATA)
        try:
            # The port comes first: a second start by mistake must not migrate under the first.
            server = None if workers == 0 else listen(options["host"], options["port"])
        except AddressError as error:
            raise CommandError(str(error)) from error
        run_apart(partial(self._start, options))
        announce = partial(self._announce, server, browser=not options["no_browser"])
        if workers:
            # Loaded once, before the fork, so that all share it.
            get_resolver().url_patterns  # noqa: B018
            works = {f"server {number}": partial(_serve, server) for number in range(1, workers + 1)}
            run_all({**works, "background worker": _work} if background else works, announce)
        elif server is None:
            _work(announce)
        else:
            with ExitStack() as beside:
                # Beside the first page rather than before it.
                begin = partial(beside.enter_context, _background()) if background else _nothing
                _serve(server, lambda: (announce(), begin()))
        self.stdout.write("Stopped.")

    def _start(self, options: Mapping[str, Any]) -> None:
        """Everything before the first request."""
        try:
            with one_at_a_time():
                self._prepare(settings.STUDIO_DATA, demo=not options["no_demo"])
            for folder in options["workspaces"]:
                allow(os.path.abspath(folder), by=account_in_terminal(), at=timezone.now())
            self._reconcile()
        except BackupError as error:
            raise CommandError(str(error)) from error
        except FolderRefused as refusal:
            raise CommandError(f"{refusal.what} {refusal.advice}") from refusal
        except (OperationalError, OSError) as error:
            if not is_outage(error):
                raise
            raise CommandError(f"The database cannot be used: {' '.join(str(error).split())}") from error

    def _prepare(self, data: Path, demo: bool) -> None:
        # The mark outlives a kill between the first migration and the end of loading the demo.
        pending = data / "demo-pending"
        if demo and is_empty():
            pending.touch()
        if not demo:
            pending.unlink(missing_ok=True)
        if kept := bring_up_to_date():
            self.stdout.write(f"The database is from an older version; a copy was saved to {kept}.")
        if pending.exists():
            from studio.home.demo import load_demo

            self.stdout.write("Loading the demo …")
            load_demo(data)
            pending.unlink()

    def _reconcile(self) -> None:
        """Exports that the last stop cut off: what became of them is told by their files."""
        for receipt in reconcile(timezone.now()):
            self.stdout.write(f"An export was interrupted: {receipt}.")

    def _announce(self, server: socket.socket | None, browser: bool) -> None:
        if server is None:
            self.stdout.write("The background work of Prompt Studio runs.\nCtrl-C stops it.")
            self.stdout.flush()
            return
        address = base_url(server)
        host = server.getsockname()[0]
        settings.ALLOWED_HOSTS.append(f"[{host}]" if ":" in host else host)
        if host in ("0.0.0.0", "::") and not settings.ENVIRONMENT.origins:
            self.stdout.write("Other machines can connect once STUDIO_ORIGINS contains the address they use.")
        remember_address(settings.STUDIO_DATA, address)
        link = signin_link()
        self.stdout.write(
            "Prompt Studio is ready. Sign in with this link; it is good once, «link» prints a fresh one:\n\n"
            f"    {link}\n\nCtrl-C stops the studio."
        )
        self.stdout.flush()
        if browser and urlsplit(link).hostname in ("127.0.0.1", "localhost", "::1"):
            open_browser(link)


def _nothing() -> None:
    """Where nobody needs to be told that it begins."""


def _serve(server: socket.socket | None, begin: Callable[[], object] = _nothing) -> None:
    """Answer requests until a signal ends it; ``begin`` is called when all is ready for the first."""
    from studio.wsgi import application

    assert server is not None
    serve = prepare(server, application, behind_proxy=bool(settings.ENVIRONMENT.proxies))
    _listen_for_the_end()
    with suppress(KeyboardInterrupt):
        begin()
        # Beside the first page rather than before it.
        threading.Thread(target=pool().start, name="jail", daemon=True).start()
        serve()


def _work(begin: Callable[[], object] = _nothing) -> None:
    """Do the background work until a signal ends it."""
    _listen_for_the_end()
    with suppress(KeyboardInterrupt), _background():
        begin()
        threading.Event().wait()


@contextmanager
def _background() -> Iterator[None]:
    watch, sender = Watch(), Sender()
    watch.start()
    sender.start()
    try:
        yield
    finally:
        watch.end()
        sender.end()


def _listen_for_the_end() -> None:
    signal.signal(signal.SIGTERM, _stop)
    # A process under a parent leaves Ctrl-C to that one.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _stop)


def _stop(_signal: int, _frame: object) -> NoReturn:
    """No request that waits for a database holds the server back: its reader is ended first."""
    stop_readers()
    raise KeyboardInterrupt


def open_browser(link: str) -> None:
    """Show the link in the desktop's browser; without a desktop, do nothing."""
    if sys.platform == "darwin":
        opener = None if "SSH_CONNECTION" in os.environ else "open"
    else:
        opener = "xdg-open" if {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys() else None
    if opener and (program := shutil.which(opener)):
        subprocess.Popen(
            [program, link],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C here must not close the browser
        )


def _number_of_workers(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) <= MOST_WORKERS):
        raise ArgumentTypeError(f"{text!r} is no number of processes: write one from 0 to {MOST_WORKERS}.")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) <= 65535):
        raise ArgumentTypeError(f"{text!r} is not a port: write a number from 1 to 65535.")
    return int(text)
