"""The words of a system prompt, section by section: fixed sentences, bootstrap files under their limits, the
list of skills. An empty text: there is nothing to say. Used by ``prompt``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from xml.sax.saxutils import escape

from builder.messages import message
from builder.problems import Problem
from builder.system.built_prompt import COUNTED_AS, FileUse, SkillUse
from builder.system.input import BootstrapFile, Runtime, Sandbox, Skill, SystemPromptInput, Tool, Truncation

TIME_ADVICE = "Use session_status tool when you need the current time."


def tooling(given: SystemPromptInput) -> str:
    lines = [f"- {tool.name}: {tool.summary}" if tool.summary else f"- {tool.name}" for tool in _once(given)]
    return "\n".join(["Available tools:", *lines]) if lines else ""


def _once(given: SystemPromptInput) -> Iterator[Tool]:
    """In their order; of names that differ in case only, the first."""
    seen = set[str]()
    for tool in given.tools:
        if tool.name.casefold() not in seen:
            seen.add(tool.name.casefold())
            yield tool


def self_update(given: SystemPromptInput) -> str:
    if not given.self_update:
        return ""
    return (
        "Only when the user asks for it:\n"
        "- `config.apply` checks a new configuration, writes it and restarts.\n"
        "- `update.run` installs the newest release and restarts."
    )


def workspace(given: SystemPromptInput) -> str:
    return f"Working directory: {given.workspace_dir}"


def documentation(given: SystemPromptInput) -> str:
    if not given.docs_path:
        return ""
    return (
        f"Local documentation: {given.docs_path}\n"
        "Read it first when a question is about this software itself: its behaviour, commands, settings."
    )


def workspace_files(given: SystemPromptInput) -> str:
    if not given.bootstrap or "project_context" in given.disabled_sections:
        return ""
    return (
        "The files under Project Context below come from the workspace and belong to the user. "
        "What stands there need not be read again; of a file that is cut short, the rest is in the file."
    )


def sandbox(given: SystemPromptInput) -> str:
    fence = given.sandbox
    return "\n".join(_sandbox_lines(fence)) if fence and fence.enabled else ""


def _sandbox_lines(fence: Sandbox) -> Iterator[str]:
    yield "Tools run inside a sandbox."
    if fence.workspace_dir:
        yield f"Sandbox workspace: {fence.workspace_dir}"
    yield f"Workspace access: {fence.access}"
    if fence.elevated_allowed:
        yield f"Elevated execution: allowed (level: {fence.elevated_level})"
    else:
        yield "Elevated execution: not allowed"


def time(given: SystemPromptInput) -> str:
    """The zone and how to write a time; never the time itself, which would undo every cache."""
    if not given.timezone:
        return ""
    lines = [f"Timezone: {given.timezone}"]
    if given.time_format != "auto":
        lines.append(f"Time format: {given.time_format}-hour")
    return "\n".join(lines) + f"\n\n{TIME_ADVICE}"


def reply_tags(given: SystemPromptInput) -> str:
    if not given.reply_tags:
        return ""
    return (
        "To answer a message as a reply, begin with one of these tags; it is taken out before sending.\n"
        "- `[[reply_to_current]]` replies to the message at hand.\n"
        "- `[[reply_to:ID]]` replies to the message with that id, where one was given."
    )


def heartbeats(given: SystemPromptInput) -> str:
    if not given.heartbeat_prompt:
        return ""
    return (
        f"Heartbeat prompt: {given.heartbeat_prompt}\n"
        "When a message is this prompt and nothing needs attention, answer with HEARTBEAT_OK alone.\n"
        "When something does, say what, and leave HEARTBEAT_OK out."
    )


def runtime(given: SystemPromptInput) -> str:
    lines = [f"- {key}: {value}" for key, value in _facts(given.runtime) if value]
    return "\n".join(["Runtime:", *lines]) if lines else ""


def _facts(known: Runtime) -> tuple[tuple[str, str], ...]:
    return (
        ("Host", known.host),
        ("OS", known.os),
        ("Python", known.python),
        ("Node", known.node),
        ("Workspace", known.workspace),
        ("Model", known.model),
        ("Repo root", known.repo_root),
        ("Thinking", known.thinking),
    )


def reasoning(given: SystemPromptInput) -> str:
    return f"Reasoning visibility: {given.reasoning_level}. The user changes it with `/reasoning`."


# --- bootstrap files ---------------------------------------------------------------------

NOT_FOUND = "[File not found]"
MARKER = "\n[... truncated ...]"

MISSING = message(
    "system-file-missing",
    "{file} does not exist; the prompt contains a note instead",
    "{file} がありません。プロンプトにはその旨が入ります",
    fix_en="Create the file, or remove its name from `files` in configs/system_prompt.toml.",
    fix_ja="ファイルを作るか、configs/system_prompt.toml の `files` から名前を外してください。",
)
TRUNCATED = message(
    "system-file-truncated",
    "{file} is over the limit; the prompt contains {injected} of its characters",
    "{file} は上限を超えています。プロンプトに入るのは{injected}文字です",
    fix_en="Shorten the file, or raise `bootstrapMaxChars` or `bootstrapTotalMaxChars`.",
    fix_ja="ファイルを短くするか、`bootstrapMaxChars` か `bootstrapTotalMaxChars` を大きくしてください。",
)


@dataclass(frozen=True)
class Limits:
    """How many characters a file may bring, and all of them together."""

    one: int
    total: int | None = None
    truncation: Truncation = "head"


@dataclass(frozen=True)
class Injected:
    """The blocks of all files, in their order, and how each came out."""

    blocks: tuple[str, ...]
    uses: tuple[FileUse, ...]
    diagnostics: tuple[Problem, ...]


def truncate(content: str, limit: int, how: Truncation = "head") -> str:
    """The contract's cut: ``limit`` characters are let through whole, one more brings the marker.

    ``head_tail`` keeps 70 % from the beginning and 20 % from the end.
    """
    if len(content) <= limit:
        return content
    if how == "head":
        return content[:limit] + MARKER
    tail = limit * 2 // 10
    return content[: limit * 7 // 10] + MARKER + "\n" + content[len(content) - tail :]


def inject(files: Sequence[BootstrapFile], limits: Limits, model: str = COUNTED_AS) -> Injected:
    """``## NAME``, a blank line and the content, for each file."""
    uses = tuple(_uses(files, limits, model))
    blocks = tuple(f"## {use.name}\n\n{use.injected}" for use in uses)
    return Injected(blocks, uses, tuple(_diagnostics(uses, limits)))


