"""The sample contexts that the studio ships. Added by the demo and from the list of contexts."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from builder.template.models import RankingEntry, RoundPromptContext, RoundState
from studio.access.audit import Event, record
from studio.contexts.models import SampleContext


@dataclass(frozen=True)
class Sample:
    """A context before it is stored; name and description are English there and translated on the page."""

    slug: str
    name: Promise
    description: Promise
    context: RoundPromptContext
    submission: str


_TASK = (
    "国内の蓄電池リサイクル市場について、規模・主要企業・規制の動きを調査し、参入の可否を提案してください。"
)
_EXECUTION = "7b1d6c52-4c1e-4a57-9f3b-2f0d8a6e1c90"

_DRAFTS = (
    """# 蓄電池リサイクル市場の概観

- 市場規模: 2025年で約1,200億円（推計）
- 主要企業: 4社
- 規制: 未調査""",
    """# 蓄電池リサイクル市場

規模は約1,200億円（経済産業省、2026年3月）。主要企業4社の処理能力を比較した。
規制は資源有効利用促進法の改正が中心。""",
    """# 提案

三行要約:
市場は年18%で伸びる。
前処理が供給の隘路になっている。
小規模な前処理拠点からの参入を勧める。""",
    """# 提案（改訂）

前処理拠点の投資額を3案で比較し、回収年数を示した。
規制改正の施行日を追記した。""",
)
_SCORES = (62.5, 74.25, 81.0, 84.75)
_COMMENTS = ("規制の記述がない", "出典の日付が一部ない", "投資額の根拠が弱い", "結論が明確で読みやすい")


def _history(rounds: int) -> list[RoundState]:
    return [
        RoundState(
            round_number=number,
            submission_content=draft,
            evaluation_score=score,
            score_details={
                "overall_score": score,
                "metrics": [
                    {"metric_name": "Accuracy", "score": score + 2, "evaluator_comment": comment},
                    {"metric_name": "Coverage", "score": score - 2, "evaluator_comment": "論点は揃っている"},
                ],
            },
        )
        for number, draft, score, comment in zip(
            range(1, rounds + 1), _DRAFTS, _SCORES, _COMMENTS, strict=False
        )
    ]


# One sample in English, with the other shapes that a score can come in: numbers by name, and feedback.
_ENGLISH_TASK = "Write a two-page brief on battery recycling for a board that has ten minutes to read it."
_ENGLISH_DRAFTS = (
    "# Battery recycling\n\nThe market is large and growing. Several companies are active in it.",
    "# Battery recycling\n\nThe market reaches 120 billion yen (METI, March 2026). Four companies share it.",
    "# Battery recycling\n\nRecommendation: enter with one pre-treatment plant. Payback: six years.",
)


def _english_history() -> list[RoundState]:
    judged: tuple[tuple[float, dict[str, float], str], ...] = (
        (58.0, {"Accuracy": 61, "Brevity": 55}, "No figures and no sources. What should the board decide?"),
        (71.5, {"Accuracy": 80.5, "Brevity": 62.5}, "Figures are there; the recommendation still is not."),
    )
    return [
        RoundState(
            round_number=number,
            submission_content=_ENGLISH_DRAFTS[number - 1],
            evaluation_score=score,
            score_details={**details},
            evaluation_feedback=feedback,
        )
        for number, (score, details, feedback) in enumerate(judged, start=1)
    ]


def _context(number: int, **more: object) -> RoundPromptContext:
    return RoundPromptContext.model_validate(
        {
            "user_prompt": _TASK,
            "round_number": number,
            "round_history": _history(number - 1),
            "team_id": "team-001",
            "team_name": "調査班 Alpha",
            "execution_id": _EXECUTION,
            **more,
        }
    )


def _ranking(*own_first: float) -> list[RankingEntry]:
    names = {
        "team-001": "調査班 Alpha",
        "team-002": "Team Beta",
        "team-003": "分析班 Gamma",
        "team-004": "Delta",
    }
    scores = sorted(zip(own_first, names.items(), strict=True), key=lambda row: -row[0])
    return [
        RankingEntry(team_id=team, team_name=name, max_score=score, total_rounds=4)
        for score, (team, name) in scores
    ]


_LONG = "\n\n".join(
    f"## 節 {number}\n" + "処理能力、回収率、輸送費を都道府県ごとに比較した結果を示す。" * 24
    for number in range(1, 13)
)
_TRICKY = """{{ not_a_variable }} と {% if %} は、提出文ではただの文字です。
<script>alert("HTML")</script> <b>太字</b> & "引用" 'quote' \\n \\"""
_TRICKY += "\n絵文字 🏆👩‍🔬🇯🇵、結合文字 が、全角　空白、\tタブ、{# コメント #}"

SAMPLES = (
    Sample(
        "round-1",
        pgettext_lazy("sample context", "Round 1"),
        pgettext_lazy("sample context", "The start: a task, no history, no ranking."),
        _context(1),
        _DRAFTS[0],
    ),
    Sample(
        "round-2",
        pgettext_lazy("sample context", "Round 2 with history"),
        pgettext_lazy("sample context", "One round behind it, three other teams on the board."),
        _context(2, ranking=_ranking(62.5, 71.0, 58.25, 60.0)),
        _DRAFTS[1],
    ),
    Sample(
        "round-5-first",
        pgettext_lazy("sample context", "Round 5, first place"),
        pgettext_lazy(
            "sample context", "Four rounds of history and the lead: should the team still change anything?"
        ),
        _context(5, ranking=_ranking(84.75, 82.5, 79.0, 66.25)),
        _DRAFTS[3],
    ),
    Sample(
        "round-5-last",
        pgettext_lazy("sample context", "Round 5, last place"),
        pgettext_lazy("sample context", "The same four rounds, but every other team is ahead."),
        _context(5, ranking=_ranking(84.75, 96.5, 91.0, 88.25)),
        _DRAFTS[3],
    ),
    Sample(
        "no-ranking",
        pgettext_lazy("sample context", "Round 3 without ranking"),
        pgettext_lazy("sample context", "History, but nobody is on the board: does the prompt leave a hole?"),
        _context(
            3,
            user_prompt=_ENGLISH_TASK,
            team_name="Team Alpha",
            round_history=_english_history(),
            ranking=[],
        ),
        _ENGLISH_DRAFTS[2],
    ),
    Sample(
        "long-submissions",
        pgettext_lazy("sample context", "Very long submissions"),
        pgettext_lazy(
            "sample context", "Two rounds of about nine thousand characters each: does the task drown?"
        ),
        _context(
            3,
            ranking=_ranking(77.0, 71.0, 58.25, 60.0),
            round_history=[
                RoundState(round_number=1, submission_content=_LONG, evaluation_score=70.5),
                RoundState(
                    round_number=2, submission_content=_LONG.replace("節", "章"), evaluation_score=77.0
                ),
            ],
        ),
        _LONG,
    ),
    Sample(
        "braces-html-emoji",
        pgettext_lazy("sample context", "Braces, HTML and emoji"),
        pgettext_lazy("sample context", "Text that looks like a template or a page must arrive as it is."),
        _context(
            2,
            user_prompt=_TRICKY,
            team_name="<i>Alpha</i> {{ team }} 🦊",
            round_history=[RoundState(round_number=1, submission_content=_TRICKY, evaluation_score=-3.5)],
            ranking=[
                RankingEntry(
                    team_id="team-001", team_name="<i>Alpha</i> {{ team }} 🦊", max_score=-3.5, total_rounds=1
                )
            ],
        ),
        _TRICKY,
    ),
)


def translated_texts() -> dict[str, str]:
    """Names and descriptions, as they are stored, that the reader's page shows in other words."""
    shown = [str(text) for sample in SAMPLES for text in (sample.name, sample.description)]
    with translation.override("en"):
        stored = [str(text) for sample in SAMPLES for text in (sample.name, sample.description)]
    return {text: words for text, words in zip(stored, shown, strict=True) if text != words}


def missing_samples() -> list[Sample]:
    """Those that are not there, be it that they were deleted or that the studio began without the demo."""
    # Stored in English, whatever language this runs in; pages translate them.
    with translation.override("en"):
        names = {sample.slug: str(sample.name) for sample in SAMPLES}
    shared_or_there = Q(slug__in=names) | Q(prompt_set=None, name__in=names.values())
    there = list(SampleContext.objects.filter(shared_or_there).values_list("slug", "name"))
    slugs, taken = {slug for slug, _ in there}, {name for _, name in there}
    return [sample for sample in SAMPLES if sample.slug not in slugs and names[sample.slug] not in taken]


def add_samples(at: datetime) -> int:
    """Store the missing ones for all sets to use; tells how many that were."""
    with transaction.atomic(), translation.override("en"):
        missing = missing_samples()
        for sample in missing:
            made = SampleContext.objects.create(
                slug=sample.slug,
                name=str(sample.name),
                description=str(sample.description),
                data=sample.context.model_dump(mode="json"),
                submission=sample.submission,
                created_at=at,
                changed_at=at,
            )
            record(Event.CONTEXT_MADE, made)
    return len(missing)
