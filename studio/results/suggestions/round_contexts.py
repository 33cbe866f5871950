"""Stored rounds on their way to become sample contexts."""

from django.utils.text import Truncator
from django.utils.translation import gettext as _

from builder.template.models import RoundPromptContext
from studio.contexts.pasted_json import write_json
from studio.models import SampleContext, Workspace

_LONGEST_NAME = 120
_LONGEST_DESCRIPTION = 300


def proposed_name(team: str, number: int, task: str) -> str:
    """Team, round and the beginning of the task; numbered where a context has that name already."""
    words = {
        "team": Truncator(_one_line(team)).chars(40),
        "round": number,
        "task": Truncator(_one_line(task)).chars(50),
    }
    stem = _("%(team)s, round %(round)d: %(task)s") % words
    taken = set(SampleContext.objects.filter(name__startswith=stem[:60]).values_list("name", flat=True))
    name, copies = stem, 1
    while name in taken:
        copies += 1
        name = f"{stem} ({copies})"
    return name[:_LONGEST_NAME]


def proposed_description(workspace: Workspace, execution_id: str) -> str:
    """Where it comes from."""
    words = {"workspace": workspace.name, "execution": execution_id}
    return (_("From the runs of %(workspace)s, execution %(execution)s.") % words)[:_LONGEST_DESCRIPTION]


def document_of(context: RoundPromptContext, submission: str | None) -> str:
    """The JSON that a pasted context would have; a blank submission is none."""
    told = context.model_dump(mode="json")
    if submission and submission.strip():
        told["submission"] = submission
    return write_json(told)


def _one_line(text: str) -> str:
    return " ".join(text.split())
