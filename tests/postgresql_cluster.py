"""A PostgreSQL cluster of a test's own, which it may stop, start and crash."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOW_TO_GET_IT = "apt-get install postgresql"


class Cluster:
    """`pg_ctl` on a folder; `url` is for DATABASE_URL."""

    def __init__(self, folder: Path) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
        assert found, f"There is no PostgreSQL server: {HOW_TO_GET_IT}"
        self._programs = found[-1].parent
        self._data = folder / "db"
        self._log = folder / "log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self._run("initdb", "-A", "trust", "-U", "studio", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://studio@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        listen = f"-c listen_addresses=127.0.0.1 -c port={self._port} -c unix_socket_directories=''"
        self._run("pg_ctl", "-w", "-l", str(self._log), "-o", listen, "start")

    def stop(self, mode: str = "fast") -> None:
        """``immediate`` is a crash: what was not on disk is recovered from the log by the next start."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._data), *arguments]
        # PostgreSQL refuses to run as root.
        as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        subprocess.run([*as_owner, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Started, and removed in the end."""
    # Not in pytest's own folder, which the user postgres cannot reach.
    folder = Path(tempfile.mkdtemp(prefix="studio-postgresql-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    made = None
    try:
        made = Cluster(folder)
        yield made
    finally:
        if made is not None:
            made.stop("immediate")
        shutil.rmtree(folder)
