"""The texts of a version or draft: three templates, or the text of `system_prompt.toml`.

Used wherever a version or a draft is read, compared or saved.
"""

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Literal, Protocol, get_args

from builder.template.content_hash import content_hash
from builder.template.variables import FIELDS, KINDS, PromptKind

MOST_CHARACTERS = 65_536
"""Of one template: what the check accepts."""
MESSAGE_LENGTH = 500
"""Characters of a version's message."""

TextKind = Literal["team", "evaluator", "judgment", "system"]
TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)
SYSTEM_FIELD = "system_prompt"
TEXT_FIELDS: Mapping[TextKind, str] = dict(zip(TEXT_KINDS, (*FIELDS, SYSTEM_FIELD), strict=True))
"""The column of each text, and its field in a form."""
TEXT_NAMES: Mapping[TextKind, str] = {**TEXT_FIELDS, "system": "system_prompt.toml"}
"""What people call it: the key of a template, or the whole file."""


@dataclass(frozen=True)
class Templates:
    """The three template texts of a version, named as in MixSeek's prompt file."""

    team_user_prompt: str
    evaluator_user_prompt: str
    judgment_user_prompt: str

    @property
    def by_kind(self) -> dict[PromptKind, str]:
        """The texts by the builder's names for them."""
        return {
            "team": self.team_user_prompt,
            "evaluator": self.evaluator_user_prompt,
            "judgment": self.judgment_user_prompt,
        }

    @property
    def parts(self) -> dict[TextKind, str]:
        """The texts by kind, as ``SystemText`` has its one."""
        return {kind: text for kind, text in self.by_kind.items()}

    @property
    def columns(self) -> dict[str, str | None]:
        """What a row stores."""
        return {**vars(self), SYSTEM_FIELD: None}

    @property
    def content_hash(self) -> str:
        return content_hash(astuple(self))


@dataclass(frozen=True)
class SystemText:
    """The whole text of ``system_prompt.toml``, beside ``Templates`` what a version may be."""

    system_prompt: str

    @property
    def parts(self) -> dict[TextKind, str]:
        return {"system": self.system_prompt}

    @property
    def columns(self) -> dict[str, str | None]:
        return {**dict.fromkeys(FIELDS, ""), SYSTEM_FIELD: self.system_prompt}

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text; the name before it keeps it apart from every hash of templates."""
        return hashlib.sha256(b"system_prompt.toml:" + self.system_prompt.encode()).hexdigest()


Texts = Templates | SystemText
"""What one version or draft says, in whichever of a workspace's files."""


def texts_of(parts: Mapping[TextKind, str]) -> Texts:
    """The texts of all kinds that a set has."""
    return SystemText(parts["system"]) if "system" in parts else Templates(*(parts[kind] for kind in KINDS))


def user_prompts(texts: Texts) -> Templates:
    """The three templates, where a page is about nothing else."""
    assert isinstance(texts, Templates), "a system prompt has no templates"
    return texts


class TextColumns(Protocol):
    """The columns of texts in a row."""

    team_user_prompt: str
    evaluator_user_prompt: str
    judgment_user_prompt: str
    system_prompt: str | None


class TextRow:
    """A model's part that puts the columns of texts together."""

    @property
    def templates(self: TextColumns) -> Texts:
        """What the row holds: the one text of a system prompt, or three templates."""
        if self.system_prompt is not None:
            return SystemText(self.system_prompt)
        return Templates(self.team_user_prompt, self.evaluator_user_prompt, self.judgment_user_prompt)


def unix_line_ends(text: str) -> str:
    """A text with the line ends that templates have: browsers send every one as CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fold(text: str) -> str:
    """A text as a search sees it: ``Rank`` and ``Ｒａｎｋ``, ``ランク`` and ``ﾗﾝｸ`` are the same.

    Line by line or all at once comes out the same: nothing composes across a newline.
    """
    # Folding the case can undo the normal form, as with «ΐ».
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
