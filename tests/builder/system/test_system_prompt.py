"""The pure renderer: sections, modes, fixed phrases, and the promise of equal bytes."""

import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from builder.system.built_prompt import SEPARATOR, BuiltPrompt
from builder.system.input import (
    MODES,
    SECTION_IDS,
    BootstrapFile,
    PromptMode,
    Runtime,
    Sandbox,
    SectionId,
    Skill,
    SystemPromptInput,
    Tool,
)
from builder.system.prompt import render_system_prompt

ROOT = Path(__file__).parents[3]

WHOLE: dict[str, Any] = {
    "identity_line": "You are Aki.",
    "workspace_dir": "/srv/agent",
    "docs_path": "/srv/docs",
    "extra_context": "Speak Japanese.",
    "tools": (Tool(name="read", summary="Read files"), Tool(name="session_status", summary="Now")),
    "skills": (
        Skill(name="gmail", description="Search & read", location="~/skills/gmail/SKILL.md"),
        Skill(name="cal", description="Dates", location="~/skills/cal/SKILL.md"),
    ),
    "self_update": True,
    "bootstrap": (BootstrapFile(name="SOUL.md", content="心"), BootstrapFile(name="USER.md", content=None)),
    "sandbox": Sandbox(enabled=True, workspace_dir="/work", access="ro", elevated_allowed=True),
    "timezone": "Asia/Tokyo",
    "time_format": "24",
    "reply_tags": True,
    "heartbeat_prompt": "Anything?",
    "runtime": Runtime(
        host="vm", os="Linux", python="3.11", model="gpt-4o", repo_root="/srv", thinking="low"
    ),
    "reasoning_level": "stream",
}

FULL = """\
You are Aki.

# Tooling

Available tools:
- read: Read files
- session_status: Now

# Skills

<available_skills>
  <skill>
    <name>cal</name>
    <description>Dates</description>
    <location>~/skills/cal/SKILL.md</location>
  </skill>
  <skill>
    <name>gmail</name>
    <description>Search &amp; read</description>
    <location>~/skills/gmail/SKILL.md</location>
  </skill>
</available_skills>

When you need to use a skill, use the `read` tool to load the SKILL.md at the listed location.

# Clawdbot Self-Update

Only when the user asks for it:
- `config.apply` checks a new configuration, writes it and restarts.
- `update.run` installs the newest release and restarts.

# Workspace

Working directory: /srv/agent

# Documentation

Local documentation: /srv/docs
Read it first when a question is about this software itself: its behaviour, commands, settings.

# Workspace Files (injected)

The files under Project Context below come from the workspace and belong to the user. \
What stands there need not be read again; of a file that is cut short, the rest is in the file.

# Project Context

## SOUL.md

心

## USER.md

[File not found]

## Additional Context

Speak Japanese.

# Sandbox

Tools run inside a sandbox.
Sandbox workspace: /work
Workspace access: ro
Elevated execution: allowed (level: off)

# Current Date & Time

Timezone: Asia/Tokyo
Time format: 24-hour

Use session_status tool when you need the current time.

# Reply Tags

To answer a message as a reply, begin with one of these tags; it is taken out before sending.
- `[[reply_to_current]]` replies to the message at hand.
- `[[reply_to:ID]]` replies to the message with that id, where one was given.

# Heartbeats

Heartbeat prompt: Anything?
When a message is this prompt and nothing needs attention, answer with HEARTBEAT_OK alone.
When something does, say what, and leave HEARTBEAT_OK out.

# Runtime

Runtime:
- Host: vm
- OS: Linux
- Python: 3.11
- Model: gpt-4o
- Repo root: /srv
- Thinking: low

# Reasoning

Reasoning visibility: stream. The user changes it with `/reasoning`."""


def render(**changes: Any) -> BuiltPrompt:
    return render_system_prompt(SystemPromptInput(**{**WHOLE, **changes}))


def ids(built: BuiltPrompt) -> list[SectionId]:
    return [section.id for section in built.included]


