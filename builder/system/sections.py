"""The words of a system prompt, section by section. An empty text: there is nothing to say."""

from collections.abc import Iterator

from builder.system.input import Runtime, Sandbox, SystemPromptInput, Tool

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
        ("Model", known.model),
        ("Repo root", known.repo_root),
        ("Thinking", known.thinking),
    )


def reasoning(given: SystemPromptInput) -> str:
    return f"Reasoning visibility: {given.reasoning_level}. The user changes it with `/reasoning`."
