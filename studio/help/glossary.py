"""The glossary: the studio's terms, each explained in two or three sentences.

Used by the help page and by `{% term "label" %}`, which puts a "?" beside the word on a page.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True)
class Term:
    """A word of the studio, and what it means. Words between backticks are code."""

    slug: str
    title: Promise
    text: Promise
    page: str = ""
    """The help page that shows it at work."""


_TERMS = (
    Term(
        "prompt-set",
        _("Prompt set"),
        _(
            "Three templates that belong together: for the teams, for the evaluator and for the judgment. "
            "A set keeps every version. A set of system prompts holds a workspace's `system_prompt.toml` "
            "instead."
        ),
        "first-minute",
    ),
    Term(
        "template",
        _("Template"),
        _(
            "A text in which variables such as `{{ user_prompt }}` stand for values. MixSeek fills them "
            "in for each team and round; the result is the prompt."
        ),
        "typo",
    ),
    Term(
        "draft",
        _("Draft"),
        _(
            "What you are writing. It is kept while you type, nobody else sees it, and it becomes a "
            "version when you save it."
        ),
        "first-minute",
    ),
    Term(
        "version",
        _("Version"),
        _(
            "All templates of a set at one moment, with a number, a message and an author. A version "
            "never changes; to change something, save the next one."
        ),
        "what-changed",
    ),
    Term(
        "label",
        _("Label"),
        _(
            "A name such as `production` that points at one version of a set. Workspaces follow a label: "
            "when it moves, the studio offers to export to them. Every move is recorded."
        ),
        "ship-it",
    ),
    Term(
        "context",
        _("Sample context"),
        _(
            "Values to try a template with: a task, a round, and what happened before it. With them the "
            "preview shows what a team would receive. A context belongs to one set or is shared by all."
        ),
        "first-minute",
    ),
    Term(
        "round",
        _("Round"),
        _(
            "One turn of a run: every team receives a prompt and hands in a submission, and the evaluator "
            "scores it. From round 2 on a prompt can hold the team's submissions, scores and ranking so "
            "far."
        ),
        "watch-a-run",
    ),
    Term(
        "formatting",
        _("Formatting"),
        _(
            "How a MixSeek release writes values into a prompt: the history, the ranking, numbers and "
            "times. Releases differ, so one template can give different prompts. Each set says whose "
            "formatting its previews use."
        ),
        "what-changed",
    ),
    Term(
        "coverage",
        _("Coverage"),
        _(
            "Which lines of a template the sample contexts reach. A line that none of them reaches has "
            "never been seen in a preview, so a mistake there shows only in a run."
        ),
        "typo",
    ),
    Term(
        "matrix",
        _("Matrix"),
        _(
            "Versions by sample contexts: each cell says whether the prompt stays the same, changes or "
            "fails, compared with the baseline."
        ),
        "what-changed",
    ),
    Term(
        "cacheable-prefix",
        _("Cacheable prefix"),
        _(
            "The identical beginning of several prompts. Providers cache it and charge less for "
            "it. It ends at the first difference, such as the round number: put what changes "
            "last."
        ),
    ),
    Term(
        "budget",
        _("Budget"),
        _(
            "How many tokens the prompt of a template may have. Previews and the matrix show what is over "
            "it; MixSeek itself cuts nothing."
        ),
    ),
    Term(
        "workspace",
        _("Workspace"),
        _(
            "A folder in which MixSeek runs, with its configuration, prompt file and database. The studio "
            "reads copies of the database and writes to the folder only by an export that somebody "
            "confirmed."
        ),
        "ship-it",
    ),
    Term(
        "prompt-file",
        _("Prompt file"),
        _(
            "The file from which MixSeek reads a workspace's templates, usually "
            "`configs/prompt_builder.toml`. An export writes it; an import makes a version of it."
        ),
        "ship-it",
    ),
    Term(
        "orchestrator-file",
        _("Orchestrator file"),
        _(
            "The file that a run is started with. It names the teams, the evaluator, the judgment and the "
            "limits, and so decides which prompt file the run reads. A workspace can have several."
        ),
    ),
    Term(
        "drift",
        _("Drift"),
        _(
            "A workspace has drifted where its file is not the version that its label points at: it is "
            "behind, somebody edited it, or it is missing. In a pipeline, `manage.py drift` reports it."
        ),
        "pipeline",
    ),
    Term(
        "hand-edit",
        _("Hand edit"),
        _(
            "A change to a workspace's file that the studio did not write. It is never overwritten "
            "unasked: adopt it as a version, or overwrite it knowingly."
        ),
        "ship-it",
    ),
    Term(
        "receipt",
        _("Export record"),
        _(
            "The record of an export: which version was written to which file, the previous "
            "content, who confirmed it and the result. An export can be undone from its record."
        ),
        "ship-it",
    ),
    Term(
        "run",
        pgettext_lazy("of MixSeek", "Run"),
        _(
            "One execution of MixSeek on a task. Several teams work on it in rounds; the ranking says "
            "whose submission scored best."
        ),
        "watch-a-run",
    ),
    Term(
        "metric",
        _("Metric"),
        _(
            "One thing that the evaluator rates about a submission, from 0 to 100, with a comment. The "
            "score of a submission is made of its metrics."
        ),
        "why-it-won",
    ),
    Term(
        "judgment",
        _("Judgment"),
        _(
            "After each round a model decides whether the team should go on. It receives a prompt of its "
            "own; minimum and maximum of rounds are rules, which it cannot change."
        ),
        "why-it-won",
    ),
    Term(
        "attribution",
        _("Attribution"),
        _(
            "Which version made the prompts of a run. MixSeek does not store it: the studio renders the "
            "stored values with each version and compares the result with the prompt that was sent, to "
            "the character."
        ),
        "did-it-help",
    ),
    Term(
        "scoring-basis",
        _("Scoring basis"),
        _(
            "What scores were measured with: the evaluator's and the judgment's templates, metrics, "
            "models and settings. Scores on different bases are not compared, for the difference may come "
            "from the basis."
        ),
        "did-it-help",
    ),
    Term(
        "significance",
        _("Significance"),
        _(
            "A difference is significant where chance alone would show so much in fewer than 5 of 100 "
            "comparisons. “Not significant” does not mean equal: there may be too few runs to tell."
        ),
        "did-it-help",
    ),
    Term(
        "detectable-difference",
        _("Detectable difference"),
        _(
            "The smallest difference that this many runs would show in 80 of 100 cases, at a significance "
            "level of 5 %, given how much scores have varied so far. To detect a smaller one, run more."
        ),
        "did-it-help",
    ),
    Term(
        "replay",
        _("Re-render"),
        _(
            "A stored round rendered again, with another version or your draft in place of the templates "
            "that were used: what the team would have received."
        ),
        "why-it-won",
    ),
    Term(
        "system-prompt",
        _("System prompt"),
        _(
            "What an agent is told before any task: instructions, files of the workspace and skills, put "
            "together by `system_prompt.toml` in one of three modes."
        ),
    ),
)  # fmt: skip

TERMS = {term.slug: term for term in _TERMS}
