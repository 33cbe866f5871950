"""What ``import builder`` gives, and what it does not cost."""

import ast
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import GenericAlias

import pytest

import builder
from builder import errors, invalid_input

ROOT = Path(__file__).parents[2]
NAMES = [name for name in builder.__all__ if name != "__version__"]
INSIDE = {"StoredRound", "Source"}
"""Of the leaderboard: what only its own rooms make and take apart."""


def test_every_public_name_is_there() -> None:
    assert [name for name in builder.__all__ if not hasattr(builder, name)] == []
    assert dir(builder) == sorted(builder.__all__)


def test_type_checkers_are_told_the_same_names() -> None:
    tree = ast.parse(Path(builder.__file__).read_text(encoding="utf-8"))
    declared = [
        (statement.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in ast.walk(block)
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    ]
    assert sorted(declared) == sorted((room, name) for name, room in builder._ROOMS.items())


def test_every_error_that_is_not_the_jails_is_public() -> None:
    raised = {
        name
        for module in (errors, invalid_input)
        for name, each in vars(module).items()
        if inspect.isclass(each) and issubclass(each, errors.BuilderError)
        if not issubclass(each, errors.JailError)
    }
    assert raised - {*NAMES} == set()


def classes(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and not isinstance(hint, GenericAlias):
        yield hint
    for part in typing.get_args(hint):
        yield from classes(part)


def signatures(public: object) -> Iterator[object]:
    if inspect.isfunction(public):
        yield public
    elif inspect.isclass(public):
        for name, member in vars(public).items():
            called = getattr(member, "fget", None) or getattr(member, "func", None) or member
            if inspect.isfunction(called) and (not name.startswith("_") or name == "__init__"):
                yield called


@pytest.mark.parametrize("name", [name for name in NAMES if name != "JailPool"])  # its room has its own names
def test_what_a_public_signature_names_is_public(name: str) -> None:
    named = {
        each.__name__
        for signature in signatures(getattr(builder, name))
        if signature.__module__.startswith("builder.")  # type: ignore[attr-defined]
        for each in classes(tuple[*typing.get_type_hints(signature).values()])  # type: ignore[misc]
        if each.__module__.startswith("builder.")
    }
    assert named - {*NAMES} - INSIDE == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_public_callable_has_a_docstring(name: str) -> None:
    public = getattr(builder, name)
    if inspect.isfunction(public) or inspect.isclass(public):
        assert public.__doc__ and not public.__doc__.startswith(f"{name}(")


@pytest.mark.parametrize(
    "name",
    [
        *(name for name in NAMES if inspect.isfunction(getattr(builder, name)) and name != "dialect_named"),
        *("AggregationStore", "Jinja2PromptBuilder", "PlainTextPromptBuilder", "PromptBuilderSettings"),
        *("RoundPromptConfig", "SystemPromptBuilder", "UserPromptBuilder"),
    ],
)
def test_a_docstring_says_what_is_raised(name: str) -> None:
    assert " raise" in getattr(builder, name).__doc__.lower()


def test_representations_are_short() -> None:
    long = "長い" * 10_000
    state = builder.RoundState(round_number=1, submission_content=long, evaluation_score=1)
    record = builder.RoundRecord("e", "t", "T", 1, submission=long, score_details={"long": long})
    prompt = builder.DeliveredPrompt(long, None, 0)
    file = builder.BootstrapFile(name="SOUL.md", content=long)
    built = builder.render_system_prompt(builder.SystemPromptInput(workspace_dir="/", bootstrap=(file,)))
    shown = [repr(each) for each in (state, record, prompt, file, built, builder.CONTRACT)]
    assert [text for text in shown if len(text) > 600] == []
    assert repr(state).startswith("RoundState(round_number=1, submission_content='長い長い")
    assert repr(builder.CONTRACT) == "<Dialect contract>", "it stands in signatures"


def test_importing_the_package_loads_none_of_its_rooms() -> None:
    code = "import builder, sys; print([name for name in sys.modules if name.startswith('builder.')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_contexts_and_builder_come_without_duckdb() -> None:
    code = "import sys; from builder import RoundState, UserPromptBuilder; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_other_name_is_made_up() -> None:
    assert not hasattr(builder, "nothing")
