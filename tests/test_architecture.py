"""The house's plan, read from its imports: who may know whom, and which library lives in which room."""

import ast
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
    "tomlkit": ("builder/files/file_help.py",),
    "markdown_it": ("studio/shell/markdown.py",),
    "yaml": ("builder/system/front_matter.py",),
}
ENVIRONMENT_ROOMS = ("builder/template/render.py", "builder/template/syntax.py")
# What of the builder the web process may use itself: none of it lexes, parses, compiles, renders or merges a
# text that a person typed. For that there is `builder.jail`. A new name is added here by hand, knowingly.
OPEN_TO_STUDIO = {
    f"builder.{name}"
    for name in [
        "template.allowed",
        "results.attribution",  # renders through the jail that it is given
        "contract.budget",
        "system.built_prompt",
        "cache.minimums",
        "system.cache_report",
        "template.defaults",
        "template.dialect",
        "diff.lines",
        "errors",
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
        "cache.stability",  # the shapes; templates are analysed by a job of the jail
        "results.statistics",
        "system.builder",  # with settings and front matters that the jail read
        "system.config",
        "system.input",  # plain values and the names of modes
        "system.file",  # turns tables that the jail read into settings and problems
        "cache.tokens",
        "diff.unified",
        "template.variables",
        "diff.words",
        "files.workspace_file",
        "files.workspace_folder",
        "files.workspace_look",
    ]
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


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


def test_models_know_no_views_and_views_know_no_commands() -> None:
    order = {
        "studio.models": ("studio.views", "studio.shell.forms", "studio.urls"),
        "studio.views": ("studio.management",),
    }
    found = [
        f"{path.relative_to(ROOT)} imports {module}"
        for package, above in order.items()
        for path in modules(package.replace(".", "/"))
        for module, name in imports(path)
        if f"{module}.{name}".startswith(above)
    ]
    assert found == []


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
