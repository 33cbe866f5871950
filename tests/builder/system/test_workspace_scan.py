"""What stands in a workspace, fit for a prompt or not: a diagnostic each, never a crash."""

import os
from pathlib import Path
from typing import Any

import pytest

from builder.system.builder import SystemPromptBuilder
from builder.system.built_prompt import BuiltPrompt
from builder.system.skill_scan import MOST_SKILLS
from builder.system.workspace_scan import Machine, ScanLimits
from tests.builder.agent_workspaces import MACHINE, add_skill, agent_workspace, write


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return agent_workspace(tmp_path / "ws")


def build(workspace: Path, **config: Any) -> BuiltPrompt:
    return SystemPromptBuilder(workspace, config, MACHINE).build()


def told(built: BuiltPrompt) -> list[tuple[str, str | None, str]]:
    return [(each.severity, each.file, each.code) for each in built.diagnostics]


def test_a_sound_workspace_gives_no_diagnostic(workspace: Path) -> None:
    built = build(workspace)
    assert told(built) == []
    assert [use.status for use in built.files] == ["whole"] * 5
    assert [(use.name, use.status) for use in built.skills] == [("calendar", "listed"), ("gmail", "listed")]
    assert f"Working directory: {workspace}\n" in built.text
    assert f"<location>{workspace}/skills/gmail/SKILL.md</location>" in built.text
    assert (
        f"- Host: vm\n- OS: Linux 6.1\n- Python: 3.11.7\n- Workspace: {workspace}\n- Thinking: off"
        in built.text
    )


