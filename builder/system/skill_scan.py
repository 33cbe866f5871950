"""The scan for a workspace's skills: folders with a SKILL.md, by the front matter alone. Used by
``workspace_scan``."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from builder.errors import BuilderError
from builder.files.text_parts import TextPart, list_folder, read_part
from builder.messages import message
from builder.problems import Problem
from builder.system.config import SkillsConfig
from builder.system.front_matter import (
    MAX_CHARS,
    FrontMatter,
    FrontMatterReader,
    fenced,
    read_front_matters,
)
from builder.system.input import Skill
from builder.system.sections import is_writable, one_line

SKILL_FILE = "SKILL.md"
MOST_SKILLS = 2_000
"""Folders that are looked into, in all of ``dirs`` together."""
LONGEST_DESCRIPTION = 1_024
LARGEST_FILE = 256 * 1024
"""Bytes of a SKILL.md; beyond them an agent that loads it has little room left for its task."""

_FIRST_READ = 4 * 1024

NO_FRONT_MATTER = message(
    "system-skill-no-front-matter",
    "{file} does not begin with front matter; the skill is left out",
    "{file} がフロントマターで始まっていないため、このスキルは使われません",
    fix_en="Begin it with `---`, `name:`, `description:` and `---`, on lines of their own.",
    fix_ja="先頭に `---`、`name:`、`description:`、`---` を1行ずつ書いてください。",
)
NOT_CLOSED = message(
    "system-skill-not-closed",
    "{file}: the front matter does not end; the skill is left out",
    "{file}: フロントマターが閉じられていないため、このスキルは使われません",
    fix_en="Write `---` on a line of its own after it.",
    fix_ja="終わりに `---` だけの行を書いてください。",
)
NO_DESCRIPTION = message(
    "system-skill-no-description",
    "{file} has no description; the skill is left out",
    "{file} に説明がないため、このスキルは使われません",
    fix_en="Say in `description:` what the skill is for: an agent chooses by it.",
    fix_ja="`description:` に用途を書いてください。エージェントはこれを見て選びます。",
)
BROKEN = message(
    "system-skill-broken-yaml",
    "{file}, line {line}: not valid YAML; read line by line instead",
    "{file} の{line}行目: YAMLとして読めないため、行ごとに読み取りました",
    fix_en="Put quotes around a value that holds a colon.",
    fix_ja="コロンを含む値は引用符で囲んでください。",
)
LONG = message(
    "system-skill-long-description",
    "{file}: the description has {chars} characters; every prompt pays for them",
    "{file}: 説明が{chars}文字あります。毎回のプロンプトに含まれます",
    fix_en="Keep it below {limit} characters and move the rest into the body.",
    fix_ja="{limit}文字以内にし、残りは本文に移してください。",
)
LARGE = message(
    "system-skill-large",
    "{file} has {bytes} bytes; an agent that loads the skill takes in all of them",
    "{file} は{bytes}バイトあります。スキルを読み込むエージェントは全体を受け取ります",
    fix_en="Keep it below {limit} bytes and move details into files of their own.",
    fix_ja="{limit}バイト以内にし、詳細は別のファイルに分けてください。",
)
OTHER_NAME = message(
    "system-skill-other-name",
    "{file}: the skill calls itself `{name}`, its folder `{folder}`",
    "{file}: スキル名は `{name}` ですが、フォルダ名は `{folder}` です",
)
TWICE = message(
    "system-skill-twice",
    "{file}: `{name}` is already the name of {other}; this skill is left out",
    "{file}: `{name}` は {other} の名前として使われているため、このスキルは使われません",
    fix_en="Give one of them another name.",
    fix_ja="どちらかの名前を変えてください。",
)
TOO_MANY = message(
    "system-skills-too-many",
    "{file}: of all folders of skills {limit} entries are looked at, and there are more",
    "{file}: スキルのフォルダ全体で調べるのは{limit}個までで、残りは調べていません",
)
ODD_NAME = message(
    "system-skill-odd-folder",
    "{file}: the folder's name holds characters that a prompt cannot; the skill is left out",
    "{file}: フォルダ名にプロンプトに使えない文字があるため、このスキルは使われません",
    fix_en="Rename the folder.",
    fix_ja="フォルダ名を変えてください。",
)
NO_SUCH_SKILL = message(
    "system-skill-disabled-unknown",
    "`disabled` names `{name}`, which is no skill of this workspace",
    "`disabled` の `{name}` というスキルはありません",
)


@dataclass(frozen=True)
class FoundSkills:
    """Those that are offered, those that somebody switched off, and what was wrong."""

    offered: tuple[Skill, ...] = ()
    disabled: tuple[Skill, ...] = ()
    diagnostics: tuple[Problem, ...] = ()


def find_skills(
    root: Path,
    config: SkillsConfig,
    home: Path | None = None,
    read: FrontMatterReader = read_front_matters,
    most: int = MOST_SKILLS,
) -> FoundSkills:
    """The skills below the configured folders; of two with one name, the first folder's counts."""
    diagnostics: list[Problem] = []
    files = list(_files(root, config, diagnostics, most))
    skills: dict[str, tuple[Skill, str]] = {}
    for file, matter in zip(files, read([file.head for file in files]), strict=True):
        title = one_line(matter.name or "") or file.folder
        description = one_line(matter.description or "")
        diagnostics += _remarks(matter, file, title, description)
        if not description:
            continue
        if title in skills:
            params: dict[str, str | int] = {"name": title, "other": skills[title][1]}
            diagnostics.append(Problem("warning", TWICE, params=params, file=file.name))
            continue
        location = _location(root / file.name, home)
        skills[title] = Skill(name=title, description=description, location=location), file.name
    off = {name for name, (_, file) in skills.items() if {name, Path(file).parent.name} & config.disabled}
    known = skills.keys() | {Path(file).parent.name for _, file in skills.values()}
    diagnostics += [
        Problem("hint", NO_SUCH_SKILL, params={"name": name}) for name in sorted(config.disabled - known)
    ]
    return FoundSkills(
        tuple(skill for name, (skill, _) in skills.items() if name not in off),
        tuple(skill for name, (skill, _) in skills.items() if name in off),
        tuple(diagnostics),
    )


