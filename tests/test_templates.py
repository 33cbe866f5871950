"""Templates stay readable: short lines, partials that earn their name, breadcrumbs from one place."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "templates"
COLUMNS = 120

TEMPLATES = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.rglob("*.html")}
INCLUDES = re.compile(r"""{% include ["']([^"']+)["']""")
NAMED = re.compile(r"""{% (?:include|extends) ["']([^"']+)["']""")
IN_PYTHON = re.compile(r"""["']([\w/]+\.html)["']""")


def test_no_line_is_longer_than_a_screen_is_wide() -> None:
    long = [
        f"{name}:{number}: {len(line)} columns"
        for name, text in TEMPLATES.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if len(line) > COLUMNS
    ]
    assert not long, "\n".join(long)


def test_block_elements_stand_on_lines_of_their_own() -> None:
    two = re.compile(r"</(?:div|p|li|tr|td|th|section|header|form|dt|dd|h[1-6])> *<(?!/)[a-z]")
    crowded = [
        f"{name}:{number}: {line.strip()}"
        for name, text in TEMPLATES.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if two.search(line)
    ]
    assert not crowded, "\n".join(crowded)


def test_a_partial_is_used_twice_or_rendered_by_itself() -> None:
    included = Counter(name for text in TEMPLATES.values() for name in INCLUDES.findall(text))
    rendered = {
        name
        for path in (ROOT / "studio").rglob("*.py")
        for name in IN_PYTHON.findall(path.read_text("utf-8"))
    }
    partials = {name for name in TEMPLATES if name.rpartition("/")[2].startswith("_")}
    assert len(partials) > 50
    once = sorted(name for name in partials - rendered if included[name] < 2)
    assert not once, f"Used in one place only, so they belong there: {once}"


def test_every_template_that_is_named_is_there() -> None:
    named = {name for text in TEMPLATES.values() for name in NAMED.findall(text)}
    assert len(named) > 50
    assert [name for name in named if not (FOLDER / name).is_file()] == []


def test_breadcrumbs_are_made_by_the_layout() -> None:
    assert [name for name, text in TEMPLATES.items() if 'class="crumbs"' in text] == ["shell/base.html"]


def test_views_ask_htmx_by_its_name() -> None:
    by_hand = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "studio").rglob("*.py")
        if re.search(r"""["']HX-(?!Trigger|Redirect|Refresh|Re)|HTTP_HX_""", path.read_text("utf-8"))
    ]
    assert not by_hand, f"request.htmx knows these headers: {by_hand}"