def test_each_odd_bootstrap_file_is_told_and_the_prompt_is_built(workspace: Path) -> None:
    (workspace.parent / "secret").write_text("secret")
    for name in ("IDENTITY", "SOUL", "AGENTS", "USER", "HEARTBEAT"):
        (workspace / f"{name}.md").unlink()
    (workspace / "IDENTITY.md").symlink_to("../secret")
    (workspace / "SOUL.md").symlink_to("SOUL.md")
    (workspace / "AGENTS.md").write_bytes(b"\x89PNG\0")
    os.mkfifo(workspace / "USER.md")
    long = "x" * 300
    built = build(
        workspace,
        bootstrap={
            "files": ["IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "HEARTBEAT.md", "skills", long]
        },
    )
    assert told(built) == [
        ("error", "IDENTITY.md", "text-link-out"),
        ("error", "SOUL.md", "text-link-loop"),
        ("error", "AGENTS.md", "text-not-text"),
        ("error", "USER.md", "text-not-a-file"),
        ("error", "skills", "text-not-a-file"),
        ("error", long, "file-unreadable"),
        ("hint", "HEARTBEAT.md", "system-file-missing"),
    ]
    assert [use.status for use in built.files] == ["refused"] * 4 + ["missing"] + ["refused"] * 2
    assert built.text.count("[File not found]") == 7 and "secret" not in built.text
    # People see the workspace's own names, not where it lies on our disk.
    assert all(str(workspace) not in each.text() + each.text("ja") for each in built.diagnostics)


def test_each_odd_skill_is_told_and_the_others_are_listed(workspace: Path) -> None:
    skills = workspace / "skills"
    outside = workspace.parent / "outside"
    add_skill(outside, "stranger", "secret")
    add_skill(workspace, "colon", "Use when: asked")
    write(skills / "plain" / "SKILL.md", "# No front matter\n")
    write(skills / "open" / "SKILL.md", "---\nname: open\n")
    write(skills / "mute" / "SKILL.md", "---\nname: mute\n---\n")
    write(skills / "folder-name" / "SKILL.md", "---\ndescription: Named by its folder\n---\n")
    write(skills / "other" / "SKILL.md", "---\nname: another\ndescription: Other & more\n---\n")
    write(skills / "twin" / "SKILL.md", "---\nname: gmail\ndescription: Again\n---\n")
    add_skill(workspace, "wordy", "w" * 1_025)
    with open(add_skill(workspace, "huge", "Fills a context", "x" * 8_192), "ab") as file:
        file.truncate(2**40)
    write(skills / "binary" / "SKILL.md", "---\nname: \0\n---\n")
    (skills / "fifo").mkdir()
    os.mkfifo(skills / "fifo" / "SKILL.md")
    (skills / "out").symlink_to(outside / "skills" / "stranger")
    (skills / "loop").symlink_to("loop")
    (skills / "parent").symlink_to("..")
    (skills / "new\nline").mkdir()
    os.mkdir(os.fsencode(skills) + b"/\xff")
    write(skills / "README.md", "not a skill")
    write(skills / "家族　👩‍👧" / "SKILL.md", "---\ndescription: Any script\n---\n")
    (skills / "assets").mkdir()
    (skills / ".git").mkdir()
    built = build(workspace, skills={"disabled": ["calendar", "nothing"]})
    assert sorted(told(built), key=str) == sorted(
        [
            ("error", "skills/binary/SKILL.md", "text-not-text"),
            ("error", "skills/fifo/SKILL.md", "text-not-a-file"),
            ("error", "skills/loop/SKILL.md", "text-link-loop"),
            ("error", "skills/out/SKILL.md", "text-link-out"),
            ("hint", None, "system-skill-disabled-unknown"),
            ("hint", "skills/huge/SKILL.md", "system-skill-large"),
            ("hint", "skills/other/SKILL.md", "system-skill-other-name"),
            ("hint", "skills/twin/SKILL.md", "system-skill-other-name"),
            ("hint", "skills/wordy/SKILL.md", "system-skill-long-description"),
            ("warning", "skills/colon/SKILL.md", "system-skill-broken-yaml"),
            ("warning", "skills/mute/SKILL.md", "system-skill-no-description"),
            ("warning", "skills/new\nline", "system-skill-odd-folder"),
            ("warning", "skills/open/SKILL.md", "system-skill-not-closed"),
            ("hint", "skills/plain/SKILL.md", "system-skill-no-front-matter"),
            ("warning", "skills/twin/SKILL.md", "system-skill-twice"),
            ("warning", "skills/\ufffd", "system-skill-odd-folder"),
        ],
        key=str,
    )
    assert [use.name for use in built.skills if use.status == "listed"] == [
        "another",
        "colon",
        "folder-name",
        "gmail",
        "huge",
        "plain",
        "wordy",
        "家族　👩‍👧",
    ]
    assert [use.name for use in built.skills if use.status == "disabled"] == ["calendar"]
    assert "secret" not in built.text and "calendar" not in built.text


def test_a_skill_linked_inside_is_one(workspace: Path) -> None:
    write(workspace / "shared" / "pdf" / "SKILL.md", "---\nname: pdf\ndescription: Forms\n---\n")
    (workspace / "skills" / "pdf").symlink_to("../shared/pdf")
    built = build(workspace)
    assert told(built) == []
    assert f"<location>{workspace}/skills/pdf/SKILL.md</location>" in built.text


def test_the_skills_folder_itself_may_be_absent_but_not_lead_out(workspace: Path) -> None:
    (workspace / "more").symlink_to("..")
    write(workspace / "file", "x")
    built = build(workspace, skills={"dirs": ["nothing", "more", "file", "skills"]})
    assert told(built) == [("error", "more", "text-link-out"), ("error", "file", "text-not-a-file")]
    assert len(built.skills) == 2


def test_front_matter_longer_than_the_first_read_is_found(workspace: Path) -> None:
    write(workspace / "skills" / "late" / "SKILL.md", f"---\nnote: {'n' * 10_000}\ndescription: Late\n---\n")
    assert "late" in [use.name for use in build(workspace).skills]


def test_more_folders_than_are_looked_at_are_told(workspace: Path) -> None:
    for number in range(MOST_SKILLS):
        (workspace / "skills" / f"empty-{number}").mkdir()
    assert ("warning", "skills", "system-skills-too-many") in told(build(workspace))


def test_home_is_shown_as_a_tilde(workspace: Path) -> None:
    machine = Machine("", "", "", home=workspace.parent)
    text = SystemPromptBuilder(workspace, {}, machine).build().text
    assert "<location>~/ws/skills/gmail/SKILL.md</location>" in text
    assert "- Host" not in text


@pytest.mark.parametrize("how", ["head", "head_tail"])
@pytest.mark.parametrize("letter", ["x", "日", "😀"])
@pytest.mark.parametrize("more", [-1, 0, 1, 5_000])
def test_what_is_read_in_part_is_cut_as_the_whole_would_be(
    workspace: Path, how: str, letter: str, more: int
) -> None:
    content = letter * (99 + more) + "z"
    (workspace / "SOUL.md").write_bytes(b"\xef\xbb\xbf" + content.encode())
    built = build(workspace, bootstrap={"bootstrapMaxChars": 100, "truncation": how, "files": ["SOUL.md"]})
    (use,) = built.files
    if more <= 0:
        expected = content
    elif how == "head":
        expected = content[:100] + "\n[... truncated ...]"
    else:
        expected = content[:70] + "\n[... truncated ...]\n" + content[-20:]
    assert (use.injected, use.status) == (expected, "whole" if more <= 0 else "truncated")
    assert use.size == len(content.encode()) + 3
    assert use.chars in (len(content), None)


def test_limits_that_ask_for_too_much_find_the_rest_refused(workspace: Path) -> None:
    write(workspace / "SOUL.md", "x" * 900)
    write(workspace / "USER.md", "x" * 900)
    config = {"bootstrap": {"files": ["SOUL.md", "USER.md", "AGENTS.md"], "bootstrapMaxChars": 950}}
    built = SystemPromptBuilder(workspace, config, MACHINE, limits=ScanLimits(bytes=1_000)).build()
    assert told(built) == [("error", "USER.md", "system-files-too-large")]
    assert [use.status for use in built.files] == ["whole", "refused", "whole"]


def test_facts_of_the_machine_can_be_said_or_kept_back(workspace: Path) -> None:
    (workspace / ".git").mkdir()
    text = build(workspace, runtime={"host": "", "os": "Debian", "model": "gpt-4o"}).section("runtime").text
    assert text == (
        f"# Runtime\n\nRuntime:\n- OS: Debian\n- Python: 3.11.7\n- Workspace: {workspace}\n- Model: gpt-4o\n"
        f"- Repo root: {workspace}\n- Thinking: off"
    )
    assert "repo" not in build(workspace, runtime={"repo_root": ""}).text.lower()


@pytest.mark.parametrize(
    ("said", "shown"),
    [(".", "{ws}"), ("app/../lib", "{ws}/lib"), ("/srv/agent", "/srv/agent"), ("~/a", "~/a")],
)
def test_the_working_directory_is_absolute(workspace: Path, said: str, shown: str) -> None:
    text = build(workspace, workspace_dir=said).section("workspace").text
    assert text == "# Workspace\n\nWorking directory: " + shown.format(ws=workspace)