@dataclass(frozen=True)
class _SkillFile:
    """A SKILL.md by its name in the workspace, and the lines of its front matter."""

    name: str
    folder: str
    head: str
    size: int


def _files(root: Path, config: SkillsConfig, diagnostics: list[Problem], most: int) -> Iterator[_SkillFile]:
    for where, folder in _folders(root, config, diagnostics, most):
        name = f"{where}/{folder}/{SKILL_FILE}"
        try:
            part = _head(root / name, root)
        except BuilderError as error:
            diagnostics.append(refused(error, name))
            continue
        if part is not None:
            yield _SkillFile(name, folder, fenced(part.head).text, part.size)


def _folders(
    root: Path, config: SkillsConfig, diagnostics: list[Problem], most: int
) -> Iterator[tuple[str, str]]:
    left = most
    for where in config.dirs:
        try:
            listed = list_folder(root / where, root, left)
        except BuilderError as error:
            diagnostics.append(refused(error, where))
            continue
        if listed is None:
            continue
        names, more = listed
        left -= len(names)
        if more:
            diagnostics.append(Problem("warning", TOO_MANY, params={"limit": most}, file=where))
        for name in names:
            if name.startswith("."):
                continue
            if is_writable(name):
                yield where, name
            else:
                shown = os.fsencode(f"{where}/{name}").decode("utf-8", "replace")
                diagnostics.append(Problem("warning", ODD_NAME, file=shown))


def _head(path: Path, root: Path) -> TextPart | None:
    """Most front matters end within the first few kilobytes; only where one does not is more read."""
    part = read_part(path, root, _FIRST_READ)
    if part is None or part.whole or not fenced(part.head).open:
        return part
    return read_part(path, root, _FIRST_READ + 4 * MAX_CHARS)


def _remarks(matter: FrontMatter, file: _SkillFile, title: str, description: str) -> Iterator[Problem]:
    if not matter.found:
        yield Problem("warning", NO_FRONT_MATTER, file=file.name)
    elif not matter.closed:
        yield Problem("warning", NOT_CLOSED, file=file.name)
    else:
        if matter.broken_line is not None:
            yield Problem("warning", BROKEN, matter.broken_line, file=file.name)
        if not description:
            yield Problem("warning", NO_DESCRIPTION, file=file.name)
    if len(description) > LONGEST_DESCRIPTION:
        params: dict[str, str | int] = {"chars": len(description), "limit": LONGEST_DESCRIPTION}
        yield Problem("hint", LONG, params=params, file=file.name)
    if file.size > LARGEST_FILE:
        sizes: dict[str, str | int] = {"bytes": file.size, "limit": LARGEST_FILE}
        yield Problem("hint", LARGE, params=sizes, file=file.name)
    if description and title != file.folder:
        yield Problem("hint", OTHER_NAME, params={"name": title, "folder": file.folder}, file=file.name)


def _location(path: Path, home: Path | None) -> str:
    """Where the agent finds the file; the home folder is `~`, which is shorter and names nobody."""
    if home is not None and home != Path("/") and path.is_relative_to(home):
        path = "~" / path.relative_to(home)
    return os.fsencode(path).decode("utf-8", "replace")


def refused(error: BuilderError, name: str) -> Problem:
    """What went wrong with a file, under the name that the workspace knows it by."""
    return Problem("error", error.code, params={**error.params, "file": name}, file=name)
