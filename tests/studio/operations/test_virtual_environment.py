"""Set-up from a bare Python: what stops it, and that it mends itself."""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio import virtual_environment

ROOT = Path(__file__).resolve().parents[3]
BARE = sys.base_prefix + "/bin/python3"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh clone's files, without anything that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / "clone" / name)
    (tmp_path / "home").mkdir()
    return tmp_path / "clone"


def environment(checkout: Path) -> dict[str, str]:
    """Almost nothing: an empty home, and no Node on the path."""
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "NODE_EXTRA_"))
    }
    return {**kept, "HOME": str(checkout.parent / "home"), "PATH": "/bin"}


def test_manage_parses_on_any_python() -> None:
    source = (ROOT / "manage.py").read_bytes()
    source.decode("ascii")
    ast.parse(source, feature_version=(3, 4))


def test_too_old_python_is_one_sentence() -> None:
    code = "import runpy, sys; sys.version_info = (3, 9, 2); runpy.run_path('manage.py', run_name='__main__')"
    done = subprocess.run([BARE, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "Prompt Studio needs Python 3.11 or newer, and this is Python 3.9: "
        "install a newer one and run it by its name, for example python3.11 manage.py studio\n"
    )


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_python_without_venv_is_one_sentence(checkout: Path, module: str) -> None:
    code = (
        f"import runpy, sys; sys.modules[{module!r}] = None; runpy.run_path('manage.py', run_name='__main__')"
    )
    done = subprocess.run([BARE, "-c", code], cwd=checkout, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "This Python has no venv module: install it, on Debian and Ubuntu with "
        "«apt-get install python3-venv», and run the command again.\n"
    )
    assert not (checkout / ".venv").exists()


def test_folder_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(virtual_environment, "ROOT", tmp_path)
    monkeypatch.setattr(virtual_environment, "VENV", tmp_path / "file" / ".venv")
    monkeypatch.setattr(virtual_environment, "STAMP", tmp_path / "stamp")
    with pytest.raises(SystemExit) as end:
        virtual_environment.enter(["manage.py", "studio"])
    assert end.value.code == (
        f"The folder {tmp_path} cannot be written (Not a directory): make it writable for this user."
    )


@pytest.mark.slow
def test_bare_python_gets_a_complete_environment_even_after_a_kill(checkout: Path) -> None:
    command = [BARE, "manage.py", "check"]
    setup = subprocess.Popen(
        command, cwd=checkout, env=environment(checkout), stderr=subprocess.PIPE, text=True
    )
    assert setup.stderr
    for line in setup.stderr:
        if "pinned packages" in line:
            break
    packages = checkout / ".venv" / "lib"
    while not any(packages.glob("python*/site-packages/django")):  # into the middle of the installation
        assert setup.poll() is None
        time.sleep(0.01)
    setup.send_signal(signal.SIGKILL)
    setup.wait()
    assert not (checkout / ".venv" / "studio.json").exists()

    done = subprocess.run(command, cwd=checkout, env=environment(checkout), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (checkout / "static" / "dist" / "editor.js").is_file()

    again = subprocess.run(command, cwd=checkout, env=environment(checkout), capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")

    style = checkout / "static" / "src" / "studio.css"
    style.write_text(style.read_text() + "\n.a-new-rule { color: red }\n")
    edited = subprocess.run(command, cwd=checkout, env=environment(checkout), capture_output=True, text=True)
    assert edited.returncode == 0
    assert "Building the front end" in edited.stderr
    assert ".a-new-rule" in (checkout / "static" / "dist" / "studio.css").read_text()
