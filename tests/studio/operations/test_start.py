"""`manage.py studio` as a person starts it: a process, a port, a link, and every way for it to end."""

import html
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.process_memory import descendants
from tests.studio_process import Studio

# Each test starts processes and waits for them.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def studio(data: Path) -> Iterator[Studio]:
    """One to end, each time another."""
    started = Studio(data, "--port", "0", "--no-demo")
    yield started
    started.process.kill()
    started.process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One to ask, for all that leave it as it was."""
    started = Studio(tmp_path_factory.mktemp("running") / "data", "--port", "0", "--no-demo")
    yield started
    started.end(signal.SIGINT)


def manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environ}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)


def test_first_start_serves_and_prints_a_link_that_opens(running: Studio) -> None:
    status, body = running.get("/healthz")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    assert running.get(running.link.removeprefix(running.base))[0] == 200
    assert "Traceback" not in running.output


def test_bundle_is_served(running: Studio) -> None:
    status, body = running.get("/static/editor.js")
    assert status == 200
    assert "cspNonce" in body


def test_ctrl_c_ends_it_cleanly(studio: Studio) -> None:
    assert studio.end(signal.SIGINT) == 0
    assert studio.output.endswith("Stopped.\n")


@pytest.mark.slow
def test_sigterm_ends_it_cleanly(studio: Studio) -> None:
    assert studio.end(signal.SIGTERM) == 0
    assert studio.output.endswith("Stopped.\n")


def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@pytest.mark.slow
def test_killed_studio_takes_its_workers_along_and_starts_again(studio: Studio, data: Path) -> None:
    port = studio.base.rpartition(":")[2]
    assert eventually(lambda: len([*descendants(studio.process.pid)]) > 3)
    _, *workers = descendants(studio.process.pid)
    assert studio.end(signal.SIGKILL) == -signal.SIGKILL
    assert eventually(lambda: not any(Path(f"/proc/{worker}/exe").exists() for worker in workers))

    again = Studio(data, "--port", port, "--no-demo")
    try:
        assert again.get("/healthz")[0] == 200
        assert again.base == studio.base
    finally:
        again.end(signal.SIGINT)


def test_the_command_on_a_receipt_works_in_another_terminal(data: Path) -> None:
    studio = Studio(data, "--port", "0")
    try:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

        def page(address: str) -> str:
            with browser.open(studio.base + address, timeout=20) as answer:
                return str(answer.read().decode())

        page(studio.link.removeprefix(studio.base))
        receipt = re.search(r'class="row-link" href="(/exports/[^"]+)"', page("/exports/?workspace=briefing"))
        assert receipt
        command = re.search(r"<code>python3 manage.py (export [^<]+)</code>", page(receipt[1]))
        assert command
        done = manage(*shlex.split(html.unescape(command[1])), "--dry-run")
        assert (done.returncode, done.stderr) == (0, "")
    finally:
        studio.end(signal.SIGINT)


def test_link_command_prints_a_fresh_link_to_the_running_studio(running: Studio) -> None:
    done = manage("link", "--data", str(running.data))
    assert done.returncode == 0
    assert re.fullmatch(re.escape(running.base) + r"/signin/[\w-]{20,}/\n", done.stdout)
    assert done.stdout.strip() != running.link


def test_link_without_a_database_says_what_to_do_first(data: Path) -> None:
    done = manage("link", "--data", str(data))
    assert done.returncode == 1
    assert done.stderr == "CommandError: There is no database yet: start the studio first.\n"


@pytest.mark.slow
def test_backup_while_it_runs(running: Studio, tmp_path: Path) -> None:
    done = manage("backup", str(tmp_path / "one.zip"), "--data", str(running.data))
    assert (done.returncode, done.stderr) == (0, "")
    done = manage("restore", str(tmp_path / "one.zip"), "--data", str(running.data))
    assert (done.returncode, done.stderr) == (0, "")
    assert running.get("/healthz")[0] == 200


def test_taken_port_is_one_sentence_with_the_next_step(data: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = manage("studio", "--data", str(data), "--port", str(port))
    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: Port {port} of 127.0.0.1 is taken, perhaps by another studio: "
        f"end that one, or choose another port with --port {port + 1}.\n"
    )
    assert not (data / "studio.sqlite3").exists(), "a start that cannot serve must not migrate"


@pytest.mark.slow
def test_host_that_is_not_here_is_one_sentence(data: Path) -> None:
    done = manage("studio", "--data", str(data), "--host", "192.0.2.1", "--port", "0")
    assert done.returncode == 1
    assert re.fullmatch(
        r"CommandError: 192\.0\.2\.1 port 0 cannot be used \(.*\): try --host 127\.0\.0\.1\.\n", done.stderr
    )


@pytest.mark.parametrize(
    "port", ["http", *(pytest.param(port, marks=pytest.mark.slow) for port in ("70000", "-1", "８０００"))]
)
def test_odd_port_is_refused(data: Path, port: str) -> None:
    done = manage("studio", "--data", str(data), f"--port={port}")
    assert done.returncode == 2
    assert f"{port!r} is not a port: write a number from 1 to 65535." in done.stderr


def test_data_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = manage("studio", "--data", str(tmp_path / "file" / "data"))
    assert done.returncode == 1
    assert done.stderr == (
        f"The data folder {tmp_path}/file/data cannot be written or made private (Not a directory): "
        "make it this user's own, make room on its disk, "
        "or name another one with --data DIR or STUDIO_DATA.\n"
    )


def test_odd_environment_value_is_one_sentence(data: Path) -> None:
    done = manage("studio", f"--data={data}", STUDIO_DEBUG="maybe")
    assert (done.returncode, done.stderr) == (1, "STUDIO_DEBUG is 'maybe': write 1 or 0.\n")


@pytest.mark.slow
def test_database_that_does_not_answer_is_said_without_a_traceback(data: Path) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        url = f"postgresql://me:secret@127.0.0.1:{port}/studio"
        done = manage("studio", "--data", str(data), "--port", "0", DATABASE_URL=url)
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database cannot be used: ")
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.slow
def test_demo_is_loaded_on_the_first_start_only(data: Path) -> None:
    first = Studio(data, "--port", "0")
    first.end(signal.SIGINT)
    assert "Loading the demo" in first.output
    second = Studio(data, "--port", "0")
    second.end(signal.SIGINT)
    assert "Loading the demo" not in second.output


@pytest.mark.slow
def test_demo_that_a_kill_cut_short_is_loaded_by_the_next_start(studio: Studio, data: Path) -> None:
    studio.end(signal.SIGKILL)
    (data / "demo-pending").touch()
    again = Studio(data, "--port", "0")
    again.end(signal.SIGINT)
    assert "Loading the demo" in again.output
    assert not (data / "demo-pending").exists()


def test_foreign_host_header_is_refused(running: Studio) -> None:
    request = urllib.request.Request(running.base + "/healthz", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=20)
    assert refusal.value.code == 400


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """A desktop whose opener notes what it was given."""
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\ncd "{tmp_path}"\nprintf %s "$1" >opened.new\nmv opened.new opened\n')
    opener.chmod(0o755)
    return {"DISPLAY": ":0", "PATH": f"{opener.parent}:{os.environ['PATH']}"}


@pytest.mark.slow
def test_link_is_opened_where_there_is_a_desktop(data: Path, tmp_path: Path, desktop: dict[str, str]) -> None:
    studio = Studio(data, "--port", "0", "--no-demo", **desktop)
    assert eventually((tmp_path / "opened").exists)
    studio.end(signal.SIGINT)
    assert (tmp_path / "opened").read_text() == studio.link


@pytest.mark.slow
def test_no_browser_is_opened_when_told_so(data: Path, tmp_path: Path, desktop: dict[str, str]) -> None:
    studio = Studio(data, "--port", "0", "--no-demo", "--no-browser", **desktop)
    studio.get("/healthz")
    studio.end(signal.SIGINT)
    assert not (tmp_path / "opened").exists()


def test_what_the_studio_writes_is_its_owners_alone(tmp_path: Path) -> None:
    data = tmp_path / "open"
    data.mkdir(mode=0o755)
    studio = Studio(data, "--port", "0", "--no-demo")
    try:
        studio.get(studio.link.removeprefix(studio.base))
        modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.rglob("*"))}
        assert "studio.sqlite3" in modes and "studio.sqlite3-wal" in modes
        assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    finally:
        studio.end(signal.SIGINT)


@pytest.mark.slow
def test_host_given_by_option_is_let_in(data: Path) -> None:
    studio = Studio(data, "--host", "127.0.0.2", "--port", "0", "--no-demo")
    try:
        assert studio.base.startswith("http://127.0.0.2:")
        assert studio.get("/healthz")[0] == 200
    finally:
        studio.end(signal.SIGINT)


@pytest.mark.slow
def test_studio_behind_a_proxy_believes_its_scheme(data: Path) -> None:
    studio = Studio(data, "--port", "0", "--no-demo", STUDIO_ORIGINS="https://studio.example.org")
    try:
        assert studio.base == "https://studio.example.org"
        headers = {"Host": "studio.example.org", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        local = (data / "address").read_text()
        request = urllib.request.Request(f"{local}/signin/", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 200
            assert "__Host-studio-csrf" in answer.headers["Set-Cookie"]
            assert "Secure" in answer.headers["Set-Cookie"]
    finally:
        studio.end(signal.SIGINT)
