"""The studio beside MLflow's prompt registry and Phoenix: the same requests, in turns, on one machine.

    .venv/bin/python -m tests.benchmarks.peers [--write]

Installs both into environments of their own below the user's cache folder (2 GB, once), seeds 500 prompts ×
20 versions in each of the three, and prints time and CPU of the server for each request; `--write` puts the
table into RESULTS.md. CPU is that of the server with all processes below it, by the kernel's count.
"""

import argparse
import http.client
import json
import os
import platform
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.process_memory import descendants, memory_of
from tests.studio_process import ROOT

SETS, VERSIONS = 500, 20
ROUNDS, REQUESTS, STARTS = 10, 20, 3
MLFLOW, PHOENIX = "mlflow==3.17.2", "arize-phoenix==20.26.1"
LABEL = "production"
TEXT = "Task: {{ user_prompt }}\nRound {{ round_number }}.\n" + "Answer in whole sentences.\n" * 20
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prompt-studio" / "peers"
PINNED = ROOT / "requirements.txt"
RESULTS = Path(__file__).with_name("RESULTS.md")
TICK = 1000 / os.sysconf("SC_CLK_TCK")
OPERATIONS = {
    "create a version": "create",
    "fetch by label": "by_label",
    "fetch latest": "latest",
    "list 100": "list_100",
    "search by name": "search",
    "list versions": "versions",
}
WITH_CONTEXTS = "create a version, 3 contexts tried first"
_SIZE = """
import importlib.metadata as m, os, sys
names = {name.lower().replace("_", "-") for name in sys.argv[1:]}
left_out = {"pip", "setuptools", "wheel"}
size = 0
for one in m.distributions():
    name = one.metadata["Name"].lower().replace("_", "-")
    if name in left_out or names and name not in names:
        continue
    for file in one.files or ():
        path = one.locate_file(file)
        size += os.path.getsize(path) if os.path.isfile(path) else 0
print(size)
"""


def name_of(number: int) -> str:
    return f"bench-{number % SETS:03}"