def reasons(built: BuiltPrompt) -> dict[SectionId, str]:
    return {section.id: section.reason.text() for section in built.sections if section.reason}


def test_full_prompt_is_the_contract_to_the_byte() -> None:
    built = render()
    assert built.text == FULL == str(built)
    assert built.sha256 == hashlib.sha256(FULL.encode()).hexdigest()
    assert ids(built) == list(SECTION_IDS)
    assert [section.number for section in built.sections] == [0, 1, 2, 3, 4, 5, 6, None, 7, 8, 9, 10, 11, 12]


def test_minimal_and_none_hold_what_their_table_says() -> None:
    minimal, none = render(mode="minimal"), render(mode="none")
    assert ids(minimal) == [
        "identity",
        "tooling",
        "workspace",
        "project_context",
        "sandbox",
        "time",
        "runtime",
    ]
    assert none.text == "You are Aki."
    assert minimal.section("skills").reason is not None
    assert reasons(minimal)["skills"] == "Not included in the mode `minimal`"
    assert len(reasons(none)) == 13 and none.files == none.skills == ()


def test_what_is_absent_is_left_out_and_says_why() -> None:
    built = render_system_prompt(SystemPromptInput(workspace_dir="/w", runtime=Runtime(thinking="")))
    assert ids(built) == ["identity", "workspace", "reasoning"]
    assert reasons(built) == {
        "tooling": "No tools are declared",
        "skills": "There are no skills",
        "self_update": "`self_update` is off",
        "documentation": "No `docs_path` is given",
        "workspace_files": "No file is injected",
        "project_context": "There are no bootstrap files",
        "sandbox": "No sandbox is enabled",
        "time": "No `userTimezone` is given",
        "reply_tags": "`reply_tags` is off",
        "heartbeats": "No `heartbeat_prompt` is given",
        "runtime": "Nothing is known of the runtime",
    }
    section = built.section("sandbox")
    assert (section.status, section.text, section.chars, section.start_byte) == ("omitted", "", 0, None)
    assert section.reason is not None
    assert section.reason.text("ja") == "サンドボックスが有効ではありません"


def test_disabled_section_is_gone_and_names_the_setting() -> None:
    built = render(disabled_sections={"project_context", "time"})
    assert "Project Context" not in built.text and "Timezone" not in built.text
    assert reasons(built)["time"] == "Disabled by `disabled_sections`"
    # Without the files, the notice of them would be untrue.
    assert reasons(built)["workspace_files"] == "No file is injected"


def test_a_sandbox_that_is_switched_off_is_not_mentioned() -> None:
    assert "sandbox" not in ids(render(sandbox=Sandbox(enabled=False)))


@pytest.mark.parametrize("mode", MODES)
def test_sections_and_separators_give_the_text_again(mode: PromptMode) -> None:
    built = render(mode=mode)
    data = built.text.encode()
    assert SEPARATOR.join(section.text for section in built.included) == built.text
    for section in built.included:
        assert section.start_byte is not None
        assert data[section.start_byte : section.start_byte + section.bytes].decode() == section.text
        assert section.tokens.tokens > 0 and section.tokens.tokenizer == "o200k_base"


def test_tokens_are_counted_for_the_model_that_is_named() -> None:
    other = render(runtime=Runtime(model="claude-sonnet-4-5"))
    parts = [other, other.section("tooling"), other.files[0], other.skills[0]]
    assert {part.tokens.tokenizer for part in parts} == {"estimate"}
    assert render(runtime=Runtime()).tokens.tokenizer == "o200k_base"


@pytest.mark.parametrize("mode", MODES)
def test_a_snapshot_comes_back_as_it_was(mode: PromptMode) -> None:
    built = render(mode=mode, tools=())
    assert BuiltPrompt.from_json(json.loads(json.dumps(built.as_json()))) == built


