"""The front matter of a SKILL.md: name and description, also out of YAML that is none.

YAML is read as a stream of events, never as objects: an alias is not multiplied, no depth recurses (the C
parser's own tree builder ends the process at 60,000 brackets), and nothing is made that a tag asks for.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import yaml

MAX_CHARS = 16 * 1024
"""More than this is no front matter."""

LONGEST_OPENING = 200
"""Characters of a description that nobody wrote as one."""

_MOST_EVENTS = 4_000
_LONGEST_FENCE = 100
_FENCE = re.compile(r"---[ \t]{0,80}\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"[|>][+\-0-9]*$")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class FrontMatter:
    """What a skill says of itself; ``broken_line`` is where its YAML stops being any."""

    name: str | None = None
    description: str | None = None
    found: bool = True
    closed: bool = True
    broken_line: int | None = None


FrontMatterReader = Callable[[Sequence[str]], list[FrontMatter]]
"""What makes sense of many files at once: here, or in processes that can do nothing else."""


class Fenced(NamedTuple):
    """The lines of a front matter with its fences; ``open`` where the second one was not found."""

    text: str
    open: bool


def fenced(text: str) -> Fenced:
    """Cut a file to its front matter, without a look at what it says; what has none keeps its first line."""
    fence = _FENCE.match(text)
    if fence is None:
        return Fenced(text[:_LONGEST_FENCE].partition("\n")[0], open=False)
    end = _END.search(text, fence.end(), fence.end() + MAX_CHARS)
    return Fenced(fence.group(), open=True) if end is None else Fenced(text[: end.end()], open=False)


def opening(text: str) -> str:
    """What a file without front matter begins with: its first paragraph, else its heading, in one line.

    >>> opening("# Gmail\\n\\nSearch and read\\nGmail.\\n\\nFirst, …")
    'Search and read Gmail.'
    """
    paragraphs = [part for part in re.split(r"\n[ \t\r]*\n|^#.*$", text, flags=re.MULTILINE) if part.strip()]
    first = paragraphs[0] if paragraphs else text.strip().partition("\n")[0].lstrip("#")
    line = " ".join(first.split())
    return line if len(line) <= LONGEST_OPENING else line[: LONGEST_OPENING - 1].rstrip() + "…"


def read_front_matters(texts: Sequence[str]) -> list[FrontMatter]:
    return [read_front_matter(text) for text in texts]


def read_front_matter(text: str) -> FrontMatter:
    """From the beginning of a file: between two lines of three dashes.

    >>> read_front_matter("---\\nname: pdf\\ndescription: Fill forms: fast\\n---\\n").description
    'Fill forms: fast'
    """
    fence = _FENCE.match(text)
    if fence is None:
        return FrontMatter(found=False)
    end = _END.search(text, fence.end(), fence.end() + MAX_CHARS)
    if end is None:
        return FrontMatter(closed=False)
    block = text[fence.end() : end.start()]
    try:
        values = dict(_yaml_values(block))
        broken = None
    except yaml.YAMLError as error:
        values = dict(_line_values(block))
        mark = getattr(error, "problem_mark", None)
        # The block begins on the second line, and marks count from zero.
        broken = 2 + (mark.line if mark is not None else 0)
    return FrontMatter(values.get("name"), values.get("description"), broken_line=broken)


def _yaml_values(block: str) -> Iterator[tuple[str, str]]:
    """The texts right below the root; a later one of the same key wins, as YAML's readers have it."""
    depth, key = 0, None
    anchors: dict[str, str] = {}
    for number, event in enumerate(yaml.parse(block, Loader=_LOADER)):
        if number > _MOST_EVENTS:
            raise yaml.YAMLError("too much for a front matter")
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if depth == 0 and isinstance(event, yaml.SequenceStartEvent):
                raise yaml.YAMLError("a list is no front matter")
            depth += 1
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1
            if depth == 1:
                # A list or a table was the value, or, oddly, the key.
                key = None if key is not None else ""
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            if isinstance(event, yaml.ScalarEvent):
                text = event.value
                if event.anchor:
                    anchors[event.anchor] = text
                absent = not event.style and text in _NULLS
            else:
                text = anchors.get(event.anchor or "", "")
                absent = not text
            if depth == 0:
                raise yaml.YAMLError("a text is no front matter")
            if depth == 1 and key is None:
                key = text
            elif depth == 1:
                if not absent:
                    yield str(key), text
                key = None


def _line_values(block: str) -> Iterator[tuple[str, str]]:
    """What a person would read: ``key: the rest of the line``, and indented lines that go on."""
    key, lines = None, list[str]()
    for line in [*block.splitlines(), "end:"]:
        start = _KEY.match(line)
        if start is None:
            lines.append(line.strip())
            continue
        if key is not None and (value := _joined(lines)):
            yield key, value
        key, lines = start[1], [(start[2] or "").strip()]


def _joined(lines: list[str]) -> str:
    if _BLOCK.match(lines[0]):
        lines = lines[1:]
    text = " ".join(line for line in lines if line and not line.startswith("#"))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text
