"""The house's plan, read from its imports: who may know whom, and which library lives in which room."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOP_LEVEL = {
    "manage.py",
    "pyproject.toml",
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-postgres.txt",
    "builder",
    "studio",
    "templates",
    "static",
    "tests",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
}
NAMELESS = {"utils", "helpers", "common", "misc", "services"}
# Which files may import a library that reads text from strangers or opens foreign files.
ROOMS = {
    "duckdb": ("builder/leaderboard/",),
    "tomlkit": ("builder/files/new_prompt_file.py",),
    "markdown_it": ("studio/shell/markdown.py",),
    "yaml": ("builder/system/front_matter.py",),
}
ENVIRONMENT_ROOMS = ("builder/template/render.py", "builder/template/syntax.py")
# What of the builder the web process may use itself: none of it lexes, parses, compiles, renders or merges a
# text that a person typed. For that there is `builder.jail`. A new name is added here by hand, knowingly.
OPEN_TO_STUDIO = {
    f"builder.{name}"
    for name in [
        "__main__",  # for `prompt-studio`, never for a request
        "__version__",
        "commands.NAMES",
        "template.allowed",
        "results.attribution",  # renders through the jail that it is given
        "contract.budget",
        "system.built_prompt",
        "system.cache_report",
        "template.defaults",
        "template.dialect",
        "template.dialect_table",
        "template.release_hints",  # looks for words and tags in one pass; parses nothing
        "diff.lines",
        "errors",
        "invalid_input",
        "template.formatters",
        "jail",
        "leaderboard",
        "messages",
        "template.models",
        "problems",
        "template.rounds",
        "contract.round_context",
        "contract.round_history",
        "contract.round_prompt",
        "simulation",
        "cache.cacheable_prefix",  # the shapes; templates are analysed by a job of the jail
        "results.power",
        "results.statistics",
        "system.builder",  # with settings and front matters that the jail read
        "system.config",
        "system.input",  # plain values and the names of modes
        "system.workspace_scan.ScanLimits",
        "system.workspace_scan.Machine",
        "client.file_names",  # looks at names alone
        "system.file",  # turns tables that the jail read into settings and problems
        "cache.tokens",
        "diff.unified",
        "template.variables",
        "diff.words",
        "files.answering",  # opens a folder and closes it
        "files.writing",
        "files.new_prompt_file",  # writes a new file; reads none
        "files.folders",
        "files.reading",
        "orchestrators.finder",  # reads files through the jail that it is given
        "orchestrators.scoring_settings",
        "orchestrators.installed",  # names of folders
        "template.content_hash",
        "client.manifest",  # JSON of a bounded size, checked by pydantic
    ]
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


OURS = [*modules("builder"), *modules("studio")]


@cache
def imports(path: Path) -> list[tuple[str, str]]:
    """Every import of a file as (module, name); relative ones are made absolute."""
    place = path.relative_to(ROOT).with_suffix("").parts
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.append((alias.name, ""))
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(place[: -node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            for alias in node.names:
                found.append((module, alias.name))
    return found


def importers(packages: tuple[str, ...], library: str) -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for package in packages
        for path in modules(package)
        if any(module.split(".")[0] == library for module, _ in imports(path))
    ]


def test_both_packages_are_read() -> None:
    assert len(modules("builder")) > 10
    assert len(modules("studio")) > 10
    assert ("pathlib", "Path") in set(imports(Path(__file__)))


@pytest.mark.parametrize("stranger", ["django", "studio", "django_htmx", "whitenoise", "waitress"])
def test_builder_knows_nothing_of_the_web(stranger: str) -> None:
    assert importers(("builder",), stranger) == []


@pytest.mark.parametrize("library", ROOMS)
def test_library_stays_in_its_room(library: str) -> None:
    users = importers(("builder", "studio"), library)
    assert [path for path in users if not path.startswith(ROOMS[library])] == []


@pytest.mark.parametrize("library", ["jinja2", "duckdb", "tomlkit", "yaml"])
def test_studio_reads_foreign_text_and_files_only_through_the_builder(library: str) -> None:
    assert importers(("studio",), library) == []


def test_only_two_rooms_have_a_jinja_environment() -> None:
    users = set()
    for path in [*modules("builder"), *modules("studio")]:
        if "jinja2" not in {module.split(".")[0] for module, _ in imports(path)}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = (
                node.id
                if isinstance(node, ast.Name)
                else node.attr
                if isinstance(node, ast.Attribute)
                else ""
            )
            if name.endswith("Environment"):
                users.add(str(path.relative_to(ROOT)))
    assert users, "nothing uses a jinja2 environment any more"
    assert users <= set(ENVIRONMENT_ROOMS)


def test_studio_parses_and_renders_only_in_the_jail() -> None:
    found = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in modules("studio")
        for module, name in imports(path)
        if module.split(".")[0] == "builder"
        and not {module, f"{module}.{name}", ".".join(module.split(".")[:2])} & OPEN_TO_STUDIO
    ]
    assert found == []


def rooms(package: str) -> list[str]:
    """The rooms of a package in the order in which they may import each other: README's map."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^\| `{package}/(\w+)/` \|", text, flags=re.MULTILINE)


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in rooms(parts[0]) else None


