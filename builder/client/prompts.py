"""A version's templates by name, from a studio or from the copy that the last answer left here.

>>> prompts = Studio().prompts("research-team@production")
>>> prompts.number, prompts.hash, prompts.team_user_prompt
"""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from builder.client.connection import ODD, Connection
from builder.client.credentials import Credentials, address, read_credentials, write_private
from builder.errors import ClientError, StudioUnreachable
from builder.messages import message
from builder.template.variables import FIELDS

_REFERENCE = re.compile(r"(?P<set>[^@\s/]{1,100})(?:@(?P<name>[^@\s/]{1,100}))?")
_NUMBER = re.compile(r"v?([1-9][0-9]{0,8})", re.ASCII)

NO_REFERENCE = message(
    "client-bad-reference",
    "{reference} is not a valid version reference",
    "{reference} はバージョンの指定ではありません",
    fix_en="Write SET, SET@LABEL or SET@NUMBER, for example research-team@production.",
    fix_ja="SET、SET@LABEL、SET@NUMBER のいずれかで指定してください（例：research-team@production）。",
)
NO_TEMPLATES = message(
    "client-no-templates",
    "{reference} has no prompt templates",
    "{reference} はプロンプトテンプレートのセットではありません",
)


class Prompts(BaseModel):
    """A version of a prompt set, and when the studio said so."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    studio: str
    prompt_set: str
    number: int
    label: str | None
    hash: str
    message: str
    team_user_prompt: str
    evaluator_user_prompt: str
    judgment_user_prompt: str
    fetched_at: AwareDatetime
    from_cache: bool = False
    """Whether the studio was not asked, or could not be reached: a label may have moved since."""

    @property
    def templates(self) -> dict[str, str]:
        """By the names that MixSeek's file has for them."""
        return {name: getattr(self, name) for name in FIELDS}

    @property
    def reference(self) -> str:
        return f"{self.prompt_set}@{self.number}"

    def age(self, now: datetime | None = None) -> timedelta:
        """How long ago the studio gave this answer."""
        return (now or datetime.now(UTC)) - self.fetched_at


@dataclass(frozen=True)
class Reference:
    """`SET`, `SET@LABEL` or `SET@NUMBER`; without a name, the newest version."""

    prompt_set: str
    name: str
    label: str | None

    @classmethod
    def read(cls, text: str) -> "Reference":
        match = _REFERENCE.fullmatch(text)
        if match is None:
            raise ClientError(NO_REFERENCE, reference=text)
        name = match["name"] or "latest"
        number = _NUMBER.fullmatch(name)
        label = None if number or name == "latest" else name
        return cls(match["set"], number[1] if number else name, label)


class Studio:
    """A studio's prompts, for programs. Address and token as `prompt-studio login` stored them, or given."""

    def __init__(
        self, url: str | None = None, token: str | None = None, *, environ: Mapping[str, str] | None = None
    ) -> None:
        self._environ = os.environ if environ is None else environ
        given = url is not None and token is not None
        self.credentials = (
            Credentials(address(url or ""), token or "") if given else read_credentials(self._environ)
        )
        self.connection = Connection(self.credentials)

    def prompts(self, reference: str, *, max_age: float = 0.0) -> Prompts:
        """The templates, number and hash of a version.

        The studio is asked, unless an answer is younger than ``max_age`` seconds. Where it cannot be
        reached, the last answer is given, with ``from_cache`` and its ``age()``; raises
        ``StudioUnreachable`` where there is none.
        """
        wanted = Reference.read(reference)
        kept = self._kept(wanted)
        if kept is not None and kept.age() < timedelta(seconds=max_age):
            return kept
        try:
            prompts = self._prompts(wanted)
        except StudioUnreachable:
            if kept is None:
                raise
            return kept
        self._keep(wanted, prompts)
        return prompts

    def _prompts(self, wanted: Reference) -> Prompts:
        answer = self.connection.get("sets", wanted.prompt_set, "versions", wanted.name)
        texts: Any = answer.get("texts") if isinstance(answer, dict) else None
        if not isinstance(texts, dict):
            raise ClientError(ODD, url=self.credentials.url)
        if not all(texts.get(name) for name in FIELDS):
            raise ClientError(NO_TEMPLATES, reference=wanted.prompt_set)
        return Prompts(
            studio=self.credentials.url,
            prompt_set=answer["set"],
            number=answer["number"],
            label=wanted.label,
            hash=answer["content_hash"],
            message=answer["message"],
            fetched_at=datetime.now(UTC),
            **{name: texts[name] for name in FIELDS},
        )

    # --- the last answers ----------------------------------------------------------------

    def _path(self, wanted: Reference) -> Path:
        base = self._environ.get("XDG_CACHE_HOME") or os.path.join(
            self._environ.get("HOME") or str(Path.home()), ".cache"
        )
        # Another token may see other things.
        key = "\n".join((self.credentials.url, self.credentials.token, wanted.prompt_set, wanted.name))
        return Path(base) / "prompt-studio" / "prompts" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def _kept(self, wanted: Reference) -> Prompts | None:
        try:
            kept = Prompts.model_validate_json(self._path(wanted).read_bytes())
        except (OSError, ValidationError):
            return None
        return kept.model_copy(update={"from_cache": True})

    def _keep(self, wanted: Reference, prompts: Prompts) -> None:
        path = self._path(wanted)
        with suppress(OSError):  # a full disk must not keep a run from its prompts
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(path, prompts.model_dump_json().encode())