def test_tools_keep_their_order_and_come_once() -> None:
    tools = [Tool(name="write"), Tool(name="Read", summary="a\nb"), Tool(name="read", summary="again")]
    assert (
        render(tools=tools).section("tooling").text == "# Tooling\n\nAvailable tools:\n- write\n- Read: a b"
    )


@pytest.mark.parametrize(("format_", "line"), [("auto", None), ("12", "12-hour"), ("24", "24-hour")])
def test_time_format_is_named_unless_it_is_auto(format_: str, line: str | None) -> None:
    text = render(time_format=format_).section("time").text
    assert ("Time format:" in text) == (line is not None)
    assert line is None or f"Time format: {line}" in text


def test_a_prompt_that_names_a_tool_the_agent_lacks_says_so() -> None:
    built = render(tools=[Tool(name="exec")])
    assert [(each.severity, each.params["tool"]) for each in built.diagnostics if "tool" in each.params] == [
        ("hint", "read"),
        ("hint", "session_status"),
    ]
    assert not any("tool" in each.params for each in render().diagnostics)


def test_order_in_which_skills_are_handed_in_does_not_matter() -> None:
    skills = [Skill(name=f"s{n}", description="d", location=f"/s/{n}") for n in range(30)]
    shuffled = random.Random(7).sample(skills, len(skills))
    assert render(skills=skills).text == render(skills=shuffled).text


@pytest.mark.parametrize(
    "wrong",
    [
        {"timezone": "Asia/Tokio"},
        {"bootstrapMaxChars": 0},
        {"identity_line": "two\nlines"},
        {"identity_line": " "},
        {"unknown": 1},
        {"disabled_sections": {"nothing"}},
        {"mode": "most"},
    ],
)
def test_input_that_breaks_a_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SystemPromptInput.model_validate({"workspace_dir": "/w", **wrong})


def test_input_cannot_be_changed_and_knows_the_alias() -> None:
    made = SystemPromptInput.model_validate({"workspace_dir": "/w", "bootstrapMaxChars": 5})
    assert made.bootstrap_max_chars == 5
    with pytest.raises(ValidationError):
        made.mode = "none"  # type: ignore[misc]


@pytest.mark.slow
def test_the_renderer_reads_no_clock_no_platform_and_no_disk() -> None:
    """Every way out is closed before it renders; counting tokens comes later, when somebody asks."""
    code = """
import sys, time, platform, os, datetime
from builder.system.input import SystemPromptInput
from builder.system.prompt import render_system_prompt
given = SystemPromptInput(workspace_dir="/w", timezone="UTC", reply_tags=True, self_update=True)
def no(event, arguments):
    if event in ("open", "os.listdir", "os.scandir", "subprocess.Popen", "socket.__new__"):
        raise SystemExit(event)
sys.addaudithook(no)
def closed(*arguments): raise SystemExit("asked")
time.time = time.monotonic = platform.node = platform.system = os.getcwd = os.getenv = closed
print(len(render_system_prompt(given).text) > 100)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    contents=st.lists(st.one_of(st.none(), TEXTS), max_size=4),
    skills=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=5),
    limit=st.integers(1, 30),
    room=st.integers(1, 400),
    total=st.one_of(st.none(), st.integers(1, 60)),
    how=st.sampled_from(["head", "head_tail"]),
)
def test_any_input_renders_and_adds_up(
    contents: list[str | None],
    skills: list[tuple[str, str, str]],
    limit: int,
    room: int,
    total: int | None,
    how: str,
) -> None:
    built = render(
        bootstrap=[BootstrapFile(name=f"{n}.md", content=text) for n, text in enumerate(contents)],
        skills=[Skill(name=a, description=b, location=c) for a, b, c in skills],
        bootstrap_max_chars=limit,
        bootstrap_total_max_chars=total,
        skills_max_chars=room,
        truncation=how,
    )
    assert SEPARATOR.join(section.text for section in built.included) == built.text
    assert built.bytes == len(built.text.encode())
    assert len(built.skills) == len(skills) and len(built.files) == len(contents)
