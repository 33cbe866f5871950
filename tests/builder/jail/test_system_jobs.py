"""Settings and front matter of system prompts, read where nothing else can be done."""

from pathlib import Path

import pytest

from builder.errors import PromptFileInvalid
from builder.jail import JailPool
from builder.system.builder import SystemPromptBuilder
from builder.system.file import read_system_file, settings_of
from builder.system.front_matter import read_front_matters
from builder.system.table import read_system_table
from tests.builder.agent_workspaces import MACHINE, agent_workspace, write

SETTINGS = b"""\
[system_prompt]
identity_line = "You are Aki."
disabled_sections = ["reasoning"]
[system_prompt.bootstrap]
bootstrapMaxChars = 5
[system_prompt.time]
userTimezone = "Asia/Tokyo"
timeFormat = "24"
[system_prompt.sandbox]
enabled = true
[[system_prompt.tools]]
name = "read"
"""
WRONG = b"[system_prompt]\nmod = 1\n[system_prompt.time]\nuserTimezone = 2026-01-01\n"


@pytest.mark.slow
def test_the_jail_answers_as_the_builder_does(tmp_path: Path) -> None:
    workspace = agent_workspace(tmp_path / "ws")
    write(workspace / "skills/odd/SKILL.md", "---\nname: odd\ndescription: Use when: asked\n---\n")
    texts = [f"---\nname: n{n}\ndescription: d{n}: x\n---" for n in range(150)]
    with JailPool(size=0, spares=0, batch_size=1) as pool:
        for data in (SETTINGS, WRONG):
            assert pool.system_settings(data, "s.toml") == settings_of(read_system_table(data, "s.toml"))
        config = pool.system_settings(SETTINGS, "s.toml").config
        assert config == read_system_file(SETTINGS, "s.toml")
        with pytest.raises(PromptFileInvalid, match=r"s\.toml, line 1: not valid TOML"):
            pool.system_settings(b"[broken", "s.toml")
        assert pool.front_matters(texts) == read_front_matters(texts)
        assert pool.front_matters([]) == []
        jailed = SystemPromptBuilder(workspace, config, MACHINE, pool.front_matters).build()
    plain = SystemPromptBuilder(workspace, config, MACHINE).build()
    assert jailed == plain and "Use when: asked" in jailed.text
