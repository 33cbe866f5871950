"""The jail's pool: what the builder does, done by locked-down worker processes. The documents' API; used by
the studio for every text that a person wrote."""

import atexit
import base64
import os
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any, Self

# For their messages: errors and problems come from inside as codes.
import builder.template.check
import builder.template.render  # noqa: F401
from builder.cache.cacheable_prefix import DEFAULT_MODEL, PrefixAnalysis, against_minimum
from builder.diff.three_way import ThreeWay
from builder.errors import BuilderError, LimitExceeded, TemplateFailure
from builder.files.prompt_file import NamedFile, PromptFile
from builder.jail import answers
from builder.jail.answers import BranchTrial, Examination, Match
from builder.jail.dispatch import Dispatcher
from builder.jail.keeper import FORKING
from builder.jail.limits import Limits, cores
from builder.jail.stats import Stats
from builder.orchestrators.tables import Part
from builder.problems import Problem
from builder.system.file import SystemSettings, settings_of
from builder.system.front_matter import FrontMatter
from builder.template.coverage import Coverage
from builder.template.dialect import CONTRACT, Dialect
from builder.template.landmarks import Landmarks
from builder.template.variables import PromptKind

Variables = Mapping[str, str | int]

_FRONT_MATTERS = 64
"""As many as fit into one request, even if every character had to be escaped."""
_MATCHED_TOGETHER = 32
"""Texts that are rendered for one answer, within the time of one: an answer costs more than a rendering."""


