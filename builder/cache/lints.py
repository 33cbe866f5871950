"""The lints of a template: what shortens its cacheable prefix, and the template in a better order. Called in
the jail."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

from builder.cache.cacheable_prefix import Level, LintCode, PrefixAnalysis
from builder.cache.outline import Outline, Piece, outline
from builder.cache.reordering import APPENDED, Segment, place_in, rank, reordered, segments
from builder.cache.volatility import CALL, ROUND, TASK
from builder.errors import TemplateFailure
from builder.problems import Problem, errors_in
from builder.template.check import check
from builder.template.dialect import Dialect
from builder.template.variables import PromptKind, names

DATE = "[:10]"
"""Of a time in ISO 8601, what changes once a day."""
_MOST_IFS = 20


def analyse(
    kind: PromptKind,
    text: str,
    values: Mapping[str, str | int],
    dialect: Dialect,
    max_chars: int = 1_000_000,
    *,
    minimum: bool = False,
) -> PrefixAnalysis:
    """The cacheable prefixes of a template's prompt with these values, and its lints.

    Nothing is counted here: with ``minimum`` there is a C006, about which ``against_minimum`` has to decide.
    Raises ``TemplateFailure`` where there is no prompt.
    """
    now = outline(kind, text, values, dialect, max_chars)
    lints = _Lints(kind, text, values, dialect, max_chars, now).all(minimum)
    ordered = sorted(lints, key=lambda lint: (lint.line, lint.code))
    return PrefixAnalysis(now.prefixes, len(now.text.encode()), tuple(ordered))


@dataclass(eq=False)
class _Lints:
    """The lints of one template; ``now`` is its outline."""

    kind: PromptKind
    text: str
    values: Mapping[str, str | int]
    dialect: Dialect
    max_chars: int
    now: Outline

    def __post_init__(self) -> None:
        self.pieces = self.now.pieces
        self.total = len(self.now.text.encode())
        # A new one for each analysis: what they remember is as large as the template.
        self._outline = cache(self._outline_of)
        self._suggestion = cache(self._suggestion_of)

    def all(self, minimum: bool) -> Iterator[Problem]:
        if not any(piece.volatility >= ROUND for piece in self.pieces) and not minimum:
            return
        for lint in (self._call_first(), self._round_first(), self._history_late(), self._if_first()):
            if lint is not None:
                yield lint
        yield from self._full_datetime()
        yield from self._unforeseeable()
        if minimum:
            prefix = self.now.prefixes[1]
            better, gained = self._better(1)
            yield _lint("C006", prefix.culprit_line or 1, gained, {}, better)

    @cached_property
    def parts(self) -> list[Segment]:
        return self._segments(sections=False)

    # --- order ---------------------------------------------------------------------------

    def _call_first(self) -> Problem | None:
        for index, piece in enumerate(self.pieces):
            if piece.volatility == CALL and piece.test != CALL and not self._strange(piece):
                behind = self._behind(index, CALL)
                if not behind:
                    return None
                lint = self._order("C001", piece, 2, behind, name=piece.culprit)
                # Of a block, the line inside that ends the text of a round.
                line = self.now.prefixes[2].culprit_line if piece.test is not None else None
                return replace(lint, line=line or piece.line)
        return None

    def _round_first(self) -> Problem | None:
        for index, piece in enumerate(self.pieces):
            if piece.volatility != ROUND or piece.test == ROUND:
                continue
            later = next((other for other in self._after(index) if other.volatility == TASK), None)
            if later is None:
                return None
            size = self._size(later)
            return self._order("C002", piece, 1, size, name=piece.culprit, later=later.culprit)
        return None

    def _history_late(self) -> Problem | None:
        late = self.late_history()
        if late is None:
            return None
        piece, later = late
        params: dict[str, str | int] = {"name": piece.culprit, "later": APPENDED}
        # As good as the same in the next round: whatever stands before its end.
        better, gained = self._better(1, as_task=True)
        return _lint("C003", later.line, gained or self._size(later), params, better)

    def late_history(self) -> tuple[Piece, Piece] | None:
        """The round's value that stands first, and what only grows behind it."""
        for index, piece in enumerate(self.pieces):
            if rank(piece) == 3:
                later = next((other for other in self._after(index) if rank(other) == 2), None)
                return None if later is None else (piece, later)
        return None

    def _if_first(self) -> Problem | None:
        volatile = [index for index, piece in enumerate(self.pieces) if (piece.test or 0) >= ROUND]
        for index in volatile[:_MOST_IFS]:
            piece = self.pieces[index]
            behind = self._behind(index, ROUND)
            if behind:
                level: Level = 1 if piece.test == ROUND else 2
                return self._order("C004", piece, level, behind, name=piece.tested)
        return None

    def _order(self, code: LintCode, piece: Piece, level: Level, behind: int, **params: str) -> Problem:
        better, gained = self._better(level)
        return _lint(code, piece.line, gained or behind, dict(params), better)

    def _after(self, index: int) -> Iterator[Piece]:
        """What stands in later lines than a piece, and belongs before it: of its own segment all, of others
        if they are more stable as a whole."""
        piece = self.pieces[index]
        own = place_in(self.parts, piece.line)
        for other in self.pieces[index + 1 :]:
            place = place_in(self.parts, other.line)
            if other.line > piece.line and (place == own or self.parts[place].rank < rank(piece)):
                yield other

    def _behind(self, index: int, below: int) -> int:
        """The bytes behind a piece that change less often than ``below``, of whole lines."""
        piece = self.pieces[index]
        own = place_in(self.parts, piece.line)
        size = sum(self._size(other) for other in self._after(index) if TASK <= other.volatility < below)
        for number, other in enumerate(self.pieces[index + 1 :], start=index + 2):
            if other.text is None:
                continue
            lines = other.text.split("\n")
            last = len(lines) if number == len(self.pieces) else len(lines) - 1
            for offset in range(1, last):
                place = place_in(self.parts, other.line + offset)
                stable = place == own or self.parts[place].rank < min(rank(piece), 2 if below == ROUND else 4)
                if stable and any(sign.isalnum() for sign in lines[offset]):
                    size += len(lines[offset].encode()) + 1
        return size

    def _size(self, piece: Piece) -> int:
        return len(str(self.values.get(piece.culprit, "")).encode())

    # --- values --------------------------------------------------------------------------

    def _full_datetime(self) -> Iterator[Problem]:
        if not self.now.whole:
            return
        first = self.now.whole[0]
        source = self.now.source
        name = next(
            name for name in sorted(names(self.kind), key=len, reverse=True) if source.startswith(name, first)
        )
        prefix = self.now.prefixes[2]
        behind = self.now.text[prefix.chars :]
        if prefix.culprit == name:
            behind = behind[len(str(self.values[name])) :]
        if not any(sign.isalnum() for sign in behind):
            return
        for offset in sorted(self.now.whole, reverse=True):
            source = source[: offset + len(name)] + DATE + source[offset + len(name) :]
        better = None if errors_in(check(self.kind, source)) else self._as_typed(source)
        line = self.now.source.count("\n", 0, first) + 1
        yield _lint("C005", line, len(behind.encode()), {"name": name}, better)

    def _unforeseeable(self) -> Iterator[Problem]:
        for piece in self.pieces:
            if strange := self._strange(piece):
                lost = self.total - self.now.prefixes[2].bytes
                yield _lint("C007", piece.line, lost, {"name": strange})
                return

    def _strange(self, piece: Piece) -> str:
        """A name that is neither a variable nor the template's own; a filter that is random."""
        if piece.volatility < CALL:
            return ""
        known = names(self.kind) | self.now.own
        return next((name for name in sorted(piece.names) if name not in known), "")

    # --- suggestions ---------------------------------------------------------------------

    def _segments(self, *, sections: bool) -> list[Segment]:
        return segments(self.now.source, self.pieces, sections=sections)

    def _suggestion_of(self, sections: bool) -> str | None:
        """The template in a better order, if the check accepts it."""
        made = reordered(self._segments(sections=True) if sections else self.parts)
        return None if made is None or errors_in(check(self.kind, made)) else made

    def _outline_of(self, text: str, as_task: bool) -> Outline | None:
        others = {APPENDED: TASK} if as_task else None
        try:
            return outline(self.kind, text, self.values, self.dialect, self.max_chars, others)
        except TemplateFailure:
            return None

    def _better(self, level: Level, as_task: bool = False) -> tuple[str | None, int]:
        """The first order in which a level's text grows, and by how many bytes."""
        now = self._outline(self.text, True) if as_task else self.now
        for sections in (True, False):
            text = self._suggestion(sections)
            then = None if text is None else self._outline(text, as_task)
            if text is None or then is None or now is None:
                continue
            gained = then.prefixes[level].bytes - now.prefixes[level].bytes
            if gained > 0 and not (as_task and self._leaves_history_late(text)):
                return self._as_typed(text), gained
        return None, 0

    def _leaves_history_late(self, text: str) -> bool:
        """Whether an order gains by something else only."""
        then = self._outline(text, False)
        if then is None:
            return True
        lints = _Lints(self.kind, text, self.values, self.dialect, self.max_chars, then)
        return lints.late_history() is not None

    def _as_typed(self, source: str) -> str:
        return source.replace("\n", "\r\n") if "\r\n" in self.text else source


def _lint(
    code: LintCode, line: int, lost: int, params: dict[str, str | int], better: str | None = None
) -> Problem:
    """A hint; ``better`` is the whole template as it could be, never put in its place unasked."""
    return Problem("hint", code, line, params=params, replacement=better, bytes_lost=lost)
