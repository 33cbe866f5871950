"""Which files a run reads: MixSeek's order of environment, `.env`, orchestrator file and usual place."""

import os
from pathlib import Path

import pytest

from builder.orchestrators.finder import Orchestrator, RunSurroundings, find, orchestrator_files
from tests.builder.orchestrators.configured_workspace import TEAM_ONLY, configured_workspace, orchestrator

PLAIN, FAST = "configs/plain.toml", "configs/nested/fast.toml"
FIELD = "MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT"
CONFIG = "MIXSEEK_PROMPT_BUILDER_CONFIG"
OTHER = "configs/prompts/other.toml"
USUAL = "configs/prompt_builder.toml"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return configured_workspace(tmp_path / "workspace")


def found(
    workspace: Path, name: str, environ: dict[str, str] | None = None, dotenv: str | None = None
) -> Orchestrator:
    elsewhere = workspace.parent / "elsewhere"
    if dotenv is not None:
        (elsewhere / ".env").write_text(dotenv)
    return find(workspace, name, RunSurroundings(environ or {}, elsewhere), roots=[workspace.parent])


def sources(found: Orchestrator) -> list[str]:
    """Of team, evaluator and judgment template; a file by its name."""
    assert found.error is None, found.error
    return [found.prompts.name if source == "file" else source for source in found.fields.values()]


@pytest.mark.parametrize(
    ("name", "environ", "dotenv", "expected"),
    [
        (PLAIN, {}, None, [USUAL, "default", "default"]),
        (FAST, {}, None, ["configs/prompts/fast.toml", "configs/prompts/fast.toml", "default"]),
        (PLAIN, {CONFIG: OTHER}, None, [OTHER, "default", "default"]),
        (FAST, {CONFIG: OTHER}, None, [OTHER, "default", "default"]),
        (FAST, {CONFIG: ""}, None, [USUAL, "default", "default"]),
        (FAST, {}, f"{CONFIG}={OTHER}\n", [OTHER, "default", "default"]),
        (PLAIN, {CONFIG: OTHER}, f"{CONFIG}=configs/prompts/fast.toml\n", [OTHER, "default", "default"]),
        (FAST, {FIELD: "t"}, None, ["environment", "configs/prompts/fast.toml", "default"]),
        (FAST, {}, f"export {FIELD}='t'\n", ["dotenv", "configs/prompts/fast.toml", "default"]),
        (PLAIN, {FIELD.lower(): "t"}, f"{FIELD}=u\n", ["environment", "default", "default"]),
        (PLAIN, {"MIXSEEK_TEAM_USER_PROMPT": "t"}, None, [USUAL, "default", "default"]),
        (PLAIN, {"MIXSEEK_PROMPT_BUILDER__FOO": "t"}, "A=1\n", [USUAL, "default", "default"]),
        (PLAIN, {"MIXSEEK_CONFIG_FILE": FAST}, None, [USUAL, "default", "default"]),
    ],
)
def test_each_template_comes_from_the_first_source_that_has_it(
    workspace: Path, name: str, environ: dict[str, str], dotenv: str | None, expected: list[str]
) -> None:
    assert sources(found(workspace, name, environ, dotenv)) == expected


def test_a_dotenv_of_the_workspace_counts_only_for_runs_that_start_there(workspace: Path) -> None:
    (workspace / ".env").write_text(f"{FIELD}=t\n")
    assert sources(found(workspace, PLAIN))[0] == USUAL
    assert sources(find(workspace, PLAIN, RunSurroundings()))[0] == USUAL
    assert sources(find(workspace, PLAIN, RunSurroundings({}, workspace)))[0] == "dotenv"


def test_mixseek_has_its_own_templates_where_there_is_no_file(workspace: Path) -> None:
    (workspace / USUAL).unlink()
    assert sources(found(workspace, PLAIN)) == ["default"] * 3
    (workspace / USUAL).write_text("[other]\n")
    assert sources(found(workspace, PLAIN)) == ["default"] * 3


