"""The settings of a workspace: its three templates, from environment, file or default, and their source."""

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from builder.errors import (
    WORKSPACE_MISSING,
    PromptFileConflict,
    PromptFileInvalid,
    PromptFileMissing,
    WorkspaceMissing,
)
from builder.files.prompt_file import merge, named_prompt_file, read
from builder.files.reading import ORCHESTRATOR_FILE, PROMPT_FILE, inspect, read_bytes, workspace_of
from builder.files.toml_file import located
from builder.files.writing import replace
from builder.invalid_input import SettingsError
from builder.messages import message
from builder.template.defaults import (
    DEFAULT_EVALUATOR_USER_PROMPT,
    DEFAULT_JUDGMENT_USER_PROMPT,
    DEFAULT_TEAM_USER_PROMPT,
    default_templates,
)
from builder.template.dialect import CONTRACT, Dialect
from builder.template.variables import FIELDS, field_name

EMPTY = message(
    "settings-empty",
    "{field} cannot be empty",
    "{field} を空にすることはできません",
    fix_en="It comes from {source}: write a template there, or remove it to use the default.",
    fix_ja="設定元：{source}。テンプレートを書くか、削除して既定値を使ってください。",
)
NOT_UTF8 = message(
    "settings-not-utf8",
    "{field}: the environment variable {source} is not UTF-8",
    "{field}：環境変数 {source} がUTF-8ではありません",
)
NAMED_FILE_MISSING = located(
    "settings-named-file-missing",
    "prompt_builder_config names {named}, which does not exist",
    "prompt_builder_config が指す {named} がありません",
    fix_en="Correct the path, or run `python -m builder init` to make the file.",
    fix_ja="パスを直すか、`python -m builder init` でファイルを作ってください。",
)
FILE_EXISTS = message(
    "settings-file-exists",
    "{file} already exists; nothing was written",
    "{file} は既に存在します。何も書き込んでいません",
    fix_en="Use --force to replace its templates; the rest of the file is kept.",
    fix_ja="--force を付けるとテンプレートが置き換わります（他の部分はそのまま残ります）。",
)


# --- where a value comes from ------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where a value came from: the variable's name, the file's path and line, or nothing to name."""

    kind: Literal["argument", "environment", "file", "default"]
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        where = self.name or self.kind
        return where if self.line is None else f"{where}:{self.line}"


@dataclass(frozen=True)
class _Layer:
    """The values of one source and, for each, its origin."""

    values: Mapping[str, str]
    sources: Mapping[str, Source]


_NOT_UTF8: Literal["not_utf8"] = "not_utf8"


class _LayerSource(TomlConfigSettingsSource):
    """A layer in the shape in which pydantic-settings asks for it. Of that class, so that the ``toml_file``
    of ``model_config`` has its reader; ours reads the file with the line of each value."""

    def __init__(self, settings: type[BaseSettings], layer: _Layer) -> None:
        PydanticBaseSettingsSource.__init__(self, settings)
        self._values = layer.values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return dict(self._values)


# A settings class is asked for its sources before there is an instance to hold them.
_LAYERS: ContextVar[tuple[_Layer, ...] | None] = ContextVar("prompt_builder_layers", default=None)


class PromptBuilderSettings(BaseSettings):
    """The three templates, each from the environment, the file of the workspace that ``MIXSEEK_WORKSPACE``
    names, or the default. ``load_settings`` is the same for any workspace.

    Raises ``WorkspaceMissing`` for a workspace that is not there, and pydantic's ``ValidationError``.
    """

    model_config = SettingsConfigDict(
        env_prefix=CONTRACT.environment_prefix,
        toml_file=str(PROMPT_FILE),
        env_file_encoding="utf-8",
        frozen=True,
        extra="forbid",
    )

    team_user_prompt: str = DEFAULT_TEAM_USER_PROMPT
    evaluator_user_prompt: str = DEFAULT_EVALUATOR_USER_PROMPT
    judgment_user_prompt: str = DEFAULT_JUDGMENT_USER_PROMPT

    _sources: dict[str, Source] = PrivateAttr(default_factory=dict)

    def __init__(self, **values: Any) -> None:
        layers = _LAYERS.get()
        if layers is None:
            layers = (_environment_layer(os.environ, CONTRACT), *_workspace_layer(os.environ))
        token = _LAYERS.set(layers)
        try:
            super().__init__(**values)
        finally:
            _LAYERS.reset(token)
        for layer in reversed(layers):
            self._sources.update(layer.sources)
        self._sources.update({name: Source("argument") for name in values})

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is passed in, then the layers in their order."""
        return (init_settings, *(_LayerSource(settings_cls, layer) for layer in _LAYERS.get() or ()))

    @field_validator(*FIELDS)
    @classmethod
    def _not_blank(cls, text: str, info: ValidationInfo) -> str:
        if not text.strip():
            raise ValueError(f"{info.field_name} cannot be empty")
        if not text.isascii() and re.search("[\ud800-\udfff]", text):
            # How Python shows the bytes of an environment variable that is not UTF-8.
            raise PydanticCustomError(_NOT_UTF8, "not UTF-8")
        return text

    def __repr__(self) -> str:
        """Where each text comes from; the texts themselves are pages long."""
        shown = (f"{name} from {self.source_of(name)}" for name in type(self).model_fields)
        return f"{type(self).__name__}({', '.join(shown)})"

    def source_of(self, field: str) -> Source:
        """Where the value of a field came from."""
        return self._sources.get(field, Source("default"))


# --- loading -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PromptFileLocation:
    """The workspace's prompt file, which need not exist; ``named_by`` is the file that names it."""

    path: Path
    named_by: Path | None = None
    line: int | None = None


