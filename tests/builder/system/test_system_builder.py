"""The system prompt of a workspace: what moves it, and what must not."""

import os
import platform
import shutil
import time
from pathlib import Path

import pytest

from builder.errors import PromptFileInvalid, PromptFileRefused, WorkspaceMissing
from builder.invalid_input import SettingsError
from builder.system.builder import SystemPromptBuilder
from builder.system.cache_report import CacheReport
from builder.system.input import MODES
from tests.builder.agent_workspaces import MACHINE, add_skill, agent_workspace, write


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return agent_workspace(tmp_path / "ws")


def builder(workspace: Path) -> SystemPromptBuilder:
    return SystemPromptBuilder(workspace, machine=MACHINE)


def test_two_builds_are_identical_whatever_the_clock(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace / "configs/system_prompt.toml", '[system_prompt.time]\nuserTimezone = "Asia/Tokyo"\n')
    before = {mode: SystemPromptBuilder(workspace).build(mode).text.encode() for mode in MODES}
    later = time.time() + 60
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for path in workspace.rglob("*"):
            os.utime(path, (later, later))
        after = {mode: SystemPromptBuilder(workspace).build(mode).text.encode() for mode in MODES}
    finally:
        monkeypatch.undo()
        time.tzset()
    assert before == after


def test_the_order_of_a_folder_does_not_matter(tmp_path: Path) -> None:
    names = [f"skill-{n}" for n in range(20)]
    texts = []
    for order in (names, names[::-1]):
        shutil.rmtree(tmp_path / "ws", ignore_errors=True)
        workspace = agent_workspace(tmp_path / "ws")
        for name in order:
            add_skill(workspace, name, f"About {name}")
        texts.append(builder(workspace).build().text)
    assert texts[0] == texts[1]


def test_the_listing_order_of_the_system_does_not_matter(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = builder(workspace).build().text
    real = os.scandir

    class Backwards:
        def __init__(self, at: int) -> None:
            self.found = real(at)

        def __enter__(self) -> list[os.DirEntry[str]]:
            return list(self.found)[::-1]

        def __exit__(self, *raised: object) -> None:
            self.found.close()

    monkeypatch.setattr(os, "scandir", Backwards)
    assert builder(workspace).build().text == before


def test_editing_the_body_of_a_skill_leaves_the_prompt(workspace: Path) -> None:
    before = builder(workspace).build()
    add_skill(workspace, "gmail", "Search & read Gmail", "# Rewritten\n" * 5_000)
    after = builder(workspace).build()
    assert before.text == after.text and before.sha256 == after.sha256
    add_skill(workspace, "gmail", "Search, read and send")
    assert builder(workspace).build().text != before.text


def test_editing_heartbeat_keeps_the_prefix_through_user(workspace: Path) -> None:
    before = builder(workspace).build()
    write(workspace / "HEARTBEAT.md", "朝に確認する。\n")
    report = CacheReport(before, builder(workspace).build())
    assert report.common_text.endswith("## USER.md\n\nUSER です。\n\n\n## HEARTBEAT.md\n\n")
    assert report.difference is not None and report.difference.next.id == "project_context"


def test_mode_is_the_files_unless_one_is_asked_for(workspace: Path) -> None:
    write(workspace / "configs/system_prompt.toml", '[system_prompt]\nmode = "none"\nidentity_line = "I."\n')
    assert builder(workspace).build().text == "I."
    assert builder(workspace).build("minimal").mode == "minimal"


def test_what_cannot_be_begun_says_so(tmp_path: Path, workspace: Path) -> None:
    with pytest.raises(WorkspaceMissing):
        SystemPromptBuilder(tmp_path / "nowhere")
    with pytest.raises(SettingsError, match="mode"):
        SystemPromptBuilder(workspace, {"mode": "most"})
    write(workspace / "configs/system_prompt.toml", "[system_prompt]\nmode = 3\n")
    with pytest.raises(PromptFileInvalid, match="line 2: `mode` must be one of"):
        SystemPromptBuilder(workspace)
    (workspace / "configs/system_prompt.toml").unlink()
    write(tmp_path / "other.toml", "[system_prompt]\n")
    (workspace / "configs/system_prompt.toml").symlink_to("../../other.toml")
    with pytest.raises(PromptFileRefused):
        SystemPromptBuilder(workspace)


def test_the_machine_is_this_one_unless_another_is_handed_in(workspace: Path) -> None:
    assert f"- Python: {platform.python_version()}\n" in SystemPromptBuilder(workspace).build().text


def test_a_skill_that_is_gone_since_costs_nothing(workspace: Path) -> None:
    made = builder(workspace)
    built = made.build()
    shutil.rmtree(workspace / "skills" / "gmail")
    assert [cost.name for cost in made.skill_costs(built)] == ["calendar"]
