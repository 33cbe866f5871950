"""``configs/orchestrator.toml``: which prompt file it names."""

from dataclasses import dataclass

from builder.files.toml_file import TomlFile, located, type_name

NAME_NOT_A_STRING = located(
    "settings-name-not-a-string",
    "prompt_builder_config must be a string, but is a TOML {found}",
    "prompt_builder_config は文字列でなければなりませんが、TOMLの {found} です",
)


@dataclass(frozen=True)
class NamedFile:
    """The prompt file as ``prompt_builder_config`` writes it, and on which line."""

    name: str
    line: int


def named_prompt_file(data: bytes, name: str) -> NamedFile | None:
    """What the file names; None where it leaves MixSeek to its usual place.

    ``name`` is what errors call it.
    """
    file = TomlFile(data, name)
    named, line = file.value_at("orchestrator", "prompt_builder_config")
    if named is not None and not isinstance(named, str):
        raise file.refuse(NAME_NOT_A_STRING, line, found=type_name(named))
    # MixSeek takes an empty name for none.
    return NamedFile(named, line) if named else None
