"""The texts of a context's form: every value as its field holds it, under the builder's name for it.

Used by the forms of contexts and of stored rounds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from builder.template.models import RankingEntry, RoundState
from studio.contexts.models import ContextValues
from studio.contexts.pasted_json import write_details
from studio.prompts.texts import unix_line_ends
from studio.shell.refusal import RequestRefused

MOST_ROWS = 60
"""Of each list in the form: a request has at most a thousand fields. JSON has no such bound."""

Row = Mapping[str, str]
Path = tuple[str | int, ...]

ROUNDS, RANKING = "round_history", "ranking"
LISTS = (ROUNDS, RANKING)
SINGLE = {
    "name": gettext_lazy("Name"),
    "prompt_set": gettext_lazy("Used by"),
    "description": gettext_lazy("Description"),
    "user_prompt": gettext_lazy("Task"),
    "round_number": gettext_lazy("Round"),
    "team_name": gettext_lazy("Team"),
    "team_id": gettext_lazy("Team id"),
    "execution_id": gettext_lazy("Execution id"),
    "submission": gettext_lazy("Submission of this round"),
    "ranked": gettext_lazy("Is the team shown a ranking?"),
}
COLUMNS = {
    ROUNDS: {
        "round_number": gettext_lazy("Round"),
        "evaluation_score": gettext_lazy("Score"),
        "submission_content": gettext_lazy("Submission"),
        "score_details": gettext_lazy("Score details"),
        "evaluation_feedback": gettext_lazy("Feedback"),
        "round_started_at": gettext_lazy("Started"),
        "round_ended_at": gettext_lazy("Ended"),
    },
    RANKING: {
        "team_name": gettext_lazy("Team"),
        "team_id": gettext_lazy("Team id"),
        "max_score": gettext_lazy("Best score"),
        "total_rounds": gettext_lazy("Rounds"),
    },
}


def label_of(path: Path) -> str:
    """What a page calls the value at the end of this path."""
    match path:
        case (str() as rows, int() as index, str() as column, *_rest) if column in COLUMNS.get(rows, {}):
            words = {"number": index + 1, "field": COLUMNS[rows][column]}
            if rows == ROUNDS:
                return _("Previous round %(number)d: %(field)s") % words
            return _("Ranking, no. %(number)d: %(field)s") % words
        case (str() as rows, *_rest) if rows in LISTS:
            return _("Previous rounds") if rows == ROUNDS else _("Ranking")
        case (str() as name, *_rest) if name in SINGLE:
            return str(SINGLE[name])
    return ".".join(map(str, path))


def dotted(path: Iterable[str | int]) -> str:
    """A path as the name of a form's field."""
    return ".".join(map(str, path))


def path_of(name: str) -> Path:
    """The way to the value that a form's field of this name holds."""
    return tuple(int(part) if part.isdecimal() else part for part in name.split("."))


@dataclass(frozen=True)
class Difference:
    """A value that two people wrote differently; an empty text stands for none."""

    label: str
    mine: str
    theirs: str


