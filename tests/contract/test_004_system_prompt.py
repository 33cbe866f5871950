"""Document 004, システムプロンプト設計, in its order."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import builder
from builder import (
    BootstrapFile,
    BuiltPrompt,
    CacheReport,
    Machine,
    Runtime,
    Sandbox,
    Skill,
    SystemPromptBuilder,
    SystemPromptInput,
    Tool,
    build_system_prompt,
    render_system_prompt,
)
from tests.contract.command_line import Outcome

Command = Callable[..., Outcome]

MACHINE = Machine(host="vm", os="Linux 6.1", python="3.11.7", home=Path("/home/nobody"))
FILES = ("IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "HEARTBEAT.md")
INSTRUCTION = "When you need to use a skill, use the `read` tool to load the SKILL.md at the listed location."
TIME = "Use session_status tool when you need the current time."
EVERYTHING = SystemPromptInput(
    identity_line="You are a test.",
    workspace_dir="/srv/agent",
    docs_path="/srv/docs",
    tools=(Tool(name="read", summary="Read files"),),
    skills=(
        Skill(
            name="gmail",
            description="Search and read Gmail",
            location="~/.clawdbot/skills/gmail/SKILL.md",
        ),
    ),
    self_update=True,
    bootstrap=(BootstrapFile(name="SOUL.md", content="心"),),
    sandbox=Sandbox(enabled=True, workspace_dir="/box", elevated_allowed=True),
    timezone="Asia/Tokyo",
    time_format="24",
    reply_tags=True,
    heartbeat_prompt="Anything new?",
    runtime=Runtime(
        host="vm", os="Linux 6.1", node="v22", model="gpt-4o", repo_root="/srv/agent", thinking="low"
    ),
    reasoning_level="on",
)
TITLES = [
    "Tooling",
    "Skills",
    "Clawdbot Self-Update",
    "Workspace",
    "Documentation",
    "Workspace Files (injected)",
    "Sandbox",
    "Current Date & Time",
    "Reply Tags",
    "Heartbeats",
    "Runtime",
    "Reasoning",
]


def render(**changes: Any) -> BuiltPrompt:
    return render_system_prompt(EVERYTHING.model_copy(update=changes))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_skill(folder: Path, name: str, description: str, body: str = "# How\n") -> None:
    write(folder / name / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n{body}")


def build(workspace: Path, config: dict[str, Any] | None = None, **options: Any) -> BuiltPrompt:
    return SystemPromptBuilder(workspace, config or {}, MACHINE, **options).build()


@pytest.mark.parametrize(
    "name", ["PromptMode", "Tool", "Skill", "Sandbox", "Runtime", "BootstrapFile", "Machine"]
)
def test_names_are_imported_from_builder(name: str) -> None:
    assert name in builder.__all__ and getattr(builder, name) is not None


# --- プロンプト構造 -------------------------------------------------------------------------


def test_structure_twelve_sections_in_this_order() -> None:
    numbered = [section for section in render().sections if section.number]
    assert [section.number for section in numbered] == [*range(1, 13)]
    assert [section.title for section in numbered] == TITLES
    assert all(section.text.startswith(f"# {section.title}\n\n") for section in numbered)


@pytest.mark.parametrize(
    ("section", "parts"),
    [
        ("tooling", ["Available tools:\n- read: Read files"]),
        ("skills", ["<name>gmail</name>", "<location>~/.clawdbot/", INSTRUCTION]),
        ("self_update", ["`config.apply`", "`update.run`"]),
        ("workspace", ["Working directory: /srv/agent"]),
        ("documentation", ["/srv/docs", "Read it first when"]),
        ("workspace_files", ["The files under Project Context below"]),
        ("sandbox", ["inside a sandbox", "/box", "Elevated execution: allowed"]),
        ("time", ["Timezone: Asia/Tokyo", "Time format: 24-hour"]),
        ("reply_tags", ["[[reply_to_current]]"]),
        ("heartbeats", ["Anything new?", "HEARTBEAT_OK"]),
        (
            "runtime",
            [
                *("- Host: vm\n", "- OS: Linux 6.1\n", "- Node: v22\n", "- Model: gpt-4o\n"),
                *("- Repo root: /srv/agent\n", "- Thinking: low"),
            ],
        ),
        ("reasoning", ["visibility: on", "`/reasoning`"]),
    ],
)
def test_structure_each_section_says_what_the_list_says(section: Any, parts: list[str]) -> None:
    text = render().section(section).text
    assert [part for part in parts if part not in text] == []


# --- プロンプトモード -----------------------------------------------------------------------


def test_modes_minimal_holds_what_its_row_says() -> None:
    assert [section.id for section in render(mode="minimal").included] == [
        *("identity", "tooling", "workspace", "project_context", "sandbox", "time", "runtime")
    ]
    text = render(mode="minimal")
    assert not any(f"# {title}\n" in text for title in ("Skills", "Reply Tags", "Heartbeats", TITLES[2]))


def test_modes_none_is_the_identity_line() -> None:
    assert render(mode="none") == "You are a test."


# --- 判断1 スキルは参照のみ -----------------------------------------------------------------


def test_decision_1_example_to_the_byte() -> None:
    assert render().section("skills").text == (
        "# Skills\n\n<available_skills>\n  <skill>\n    <name>gmail</name>\n"
        "    <description>Search and read Gmail</description>\n"
        "    <location>~/.clawdbot/skills/gmail/SKILL.md</location>\n  </skill>\n</available_skills>\n\n"
        + INSTRUCTION
    )


def test_decision_1_skills_are_sorted_and_escaped() -> None:
    two = [Skill(name=name, description="a & <b>", location=f"/{name}") for name in ("b", "a")]
    text = render(skills=two).section("skills").text
    assert text.index("<name>a</name>") < text.index("<name>b</name>")
    assert text.count("<description>a &amp; &lt;b&gt;</description>") == 2


def test_decision_1_bodies_are_not_in_the_prompt(workspace: Path) -> None:
    add_skill(workspace / "skills", "gmail", "Search and read Gmail", "SECRET STEPS")
    before = build(workspace)
    assert "<name>gmail</name>" in before and "SECRET STEPS" not in before
    add_skill(workspace / "skills", "gmail", "Search and read Gmail", "OTHER STEPS\n" * 500)
    assert build(workspace) == before


@pytest.mark.parametrize("named", ["~/.clawdbot/skills", "{home}/.clawdbot/skills"])
def test_decision_1_skills_of_the_home_folder_where_the_operator_allows_it(
    command: Command, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """Decided differently: the document searches the home folder always."""
    home = tmp_path / "home"
    add_skill(home / ".clawdbot" / "skills", "gmail", "Search and read Gmail")
    add_skill(home / "private", "diary", "SECRET")
    machine = Machine("", "", "", home=home)
    config = {"skills": {"dirs": [named.format(home=home), "~/private"]}}

    refused = SystemPromptBuilder(workspace, config, machine).build()
    assert [each.severity for each in refused.diagnostics if each.code == "system-skills-outside"] == [
        "error",
        "error",
    ]
    assert "gmail" not in refused and "SECRET" not in refused

    made = SystemPromptBuilder(workspace, config, machine, skill_roots=[home / ".clawdbot"])
    allowed = made.build()
    assert "<location>~/.clawdbot/skills/gmail/SKILL.md</location>" in allowed and "SECRET" not in allowed
    assert [cost.name for cost in made.skill_costs(allowed)] == ["gmail"]

    monkeypatch.setenv("HOME", str(home))
    write(
        workspace / "configs" / "system_prompt.toml", '[system_prompt.skills]\ndirs = ["~/.clawdbot/skills"]'
    )
    assert command("system", workspace).code == 1
    outcome = command("system", workspace, "--skills-below", home / ".clawdbot")
    assert outcome.code == 0 and "<name>gmail</name>" in outcome.out


def test_decision_1_a_link_does_not_lead_out_of_what_is_allowed(workspace: Path, tmp_path: Path) -> None:
    add_skill(tmp_path / "private", "diary", "SECRET")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "skills").symlink_to(tmp_path / "private")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "diary").symlink_to(tmp_path / "private" / "diary")
    config = {"skills": {"dirs": [f"{tmp_path}/shared/skills", f"{tmp_path}/more"]}}
    built = build(workspace, config, skill_roots=[tmp_path / "shared", tmp_path / "more"])
    assert "SECRET" not in built
    assert [each.code for each in built.diagnostics if each.severity == "error"] == [
        "system-skills-outside",
        "text-link-out",
    ]


# --- 判断2 時刻はタイムゾーンのみ -----------------------------------------------------------


@pytest.mark.parametrize(
    ("format_", "line"),
    [("24", "Time format: 24-hour\n"), ("12", "Time format: 12-hour\n"), ("auto", "")],
)
def test_decision_2_zone_and_format_and_no_clock(format_: str, line: str) -> None:
    text = render(time_format=format_).section("time").text
    assert text == f"# Current Date & Time\n\nTimezone: Asia/Tokyo\n{line}\n{TIME}"


@pytest.mark.parametrize("wrong", [{"timeFormat": "36"}, {"userTimezone": "Asia/Edo"}])
def test_decision_2_wrong_settings_are_refused(workspace: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(builder.SettingsError):
        SystemPromptBuilder(workspace, wrong)


@pytest.mark.parametrize(
    "config",
    [
        {"userTimezone": "Asia/Tokyo", "timeFormat": "24", "bootstrapMaxChars": 3},
        {"agents": {"defaults": {"userTimezone": "Asia/Tokyo", "timeFormat": "24", "bootstrapMaxChars": 3}}},
        {
            "time": {"userTimezone": "Asia/Tokyo", "timeFormat": "24"},
            "bootstrap": {"bootstrapMaxChars": 3},
        },
    ],
    ids=["flat", "agents.defaults", "ours"],
)
def test_decision_2_settings_in_each_shape(workspace: Path, config: dict[str, Any]) -> None:
    write(workspace / "SOUL.md", "abcdef")
    made = SystemPromptBuilder(workspace=workspace, config=config)
    assert made.bootstrap_max_chars == 3
    text = made.build("full")
    assert f"Timezone: Asia/Tokyo\nTime format: 24-hour\n\n{TIME}" in text
    assert "## SOUL.md\n\nabc\n[... truncated ...]" in text


def test_decision_2_agents_defaults_name_the_workspace_and_nothing_unknown(workspace: Path) -> None:
    named = {"agents": {"defaults": {"workspace": "/srv/agent"}}}
    assert "Working directory: /srv/agent\n" in build(workspace, named)
    for wrong in ({"agents": {"defaults": {"colour": 1}}}, {"agents": {"other": {}}}, {"agents": 1}):
        with pytest.raises(ValidationError):
            build(workspace, wrong)


# --- 判断3 固定セクション構造 ---------------------------------------------------------------


def test_decision_3_sections_joined_by_blank_lines_are_the_text() -> None:
    built = render()
    assert built == "\n\n".join(section.text for section in built.included)


def test_decision_3_build_system_prompt(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert build_system_prompt("none", workspace) == "You are an agent at work in a workspace."
    with pytest.raises(FileNotFoundError, match="MIXSEEK_WORKSPACE"):
        build_system_prompt()
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(workspace))
    assert build_system_prompt() == SystemPromptBuilder(workspace).build("full")
    assert build_system_prompt(mode="minimal").mode == "minimal"


# --- キャッシュ戦略, 最適化 -----------------------------------------------------------------


def test_cache_two_builds_are_equal(workspace: Path) -> None:
    one, other = build(workspace), build(workspace)
    assert one == other and CacheReport(one, other).ratio == 1.0


def test_optimised_ten_skills_cost_96_percent_less(workspace: Path) -> None:
    for number in range(10):
        body = "".join(
            f"## Step {step}\n\nCall `tool_{number}_{step}` with the id from the step before, and check that"
            f" its status is {step * 7 + number}.\n\n"
            for step in range(60)
        )
        add_skill(workspace / "skills", f"skill-{number}", "Search and read Gmail", body)
    # As a person's home holds them: in full their paths would be most of the text.
    machine = Machine("", "", "", home=workspace)
    made = SystemPromptBuilder(workspace, {}, machine)
    built = made.build()
    costs = made.skill_costs(built)
    assert len(costs) == 10
    assert built.section("skills").tokens.tokens <= 0.04 * sum(cost.inlined.tokens for cost in costs)


# --- 実装例 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "minimal", "none"])
def test_example_build_gives_a_str_with_its_report(workspace: Path, mode: Any) -> None:
    built = SystemPromptBuilder(workspace, {}).build(mode)
    assert isinstance(built, str) and type(str(built)) is str
    assert built == built.text == f"{built}" and len(built) == built.chars and "agent" in built
    assert {built: 1}[built.text] == 1
    for again in (
        copy.deepcopy(built),
        pickle.loads(pickle.dumps(built)),
        BuiltPrompt.from_json(built.as_json()),
    ):
        assert (again, again.sections, again.mode) == (built, built.sections, mode)
    assert repr(built).startswith(f"<BuiltPrompt {mode}: ")


def test_example_a_mode_that_there_is_not_names_those_there_are(workspace: Path) -> None:
    with pytest.raises(ValueError) as error:
        SystemPromptBuilder(workspace, {}).build("bogus")  # type: ignore[arg-type]
    assert str(error.value) == "bogus is not a mode: choose one of full, minimal, none"


def test_example_tools_workspace_and_runtime_lines(workspace: Path) -> None:
    built = build(workspace)
    assert (
        "Available tools:\n- read: Read files from the workspace\n- write: Write files to the workspace\n"
        "- exec: Execute shell commands\n- session_status: Get current time and session info\n" in built
    )
    assert f"Working directory: {workspace}\n" in built
    assert f"Runtime:\n- Host: vm\n- OS: Linux 6.1\n- Python: 3.11.7\n- Workspace: {workspace}\n" in built


def test_example_bootstrap_files_in_their_order(workspace: Path) -> None:
    for name in FILES[:4]:
        write(workspace / name, f"{name} です。")
    blocks = [*(f"## {name}\n\n{name} です。" for name in FILES[:4]), "## HEARTBEAT.md\n\n[File not found]"]
    assert "# Project Context\n\n" + "\n\n".join(blocks) in build(workspace)


@pytest.mark.parametrize("letter", ["x", "日", "😀"])
@pytest.mark.parametrize("more", [0, 1])
def test_example_files_are_cut_at_twenty_thousand_characters(workspace: Path, letter: str, more: int) -> None:
    write(workspace / "SOUL.md", letter * (20_000 + more))
    marker = "\n[... truncated ...]" * more
    assert f"## SOUL.md\n\n{letter * 20_000}{marker}\n\n## AGENTS.md" in build(workspace)


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("# Gmail\n\nSearch and read\nGmail.\n\nFirst, sign in.\n", "Search and read Gmail."),
        ("メールを検索します。\n", "メールを検索します。"),
        ("# Only a heading\n", "Only a heading"),
        ("## One\r\n### Two\r\nText\r\n", "Text"),
        ("長い" * 300, "長い" * 99 + "長…"),
    ],
)
def test_example_a_skill_without_front_matter_is_described_by_its_first_lines(
    workspace: Path, text: str, description: str
) -> None:
    write(workspace / "skills" / "plain" / "SKILL.md", text)
    built = build(workspace)
    assert f"<name>plain</name>\n    <description>{description}</description>" in built
    assert [
        (each.severity, each.code) for each in built.diagnostics if each.file and "skills" in each.file
    ] == [("hint", "system-skill-no-front-matter")]


@pytest.mark.parametrize("text", ["", "\n \n", "---\nname: mute\n---\nA body\n"])
def test_example_a_skill_that_says_nothing_is_left_out_and_told(workspace: Path, text: str) -> None:
    write(workspace / "skills" / "mute" / "SKILL.md", text)
    built = build(workspace)
    assert "<available_skills>" not in built
    assert ("warning", "skills/mute/SKILL.md") in [(each.severity, each.file) for each in built.diagnostics]


# --- command line ---------------------------------------------------------------------------


def test_command_line_prints_exactly_the_text(command: Command, workspace: Path) -> None:
    outcome = command("system", workspace)
    assert (outcome.code, outcome.out) == (0, str(SystemPromptBuilder(workspace).build()))
    assert "sha256" in command("system", workspace, "--report").out
    missing = command("system", workspace / "nowhere")
    assert missing.code == 1 and missing.err.startswith("error: Workspace does not exist: ")