class JailPool:
    """Checks, renders and merges text from people in processes that cannot do anything else.

    >>> with JailPool() as pool:
    ...     pool.examine("team", text, values, MIXSEEK, owner="user-7").text

    No process is started before the first job (or ``start``), and a forked child gets its own.
    With an ``owner``, one job runs at a time; one that waits gives way to a newer one of the
    same ``topic`` (``Superseded``). An owner whose job was stopped goes on at low priority, and
    has to wait (``CoolingDown``) once that happens again. Safe from any thread.
    """

    def __init__(
        self, size: int | None = None, spares: int = 2, limits: Limits | None = None, *, batch_size: int = 2
    ) -> None:
        self.limits = limits or Limits()
        # At least four: a template that hangs must not take a core's only worker.
        self._sizes = (max(4, cores()) if size is None else size, spares, batch_size)
        self._jobs = Dispatcher(self.limits, *self._sizes)
        _POOLS.add(self)

    # --- one text ------------------------------------------------------------------------

    def check(
        self, kind: PromptKind, text: str, *, owner: str | None = None, topic: str | None = None
    ) -> list[Problem]:
        """``builder.template.check.check``, isolated."""
        request = {"do": "check", "kind": kind, "text": text}
        return list(answers.problems_of(self._jobs.ask(request, owner, topic)))

    def render(
        self,
        kind: PromptKind,
        text: str,
        variables: Variables,
        dialect: Dialect = CONTRACT,
        *,
        owner: str | None = None,
        topic: str | None = None,
    ) -> str:
        """``builder.template.render.render``, isolated; ``LimitExceeded`` says which limit it met."""
        request = self._render_request("render", kind, text, variables, dialect)
        return str(self._jobs.ask(request, owner, topic))

    def examine(
        self,
        kind: PromptKind,
        text: str,
        variables: Variables,
        dialect: Dialect = CONTRACT,
        *,
        owner: str | None = None,
        topic: str | None = None,
    ) -> Examination:
        """Check and, where there is no error, render, in one round trip."""
        request = self._render_request("examine", kind, text, variables, dialect)
        try:
            return answers.examination_of(self._jobs.ask(request, owner, topic))
        except LimitExceeded as stop:
            return Examination((), None, stop)

    def cacheable_prefixes(
        self,
        kind: PromptKind,
        text: str,
        values: Variables,
        dialect: Dialect = CONTRACT,
        *,
        minimum_tokens: int | None = None,
        model: str = DEFAULT_MODEL,
        owner: str | None = None,
        topic: str | None = None,
    ) -> PrefixAnalysis | None:
        """``builder.cache.lints.analyse``, isolated; None for a text that is refused or gives no prompt."""
        request = self._render_request("cacheable_prefixes", kind, text, values, dialect)
        request["minimum"] = minimum_tokens is not None
        try:
            analysis = answers.prefix_analysis_of(self._jobs.ask(request, owner, topic))
        except (TemplateFailure, LimitExceeded):
            return None
        return None if analysis is None else against_minimum(analysis, minimum_tokens, model)

    # --- two texts from one --------------------------------------------------------------

    def compare_three(self, base: str, mine: str, theirs: str, *, owner: str | None = None) -> ThreeWay:
        """``builder.diff.three_way.compare_three``, isolated; no preview waits for it."""
        request = {"do": "compare_three", "base": base, "mine": mine, "theirs": theirs}
        return answers.three_way_of(self._jobs.ask(request, owner, file=True))

    # --- prompt files --------------------------------------------------------------------

    def merge(
        self,
        old: bytes | None,
        values: Mapping[str, str],
        today: date,
        name: str = "prompt_builder.toml",
        *,
        owner: str | None = None,
    ) -> bytes:
        """``builder.files.prompt_file.merge``, isolated."""
        request = {
            "do": "merge",
            "old": None if old is None else base64.b64encode(old).decode(),
            "values": dict(values),
            "today": today.isoformat(),
            "name": name,
        }
        return base64.b64decode(self._jobs.ask(request, owner, file=True))

    def read(self, data: bytes, name: str, *, owner: str | None = None) -> PromptFile:
        """``builder.files.prompt_file.read``, isolated."""
        return answers.prompt_file_of(self._of_file("read", data, name, owner))

    def check_file(self, data: bytes, name: str, *, owner: str | None = None) -> list[Problem]:
        """``builder.files.file_check.check_file``, isolated: fields and templates, by line of the file."""
        return list(answers.problems_of(self._of_file("check_file", data, name, owner)))

    def named_prompt_file(self, data: bytes, name: str, *, owner: str | None = None) -> NamedFile | None:
        """``builder.files.prompt_file.named_prompt_file``, isolated."""
        named = self._of_file("named_prompt_file", data, name, owner)
        return None if named is None else NamedFile(**named)

    def config_table(
        self, data: bytes, name: str, part: Part, *, owner: str | None = None
    ) -> dict[str, Any] | None:
        """``builder.orchestrators.tables.read_table``, isolated."""
        table: dict[str, Any] | None = self._of_file("config_table", data, name, owner, part=part)
        return table

    # --- system prompts ------------------------------------------------------------------

    def system_settings(self, data: bytes, name: str, *, owner: str | None = None) -> SystemSettings:
        """The settings of a ``system_prompt.toml``, whose table is read by a worker. What is no TOML raises
        ``PromptFileInvalid``."""
        return settings_of(answers.system_table_of(self._of_file("system_table", data, name, owner)))

    def front_matters(self, texts: Sequence[str], *, owner: str | None = None) -> list[FrontMatter]:
        """``builder.system.front_matter.read_front_matters``, isolated."""
        matters: list[FrontMatter] = []
        for first in range(0, len(texts), _FRONT_MATTERS):
            request = {"do": "front_matters", "texts": list(texts[first : first + _FRONT_MATTERS])}
            matters += [FrontMatter(**matter) for matter in self._jobs.ask(request, owner, file=True)]
        return matters

    def _of_file(self, job: str, data: bytes, name: str, owner: str | None, **more: str) -> Any:
        request = {"do": job, "data": base64.b64encode(data).decode(), "name": name, **more}
        return self._jobs.ask(request, owner, file=True)

    # --- batches -------------------------------------------------------------------------

    def render_many(
        self, kind: PromptKind, texts: Sequence[str], variables: Variables, dialect: Dialect = CONTRACT
    ) -> list[Examination]:
        """Render many texts with one context, in a lane that no preview waits for."""
        request = self._render_request("render", kind, "", variables, dialect)
        return [answers.rendered_of(answer) for answer in self._jobs.ask_each(request, "text", texts)]

    def render_in_each(
        self, kind: PromptKind, text: str, contexts: Sequence[Variables], dialect: Dialect = CONTRACT
    ) -> list[Examination]:
        """Render one text with many contexts, in the same lane."""
        answered = self._in_each("render", kind, text, contexts, dialect)
        return [answers.rendered_of(answer) for answer in answered]

    def examine_in_each(
        self, kind: PromptKind, text: str, contexts: Sequence[Variables], dialect: Dialect = CONTRACT
    ) -> Iterator[Examination]:
        """``examine`` one text with many contexts, in the same lane; after a limit, only on request."""
        return map(answers.examination_of, self._in_each("examine", kind, text, contexts, dialect))

    def coverage(
        self, kind: PromptKind, text: str, contexts: Sequence[Variables], dialect: Dialect = CONTRACT
    ) -> Coverage:
        """The lines that these contexts reach together; none at all where one of them meets a limit."""
        return answers.coverage_of(self._in_each("coverage", kind, text, contexts, dialect))

    def try_branches(
        self, kind: PromptKind, text: str, variables: Variables, dialect: Dialect = CONTRACT
    ) -> BranchTrial:
        """Take each branch of a template that passes the check, in the same lane, up to the first limit."""
        request = self._render_request("branches", kind, "", {}, dialect)
        (lines,) = self._jobs.ask_each(request, "text", [text])
        if isinstance(lines, LimitExceeded):
            return BranchTrial(lines)
        if isinstance(lines, BuilderError):
            return BranchTrial()
        request = self._render_request("take_branch", kind, text, variables, dialect)
        taken = self._jobs.ask_each(request, "branch", list(range(len(lines))))
        return answers.branch_trial_of(lines, taken)

    def unused(self, kind: PromptKind, text: str, dialect: Dialect = CONTRACT) -> frozenset[str]:
        """``builder.template.coverage.unused``, isolated."""
        request = self._render_request("unused", kind, "", {}, dialect)
        (names,) = self._jobs.ask_each(request, "text", [text])
        return frozenset() if isinstance(names, BuilderError) else frozenset(names)

    def landmarks(self, texts: Sequence[str], dialect: Dialect = CONTRACT) -> list[Landmarks | None]:
        """What each team template always prints; None for one that does not pass the check."""
        request = self._render_request("landmarks", "team", "", {}, dialect)
        return [answers.landmarks_of(answer) for answer in self._jobs.ask_each(request, "text", texts)]

    def match(
        self,
        kind: PromptKind,
        texts: Sequence[str],
        variables: Variables,
        dialect: Dialect,
        digests: Collection[str],
    ) -> list[Match]:
        """Which of the texts give a prompt with one of these SHA-256 digests (hexadecimal)."""
        request = self._render_request("match", kind, "", variables, dialect) | {"digests": list(digests)}
        groups = [
            list(texts[first : first + _MATCHED_TOGETHER])
            for first in range(0, len(texts), _MATCHED_TOGETHER)
        ]
        matched = chain.from_iterable(self._matched(request, groups))
        return [Match(index, digest) for index, digest in enumerate(matched) if digest is not None]

    def _matched(
        self, request: dict[str, Any], groups: Sequence[list[str]]
    ) -> Iterator[Sequence[str | None]]:
        """Of each group what each of its texts gives, where that is asked for."""
        for group, answer in zip(groups, self._jobs.ask_each(request, "texts", groups), strict=True):
            if not isinstance(answer, BuilderError):
                yield answer
            elif len(group) == 1:
                yield [None]
            else:
                # One text met a limit: the others are good without it.
                yield from self._matched(request, [[text] for text in group])

    def _in_each(
        self, job: str, kind: PromptKind, text: str, contexts: Sequence[Variables], dialect: Dialect
    ) -> Iterator[Any]:
        request = self._render_request(job, kind, text, {}, dialect)
        return self._jobs.ask_each(request, "variables", list(map(dict, contexts)))

    def _render_request(
        self, job: str, kind: PromptKind, text: str, variables: Variables, dialect: Dialect
    ) -> dict[str, Any]:
        return {
            "do": job,
            "kind": kind,
            "text": text,
            "variables": dict(variables),
            # What of a dialect matters to a rendering.
            "dialect": [dialect.name, dialect.trim_blocks, dialect.lstrip_blocks, dialect.errors_name_line],
            "output": self.limits.output,
        }

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        """Start the preview workers now instead of with the first job."""
        self._jobs.start()

    def stats(self) -> Stats:
        """Jobs, stops, waits, processes and CPU time so far; each process counts its own."""
        return self._jobs.stats()

    def close(self) -> None:
        """End every worker; jobs under way and later ones get ``JailUnavailable``."""
        self._jobs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin_anew(self) -> None:
        """In a forked child: the workers, threads and locks of before are the parent's."""
        closed = self._jobs.closed
        self._jobs.forget()
        self._jobs = Dispatcher(self.limits, *self._sizes)
        if closed:
            self._jobs.close()


_POOLS: weakref.WeakSet[JailPool] = weakref.WeakSet()


def _close_all() -> None:
    for pool in list(_POOLS):
        pool.close()


def _begin_all_anew() -> None:
    FORKING.release()
    for pool in list(_POOLS):
        pool._begin_anew()


atexit.register(_close_all)
os.register_at_fork(before=FORKING.acquire, after_in_parent=FORKING.release, after_in_child=_begin_all_anew)
