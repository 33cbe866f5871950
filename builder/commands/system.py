"""``system``: a workspace's system prompt, or what each of its parts costs."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from builder.cache.tokens import TokenCount
from builder.commands import terminal
from builder.commands.arguments import Subcommands, add_workspace
from builder.system.builder import SkillCost, SystemPromptBuilder
from builder.system.built_prompt import BuiltPrompt, Section
from builder.system.cache_report import CacheReport
from builder.system.input import MODES


def add_to(commands: Subcommands) -> None:
    parser = commands.add_parser("system", help="print a workspace's system prompt, or a report on it")
    add_workspace(parser)
    parser.add_argument(
        "--mode",
        choices=list(MODES),
        help="which sections to include (default: from configs/system_prompt.toml)",
    )
    parser.add_argument(
        "--report", action="store_true", help="print sections, files, skills and caching instead of the text"
    )
    parser.add_argument(
        "--skills-below",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="allow skills.dirs to use folders below this one, outside the workspace",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    builder = SystemPromptBuilder(arguments.workspace, skill_roots=arguments.skills_below)
    built = builder.build(arguments.mode)
    if arguments.report:
        terminal.write_exactly(_report(built, builder.skill_costs(built)))
    else:
        terminal.write_exactly(built.text)
    return _tell(built)


def _tell(built: BuiltPrompt) -> int:
    """What is wrong goes to stderr; a hint only to whoever asked for the report."""
    failed = False
    for problem in built.diagnostics:
        if problem.severity == "error":
            failed = True
            terminal.complain(problem.text(), problem.advice())
        elif problem.severity == "warning":
            terminal.warn(" ".join(part for part in (f"{problem.text()}.", problem.advice()) if part))
    return 1 if failed else 0


def _report(built: BuiltPrompt, costs: list[SkillCost]) -> str:
    total = built.tokens
    head = (
        f"{built.mode}: {built.chars} characters, {built.bytes} bytes, {_tokens(total)} tokens"
        f" ({total.tokenizer})\nsha256 {built.sha256}\n"
    )
    parts = [head, _sections(built)]
    if built.files:
        parts.append(_files(built))
    if built.skills:
        parts.append(_skills(built, costs))
    parts.append(_caching(built))
    hints = [problem.text() for problem in built.diagnostics if problem.severity == "hint"]
    if hints:
        parts.append("".join(f"hint: {terminal.visible(hint)}\n" for hint in hints))
    return "\n".join(parts)


def _sections(built: BuiltPrompt) -> str:
    headings = ("#", "section", "chars", "tokens", "share", "stability", "omitted because")
    return terminal.table(
        headings, (_section(section, built) for section in built.sections), right=(0, 2, 3, 4)
    )


def _section(section: Section, built: BuiltPrompt) -> tuple[str, ...]:
    number = "" if section.number is None else str(section.number)
    if section.reason:
        return number, section.id, "", "", "", section.stability, section.reason.text()
    share = f"{section.bytes / built.bytes:.1%}" if built.bytes else ""
    return number, section.id, str(section.chars), _tokens(section.tokens), share, section.stability, ""


def _files(built: BuiltPrompt) -> str:
    rows = (
        (
            use.name,
            use.status,
            "" if use.size is None else str(use.size),
            str(use.injected_chars),
            _tokens(use.tokens),
        )
        for use in built.files
    )
    return terminal.table(("file", "status", "bytes", "injected chars", "tokens"), rows, right=(2, 3, 4))


def _skills(built: BuiltPrompt, costs: list[SkillCost]) -> str:
    known = {cost.name: cost for cost in costs}
    rows = ((use.name, use.status, *_cost(known.get(use.name))) for use in built.skills)
    table = terminal.table(("skill", "status", "reference", "inlined", "saving"), rows, right=(2, 3, 4))
    return table + _saving(costs)


def _cost(cost: SkillCost | None) -> Iterable[str]:
    if cost is None:
        return "", "", ""
    return _tokens(cost.reference), _tokens(cost.inlined), f"{cost.saving:.1%}"


def _saving(costs: list[SkillCost]) -> str:
    references = sum(cost.reference.tokens for cost in costs)
    inlined = sum(cost.inlined.tokens for cost in costs)
    if not inlined:
        return ""
    saved = 1 - references / inlined
    compared = f"{abs(saved):.1%} {'fewer' if saved >= 0 else 'more'}"
    return f"Skills as references: {references} tokens instead of {inlined}, {compared}\n"


def _caching(built: BuiltPrompt) -> str:
    report = CacheReport(built, built)
    rows = ((verdict.minimum.provider, verdict.minimum.models, verdict.text()) for verdict in report.verdicts)
    return terminal.table(("cache", "models", "sent again unchanged"), rows)


def _tokens(counted: TokenCount) -> str:
    return str(counted.tokens) if counted.exact else f"~{counted.tokens}"