class Server(ABC):
    """A server of prompts as a process, with the operations that all three have."""

    title: str
    health: str

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self._local = threading.local()

    @abstractmethod
    def command(self) -> tuple[list[str], dict[str, str]]:
        """What starts it, and its environment."""

    @abstractmethod
    def seed(self) -> None:
        """500 prompts × 20 versions, the last one labelled; it runs."""

    @abstractmethod
    def install_size(self) -> int:
        """Bytes of all installed packages."""

    @abstractmethod
    def create(self, number: int) -> None: ...
    @abstractmethod
    def by_label(self, number: int) -> None: ...
    @abstractmethod
    def latest(self, number: int) -> None: ...
    @abstractmethod
    def list_100(self, number: int) -> None: ...
    @abstractmethod
    def search(self, number: int) -> None: ...
    @abstractmethod
    def versions(self, number: int) -> None: ...

    def start(self) -> None:
        arguments, environment = self.command()
        home = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                arguments, cwd=ROOT, env={**home, **environment}, stdout=log, stderr=log
            )
        until = time.monotonic() + 120
        while True:
            try:
                if self._answer("GET", self.health, None, {})[0] == 200:
                    return
            except OSError:
                self._local = threading.local()
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{self.title} did not start:\n{(self.folder / 'log').read_text()[-3000:]}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Ends it with all processes below it, if it runs."""
        if self.process is None or self.process.poll() is not None:
            return
        below = list(descendants(self.process.pid))
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid in below[1:]:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        self._local = threading.local()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = {"Content-Type": "application/json", **headers}
        status, content = self._answer(method, path, json.dumps(body) if body is not None else None, sent)
        if status not in (200, 201, 204):
            raise SystemExit(f"{self.title}: {method} {path}: {status} {content[:500]!r}")
        return json.loads(content) if content else None

    def connect(self) -> None:
        """Anew: servers close a connection that nobody used for a few seconds."""
        self._local = threading.local()
        self._local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self._local.connection.connect()

    def _answer(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=60
            )
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def cpu(self) -> float:
        """Milliseconds that its processes have used."""
        spent = 0.0
        for pid in descendants(self.process.pid):
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
                spent += (int(fields[11]) + int(fields[12])) * TICK
        return spent

    def memory(self) -> int:
        """Bytes, pages that processes share counted once."""
        return sum(process.pss for process in memory_of(self.process.pid))

    def seed_in_threads(self, prompt: Callable[[int], None]) -> None:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(prompt, range(SETS)))


class Studio(Server):
    """This checkout, through its API with a token."""

    title, health = "Prompt Studio", "/healthz"
    key = ""

    def command(self) -> tuple[list[str], dict[str, str]]:
        start = [sys.executable, "manage.py", "studio", "--no-browser", "--no-demo", "--port", str(self.port)]
        return start, {"STUDIO_DATA": str(self.folder / "data"), "STUDIO_API_RATE": "1000000"}

    def seed(self) -> None:
        code = "import django; django.setup(); from tests.benchmarks.test_api import seed; seed()"
        settings = {"DJANGO_SETTINGS_MODULE": "studio.settings", "PATH": os.environ["PATH"]}
        environment = {**self.command()[1], **settings}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found = re.search(r"pst_\S+", done.stdout)
        assert found
        self.key = found[0]
        self._made = defaultdict[str, int](lambda: VERSIONS)

    def install_size(self) -> int:
        # Without what builds the front end, which the wheel brings along.
        pins = re.findall(
            r"^(?!nodejs|babel|hatchling|editables)([\w.-]+)==", PINNED.read_text(), re.MULTILINE
        )
        folders = [ROOT / "builder", ROOT / "studio", ROOT / "templates", ROOT / "static" / "dist"]
        own = sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())
        return own + size_of(Path(sys.executable), pins)

    def api(self, method: str, path: str, body: Any = None) -> Any:
        return self.ask(method, f"/api/v1/{path}", body, Authorization=f"Bearer {self.key}")

    def create(self, number: int) -> None:
        name = name_of(number)
        texts = {
            "team_user_prompt": f"{TEXT}{number} {self._made[name]}",
            "evaluator_user_prompt": "{{ submission }}",
            "judgment_user_prompt": "{{ user_prompt }}",
        }
        sent = {"base": self._made[name], "message": "Bench", "texts": texts}
        self._made[name] = self.api("POST", f"sets/{name}/versions", sent)["number"]

    def add_contexts(self) -> None:
        for number in range(1, 4):
            rounds = [
                {"round_number": past, "submission_content": "text " * 50, "evaluation_score": 50.0}
                for past in range(1, number)
            ]
            context = {"user_prompt": "count the stars", "round_number": number, "round_history": rounds}
            context |= {"team_id": "t", "team_name": "T", "execution_id": "e"}
            self.api("POST", "contexts", {"name": f"Round {number}", "context": context, "submission": "s"})

    def by_label(self, number: int) -> None:
        self.api("GET", f"sets/{name_of(number)}/versions/{LABEL}")

    def latest(self, number: int) -> None:
        self.api("GET", f"sets/{name_of(number)}/versions/latest")

    def list_100(self, number: int) -> None:
        assert len(self.api("GET", "sets?limit=100")["items"]) == 100

    def search(self, number: int) -> None:
        assert len(self.api("GET", f"sets?q=Bench+{number % SETS:03}")["items"]) == 1

    def versions(self, number: int) -> None:
        assert len(self.api("GET", f"sets/{name_of(number)}/versions?limit=100")["items"]) >= VERSIONS


class Peer(Server):
    """A package from PyPI in an environment of its own; what was seeded once is copied from then on."""

    package: str

    @property
    def environment(self) -> Path:
        return CACHE / self.package

    def install(self) -> None:
        if not (self.environment / "installed").exists():
            print(f"installing {self.package} …", flush=True)
            subprocess.run([sys.executable, "-m", "venv", self.environment], check=True)
            pip = [self.environment / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, self.package], check=True)
            (self.environment / "installed").touch()

    def install_size(self) -> int:
        return size_of(self.environment / "bin" / "python", [])

    def restore_or_seed(self) -> None:
        """Before the first start: the seeded data."""
        kept = CACHE / "seeded" / f"{self.package}-{SETS}x{VERSIONS}"
        data = self.folder / "data"
        if kept.exists():
            shutil.copytree(kept, data)
            return
        data.mkdir()
        self.start()
        print(f"seeding {self.title} …", flush=True)
        self.seed()
        self.stop()
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(data, kept)


class MLflow(Peer):
    """Its prompts are registered models with a tag that says so."""

    title, health, package = "MLflow", "/health", MLFLOW
    _PROMPT = ({"key": "mlflow.prompt.is_prompt", "value": "true"},)
    _IS_PROMPT = "tags.`mlflow.prompt.is_prompt` = 'true'"

    def command(self) -> tuple[list[str], dict[str, str]]:
        start = [str(self.environment / "bin" / "mlflow"), "server", "--workers", "1", "--host", "127.0.0.1"]
        start += ["--port", str(self.port), "--backend-store-uri", f"sqlite:///{self.folder}/data/mlflow.db"]
        start += ["--artifacts-destination", f"{self.folder}/data/artifacts"]
        return start, {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}

    def api(self, method: str, path: str, body: Any = None) -> Any:
        return self.ask(method, f"/api/2.0/mlflow/{path}", body)

    def seed(self) -> None:
        def prompt(number: int) -> None:
            name = name_of(number)
            self.api("POST", "registered-models/create", {"name": name, "tags": self._PROMPT})
            for _ in range(VERSIONS):
                self.create(number)
            labelled = {"name": name, "alias": LABEL, "version": str(VERSIONS)}
            self.api("POST", "registered-models/alias", labelled)

        self.seed_in_threads(prompt)

    def create(self, number: int) -> None:
        tags = [
            *self._PROMPT,
            {"key": "mlflow.prompt.text", "value": f"{TEXT}{number}"},
            {"key": "_mlflow_prompt_type", "value": "text"},
        ]
        sent = {"name": name_of(number), "source": "prompt-template", "description": "Bench", "tags": tags}
        self.api("POST", "model-versions/create", sent)

    def by_label(self, number: int) -> None:
        self.api("GET", f"registered-models/alias?name={name_of(number)}&alias={LABEL}")

    def latest(self, number: int) -> None:
        self.api("GET", f"registered-models/alias?name={name_of(number)}&alias=latest")

    def list_100(self, number: int) -> None:
        found = self._search("registered-models", self._IS_PROMPT)
        assert len(found["registered_models"]) == 100

    def search(self, number: int) -> None:
        found = self._search("registered-models", f"{self._IS_PROMPT} AND name ILIKE '%{name_of(number)}%'")
        assert len(found["registered_models"]) == 1

    def versions(self, number: int) -> None:
        found = self._search("model-versions", f"{self._IS_PROMPT} AND name = '{name_of(number)}'")
        assert len(found["model_versions"]) >= VERSIONS

    def _search(self, what: str, wanted: str) -> Any:
        return self.api("GET", f"{what}/search?" + urlencode({"filter": wanted, "max_results": 100}))


class Phoenix(Peer):
    """Its REST API has no search for prompts."""

    title, health, package = "Phoenix", "/healthz", PHOENIX

    def command(self) -> tuple[list[str], dict[str, str]]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            other = str(free.getsockname()[1])
        places = {"PHOENIX_WORKING_DIR": f"{self.folder}/data", "PHOENIX_HOST": "127.0.0.1"}
        ports = {"PHOENIX_PORT": str(self.port), "PHOENIX_GRPC_PORT": other}
        quiet = {"PHOENIX_TELEMETRY_ENABLED": "false"}
        return [str(self.environment / "bin" / "phoenix"), "serve"], {**places, **ports, **quiet}

    def seed(self) -> None:
        def prompt(number: int) -> None:
            for _ in range(VERSIONS):
                made = self._made(number)
            self.ask("POST", f"/v1/prompt_versions/{quote(made)}/tags", {"name": LABEL})

        self.seed_in_threads(prompt)

    def _made(self, number: int) -> str:
        version = {
            "description": "Bench",
            "model_provider": "OPENAI",
            "model_name": "gpt-4o",
            "template": {"type": "chat", "messages": [{"role": "user", "content": f"{TEXT}{number}"}]},
            "template_type": "CHAT",
            "template_format": "MUSTACHE",
            "invocation_parameters": {"type": "openai", "openai": {}},
        }
        sent = {"prompt": {"name": name_of(number)}, "version": version}
        return str(self.ask("POST", "/v1/prompts", sent)["data"]["id"])

    def create(self, number: int) -> None:
        self._made(number)

    def by_label(self, number: int) -> None:
        self.ask("GET", f"/v1/prompts/{name_of(number)}/tags/{LABEL}")

    def latest(self, number: int) -> None:
        self.ask("GET", f"/v1/prompts/{name_of(number)}/latest")

    def list_100(self, number: int) -> None:
        assert len(self.ask("GET", "/v1/prompts?limit=100")["data"]) == 100

    def search(self, number: int) -> None:
        raise NotImplementedError

    def versions(self, number: int) -> None:
        assert len(self.ask("GET", f"/v1/prompts/{name_of(number)}/versions?limit=100")["data"]) >= VERSIONS


def size_of(python: Path, names: list[str]) -> int:
    done = subprocess.run([python, "-I", "-c", _SIZE, *names], check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout)


def measured(servers: list[Server], operation: str) -> dict[str, tuple[float, float, float] | None]:
    """p50, p95 and CPU in milliseconds of each server; in turns of a few requests."""
    took, spent = defaultdict[str, list[float]](list), defaultdict[str, float](float)
    there = [server for server in servers if not (isinstance(server, Phoenix) and operation == "search")]
    for turn in range(ROUNDS + 1):
        for server in there[turn % len(there) :] + there[: turn % len(there)]:
            server.connect()
            request, before = getattr(server, operation), server.cpu()
            for number in range(REQUESTS):
                start = time.perf_counter()
                request(turn * REQUESTS + number)
                if turn:  # the first one is to get warm
                    took[server.title].append((time.perf_counter() - start) * 1000)
            if turn:
                spent[server.title] += server.cpu() - before
    return {
        server.title: (
            statistics.median(took[server.title]),
            statistics.quantiles(took[server.title], n=20)[-1],
            spent[server.title] / (ROUNDS * REQUESTS),
        )
        if server in there
        else None
        for server in servers
    }


def started(servers: list[Server]) -> dict[str, tuple[float, float, float]]:
    """Seconds from the command to the first prompt, as the median of some starts; memory at rest after it."""
    took, memory = defaultdict[str, list[float]](list), defaultdict[str, float](float)
    for _ in range(STARTS):
        for server in servers:
            begun = time.perf_counter()
            server.start()
            server.by_label(0)
            took[server.title].append(time.perf_counter() - begun)
            time.sleep(3)
            memory[server.title] = server.memory() / 1e6
            server.stop()
    return {
        server.title: (statistics.median(took[server.title]), max(took[server.title]), memory[server.title])
        for server in servers
    }


def table(servers: list[Server]) -> list[str]:
    titles = [server.title for server in servers]
    peers = titles[1:]
    lines = [
        "| request | "
        + " | ".join(f"{title}: p50 / p95 / CPU ms" for title in titles)
        + " | "
        + " | ".join(f"CPU of {peer} ÷ ours" for peer in peers)
        + " |",
        "|---" * (1 + len(titles) + len(peers)) + "|",
    ]

    def row(name: str, figures: dict[str, tuple[float, float, float] | None]) -> None:
        ours = figures[titles[0]]
        assert ours
        cells = [
            f"{each[0]:.1f} / {each[1]:.1f} / {each[2]:.1f}" if each else "–" for each in figures.values()
        ]
        ratios = [f"{each[2] / ours[2]:.1f}" if (each := figures.get(peer)) else "–" for peer in peers]
        lines.append(f"| {name} | " + " | ".join([*cells, *ratios]) + " |")
        print(lines[-1], flush=True)

    print("\n".join(lines), flush=True)
    starts = started(servers)
    for server in servers:
        server.start()
    for name, operation in OPERATIONS.items():
        row(name, measured(servers, operation))
    studio = servers[0]
    assert isinstance(studio, Studio)
    after = {server.title: server.memory() / 1e6 for server in servers}
    studio.connect()
    studio.add_contexts()
    row(WITH_CONTEXTS, {**dict.fromkeys(titles), **measured([studio], "create")})
    for server in servers:
        server.stop()
    others: dict[str, tuple[str, dict[str, float]]] = {
        "cold start to the first prompt": ("s", {title: starts[title][0] for title in titles}),
        "memory at rest, after a start": ("MB PSS", {title: starts[title][2] for title in titles}),
        "memory after all these requests": ("MB PSS", after),
        "installed packages": ("MB", {server.title: server.install_size() / 1e6 for server in servers}),
    }
    for name, (unit, values) in others.items():
        digits = 2 if unit == "s" else 0
        cells = [f"{values[title]:.{digits}f} {unit}" for title in titles]
        ratios = [f"{values[peer] / values[titles[0]]:.1f}" for peer in peers]
        lines.append(f"| {name} | " + " | ".join([*cells, *ratios]) + " |")
        print(lines[-1], flush=True)
    return lines


def machine() -> str:
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    named = cpu[1] if cpu else platform.machine()
    return f"{os.cpu_count()} cores ({named}), {memory:.0f} GiB, Linux, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"put the table into {RESULTS.name}")
    parser.add_argument(
        "--seed-only", action="store_true", help="install and seed the peers, measure nothing"
    )
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folders = [Path(name) / each for each in ("studio", "mlflow", "phoenix")]
        for folder in folders:
            folder.mkdir()
        studio, mlflow, phoenix = Studio(folders[0]), MLflow(folders[1]), Phoenix(folders[2])
        servers: list[Server] = [studio, mlflow, phoenix]
        try:
            for peer in (mlflow, phoenix):
                peer.install()
                peer.restore_or_seed()
            if wanted.seed_only:
                return
            studio.start()
            studio.seed()
            studio.stop()
            load = os.getloadavg()[0]
            lines = table(servers)
        finally:
            for server in servers:
                server.stop()
    if wanted.write:
        RESULTS.write_text(
            "# Beside its peers\n\n"
            f"Made by `.venv/bin/python -m tests.benchmarks.peers --write` on {date.today()}: {machine()}; "
            f"load before it {load:.1f}.\n"
            f"{SETS} prompts × {VERSIONS} versions in each, on SQLite, one server process; "
            f"{ROUNDS * REQUESTS} requests of each kind in turns of {REQUESTS}, one client. "
            f"{MLFLOW}, {PHOENIX}; telemetry off.\n"
            "A save in the studio checks the text and tries it in every sample context first, which neither "
            "peer does: the first row is without contexts. Phoenix has no search by its REST API.\n\n"
            + "\n".join(lines)
            + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
