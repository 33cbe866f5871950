"""What is pinned and what is shipped."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")


def pinned(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_has_one_version_and_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", text.strip()) if not entry.startswith("#")]
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+==[^\s;]+( ; [^\\]+)? \\\n", entry), entry
        assert "--hash=sha256:" in entry
    assert not re.search(r"https?:|file:|--(extra-)?index|--find-links", text)


def test_development_adds_to_the_studios_packages_and_changes_none() -> None:
    studio, development = (pinned(name) for name in REQUIREMENTS)
    assert studio.items() <= development.items()


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    for requirements, names in (
        ("requirements.txt", project["project"]["dependencies"] + project["build-system"]["requires"]),
        ("requirements-dev.txt", groups["dev"]),
    ):
        wanted = {re.match(r"[\w.-]+", name)[0].lower() for name in names}  # type: ignore[index]
        assert wanted <= pinned(requirements).keys()
    assert groups["build"] == project["build-system"]["requires"]


def test_npm_packages_are_exact_and_locked_without_addresses() -> None:
    package = json.loads((ROOT / "static" / "package.json").read_text())
    lock = json.loads((ROOT / "static" / "package-lock.json").read_text())
    wanted = package["dependencies"] | package["devDependencies"]
    for name, version in wanted.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert "codemirror" not in wanted, "that name is version 5's code"
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, name
        assert name == "" or "integrity" in entry, name
    settings = (ROOT / "static" / ".npmrc").read_text().splitlines()
    assert {"omit-lockfile-registry-resolved=true", "ignore-scripts=true"} <= set(settings)


def test_no_committed_file_names_a_registry() -> None:
    hosts = ("registry" + ".npmjs.org", "pypi" + ".org/simple", "files.python" + "hosted.org")
    command = ["git", "grep", "--files-with-matches", "--fixed-strings"]
    for host in hosts:
        command += ["-e", host]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.slow
def test_installed_wheel_carries_everything_and_answers(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")

    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert {
        "studio/templates/shell/base.html",
        "studio/static/editor.js",
        "studio/static/studio.css",
        "studio/locale/ja/LC_MESSAGES/django.mo",
        "builder/__main__.py",
    } <= shipped
    assert (
        not {name.split("/")[0] for name in shipped}
        - {"builder", "studio"}
        - {name.split("/")[0] for name in shipped if ".dist-info" in name}
    )
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "static/src/editor.js",
        "static/package-lock.json",
        "studio/locale/ja/LC_MESSAGES/django.po",
    } <= sources
    assert not any("node_modules" in name or name.startswith(("data/", ".venv")) for name in sources)

    venv.create(tmp_path / "venv", symlinks=True)
    # The packages of this environment, without the checkout that is installed in it.
    site = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    (site / "packages.pth").write_text(str(Path(pytest.__file__).parents[1]))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = (
        "import sys; sys.argv = ['prompt-studio', *sys.argv[1:]]; "
        "from studio.operations.start import main; main()"
    )
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [tmp_path / "venv" / "bin" / "python", "-c", code, "--port", "0", "--no-browser"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        link = next(line.strip() for line in process.stdout if "/signin/" in line)
        base = link.partition("/signin/")[0]
        for path in ("/healthz", "/signin/", "/static/editor.js"):
            with urllib.request.urlopen(base + path, timeout=20) as answer:
                assert answer.status == 200
        assert (tmp_path / "home" / ".local" / "share" / "prompt-studio" / "studio.sqlite3").is_file()
    finally:
        process.terminate()
        process.wait(20)
