"""Settings and front matter of system prompts, read where nothing else can be done."""

from pathlib import Path

import pytest

from builder.errors import PromptFileInvalid
from builder.jail import JailPool
from builder.system.builder import SystemPromptBuilder
from builder.system.file import check_system_file, config_of, problems_of, read_system_file
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
        table = pool.system_table(SETTINGS, "s.toml")
        assert table == read_system_table(SETTINGS, "s.toml")
        config = config_of(table)
        assert config == read_system_file(SETTINGS, "s.toml")
        assert problems_of(pool.system_table(WRONG, "s.toml")) == check_system_file(WRONG, "s.toml")
        with pytest.raises(PromptFileInvalid, match=r"s\.toml, line 1: not valid TOML"):
            pool.system_table(b"[broken", "s.toml")
        assert pool.front_matters(texts) == read_front_matters(texts)
        assert pool.front_matters([]) == []
        jailed = SystemPromptBuilder(workspace, config, MACHINE, pool.front_matters).build()
    plain = SystemPromptBuilder(workspace, config, MACHINE).build()
    assert jailed == plain and "Use when: asked" in jailed.text
