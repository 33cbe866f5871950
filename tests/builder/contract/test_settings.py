import os
import pickle
from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from builder.contract.settings import (
    PromptBuilderSettings,
    PromptFileLocation,
    Source,
    init_file,
    load_settings,
    locate,
)
from builder.errors import (
    BuilderError,
    PromptFileConflict,
    PromptFileMissing,
    PromptFileRefused,
    WorkspaceMissing,
)
from builder.invalid_input import SettingsError
from builder.template.defaults import (
    DEFAULT_EVALUATOR_USER_PROMPT,
    DEFAULT_JUDGMENT_USER_PROMPT,
    DEFAULT_TEAM_USER_PROMPT,
)
from builder.template.dialect import CONTRACT, ENGLISH, MIXSEEK, Dialect

TODAY = date(2025, 11, 19)
DEFAULTS = {
    "team_user_prompt": DEFAULT_TEAM_USER_PROMPT,
    "evaluator_user_prompt": DEFAULT_EVALUATOR_USER_PROMPT,
    "judgment_user_prompt": DEFAULT_JUDGMENT_USER_PROMPT,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    return tmp_path


def write(workspace: Path, text: str | bytes, name: str = "configs/prompt_builder.toml") -> Path:
    path = workspace / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(workspace: Path, **environ: str) -> PromptBuilderSettings:
    return load_settings(workspace, environ=environ)


# --- where values come from ---------------------------------------------------------------


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(workspace: Path) -> None:
    path = write(workspace, "[prompt_builder]\nteam_user_prompt = 'file'\nevaluator_user_prompt = 'file'\n")

    settings = load(workspace, MIXSEEK_TEAM_USER_PROMPT="environment")

    assert (settings.team_user_prompt, settings.evaluator_user_prompt) == ("environment", "file")
    assert settings.source_of("team_user_prompt") == Source("environment", "MIXSEEK_TEAM_USER_PROMPT")
    assert settings.source_of("evaluator_user_prompt") == Source("file", str(path), 3)
    assert settings.source_of("judgment_user_prompt") == Source("default")
    assert [str(settings.source_of(f"{kind}_user_prompt")) for kind in ("team", "evaluator", "judgment")] == [
        "MIXSEEK_TEAM_USER_PROMPT",
        f"{path}:3",
        "default",
    ]


@pytest.mark.parametrize(
    ("dialect", "prefix"),
    [(CONTRACT, "MIXSEEK_"), (ENGLISH, "MIXSEEK_"), (MIXSEEK, "MIXSEEK_PROMPT_BUILDER__")],
)
@pytest.mark.parametrize("field", ["team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt"])
def test_each_dialect_has_its_own_variables(
    tmp_path: Path, dialect: Dialect, prefix: str, field: str
) -> None:
    environ = {"MIXSEEK_" + field.upper(): "contract", "MIXSEEK_PROMPT_BUILDER__" + field.upper(): "mixseek"}

    settings = load_settings(tmp_path, dialect, environ)

    assert getattr(settings, field) == ("mixseek" if dialect is MIXSEEK else "contract")
    assert settings.source_of(field) == Source("environment", prefix + field.upper())


def test_the_processes_environment_is_read_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIXSEEK_TEAM_USER_PROMPT", "from the process")

    assert load_settings(tmp_path).team_user_prompt == "from the process"
    assert load(tmp_path).team_user_prompt == DEFAULT_TEAM_USER_PROMPT
    assert PromptBuilderSettings().team_user_prompt == "from the process"


def test_values_can_be_passed_in() -> None:
    settings = PromptBuilderSettings(team_user_prompt="mine")

    assert settings.team_user_prompt == "mine"
    assert settings.source_of("team_user_prompt") == Source("argument")


def test_settings_travel_with_their_sources(workspace: Path) -> None:
    write(workspace, "[prompt_builder]\nteam_user_prompt = 'file'\n")
    settings = load(workspace)

    again = pickle.loads(pickle.dumps(settings))

    assert again == settings
    assert again.source_of("team_user_prompt") == settings.source_of("team_user_prompt")


def test_settings_do_not_change(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        load(tmp_path).team_user_prompt = "other"


def test_a_text_is_taken_exactly(workspace: Path) -> None:
    write(workspace, '[prompt_builder]\r\nteam_user_prompt = """\r\n  a\r\n\\u000D\\n"""\r\n')

    assert load(workspace).team_user_prompt == "  a\n\r\n"


# --- which file ---------------------------------------------------------------------------


def test_the_orchestrators_file_names_another_one(workspace: Path) -> None:
    orchestrator = write(
        workspace,
        '[orchestrator]\nprompt_builder_config = "configs/mine.toml"\n',
        "configs/orchestrator.toml",
    )
    write(workspace, "[prompt_builder]\nteam_user_prompt = 'ignored'\n")
    mine = write(workspace, "[prompt_builder]\nteam_user_prompt = 'mine'\n", "configs/mine.toml")

    settings = load(workspace)

    assert settings.team_user_prompt == "mine"
    assert settings.source_of("team_user_prompt") == Source("file", str(mine), 2)
    assert locate(workspace) == PromptFileLocation(mine, orchestrator, 2)


@pytest.mark.parametrize(
    "text", ["", "[orchestrator]\nmax_rounds = 3\n", '[orchestrator]\nprompt_builder_config = ""\n']
)
def test_an_orchestrator_that_names_none_leaves_the_usual_one(workspace: Path, text: str) -> None:
    write(workspace, text, "configs/orchestrator.toml")

    assert locate(workspace) == PromptFileLocation(workspace / "configs" / "prompt_builder.toml")


def test_an_absolute_name_is_read_as_mixseek_would(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "p.toml"
    elsewhere.write_text("[prompt_builder]\nteam_user_prompt = 'far'\n")
    write(workspace, f'[orchestrator]\nprompt_builder_config = "{elsewhere}"\n', "configs/orchestrator.toml")

    assert load(workspace).team_user_prompt == "far"
    with pytest.raises(PromptFileRefused, match="is not inside the workspace"):
        init_file(workspace, today=TODAY, force=True)


def test_a_named_file_that_is_missing_is_an_error(workspace: Path) -> None:
    orchestrator = write(
        workspace, '\n[orchestrator]\nprompt_builder_config = "no.toml"\n', "configs/orchestrator.toml"
    )

    with pytest.raises(PromptFileMissing) as missing:
        load(workspace)

    assert str(missing.value) == (
        f"{orchestrator}, line 3: prompt_builder_config names {workspace / 'no.toml'}, which does not exist"
    )
    assert isinstance(missing.value, FileNotFoundError)


def test_a_missing_workspace_is_missing(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissing, match="Workspace does not exist") as missing:
        load(tmp_path / "none")
    assert isinstance(missing.value, FileNotFoundError)
    with pytest.raises(WorkspaceMissing):
        init_file(tmp_path / "none", today=TODAY)


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000"])
@pytest.mark.parametrize("field", ["team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt"])
def test_a_blank_template_is_refused(workspace: Path, field: str, text: str) -> None:
    with pytest.raises(SettingsError) as blank:
        load(workspace, **{"MIXSEEK_" + field.upper(): text})
    assert str(blank.value) == f"{field} cannot be empty"
    assert isinstance(blank.value, ValidationError)
    assert blank.value.errors()[0]["msg"] == f"{field} cannot be empty"
    assert "MIXSEEK_" + field.upper() in blank.value.advice()


def test_a_blank_template_in_a_file_names_its_line(workspace: Path) -> None:
    path = write(workspace, "[prompt_builder]\n\nteam_user_prompt = ''\n")

    with pytest.raises(SettingsError, match=r"^team_user_prompt cannot be empty$") as blank:
        load(workspace)

    assert (blank.value.line, blank.value.field) == (3, "team_user_prompt")
    assert f"{path}:3" in blank.value.advice()


def test_all_blank_templates_are_listed(workspace: Path) -> None:
    with pytest.raises(SettingsError) as blank:
        load(workspace, MIXSEEK_TEAM_USER_PROMPT="", MIXSEEK_JUDGMENT_USER_PROMPT="")
    assert [each["loc"] for each in blank.value.errors()] == [
        ("team_user_prompt",),
        ("judgment_user_prompt",),
    ]


def test_a_variable_that_is_not_utf8_is_refused(workspace: Path) -> None:
    with pytest.raises(SettingsError, match="the environment variable MIXSEEK_TEAM_USER_PROMPT is not UTF-8"):
        load(workspace, MIXSEEK_TEAM_USER_PROMPT=os.fsdecode(b"\xff"))


@pytest.mark.parametrize("name", ["configs/prompt_builder.toml", "configs/orchestrator.toml"])
@pytest.mark.parametrize(
    ("data", "line", "sentence"),
    [
        (b"a = 1\nb = \n", 2, "not valid TOML: Invalid value"),
        (b"\xef\xbb\xbf", 1, "the file begins with a byte order mark (BOM), which MixSeek cannot read"),
        (b"\n\xff", 2, "the file is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_no_default(
    workspace: Path, name: str, data: bytes, line: int, sentence: str
) -> None:
    path = write(workspace, data, name)

    with pytest.raises(SettingsError) as refused:
        load(workspace)

    assert str(refused.value) == f"{path}, line {line}: {sentence}"
    assert refused.value.line == line


def test_a_wrong_type_is_no_default(workspace: Path) -> None:
    path = write(workspace, "[prompt_builder]\nteam_user_prompt = 5\n")

    with pytest.raises(SettingsError) as refused:
        load(workspace)

    assert str(refused.value) == f"{path}, line 2: team_user_prompt must be a string, but is a TOML integer"
    assert refused.value.field == "team_user_prompt"
    assert pickle.loads(pickle.dumps(refused.value)).text("ja") == refused.value.text("ja")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("orchestrator = 1", "line 1: `orchestrator` must be a separate table, but is a TOML integer"),
        (
            "[orchestrator]\nprompt_builder_config = 1",
            "line 2: prompt_builder_config must be a string, but is a TOML integer",
        ),
    ],
)
def test_an_orchestrator_of_the_wrong_shape_is_refused(workspace: Path, text: str, sentence: str) -> None:
    write(workspace, text, "configs/orchestrator.toml")
    with pytest.raises(SettingsError, match=sentence):
        load(workspace)


def test_a_folder_or_pipe_in_the_files_place_is_refused(workspace: Path) -> None:
    os.mkfifo(workspace / "configs" / "prompt_builder.toml")
    with pytest.raises(BuilderError, match="is not a regular file"):
        load(workspace)


# --- the first file -----------------------------------------------------------------------


def test_init_writes_the_defaults_with_their_help(tmp_path: Path) -> None:
    path = init_file(tmp_path, today=TODAY)

    assert path == tmp_path / "configs" / "prompt_builder.toml"
    assert path.read_text().startswith(
        "# UserPromptBuilder 設定ファイル\n# 生成日時: 2025-11-19\n\n[prompt_builder]\n"
    )
    settings = load(tmp_path)
    assert settings.model_dump() == DEFAULTS
    assert settings.source_of("judgment_user_prompt").kind == "file"


def test_init_refuses_to_overwrite(workspace: Path) -> None:
    path = write(workspace, "# mine\n")

    with pytest.raises(PromptFileConflict, match="already exists; nothing was written") as refused:
        init_file(workspace, today=TODAY)
    assert "--force" in refused.value.advice()
    assert path.read_text() == "# mine\n"


def test_init_by_force_replaces_the_templates_and_keeps_the_rest(workspace: Path) -> None:
    path = write(workspace, "# mine\n[prompt_builder]\nteam_user_prompt = 'mine' # why\n[other]\n")

    init_file(workspace, today=TODAY, force=True)

    assert load(workspace).model_dump() == DEFAULTS
    assert path.read_text().startswith('# mine\n[prompt_builder]\nteam_user_prompt = """\n# ユーザから')
    assert path.read_text().endswith("[other]\n")


def test_init_by_force_replaces_a_broken_file(workspace: Path) -> None:
    write(workspace, b"\xff broken")

    init_file(workspace, today=TODAY, force=True)

    assert load(workspace).model_dump() == DEFAULTS


def test_init_writes_where_mixseek_looks(workspace: Path) -> None:
    write(
        workspace, '[orchestrator]\nprompt_builder_config = "prompts/p.toml"\n', "configs/orchestrator.toml"
    )

    assert init_file(workspace, today=TODAY) == workspace / "prompts" / "p.toml"
    assert load(workspace).source_of("team_user_prompt").name == str(workspace / "prompts" / "p.toml")


def test_init_takes_a_link_to_a_workspace(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("links") / "current"
    link.symlink_to(workspace)

    assert init_file(link, today=TODAY) == workspace / "configs" / "prompt_builder.toml"
