"""configs/system_prompt.toml: what it may say, and on which line it says something else."""

import pytest

from builder.errors import PromptFileInvalid
from builder.problems import Problem
from builder.system.config import SystemPromptConfig
from builder.system.file import read_system_file, settings_of, unreadable
from builder.system.table import read_system_table

WHOLE = b"""\
[system_prompt]
mode = "minimal"
identity_line = "You are Aki."
workspace_dir = "."
docs_path = "docs"
disabled_sections = ["time"]
[system_prompt.bootstrap]
files = ["IDENTITY.md", "SOUL.md", "IDENTITY.md", "notes/./DAY.md"]
bootstrapMaxChars = 100
truncation = "head_tail"
[system_prompt.skills]
dirs = ["skills"]
disabled = ["gmail"]
max_chars = 200
[system_prompt.time]
userTimezone = "Asia/Tokyo"
timeFormat = 24
[system_prompt.sandbox]
enabled = true
[system_prompt.runtime]
model = "gpt-4o"
thinking = "off"
[[system_prompt.tools]]
name = "read"
summary = "Read files"
"""

WRONG = b"""\
[system_prompt]
mode = "ful"
identity_line = "a\\nb"
idntity = "x"
zzz = 1
disabled_sections = ["tols"]
bootstrapMaxChars = 0

[system_prompt.bootstrap]
files = ["/etc/passwd", "../x", "~/y", 3]
truncation = "tail"
bootstrapTotalMaxChars = 99999999999
[system_prompt.skills]
dirs = "skills"
[system_prompt.time]
userTimezone = "Asia/Tokio"
[system_prompt.sandbox]
enabled = "yes"
[[system_prompt.tools]]
name = "read"
[[system_prompt.tools]]
summary = "Read files"

[other]
x = 1
"""


def problems(data: bytes) -> list[Problem]:
    try:
        return list(settings_of(read_system_table(data, "s.toml")).problems)
    except PromptFileInvalid as error:
        return [unreadable(error)]


def test_every_setting_is_read() -> None:
    config = read_system_file(WHOLE, "s.toml")
    assert problems(WHOLE) == []
    assert (config.mode, config.identity_line, config.docs_path) == ("minimal", "You are Aki.", "docs")
    assert config.disabled_sections == {"time"}
    assert config.bootstrap.files == ("IDENTITY.md", "SOUL.md", "notes/DAY.md")
    assert (config.bootstrap.bootstrap_max_chars, config.bootstrap.truncation) == (100, "head_tail")
    assert (config.skills.disabled, config.skills.max_chars) == ({"gmail"}, 200)
    assert (config.time.timezone, config.time.time_format) == ("Asia/Tokyo", "24")
    assert config.sandbox is not None and config.sandbox.enabled
    assert [(tool.name, tool.summary) for tool in config.tools] == [("read", "Read files")]


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"[system_prompt]\n"])
def test_a_file_that_says_nothing_means_the_defaults(data: bytes) -> None:
    assert read_system_file(data, "s.toml") == SystemPromptConfig()


def test_every_problem_has_its_line_and_says_what_to_write() -> None:
    found = problems(WRONG)
    assert [(each.line, each.text()) for each in found if each.line != 6] == [
        (2, "`mode` must be one of 'full', 'minimal', 'none'"),
        (3, "`identity_line` must be one line of text"),
        (4, "`idntity` is no setting of a system prompt"),
        (5, "`zzz` is no setting of a system prompt"),
        (7, "`bootstrap.bootstrapMaxChars` must be greater than 0"),
        (10, "`bootstrap.files.0`: /etc/passwd is not a path inside the workspace"),
        (10, "`bootstrap.files.1`: ../x is not a path inside the workspace"),
        (10, "`bootstrap.files.2`: ~/y is not a path inside the workspace"),
        (10, "`bootstrap.files.3` must be a TOML string, but is a TOML integer"),
        (11, "`bootstrap.truncation` must be one of 'head', 'head_tail'"),
        (12, "`bootstrap.bootstrapTotalMaxChars` must be at most 10000000"),
        (14, "`skills.dirs` must be a TOML array, but is a TOML string"),
        (16, "`time.userTimezone`: Asia/Tokio is not a time zone"),
        (18, "`sandbox.enabled` must be a TOML boolean, but is a TOML string"),
        (21, "`tools.1.name` is missing"),
        (24, "`other` is outside of [system_prompt] and is ignored"),
    ]
    assert next(each for each in found if each.line == 4).advice("ja") == "`identity_line` ではありませんか？"
    assert (
        next(each for each in found if each.line == 6).text().startswith("`disabled_sections.0` must be one")
    )


def test_the_first_problem_is_raised_with_file_and_line() -> None:
    with pytest.raises(PromptFileInvalid) as found:
        read_system_file(WRONG, "s.toml")
    assert str(found.value) == "s.toml, line 2: `mode` must be one of 'full', 'minimal', 'none'"
    assert found.value.text("ja").startswith("s.toml の2行目：`mode` は次のいずれか")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"[system_prompt]\nx = [", "not valid TOML: Invalid value"),
        (b"system_prompt = 3\n", "`system_prompt` must be a separate table, but is a TOML integer"),
        (
            b"[system_prompt]\nmode = 'full'\ndocs_path = 2026-01-01\n",
            "`docs_path` must be a TOML string, but is a TOML date or time",
        ),
        (b"[system_prompt]\nskills = 3\n", "`skills` must be a TOML table, but is a TOML integer"),
        (b"[system_prompt]\ntime = 3\nuserTimezone = 'UTC'\n", "`time` must be a TOML table"),
        (b"\xff", "the file is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_has_its_problems_too(data: bytes, sentence: str) -> None:
    found = problems(data)
    assert any(each.severity == "error" and each.text().startswith(sentence) for each in found)
    with pytest.raises(PromptFileInvalid):
        read_system_file(data, "s.toml")
