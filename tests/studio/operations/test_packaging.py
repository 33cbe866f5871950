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
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from builder import __version__

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
        ("requirements.txt", project["project"]["optional-dependencies"]["web"]),
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


def test_the_start_imports_django_for_the_studios_commands_only() -> None:
    code = "import sys, studio.operations.start; print([m for m in ('django', 'duckdb') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist."""
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return folder


def install(built: Path, place: Path) -> Path:
    """The wheel in a virtual environment without any other package; its folder of packages."""
    venv.create(place, symlinks=True)
    site = next((place / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        archive.extractall(site)
    return site


def run(place: Path, code: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(place / "bin" / "python"), *code.split(), *arguments]
    environment = {"HOME": str(place), "PATH": os.environ["PATH"]}
    return subprocess.run(
        command, cwd=place, env=environment, input=given, capture_output=True, text=True, timeout=60
    )


PROMPT_STUDIO = (
    "import sys; sys.argv = ['prompt-studio', *sys.argv[1:]]; "
    "from studio.operations.start import main; main()"
)


@pytest.mark.slow
def test_wheel_alone_is_the_builder_without_django(built: Path, tmp_path: Path) -> None:
    site = install(built, tmp_path)
    # What pip would install: the wheel's requirements and theirs, none of an extra.
    waiting, installed = ["prompt-studio"], set()
    metadata = next(site.glob("*.dist-info"))
    while waiting:
        name = waiting.pop()
        if (name := re.sub(r"[-_.]+", "-", name).lower()) in installed:
            continue
        installed.add(name)
        found = PathDistribution(metadata) if name == "prompt-studio" else distribution(name)
        for wanted in map(Requirement, found.requires or []):
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
        if name != "prompt-studio":
            for top in {file.parts[0] for file in found.files or [] if file.parts[0] != ".."}:
                (site / top).symlink_to(found.locate_file(top).resolve())  # type: ignore[union-attr]
    assert {"jinja2", "duckdb", "pydantic-settings"} <= installed
    assert not {"django", "django-htmx", "whitenoise", "waitress", "markdown-it-py", "psycopg"} & installed

    assert run(tmp_path, "-m builder --version").stdout == f"prompt-studio {__version__}\n"
    (tmp_path / "ws").mkdir()
    assert run(tmp_path, "-m builder init ws").returncode == 0
    context = '{"user_query": "q", "submission": "the answer"}'
    done = run(tmp_path, "-m builder render evaluator -w ws -c -", given=context)
    assert "the answer" in done.stdout, done.stderr
    for arguments in (["check", "ws"], ["leaderboard", "ws"], ["system", "ws"]):
        done = run(tmp_path, "-m builder", *arguments)
        assert "ModuleNotFoundError" not in done.stderr
    assert run(tmp_path, "-c", PROMPT_STUDIO, "check", "ws").returncode == 0
    assert "COMMAND" in run(tmp_path, "-c", PROMPT_STUDIO, "--help").stdout
    for arguments in ([], ["studio"], ["link"], ["--port", "0"]):
        done = run(tmp_path, "-c", PROMPT_STUDIO, *arguments)
        assert done.returncode == 1
        assert done.stderr.endswith("pip install 'prompt-studio[web]'\n"), done.stderr
    misspelt = run(tmp_path, "-c", PROMPT_STUDIO, "chek", "ws")
    assert misspelt.returncode == 1 and misspelt.stderr.startswith("The builder has no command «chek»,")


@pytest.mark.slow
def test_installed_wheel_carries_everything_and_answers(built: Path, tmp_path: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")

    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert {
        "studio/templates/shell/base.html",
        "studio/static/editor.js",
        "studio/static/studio.css",
        "studio/locale/ja/LC_MESSAGES/django.mo",
        "builder/__main__.py",
        "builder/README.md",
        "builder/py.typed",
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

    site = install(built, tmp_path / "venv")
    # The packages of this environment, without the checkout that is installed in it.
    (site / "packages.pth").write_text(str(Path(pytest.__file__).parents[1]))
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [tmp_path / "venv" / "bin" / "python", "-c", PROMPT_STUDIO, "--port", "0", "--no-browser"],
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
