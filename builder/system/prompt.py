"""The renderer of a system prompt from its input, without clock, environment, platform or disk: equal input,
equal bytes. The documents' API; used by ``builder``."""

from collections.abc import Callable, Sequence
from dataclasses import replace

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
    "Not included in the mode `{mode}`",
    "モード `{mode}` には含まれません",
)
DISABLED = message(
    "system-omitted-disabled",
    "Disabled by `disabled_sections`",
    "`disabled_sections` で無効にされています",
)
NO_ROOM_FOR_DESCRIPTIONS = message(
    "system-skills-without-description",
    "The list of skills is longer than {limit} characters; listed without their description: {names}",
    "スキル一覧が{limit}文字を超えるため、説明を省いたもの：{names}",
    fix_en="Raise `max_chars` of [system_prompt.skills], shorten descriptions, or disable skills.",
    fix_ja="[system_prompt.skills] の `max_chars` を大きくするか、説明を短くするか、"
    "スキルを無効にしてください。",
)
NO_ROOM_FOR_SKILLS = message(
    "system-skills-left-out",
    "The list of skills is longer than {limit} characters; listed by name only: {names}",
    "スキル一覧が{limit}文字を超えるため、名前だけを挙げたもの：{names}",
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


def _blank(
    section: SectionId, number: int | None, title: str, stability: ChangesWith, en: str = "", ja: str = ""
) -> tuple[Section, str]:
    """A section before there is an input, and the message for why it may have no text."""
    absent = message(f"system-absent-{section.replace('_', '-')}", en, ja) if en else ""
    return Section(section, number, title, stability), absent


_SECTIONS = (
    _blank("identity", 0, "Identity", "static"),
    _blank("tooling", 1, "Tooling", "static", "No tools are declared", "ツールの宣言がありません"),
    _blank("skills", 2, "Skills", "workspace", "There are no skills", "スキルがありません"),
    _blank(
        "self_update",
        3,
        "Clawdbot Self-Update",
        "static",
        "`self_update` is off",
        "`self_update` がオフです",
    ),
    _blank("workspace", 4, "Workspace", "static"),
    _blank(
        "documentation",
        5,
        "Documentation",
        "static",
        "No `docs_path` is given",
        "`docs_path` が指定されていません",
    ),
    _blank(
        "workspace_files",
        6,
        "Workspace Files (injected)",
        "static",
        "No file is injected",
        "注入されるファイルがありません",
    ),
    _blank(
        "project_context",
        None,
        "Project Context",
        "workspace",
        "There are no bootstrap files",
        "ブートストラップファイルがありません",
    ),
    _blank("sandbox", 7, "Sandbox", "session", "No sandbox is enabled", "サンドボックスが有効ではありません"),
    _blank(
        "time",
        8,
        "Current Date & Time",
        "static",
        "No `userTimezone` is given",
        "`userTimezone` が指定されていません",
    ),
    _blank("reply_tags", 9, "Reply Tags", "static", "`reply_tags` is off", "`reply_tags` がオフです"),
    _blank(
        "heartbeats",
        10,
        "Heartbeats",
        "static",
        "No `heartbeat_prompt` is given",
        "`heartbeat_prompt` が指定されていません",
    ),
    _blank(
        "runtime", 11, "Runtime", "session", "Nothing is known of the runtime", "ランタイムの情報がありません"
    ),
    _blank("reasoning", 12, "Reasoning", "session"),
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
    """The prompt in its mode, with every section accounted for. Raises nothing: its input is checked."""
    model = given.runtime.model or COUNTED_AS
    limits = Limits(given.bootstrap_max_chars, given.bootstrap_total_max_chars, given.truncation)
    injected = inject(given.bootstrap, limits, model)
    listed = list_skills(given.skills, given.skills_max_chars, model)
    sections = _placed(
        [
            _section(replace(blank, model=model), absent, given, injected, listed)
            for blank, absent in _SECTIONS
        ]
    )
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
    blank: Section, absent: str, given: SystemPromptInput, injected: Injected, listed: SkillList
) -> Section:
    if blank.id not in IN_MODE[given.mode]:
        return replace(blank, reason=Reason(NOT_IN_MODE, {"mode": given.mode}))
    if blank.id in given.disabled_sections:
        return replace(blank, reason=Reason(DISABLED))
    if blank.id == "identity":
        return replace(blank, text=given.identity_line)
    if blank.id == "skills":
        text = listed.text if listed.uses else ""
    elif blank.id == "project_context":
        text = _project_context(given, injected)
    else:
        text = _PLAIN[blank.id](given)
    if not text:
        return replace(blank, reason=Reason(absent))
    return replace(blank, text=f"# {blank.title}\n\n{text}")


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
