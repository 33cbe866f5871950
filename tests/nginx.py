"""nginx before some studios, with the configuration that the help page shows, for as long as a test lasts."""

import os
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.studio_process import ROOT

SHOWN = ROOT / "templates" / "help" / "deployment" / "nginx.conf"
PICKED = "X-Server"
"""A header of the tests: the number of the server that shall answer; without it they take turns."""
ANSWERED = "X-Upstream"

_MAIN = """\
{user}worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    map $http_x_server $picked {{ default studio; {picks} }}
    include {folder}/site.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """Where it answers, and whom to trust for that."""

    base: str
    trust: ssl.SSLContext


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@contextmanager
def nginx(folder: Path, port: int, studios: Sequence[int]) -> Iterator[Proxy]:
    """Listen with TLS at ``port`` for studios at these ports."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = f"-addext subjectAltName=DNS:localhost -keyout {key} -out {certificate}"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost {made}"
    subprocess.run(command.split(), check=True, capture_output=True)
    picks = " ".join(f"{number} 127.0.0.1:{studio};" for number, studio in enumerate(studios))
    user = "user root;\n" if os.getuid() == 0 else ""
    main = folder / "nginx.conf"
    main.write_text(_MAIN.format(user=user, folder=folder, picks=picks))
    listed = "\n".join(f"    server 127.0.0.1:{studio} fail_timeout=2s;" for studio in studios)
    where = "/etc/letsencrypt/live/studio.example.org"
    site = SHOWN.read_text("utf-8")
    for old, new in (
        ("    server 127.0.0.1:8000 fail_timeout=2s;", listed),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("server_name studio.example.org", "server_name localhost"),
        (f"{where}/fullchain.pem", str(certificate)),
        (f"{where}/privkey.pem", str(key)),
        ("proxy_pass http://studio;", f"add_header {ANSWERED} $upstream_addr;\nproxy_pass http://$picked;"),
    ):
        assert old in site
        site = site.replace(old, new)
    (folder / "site.conf").write_text(site)
    start = ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(main)]
    subprocess.run([*start, "-t", "-q"], check=True)
    process = subprocess.Popen(start)
    try:
        deadline = time.monotonic() + 20
        while not _answers(port) and time.monotonic() < deadline:
            time.sleep(0.02)
        yield Proxy(f"https://localhost:{port}", ssl.create_default_context(cafile=str(certificate)))
    finally:
        process.terminate()
        process.wait(20)
