"""Round prompts from a workspace's own templates, which are checked before anything is filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from builder.contract.round_context import RoundContext
from builder.contract.round_fields import check_fields, plain_record, type_of
from builder.contract.round_history import PlayedRound, latest, played_rounds, shortened
from builder.contract.round_prompt import Kept, PlainTextPromptBuilder, RoundPromptConfig
from builder.errors import TemplateFailure
from builder.files.text_parts import read_part
from builder.messages import message
from builder.problems import Problem, cut, errors_in
from builder.template.allowed import FILTERS, Signature
from builder.template.bindings import collect
from builder.template.gate import inspect
from builder.template.models import LeaderboardEntry, SubmissionRecord, all_taken
from builder.template.refusals import NO_PARTS, NO_PARTS_A_FILTER
from builder.template.render import render_round_template
from builder.template.scope import check_names
from builder.template.shapes import EvaluationLike, LeaderboardEntryLike, SubmissionLike
from builder.template.syntax import MOST_CHARACTERS, descendants, measure, parse

RoundTemplate = Literal["initial", "continuation"]

TEMPLATE_FOLDER = Path("configs", "prompt_templates")
TEMPLATE_FILES: Mapping[RoundTemplate, str] = {
    "initial": "initial_prompt.jinja2",
    "continuation": "continuation_prompt.jinja2",
}
TEMPLATE_VARIABLES: Mapping[RoundTemplate, Mapping[str, str]] = {
    "initial": {"user_query": "str", "team_id": "str", "team_name": "str"},
    "continuation": {
        "user_query": "str",
        "round_number": "int",
        "team_id": "str",
        "team_name": "str",
        "submission_history": "list[SubmissionRecord]",
        "evaluation_feedback": "list[EvaluationResult]",
        "leaderboard_ranking": "list[LeaderboardEntry]",
        "current_team_rank": "int",
    },
}
"""What each template may use."""

ROUND_FILTERS: Mapping[str, Signature] = {
    **FILTERS,
    "format_score": Signature(),
    "summarize": Signature(1, frozenset({"max_len"})),
    "medal": Signature(),
}

EMPTY = message(
    "round-template-empty",
    "The template is empty.",
    "テンプレートが空です。",
    fix_en="Write at least {{ user_query }}, or delete the file: then the built-in text is used.",
    fix_ja="{{ user_query }} などを書くか、ファイルを削除してください。削除すると標準の文面になります。",
)
INVALID = message(
    "round-template-invalid",
    "{file}, line {line}: {reason}",
    "{file} {line}行目：{reason_ja}",
    fix_en="{suggestion}",
    fix_ja="{suggestion_ja}",
)
FAILED = message("round-template-failed", "{file}, line {line}: {reason}", "{file} {line}行目：{reason}")
TOO_LARGE = message(
    "round-template-large",
    "{file} has more than {most} characters.",
    "{file} は{most}文字を超えています。",
    fix_en="Shorten the template.",
    fix_ja="テンプレートを短くしてください。",
)


def check_round_template(template: RoundTemplate, text: str) -> list[Problem]:
    """The problems of a template, by line and column; an empty list means that there is none."""
    if not text.strip():
        return [Problem("error", EMPTY, 1)]
    tree = parse(text)
    if isinstance(tree, Problem):
        return [tree]
    if too_large := measure(tree):
        return too_large
    declared = TEMPLATE_VARIABLES[template]
    bindings = collect(descendants(tree), declared)
    lists = {name for name, type_ in declared.items() if type_of(type_)}
    problems = [
        problem
        for problem in inspect(tree, bindings, ROUND_FILTERS)
        # Of a list there is something better to say than of a plain value.
        if not (problem.code in (NO_PARTS, NO_PARTS_A_FILTER) and problem.params["name"] in lists)
    ]
    problems += check_names(tree, bindings)
    problems += check_fields(tree, declared, bindings)
    return cut(problems)


def read_round_templates(folder: Path, root: Path | None = None) -> dict[RoundTemplate, str]:
    """The templates that a folder has. Nothing outside of ``root``, else of the folder, is read."""
    texts: dict[RoundTemplate, str] = {}
    for template, name in TEMPLATE_FILES.items():
        part = read_part(folder / name, root or folder, MOST_CHARACTERS * 4)
        if part is not None and not part.whole:
            raise TemplateFailure(TOO_LARGE, file=name, most=MOST_CHARACTERS)
        if part is not None:
            texts[template] = part.head
    return texts


class Jinja2PromptBuilder:
    """Fills a folder's ``initial_prompt.jinja2`` and ``continuation_prompt.jinja2``; for one that is not
    there, ``PlainTextPromptBuilder`` stands in.

    A template with problems raises ``TemplateFailure`` with its line. The sandbox keeps a template from doing
    harm but does not bound its work: text from a stranger is rendered in the jail.
    """

    def __init__(
        self, template_dir: Path | str, config: RoundPromptConfig | None = None, *, root: Path | None = None
    ) -> None:
        self.config = config or RoundPromptConfig()
        self._plain = PlainTextPromptBuilder(self.config)
        self._templates = read_round_templates(
            Path(template_dir) if root else Path(template_dir).resolve(), root
        )
        for template, text in self._templates.items():
            for problem in errors_in(check_round_template(template, text)):
                raise _invalid(template, problem)

    @classmethod
    def for_workspace(
        cls, workspace: Path | str, config: RoundPromptConfig | None = None
    ) -> "Jinja2PromptBuilder":
        """With the templates in the workspace's ``configs/prompt_templates/``, where it has some."""
        root = Path(workspace).resolve()
        return cls(root / TEMPLATE_FOLDER, config, root=root)

    def build_initial_prompt(
        self, user_query: str, team_id: str, metadata: Mapping[str, Any] | None = None
    ) -> str:
        if "initial" not in self._templates:
            return self._plain.build_initial_prompt(user_query, team_id, metadata)
        team = {"team_id": team_id, "team_name": _team_name(team_id, metadata)}
        return self._render("initial", {"user_query": user_query, **team})

    def build_continuation_prompt(
        self,
        user_query: str,
        round_number: int,
        team_id: str,
        submission_history: Sequence[SubmissionLike],
        evaluation_feedback: Sequence[EvaluationLike],
        leaderboard_ranking: Sequence[LeaderboardEntryLike],
        current_team_rank: int | None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        if "continuation" not in self._templates:
            return self._plain.build_continuation_prompt(
                user_query,
                round_number,
                team_id,
                submission_history,
                evaluation_feedback,
                leaderboard_ranking,
                current_team_rank,
                metadata,
            )
        history = latest(submission_history, self.config.max_submission_history_items)
        played = played_rounds(history, evaluation_feedback)
        ranking = leaderboard_ranking[: self.config.max_leaderboard_display_teams]
        values = {
            "user_query": user_query,
            "round_number": round_number,
            "team_id": team_id,
            "team_name": _team_name(team_id, metadata),
            "submission_history": [
                plain_record(_with_result(record, round_))
                for record, round_ in zip(all_taken(SubmissionRecord, history), played, strict=True)
            ],
            # One result for each round that is shown, so that the two lists can be read side by side.
            "evaluation_feedback": [plain_record(round_.result) for round_ in played if round_.result],
            "leaderboard_ranking": [plain_record(entry) for entry in all_taken(LeaderboardEntry, ranking)],
            "current_team_rank": current_team_rank,
        }
        return self._render("continuation", values)

    def build_reduced_prompt(
        self, context: RoundContext, kept: Kept, metadata: Mapping[str, Any] | None = None
    ) -> str:
        if "continuation" not in self._templates:
            return self._plain.build_reduced_prompt(context, kept, metadata)
        less = _reduced(context, kept)
        return self.build_continuation_prompt(
            less.user_query,
            less.round_number,
            less.team_id,
            less.submission_history,
            less.evaluation_feedback,
            less.leaderboard_ranking,
            less.current_team_rank,
            metadata,
        )

    def _render(self, template: RoundTemplate, values: Mapping[str, object]) -> str:
        try:
            return render_round_template(self._templates[template], values)
        except TemplateFailure as failure:
            reason = str(failure.params.get("reason", failure))
            raise type(failure)(
                FAILED, line=failure.line or 1, file=TEMPLATE_FILES[template], reason=reason
            ) from failure


def _reduced(context: RoundContext, kept: Kept) -> RoundContext:
    """Records with empty texts in place of what is not kept: no template fails for want of a field."""
    played = played_rounds(context.submission_history, context.evaluation_feedback)
    records, results = [], []
    for round_ in played:
        last, shown = round_ is played[-1], round_.number in kept.submissions
        if not last and not shown:
            continue
        content = shortened(round_.content) if shown else ""
        feedback = round_.feedback if (kept.feedback if last else kept.earlier_results) else ""
        less = replace(round_, content=content, feedback=feedback)
        records.append(less.record)
        results += [less.result] if less.result else []
    ranking = context.leaderboard_ranking[: kept.teams]
    return context.model_copy(
        update={
            "submission_history": records,
            "evaluation_feedback": results,
            "leaderboard_ranking": ranking,
        }
    )


def _with_result(record: SubmissionRecord, played: PlayedRound) -> SubmissionRecord:
    """A record that carries neither score nor feedback has those of its result."""
    return record if record.score is not None or record.feedback else played.record


def _team_name(team_id: str, metadata: Mapping[str, Any] | None) -> str:
    name = (metadata or {}).get("team_name")
    return name if isinstance(name, str) and name.strip() else team_id


def _invalid(template: RoundTemplate, problem: Problem) -> TemplateFailure:
    return TemplateFailure(
        INVALID,
        line=problem.line,
        file=TEMPLATE_FILES[template],
        reason=problem.text(),
        reason_ja=problem.text("ja"),
        suggestion=problem.advice(),
        suggestion_ja=problem.advice("ja"),
    )