def _uses(files: Sequence[BootstrapFile], limits: Limits, model: str) -> Iterator[FileUse]:
    left = limits.total
    for file in files:
        content = file.content
        if content is None:
            yield FileUse(file.name, "missing", file.size, None, NOT_FOUND, model)
            continue
        limit = limits.one if left is None else min(limits.one, left)
        injected = truncate(content, limit, limits.truncation)
        if left is not None:
            left -= min(len(content), limit)
        cut = file.abridged or injected is not content
        size = len(content.encode()) if file.size is None else file.size
        chars = None if file.abridged else len(content)
        yield FileUse(file.name, "truncated" if cut else "whole", size, chars, injected, model)


def _diagnostics(uses: Sequence[FileUse], limits: Limits) -> Iterator[Problem]:
    for use in uses:
        if use.status == "missing":
            yield Problem("hint", MISSING, file=use.name)
        elif use.status == "truncated":
            injected = _kept(use, limits.truncation)
            yield Problem("warning", TRUNCATED, params={"injected": injected}, file=use.name)


def _kept(use: FileUse, how: Truncation) -> int:
    """The characters that are the file's own."""
    return use.injected_chars - len(MARKER) - (1 if how == "head_tail" else 0)


# --- skills ------------------------------------------------------------------------------

INSTRUCTION = "When you need to use a skill, use the `read` tool to load the SKILL.md at the listed location."

_OPEN, _CLOSE = "<available_skills>\n", "</available_skills>"
# Controls that XML knows no way to write, and halves of surrogate pairs, which UTF-8 cannot carry.
_UNWRITABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_UNKNOWN = "\ufffd"


@dataclass(frozen=True)
class SkillList:
    """The section's text, and how each skill came out of it."""

    text: str
    uses: tuple[SkillUse, ...]


def one_line(text: str) -> str:
    """A name or a description as a prompt can hold it: in one line, without what cannot be written."""
    return " ".join(_UNWRITABLE.sub(_UNKNOWN, text).split())


def is_writable(name: str) -> bool:
    """Whether a folder's name can stand in a prompt as it is, in one line."""
    return not _UNWRITABLE.search(name) and name.splitlines() == [name]


def list_skills(skills: Sequence[Skill], max_chars: int, model: str = COUNTED_AS) -> SkillList:
    """All skills by name; over the limit the last ones lose their description, then their place.

    From the end, so that one skill more leaves the text before it as it was: caches live on that.
    """
    ordered = sorted(skills, key=lambda skill: (skill.name, skill.location))
    full = [_reference(skill, with_description=True) for skill in ordered]
    bare = [_reference(skill, with_description=False) for skill in ordered]
    room = max_chars - len(_OPEN) - len(_CLOSE)
    described = _described(full, bare, room)
    kept = len(ordered) if described else _fitting(bare, room)
    references = full[:described] + bare[described:kept]
    uses = tuple(
        SkillUse(
            skill.name,
            skill.description,
            skill.location,
            "listed" if at < described else "without_description" if at < kept else "left_out",
            references[at] if at < kept else "",
            model,
        )
        for at, skill in enumerate(ordered)
    )
    parts = [_OPEN + "".join(references) + _CLOSE]
    if kept < len(ordered):
        parts.append(_left_out([skill.name for skill in ordered[kept:]]))
    return SkillList("\n\n".join([*parts, INSTRUCTION]), uses)


def _described(full: Sequence[str], bare: Sequence[str], room: int) -> int:
    """How many may keep their description while all are listed; none where not even the names fit."""
    used = sum(map(len, bare))
    if used > room:
        return 0
    for at, (long, short) in enumerate(zip(full, bare, strict=True)):
        used += len(long) - len(short)
        if used > room:
            return at
    return len(full)


def _fitting(bare: Sequence[str], room: int) -> int:
    return sum(1 for used in accumulate(map(len, bare)) if used <= room)


def _reference(skill: Skill, *, with_description: bool) -> str:
    described = f"    <description>{_escaped(skill.description)}</description>\n" if with_description else ""
    return (
        f"  <skill>\n    <name>{_escaped(skill.name)}</name>\n{described}"
        f"    <location>{escape(_UNWRITABLE.sub(_UNKNOWN, skill.location))}</location>\n  </skill>\n"
    )


def _escaped(text: str) -> str:
    return escape(one_line(text))


def _left_out(names: Sequence[str]) -> str:
    return f"Skills left out of this list for lack of room ({len(names)}): {', '.join(map(_escaped, names))}"
