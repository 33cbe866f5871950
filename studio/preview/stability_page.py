"""How the stable beginnings of prompts changed from one text to another, for pages of versions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from builder.errors import JailError
from builder.template.variables import KINDS, PromptKind
from studio.compare.versions import Side
from studio.contexts.at_round import ContextAtRound
from studio.models import PromptSet
from studio.preview.stability import LEVELS, Name, Prefix, StabilityView, guaranteed
from studio.prompts.texts import Templates, user_prompts


@dataclass(frozen=True)
class PrefixChange:
    """One beginning on both sides; a side without a prompt has none."""

    name: Name
    old: Prefix | None
    new: Prefix | None

    @property
    def difference(self) -> int:
        """In bytes."""
        return self.new.bytes - self.old.bytes if self.new and self.old else 0


@dataclass(frozen=True)
class PrefixRow:
    """One template."""

    kind: PromptKind
    changes: tuple[PrefixChange, ...]


@dataclass(frozen=True)
class PrefixTable:
    """All three templates in one context at one round."""

    at_round: ContextAtRound
    rows: Sequence[PrefixRow] = ()
    old_title: str = ""
    """Empty where there is nothing to compare with."""
    new_title: str = ""

    @property
    def known(self) -> bool:
        """Whether the jail took them."""
        return bool(self.rows)


def prefix_table(
    prompt_set: PromptSet, old: Side | None, new: Side, seen: ContextAtRound, *, owner: str
) -> PrefixTable:
    """Both texts in one context at one round; without rows where the jail takes no jobs now."""
    before = user_prompts(old.templates) if old else None
    after = user_prompts(new.templates)
    table = PrefixTable(seen, old_title=old.title if old else "", new_title=new.title)
    try:
        rows = tuple(_row(prompt_set, kind, before, after, seen, owner) for kind in KINDS)
    except JailError:
        return table
    return replace(table, rows=rows)


def _row(
    prompt_set: PromptSet,
    kind: PromptKind,
    old: Templates | None,
    new: Templates,
    seen: ContextAtRound,
    owner: str,
) -> PrefixRow:
    before = guaranteed(prompt_set, kind, old.by_kind[kind], seen, owner) if old else None
    after = guaranteed(prompt_set, kind, new.by_kind[kind], seen, owner)
    return PrefixRow(kind, tuple(PrefixChange(name, _of(before, name), _of(after, name)) for name in LEVELS))


def _of(found: StabilityView | None, name: Name) -> Prefix | None:
    return found.prefix(name) if found else None