def test_a_name_counts_from_the_workspace_or_is_a_whole_path(workspace: Path) -> None:
    path = workspace / "configs/own.toml"
    for name in ("", str(workspace / OTHER), "configs/../" + OTHER):
        path.write_text(orchestrator(more=f'prompt_builder_config = "{name}"\n'))
        assert sources(found(workspace, "configs/own.toml"))[0] == (OTHER if name else USUAL)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            '"prompts/other.toml"',
            "configs/own.toml:3 refers to prompts/other.toml, which does not exist:"
            " a run would fail to start",
        ),
        (
            '"configs/blank.toml"',
            "team_user_prompt is empty in configs/blank.toml: a run would fail to start",
        ),
        (
            '"configs/bom.toml"',
            "configs/bom.toml, line 1: the file begins with a byte order mark (BOM), which",
        ),
        ("7", "configs/own.toml, line 3: prompt_builder_config must be a string"),
    ],
)
def test_what_keeps_a_run_from_starting_is_told(workspace: Path, name: str, said: str) -> None:
    (workspace / "configs/own.toml").write_text(orchestrator(more=f"prompt_builder_config = {name}\n"))
    (workspace / "configs/blank.toml").write_text('[prompt_builder]\nteam_user_prompt = " "\n')
    (workspace / "configs/bom.toml").write_bytes(b"\xef\xbb\xbf" + TEAM_ONLY.encode())
    error = found(workspace, "configs/own.toml").error
    assert str(error).startswith(said)
    blank = found(workspace, PLAIN, {FIELD: ""}).error
    assert str(blank) == "team_user_prompt is empty in environment: a run would fail to start"


def test_a_file_outside_is_named_and_read_only_below_a_root(workspace: Path) -> None:
    outside = workspace.parent / "elsewhere/prompts.toml"
    outside.write_text(TEAM_ONLY)
    for name in (str(outside), "../elsewhere/prompts.toml"):
        (workspace / "configs/own.toml").write_text(orchestrator(more=f"prompt_builder_config = '{name}'\n"))
        alone = find(workspace, "configs/own.toml", RunSurroundings())
        assert (alone.prompts.name, alone.prompts.data) == (str(outside), None)
        assert "outside the workspace and is not read" in str(alone.error)
        assert sources(found(workspace, "configs/own.toml"))[0] == str(outside)


def test_no_link_is_followed(workspace: Path) -> None:
    outside = workspace.parent / "elsewhere/prompts.toml"
    outside.write_text(TEAM_ONLY)
    (workspace / USUAL).unlink()
    (workspace / USUAL).symlink_to(outside)
    (workspace / "configs/linked").symlink_to(workspace / "configs/nested")
    read = found(workspace, PLAIN)
    assert read.prompts.data is None
    assert "is a symbolic link" in str(read.error)
    assert orchestrator_files(workspace) == [FAST, PLAIN]


def test_judges_teams_and_members_are_found(workspace: Path) -> None:
    fast, plain = found(workspace, FAST), found(workspace, PLAIN)
    assert (fast.evaluator.name, fast.judgment.name) == (
        "configs/evaluators/news.toml",
        "configs/judgment/news.toml",
    )
    assert [team.name for team in fast.teams] == ["configs/agents/alpha.toml", "configs/agents/beta.toml"]
    assert fast.team_ids == {"alpha", "beta"}
    assert list(fast.members) == ["configs/agents/writer.toml"]
    assert (plain.evaluator.name, plain.evaluator.data) == ("configs/evaluator.toml", None)
    (workspace / "configs/evaluator.toml").write_text('default_model = "a:b"\n')
    assert found(workspace, PLAIN).evaluator.table["default_model"] == "a:b"


def test_every_orchestrator_file_is_found_at_any_depth_and_nothing_else(workspace: Path) -> None:
    configs = workspace / "configs"
    (configs / "broken.toml").write_text("[orchestrator]\nmax_rounds = \n")
    (configs / "orchestrator.toml").write_text("orchestrator.max_rounds = 1\n")
    (configs / "looks_like.toml").write_text('text = """\n[orchestrator]\n"""\n')
    (configs / "orchestrators.txt").write_text("[orchestrator]\n")
    os.mkfifo(configs / "pipe.toml")
    names = orchestrator_files(workspace)
    assert names[0] == "configs/orchestrator.toml"
    real = [name for name in names if find(workspace, name, RunSurroundings()).is_one]
    assert real == ["configs/orchestrator.toml", "configs/broken.toml", FAST, PLAIN]
    assert "line 2" in str(found(workspace, "configs/broken.toml").error)


def test_a_workspace_without_configs_has_none(tmp_path: Path) -> None:
    assert orchestrator_files(tmp_path) == []
