"""What a browser sends from the form of a sample context."""

import re
from typing import Any

from studio.contexts.text import ContextText
from studio.models import PromptSet, SampleContext
from tests.studio.clock import NOW

NEW, NEW_JSON = "/contexts/new/", "/contexts/new/json/"
JAPANESE = {"Accept-Language": "ja"}

ROUND_2: dict[str, Any] = {
    "user_prompt": "Count the stars",
    "round_number": 2,
    "round_history": [{"round_number": 1, "submission_content": "Many", "evaluation_score": 60}],
    "team_id": "t",
    "team_name": "T",
    "execution_id": "e",
}

ABOUT = {"name": "Third of four", "prompt_set": "", "description": "Behind by a little"}
SINGLE = {
    **ABOUT,
    "user_prompt": "Count the stars",
    "round_number": "5",
    "team_name": "Alpha",
    "team_id": "team-001",
    "execution_id": "run-1",
    "submission": "Five thousand.",
    "ranked": "yes",
}
SCORES = (61.5, 70, 68.25, 80)


def round_row(index: int, **more: str) -> dict[str, Any]:
    row = {
        "round_number": str(index + 1),
        "submission_content": f"Attempt {index + 1}",
        "evaluation_score": str(SCORES[index]),
        "score_details": f"Accuracy: {SCORES[index]}\nCoverage: 70",
        "evaluation_feedback": "Look longer",
        "round_started_at": "",
        "round_ended_at": "",
    } | more
    return {f"round_history.{index}.{column}": text for column, text in row.items()}


def ranking_row(index: int, team: str, score: str) -> dict[str, Any]:
    row = {"team_name": team, "team_id": team.lower(), "max_score": score, "total_rounds": "4"}
    return {f"ranking.{index}.{column}": text for column, text in row.items()}


def round_five(**more: Any) -> dict[str, Any]:
    """Round 5 with four rounds of history and a ranking of three."""
    sent: dict[str, Any] = {**SINGLE, "round_history": ["0", "1", "2", "3"], "ranking": ["0", "1", "2"]}
    for index in range(4):
        sent |= round_row(index)
    sent |= ranking_row(0, "Beta", "91")
    sent |= ranking_row(1, "Gamma", "85.5")
    sent |= ranking_row(2, "Alpha", "80") | {"ranking.2.team_id": "team-001"}
    return sent | more


def form_of(context: SampleContext, **more: Any) -> dict[str, Any]:
    """The edit form as it was opened, with what somebody changed in it."""
    text = ContextText.of(context.values)
    marks = {rows: [str(index) for index in range(len(each))] for rows, each in text.rows.items()}
    return {**text.data, **marks, "revision": context.revision} | more


def make_set(slug: str, **more: Any) -> PromptSet:
    return PromptSet.objects.create(slug=slug, name=slug.title(), created_at=NOW, changed_at=NOW, **more)


def text(answer: Any) -> str:
    return str(answer.content.decode())


def error_beside(page: str, field: str) -> str:
    """The text of the error that the field's `aria-describedby` points at."""
    found = re.search(rf'<p class="field-error" id="id_{re.escape(field)}_error">(.*?)</p>', page)
    return found[1] if found else ""


def focused(page: str) -> list[str]:
    return [
        found[1]
        for tag in re.findall(r"<[^>]+ autofocus[^>]*>", page)
        if (found := re.search(r'name="([^"]+)"', tag))
    ]
