"""``python -m builder system`` as a person and a pipe use it."""

from pathlib import Path

import pytest

from builder.__main__ import main
from builder.system.builder import SystemPromptBuilder
from tests.builder.agent_workspaces import agent_workspace, write


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return agent_workspace(tmp_path / "ws")


def output(capsys: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, str, str]:
    code = main(["system", *arguments])
    out, err = capsys.readouterr()
    return code, out.decode(), err.decode()


@pytest.mark.parametrize("mode", ["full", "minimal", "none"])
def test_the_text_is_printed_to_the_byte(
    capsysbinary: pytest.CaptureFixture[bytes], workspace: Path, mode: str
) -> None:
    expected = SystemPromptBuilder(workspace).build(mode).text  # type: ignore[arg-type]
    assert output(capsysbinary, str(workspace), "--mode", mode) == (0, expected, "")


def test_the_report_shows_sections_files_skills_and_caching(
    capsysbinary: pytest.CaptureFixture[bytes], workspace: Path
) -> None:
    (workspace / "USER.md").unlink()
    code, out, err = output(capsysbinary, str(workspace), "--report")
    assert (code, err) == (0, "")
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert rows[0].startswith("full: ") and rows[0].endswith("(o200k_base)")
    assert "7 sandbox session No sandbox is enabled" in rows
    assert any(row.startswith("USER.md missing") for row in rows)
    assert any(row.startswith("gmail listed") for row in rows)
    assert any(row.startswith("OpenAI GPT-4o and later Nothing is cached") for row in rows)
    assert "hint: USER.md does not exist; the prompt contains a note instead" in rows


def test_an_empty_mode_has_a_report_too(capsysbinary: pytest.CaptureFixture[bytes], workspace: Path) -> None:
    code, out, _ = output(capsysbinary, str(workspace), "--mode", "none", "--report")
    assert code == 0 and "Not included in the mode `none`" in out


def test_what_is_wrong_goes_to_stderr_and_into_the_exit_code(
    capsysbinary: pytest.CaptureFixture[bytes], workspace: Path
) -> None:
    write(workspace / "skills/mute/SKILL.md", "---\nname: mute\n---\n")
    code, out, err = output(capsysbinary, str(workspace))
    assert (code, out[:8]) == (0, "You are ")
    assert err.startswith("warning: skills/mute/SKILL.md has no description; the skill is not used. Write in")
    (workspace / "USER.md").unlink()
    (workspace / "USER.md").symlink_to("/etc/passwd")
    code, out, err = output(capsysbinary, str(workspace))
    assert (code, out[:8]) == (1, "You are ")
    assert "error: USER.md is a symbolic link to outside the workspace" in err


def test_a_broken_settings_file_is_told_with_its_line(
    capsysbinary: pytest.CaptureFixture[bytes], workspace: Path
) -> None:
    write(workspace / "configs/system_prompt.toml", "[system_prompt]\nmod = 3\n")
    code, out, err = output(capsysbinary, str(workspace))
    assert (code, out) == (1, "")
    assert "system_prompt.toml, line 2: `mod` is no setting" in err and "Did you mean `mode`?" in err
