"""The scan for a workspace's skills: folders with a SKILL.md, by the front matter alone. Used by
``workspace_scan``."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builder.errors import BuilderError
from builder.files.text_parts import TextPart, list_folder, read_part
from builder.messages import message
from builder.problems import Problem
from builder.system.config import SkillsConfig, is_outside
from builder.system.front_matter import (
    MAX_CHARS,
    FrontMatter,
    FrontMatterReader,
    fenced,
    opening,
    read_front_matters,
)
from builder.system.input import Skill
from builder.system.sections import is_writable, one_line

SKILL_FILE = "SKILL.md"
MOST_SKILLS = 2_000
"""Folders that are looked into, in each of ``dirs``."""
LONGEST_DESCRIPTION = 1_024
LARGEST_FILE = 256 * 1024
"""Bytes of a SKILL.md; beyond them an agent that loads it has little room left for its task."""

_FIRST_READ = 4 * 1024

NO_FRONT_MATTER = message(
    "system-skill-no-front-matter",
    "{file} does not begin with front matter; its first lines describe the skill",
    "{file} がフロントマターで始まっていないため、先頭の数行を説明として使います",
    fix_en="Begin it with `---`, `name:`, `description:` and `---`, on lines of their own.",
    fix_ja="先頭に `---`、`name:`、`description:`、`---` を1行ずつ書いてください。",
)
NOT_CLOSED = message(
    "system-skill-not-closed",
    "{file}: the front matter is not closed; the skill is not used",
    "{file}：フロントマターが閉じられていないため、このスキルは使われません",
    fix_en="Write `---` on a line of its own after it.",
    fix_ja="終わりに `---` だけの行を書いてください。",
)
NO_DESCRIPTION = message(
    "system-skill-no-description",
    "{file} has no description; the skill is not used",
    "{file} に説明がないため、このスキルは使われません",
    fix_en="Write in `description:` what the skill is for: agents choose by it.",
    fix_ja="`description:` に用途を書いてください。エージェントはこれを見て選びます。",
)
BROKEN = message(
    "system-skill-broken-yaml",
    "{file}, line {line}: not valid YAML; read line by line instead",
    "{file} の{line}行目：YAMLとして読めないため、行ごとに読み取りました",
    fix_en="Put quotes around a value that contains a colon.",
    fix_ja="コロンを含む値は引用符で囲んでください。",
)
LONG = message(
    "system-skill-long-description",
    "{file}: the description has {chars} characters, which are part of every prompt",
    "{file}：説明が{chars}文字あります。毎回のプロンプトに含まれます",
    fix_en="Keep it below {limit} characters and move the rest into the body.",
    fix_ja="{limit}文字以内にし、残りは本文に移してください。",
)
LARGE = message(
    "system-skill-large",
    "{file} has {bytes} bytes; an agent that loads the skill receives all of them",
    "{file} は{bytes}バイトあります。スキルを読み込むエージェントは全体を受け取ります",
    fix_en="Keep it below {limit} bytes and move details into separate files.",
    fix_ja="{limit}バイト以内にし、詳細は別のファイルに分けてください。",
)
OTHER_NAME = message(
    "system-skill-other-name",
    "{file}: the skill is named `{name}`, its folder `{folder}`",
    "{file}：スキル名は `{name}` ですが、フォルダー名は `{folder}` です",
)
TWICE = message(
    "system-skill-twice",
    "{file}: `{name}` is already the name of {other}; this skill is not used",
    "{file}: `{name}` は {other} の名前として使われているため、このスキルは使われません",
    fix_en="Give one of them another name.",
    fix_ja="どちらかの名前を変えてください。",
)
TOO_MANY = message(
    "system-skills-too-many",
    "{file} has more than {limit} entries; the rest is ignored",
    "{file} には{limit}個を超える項目があり、残りは無視されます",
)
ODD_NAME = message(
    "system-skill-odd-folder",
    "{file}: the folder's name contains characters not allowed in a prompt; the skill is not used",
    "{file}：フォルダー名にプロンプトに使えない文字があるため、このスキルは使われません",
    fix_en="Rename the folder.",
    fix_ja="フォルダー名を変えてください。",
)
NO_SUCH_SKILL = message(
    "system-skill-disabled-unknown",
    "`disabled` lists `{name}`, which is not a skill of this workspace",
    "`disabled` の `{name}` というスキルはありません",
)


NOT_ALLOWED = message(
    "system-skills-outside",
    "{file} is outside the workspace; only folders that the operator allows are read",
    "{file} はワークスペースの外にあります。運用者が許可したフォルダーだけを読み込みます",
    fix_en="Allow it with STUDIO_SKILL_ROOTS, or with --skills-below on the command line.",
    fix_ja="STUDIO_SKILL_ROOTS、またはコマンドラインの --skills-below で指定してください。",
)


@dataclass(frozen=True)
class FoundSkills:
    """Those that are offered, those that somebody switched off, and what was wrong."""

    offered: tuple[Skill, ...] = ()
    disabled: tuple[Skill, ...] = ()
    diagnostics: tuple[Problem, ...] = ()

    def as_seen_from(self, root: Path, at: Path, home: Path | None) -> "FoundSkills":
        """The same where the folder ``root`` is a copy of ``at`` on another machine."""

        def moved(skill: Skill) -> Skill:
            path = Path(skill.location)
            if not path.is_relative_to(root):
                return skill
            return skill.model_copy(update={"location": _location(at / path.relative_to(root), home)})

        return replace(
            self, offered=tuple(map(moved, self.offered)), disabled=tuple(map(moved, self.disabled))
        )


def find_skills(
    root: Path,
    config: SkillsConfig,
    home: Path | None = None,
    read: FrontMatterReader = read_front_matters,
    allowed: Sequence[Path] = (),
    most: int = MOST_SKILLS,
    between: Callable[[], None] = lambda: None,
) -> FoundSkills:
    """The skills below the configured folders; of two with one name, the first folder's counts. ``allowed``
    are folders outside of the workspace below which some may lie; ``between`` is called before each file."""
    diagnostics: list[Problem] = []
    places = _places(root, config, home, allowed, diagnostics)
    files = [file for place in places for file in _files(place, diagnostics, most, between)]
    skills: dict[str, tuple[Skill, str]] = {}
    for file, matter in zip(files, read([file.head for file in files]), strict=True):
        title = one_line(matter.name or "") or file.folder
        description = one_line(matter.description or ("" if matter.found else file.opening))
        diagnostics += _remarks(matter, file, title, description)
        if not description:
            continue
        if title in skills:
            params: dict[str, str | int] = {"name": title, "other": skills[title][1]}
            diagnostics.append(Problem("warning", TWICE, params=params, file=file.name))
            continue
        location = _location(file.path, home)
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
    """A SKILL.md by its name in the workspace, and the lines of its front matter, or its first ones."""

    name: str
    path: Path
    folder: str
    head: str
    opening: str
    size: int


@dataclass(frozen=True)
class _Place:
    """A folder of skills: its name in the settings, where it lies, and what nothing in it may leave."""

    name: str
    path: Path
    root: Path
    parent: Path


def _places(
    root: Path,
    config: SkillsConfig,
    home: Path | None,
    allowed: Sequence[Path],
    diagnostics: list[Problem],
) -> Iterator[_Place]:
    for name in config.dirs:
        if not is_outside(name):
            yield _Place(name, root / name, root, root)
            continue
        path = Path(name) if home is None else home / name.removeprefix("~/")
        real = Path(os.path.realpath(path))
        if any(real.is_relative_to(os.path.realpath(one)) for one in allowed):
            yield _Place(name, real, real, real.parent)
        else:
            diagnostics.append(Problem("error", NOT_ALLOWED, file=name))


def _files(
    place: _Place, diagnostics: list[Problem], most: int, between: Callable[[], None]
) -> Iterator[_SkillFile]:
    for folder in _folders(place, diagnostics, most):
        between()
        name, path = f"{place.name}/{folder}/{SKILL_FILE}", place.path / folder / SKILL_FILE
        try:
            part = _head(path, place.root)
        except BuilderError as error:
            diagnostics.append(refused(error, name))
            continue
        if part is not None:
            yield _SkillFile(name, path, folder, fenced(part.head).text, opening(part.head), part.size)


def _folders(place: _Place, diagnostics: list[Problem], most: int) -> Iterator[str]:
    try:
        listed = list_folder(place.path, place.parent, most)
    except BuilderError as error:
        diagnostics.append(refused(error, place.name))
        return
    if listed is None:
        return
    names, more = listed
    if more:
        diagnostics.append(Problem("warning", TOO_MANY, params={"limit": most}, file=place.name))
    for name in names:
        if name.startswith("."):
            continue
        if is_writable(name):
            yield name
        else:
            shown = os.fsencode(f"{place.name}/{name}").decode("utf-8", "replace")
            diagnostics.append(Problem("warning", ODD_NAME, file=shown))


def _head(path: Path, root: Path) -> TextPart | None:
    """Most front matters end within the first few kilobytes; only where one does not is more read."""
    part = read_part(path, root, _FIRST_READ)
    if part is None or part.whole or not fenced(part.head).open:
        return part
    return read_part(path, root, _FIRST_READ + 4 * MAX_CHARS)


def _remarks(matter: FrontMatter, file: _SkillFile, title: str, description: str) -> Iterator[Problem]:
    if not matter.found and description:
        yield Problem("hint", NO_FRONT_MATTER, file=file.name)
    elif matter.found and not matter.closed:
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
