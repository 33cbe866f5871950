"""Bootstrap files in a system prompt: what of each goes in under its limit, and what the limit cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from builder.messages import message
from builder.problems import Problem
from builder.system.built_prompt import COUNTED_AS, FileUse
from builder.system.input import BootstrapFile, Truncation

NOT_FOUND = "[File not found]"
MARKER = "\n[... truncated ...]"

MISSING = message(
    "system-file-missing",
    "{file} does not exist; the prompt says so in its place",
    "{file} がありません。プロンプトにはその旨が入ります",
    fix_en="Make the file, or take its name out of `files` in configs/system_prompt.toml.",
    fix_ja="ファイルを作るか、configs/system_prompt.toml の `files` から名前を外してください。",
)
TRUNCATED = message(
    "system-file-truncated",
    "{file} is longer than the limit allows; the prompt holds {injected} of its characters",
    "{file} は上限を超えています。プロンプトに入るのは{injected}文字です",
    fix_en="Shorten the file, or raise `bootstrapMaxChars` or `bootstrapTotalMaxChars`.",
    fix_ja="ファイルを短くするか、`bootstrapMaxChars` か `bootstrapTotalMaxChars` を大きくしてください。",
)


@dataclass(frozen=True)
class Limits:
    """How many characters a file may bring, and all of them together."""

    each: int
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
        limit = limits.each if left is None else min(limits.each, left)
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