@dataclass(frozen=True)
class ContextText:
    """What a context's form holds, right or wrong."""

    single: Row
    rows: Mapping[str, tuple[Row, ...]]

    @classmethod
    def of(cls, values: ContextValues) -> Self:
        """A context that is stored."""
        told = values.round
        return cls(
            single={
                "name": values.name,
                "prompt_set": values.prompt_set.slug if values.prompt_set else "",
                "description": values.description,
                "user_prompt": told.user_prompt,
                "round_number": str(told.round_number),
                "team_name": told.team_name,
                "team_id": told.team_id,
                "execution_id": told.execution_id,
                "submission": values.submission,
                "ranked": "no" if told.ranking is None else "yes",
            },
            rows={
                ROUNDS: tuple(_round_row(state) for state in told.round_history),
                RANKING: tuple(_ranking_row(entry) for entry in told.ranking or []),
            },
        )

    @classmethod
    def blank(cls, prompt_set: str, execution_id: str) -> Self:
        """A first round of a team, to be filled in."""
        team = {"team_name": "Alpha", "team_id": "team-001", "execution_id": execution_id}
        single = dict.fromkeys(SINGLE, "") | team | {"prompt_set": prompt_set, "round_number": "1"}
        return cls(single | {"ranked": "no"}, {rows: () for rows in LISTS})

    @classmethod
    def sent(cls, data: QueryDict) -> Self:
        """What a browser sent; the rows name themselves, so that any of them may be gone."""
        single = {name: unix_line_ends(data.get(name) or "") for name in SINGLE}
        return cls(single, {rows: tuple(_sent_rows(data, rows)) for rows in LISTS})

    @property
    def data(self) -> dict[str, str]:
        """All of it in one level: ``round_history.0.evaluation_score``."""
        flat = dict(self.single)
        for rows, texts in self.rows.items():
            for index, row in enumerate(texts):
                flat |= {dotted((rows, index, column)): text for column, text in row.items()}
        return flat

    def with_row(self, rows: str) -> Self:
        """One row more, with what can be guessed."""
        if len(self.rows[rows]) >= MOST_ROWS:
            return self
        made = dict.fromkeys(COLUMNS[rows], "")
        if rows == ROUNDS:
            made["round_number"] = str(_next_round(self.rows[ROUNDS]))
        elif not any(row["team_id"] == self.single["team_id"] for row in self.rows[RANKING]):
            made |= {"team_name": self.single["team_name"], "team_id": self.single["team_id"]}
        single = dict(self.single) | ({"ranked": "yes"} if rows == RANKING else {})
        return replace(self, single=single, rows={**self.rows, rows: (*self.rows[rows], made)})

    def without_row(self, rows: str, index: int) -> Self:
        """The same without that row."""
        left = self.rows[rows][:index] + self.rows[rows][index + 1 :]
        return replace(self, rows={**self.rows, rows: left})

    def ranked_by_score(self) -> Self:
        """The best team first; scores that are none stay last."""
        best_first = sorted(self.rows[RANKING], key=lambda row: _score(row["max_score"]), reverse=True)
        return replace(self, rows={**self.rows, RANKING: tuple(best_first)})

    def differences(self, theirs: "ContextText") -> list[Difference]:
        """Where this text and theirs are not the same, in the form's order."""
        mine, other = self.data, theirs.data
        return [
            Difference(label_of(path_of(name)), mine.get(name, ""), other.get(name, ""))
            for name in [*mine, *(name for name in other if name not in mine)]
            if mine.get(name, "") != other.get(name, "")
        ]


def _round_row(state: RoundState) -> Row:
    return {
        "round_number": str(state.round_number),
        "evaluation_score": _number(state.evaluation_score),
        "submission_content": state.submission_content,
        "score_details": write_details(state.score_details),
        "evaluation_feedback": state.evaluation_feedback or "",
        "round_started_at": _moment(state.round_started_at),
        "round_ended_at": _moment(state.round_ended_at),
    }


def _ranking_row(entry: RankingEntry) -> Row:
    return {
        "team_name": entry.team_name,
        "team_id": entry.team_id,
        "max_score": _number(entry.max_score),
        "total_rounds": str(entry.total_rounds),
    }


def _sent_rows(data: QueryDict, rows: str) -> list[Row]:
    marks = [mark for mark in dict.fromkeys(data.getlist(rows)) if mark.isdecimal() and len(mark) < 5]
    if len(marks) > MOST_ROWS:
        raise RequestRefused(
            400,
            _("The form takes at most %(most)d rows of each kind.") % {"most": MOST_ROWS},
            _("Write a longer context as JSON."),
        )
    return [
        {column: unix_line_ends(data.get(dotted((rows, mark, column))) or "") for column in COLUMNS[rows]}
        for mark in marks
    ]


def _next_round(rounds: Iterable[Row]) -> int:
    known = [row["round_number"] for row in rounds]
    return max((int(number) for number in known if number.isdecimal() and len(number) < 10), default=0) + 1


def _score(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("-inf")


def _number(value: float) -> str:
    # «80», as a person writes it, and not «80.0».
    return repr(value).removesuffix(".0")


def _moment(value: datetime | None) -> str:
    return value.isoformat() if value else ""