def is_domain(module: str) -> bool:
    """Whether a module is neither page nor form nor view: those may combine rooms."""
    return module.rpartition(".")[2].rpartition("_")[2] not in {"views", "page", "forms", "tags", "urls"}


def house() -> list[tuple[str, str]]:
    """Every import of one of our modules by another."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in OURS}
    known = {name.removesuffix(".__init__") for name in names.values()}
    # `studio.models` only hands on what the rooms define.
    models = {name: module for module, name in imports(ROOT / "studio" / "models.py")}

    def target(module: str, name: str) -> str:
        if module == "studio.models":
            return models.get(name, module)
        return f"{module}.{name}" if f"{module}.{name}" in known else module

    return [
        (importer.removesuffix(".__init__"), target(module, name))
        for path, importer in names.items()
        for module, name in imports(path)
        if module.split(".")[0] in ("builder", "studio")
    ]


@pytest.mark.parametrize("package", ["builder", "studio"])
def test_the_map_shows_every_room(package: str) -> None:
    folders = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    assert set(rooms(package)) == folders - {"management", "migrations"}
    assert len(rooms(package)) == len(set(rooms(package)))


def test_what_stands_outside_the_rooms_is_known() -> None:
    outside = {str(path.relative_to(ROOT)) for path in OURS if len(path.relative_to(ROOT).parts) == 2}
    framework = ("apps", "build_hook", "models", "settings", "urls", "virtual_environment", "wsgi")
    assert outside == {
        *(f"studio/{name}.py" for name in ("__init__", *framework)),
        *(f"builder/{name}.py" for name in ("__init__", "__main__", "errors", "invalid_input")),
        *(f"builder/{name}.py" for name in ("messages", "problems")),
    }


@pytest.mark.parametrize("package", ["builder", "studio"])
def test_a_room_imports_only_from_rooms_above_it(package: str) -> None:
    order = {room: place for place, room in enumerate(rooms(package))}
    upward = {
        (importer, module)
        for importer, module in house()
        if importer.startswith(f"{package}.")
        and module.startswith(f"{package}.")
        and (package == "builder" or is_domain(importer))
        and (own := room_of(importer))
        and (other := room_of(module))
        and order[other] > order[own]
    }
    assert upward == set()


def test_domain_modules_import_no_forms_pages_or_views() -> None:
    backwards = {
        (importer, module)
        for importer, module in house()
        if room_of(importer) not in (None, "operations") and is_domain(importer) and not is_domain(module)
    }
    assert backwards == set()


def test_only_templates_use_template_tags() -> None:
    assert {pair for pair in house() if pair[1].rpartition(".")[2].endswith("tags")} == set()


def test_only_what_runs_the_studio_knows_operations() -> None:
    outside = {
        importer
        for importer, module in house()
        if module.startswith("studio.operations") and not importer.startswith("studio.operations")
    }
    assert {importer for importer in outside if not importer.startswith("studio.management.")} == set()


def test_no_module_is_longer_than_350_lines() -> None:
    long = [path for path in OURS if len(path.read_text(encoding="utf-8").splitlines()) > 350]
    assert [str(path.relative_to(ROOT)) for path in long if "migrations" not in path.parts] == []


def test_every_module_is_named_by_its_subject() -> None:
    found = [
        str(path.relative_to(ROOT))
        for package in ("builder", "studio", "tests")
        for path in modules(package)
        if NAMELESS & set(path.relative_to(ROOT).with_suffix("").parts)
    ]
    assert found == []


def test_top_level_holds_what_the_plan_says() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
