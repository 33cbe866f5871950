"""A PostgreSQL cluster for one test: started from Debian's programs, in a folder that goes with it."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPTIONS = "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c fsync=off"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def programs() -> Path:
    """The folder of the newest version that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    assert found, "PostgreSQL is missing: apt-get install postgresql"
    return found[-1].parent


@contextmanager
def cluster() -> Iterator[str]:
    """The address of its empty database, as `DATABASE_URL` takes it."""
    folder = Path(tempfile.mkdtemp(prefix="prompt-studio-postgres-"))
    # PostgreSQL refuses to run as root.
    become: list[str] = []
    if os.getuid() == 0:
        shutil.chown(folder, "postgres")
        become = ["runuser", "-u", "postgres", "--"]
    data, port = folder / "db", free_port()

    def run(*command: str) -> None:
        subprocess.run([*become, *command], cwd="/", check=True, stdout=subprocess.DEVNULL)

    control = (str(programs() / "pg_ctl"), "-D", str(data), "-w")
    try:
        run(str(programs() / "initdb"), "-D", str(data), "-A", "trust", "-U", "studio", "--locale=C.UTF-8")
        run(*control, "-l", str(folder / "log"), "-o", _OPTIONS.format(port=port), "start")
        try:
            yield f"postgresql://studio@127.0.0.1:{port}/postgres"
        finally:
            run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