def locate(workspace: Path) -> PromptFileLocation:
    """The file that ``configs/orchestrator.toml`` names, else ``configs/prompt_builder.toml``."""
    _require_workspace(workspace)
    orchestrator = workspace / ORCHESTRATOR_FILE
    data = read_bytes(orchestrator)
    if data is None:
        return PromptFileLocation(workspace / PROMPT_FILE)
    named = named_prompt_file(data, str(orchestrator))
    if named is None:
        return PromptFileLocation(workspace / PROMPT_FILE)
    return PromptFileLocation(workspace / named.name, orchestrator, named.line)


def load_settings(
    workspace: Path, dialect: Dialect = CONTRACT, environ: Mapping[str, str] | None = None
) -> PromptBuilderSettings:
    """A workspace's templates: environment over file over default.

    ``environ`` is the process's own where none is given; the dialect says the variables' names, and whose
    defaults apply. Raises ``WorkspaceMissing``, ``SettingsError`` and, where a file that something names is
    not there, ``PromptFileMissing``.
    """
    environment = _environment_layer(os.environ if environ is None else environ, dialect)
    layers = (environment, _file_layer(workspace), _default_layer(dialect))
    token = _LAYERS.set(layers)
    try:
        return PromptBuilderSettings()
    except ValidationError as error:
        raise _settings_error(error, layers) from None
    finally:
        _LAYERS.reset(token)


def init_file(workspace: Path, *, today: date, force: bool = False, dialect: Dialect = CONTRACT) -> Path:
    """Write the workspace's prompt file with the default templates of a format; its path.

    With ``force`` the templates of an existing file are replaced; a file that cannot be read as
    TOML is replaced as a whole.
    """
    # Whoever names a link as the workspace means its target; below it none is followed.
    root = workspace.resolve()
    path = locate(root).path
    state = inspect(path, root)
    if state.data is not None and not force:
        raise PromptFileConflict(FILE_EXISTS, file=str(path))
    values = _default_layer(dialect).values
    try:
        new = merge(state.data, values, today, str(path))
    except PromptFileInvalid:
        new = merge(None, values, today, str(path))
    replace(path, new, state.sha256, root)
    return path


def _require_workspace(workspace: Path) -> None:
    if not workspace.is_dir():
        raise WorkspaceMissing(WORKSPACE_MISSING, path=str(workspace))


def _workspace_layer(environ: Mapping[str, str]) -> tuple[_Layer, ...]:
    workspace = workspace_of(environ)
    return () if workspace is None else (_file_layer(workspace),)


def _environment_layer(environ: Mapping[str, str], dialect: Dialect) -> _Layer:
    """In any case, as pydantic-settings has it; of two, the one in capitals."""
    names = {name: dialect.environment_prefix + name.upper() for name in FIELDS}
    spelt = {variable.upper(): variable for variable in sorted(environ, reverse=True)}
    set_ = {name: spelt[variable] for name, variable in names.items() if variable in spelt}
    return _Layer(
        {name: environ[variable] for name, variable in set_.items()},
        {name: Source("environment", variable) for name, variable in set_.items()},
    )


def _default_layer(dialect: Dialect) -> _Layer:
    values = {field_name(kind): text for kind, text in default_templates(dialect).items()}
    return _Layer(values, {name: Source("default") for name in values})


def _file_layer(workspace: Path) -> _Layer:
    try:
        return _read_layer(locate(workspace))
    except PromptFileInvalid as error:
        raise _as_settings_error(error) from error


def _read_layer(location: PromptFileLocation) -> _Layer:
    data = read_bytes(location.path)
    if data is None and location.named_by is not None:
        raise PromptFileMissing(
            NAMED_FILE_MISSING, line=location.line, file=str(location.named_by), named=str(location.path)
        )
    if data is None:
        return _Layer({}, {})
    file = read(data, str(location.path))
    return _Layer(
        file.values, {name: Source("file", file.name, file.places[name].line) for name in file.values}
    )


def _as_settings_error(error: PromptFileInvalid) -> SettingsError:
    params = dict(error.params)
    field = str(params.pop("field", ""))
    return SettingsError.of(
        PromptBuilderSettings.__name__, error.code, field=field, line=error.line, **params
    )


def _settings_error(error: ValidationError, layers: tuple[_Layer, ...]) -> SettingsError:
    first = error.errors()[0]
    name = str(first["loc"][0])
    source = next(layer.sources[name] for layer in layers if name in layer.sources)
    code = NOT_UTF8 if first["type"] == _NOT_UTF8 else EMPTY
    return SettingsError.wrap(error, code, line=source.line, source=str(source))
