"""The renderer of a system prompt from its input, without clock, environment, platform or disk: equal input,
equal bytes. The documents' API; used by ``builder``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from builder.messages import message
from builder.problems import Problem
from builder.system import sections as words
from builder.system.built_prompt import (
    COUNTED_AS,
    SEPARATOR,
    BuiltPrompt,
    ChangesWith,
    Reason,
    Section,
    SkillUse,
)
from builder.system.input import IN_MODE, SectionId, SystemPromptInput
from builder.system.sections import Injected, Limits, SkillList, inject, list_skills

NOT_IN_MODE = message(
    "system-omitted-mode",
    "The mode `{mode}` does without it",
    "モード `{mode}` には含まれません",
)
DISABLED = message(
    "system-omitted-disabled",
    "`disabled_sections` names it",
    "`disabled_sections` で無効にされています",
)
NO_ROOM_FOR_DESCRIPTIONS = message(
    "system-skills-without-description",
    "The list of skills is longer than {limit} characters; listed without their description: {names}",
    "スキル一覧が{limit}文字を超えるため、説明を省いたもの: {names}",
    fix_en="Raise `max_chars` of [system_prompt.skills], shorten descriptions, or disable skills.",
    fix_ja="[system_prompt.skills] の `max_chars` を大きくするか、説明を短くするか、"
    "スキルを無効にしてください。",
)
NO_ROOM_FOR_SKILLS = message(
    "system-skills-left-out",
    "The list of skills is longer than {limit} characters; only named, not listed: {names}",
    "スキル一覧が{limit}文字を超えるため、名前だけを挙げたもの: {names}",
    fix_en="Raise `max_chars` of [system_prompt.skills], shorten descriptions, or disable skills.",
    fix_ja="[system_prompt.skills] の `max_chars` を大きくするか、説明を短くするか、"
    "スキルを無効にしてください。",
)
NO_TOOL = message(
    "system-tool-missing",
    "The prompt tells the agent to use the tool `{tool}`, which is not among its tools",
    "プロンプトはツール `{tool}` を使うよう指示しますが、ツール一覧にありません",
    fix_en="Add it as [[system_prompt.tools]], or disable the section that needs it.",
    fix_ja="[[system_prompt.tools]] に追加するか、それを必要とするセクションを無効にしてください。",
)


@dataclass(frozen=True)
class _Kind:
    """What is known of a section before there is an input; ``absent`` says why it may have no text."""

    id: SectionId
    number: int | None
    title: str
    stability: ChangesWith
    absent: str = ""


def _absent(section: SectionId, en: str, ja: str) -> str:
    return message(f"system-absent-{section.replace('_', '-')}", en, ja)


_KINDS = (
    _Kind("identity", 0, "Identity", "static"),
    _Kind(
        "tooling",
        1,
        "Tooling",
        "static",
        _absent("tooling", "No tool is declared", "ツールの宣言がありません"),
    ),
    _Kind("skills", 2, "Skills", "workspace", _absent("skills", "There is no skill", "スキルがありません")),
    _Kind(
        "self_update",
        3,
        "Self-Update",
        "static",
        _absent("self_update", "`self_update` is off", "`self_update` がオフです"),
    ),
    _Kind("workspace", 4, "Workspace", "static"),
    _Kind(
        "documentation",
        5,
        "Documentation",
        "static",
        _absent("documentation", "No `docs_path` is given", "`docs_path` が指定されていません"),
    ),
    _Kind(
        "workspace_files",
        6,
        "Workspace Files (injected)",
        "static",
        _absent("workspace_files", "No file is injected", "注入されるファイルがありません"),
    ),
    _Kind(
        "project_context",
        None,
        "Project Context",
        "workspace",
        _absent("project_context", "There are no bootstrap files", "ブートストラップファイルがありません"),
    ),
    _Kind(
        "sandbox",
        7,
        "Sandbox",
        "session",
        _absent("sandbox", "No sandbox is enabled", "サンドボックスが有効ではありません"),
    ),
    _Kind(
        "time",
        8,
        "Current Date & Time",
        "static",
        _absent("time", "No `userTimezone` is given", "`userTimezone` が指定されていません"),
    ),
    _Kind(
        "reply_tags",
        9,
        "Reply Tags",
        "static",
        _absent("reply_tags", "`reply_tags` is off", "`reply_tags` がオフです"),
    ),
    _Kind(
        "heartbeats",
        10,
        "Heartbeats",
        "static",
        _absent("heartbeats", "No `heartbeat_prompt` is given", "`heartbeat_prompt` が指定されていません"),
    ),
    _Kind(
        "runtime",
        11,
        "Runtime",
        "session",
        _absent("runtime", "Nothing is known of the runtime", "ランタイムの情報がありません"),
    ),
    _Kind("reasoning", 12, "Reasoning", "session"),
)

_PLAIN: dict[SectionId, Callable[[SystemPromptInput], str]] = {
    "tooling": words.tooling,
    "self_update": words.self_update,
    "workspace": words.workspace,
    "documentation": words.documentation,
    "workspace_files": words.workspace_files,
    "sandbox": words.sandbox,
    "time": words.time,
    "reply_tags": words.reply_tags,
    "heartbeats": words.heartbeats,
    "runtime": words.runtime,
    "reasoning": words.reasoning,
}


def render_system_prompt(given: SystemPromptInput) -> BuiltPrompt:
    """The prompt in its mode, with every section accounted for."""
    model = given.runtime.model or COUNTED_AS
    limits = Limits(given.bootstrap_max_chars, given.bootstrap_total_max_chars, given.truncation)
    injected = inject(given.bootstrap, limits, model)
    listed = list_skills(given.skills, given.skills_max_chars, model)
    sections = _placed([_section(kind, given, injected, listed, model) for kind in _KINDS])
    here = {section.id for section in sections if section.status == "included"}
    files = injected.uses if "project_context" in here else ()
    skills = listed.uses if "skills" in here else ()
    diagnostics = (
        *(injected.diagnostics if files else ()),
        *_lack_of_room(skills, given.skills_max_chars),
        *_missing_tools(given, here),
    )
    text = SEPARATOR.join(section.text for section in sections if section.status == "included")
    return BuiltPrompt(given.mode, text, sections, files, skills, diagnostics, model)


def _section(
    kind: _Kind, given: SystemPromptInput, injected: Injected, listed: SkillList, model: str
) -> Section:
    blank = Section(kind.id, kind.number, kind.title, kind.stability, model=model)
    if kind.id not in IN_MODE[given.mode]:
        return replace(blank, reason=Reason(NOT_IN_MODE, {"mode": given.mode}))
    if kind.id in given.disabled_sections:
        return replace(blank, reason=Reason(DISABLED))
    if kind.id == "identity":
        return replace(blank, text=given.identity_line)
    if kind.id == "skills":
        text = listed.text if listed.uses else ""
    elif kind.id == "project_context":
        text = _project_context(given, injected)
    else:
        text = _PLAIN[kind.id](given)
    if not text:
        return replace(blank, reason=Reason(kind.absent))
    return replace(blank, text=f"# {kind.title}\n\n{text}")


def _project_context(given: SystemPromptInput, injected: Injected) -> str:
    """The files first: what is said once to one agent must not move the text that all of them share."""
    extra = [f"## Additional Context\n\n{given.extra_context}"] if given.extra_context else []
    return "\n\n".join([*injected.blocks, *extra])


def _placed(sections: Sequence[Section]) -> tuple[Section, ...]:
    placed, at = [], 0
    for section in sections:
        if section.status == "included":
            placed.append(replace(section, start_byte=at))
            at += section.bytes + len(SEPARATOR)
        else:
            placed.append(section)
    return tuple(placed)


def _lack_of_room(uses: Sequence[SkillUse], limit: int) -> list[Problem]:
    problems = []
    for status, code in (
        ("without_description", NO_ROOM_FOR_DESCRIPTIONS),
        ("left_out", NO_ROOM_FOR_SKILLS),
    ):
        names = ", ".join(use.name for use in uses if use.status == status)
        if names:
            problems.append(Problem("warning", code, params={"limit": limit, "names": names}))
    return problems


def _missing_tools(given: SystemPromptInput, here: set[SectionId]) -> list[Problem]:
    """The fixed sentences name two tools: an agent without them would be sent to what is not there."""
    declared = {tool.name.casefold() for tool in given.tools}
    needs: tuple[tuple[SectionId, str], ...] = (("skills", "read"), ("time", "session_status"))
    return [
        Problem("hint", NO_TOOL, params={"tool": tool})
        for section, tool in needs
        if section in here and tool not in declared
    ]
