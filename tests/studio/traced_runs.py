"""A workspace whose runs were made with known templates, in Japan and elsewhere, for tests of their pages."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.utils import timezone

from builder.simulation import TEAMS, Run, simulate
from studio.models import PromptSet, PromptVersion, Workspace
from studio.prompts.texts import Templates
from studio.results.attribution import attribute_workspace
from tests.studio.clock import NOW
from tests.studio.workspaces.prompt_files import note_export

TASK = "要件を整理してください。"
PLAIN = Templates("{{ user_prompt }}\n{{ current_datetime }}\n", "{{ submission }}\n", "j\n")
SAME_TEAM = Templates(PLAIN.team_user_prompt, "Another judge: {{ submission }}\n", "j\n")
SHIPPED = Templates(
    "Do: {{ user_prompt }}\nRound {{ round_number }}, {{ current_datetime }}\n{{ ranking_table }}\n"
    "{% if round_number > 1 %}Better than: {{ submission_history }}{% endif %}\n",
    "Evaluate for {{ user_prompt }} at {{ current_datetime }}: {{ submission }}\n",
    "Judge round {{ round_number }}: {{ submission_history }}\n",
)
UNTAKEN = Templates(
    SHIPPED.team_user_prompt.replace("Do:", "Do:{% if round_number > 50 %}never{% endif %}"),
    *list(vars(SHIPPED).values())[1:],
)
EDITED = Templates(SHIPPED.team_user_prompt.replace("Do:", "Please do:"), *list(vars(SHIPPED).values())[1:])
DATED = Templates("{{ current_datetime[:13] }}h: {{ user_prompt }}\n", "{{ submission }}\n", "j\n")
STRANGE = Templates("{{ ranking_table }}" + "Nothing that any version said. " * 30, "{{ submission }}", "j")


@dataclass(frozen=True)
class TracedRuns:
    """The folder, and its runs by what they were made with."""

    folder: Path
    ids: dict[str, str]


def make_traced_runs(folder: Path) -> TracedRuns:
    """Two teams and rounds for each run; ``shipped`` and ``dated`` ran in Japan."""
    begun = timezone.now() - timedelta(days=2)
    soon = timezone.now() - timedelta(minutes=3)
    teams = TEAMS[:2]
    hours = (begun + timedelta(hours=number) for number in range(5))
    runs = {
        "plain": Run(TASK, next(hours), teams, 2, PLAIN.by_kind, dice="plain"),
        "shipped": Run(TASK, next(hours), teams, 2, SHIPPED.by_kind, zone="Asia/Tokyo", dice="shipped"),
        "edited": Run(TASK, next(hours), teams, 2, EDITED.by_kind, dice="edited"),
        "strange": Run(TASK, next(hours), teams, 2, STRANGE.by_kind, dice="strange"),
        "dated": Run(TASK, next(hours), teams, 2, DATED.by_kind, zone="Asia/Tokyo", dice="dated"),
        "running": Run(TASK, soon, teams, 4, SHIPPED.by_kind, "running", dice="running"),
        "puzzling": Run(TASK, soon, teams, 4, STRANGE.by_kind, "running", dice="puzzling"),
    }
    ids = simulate(folder, list(runs.values()), seed=3, prompt_file=STRANGE.by_kind)
    return TracedRuns(folder, dict(zip(runs, ids, strict=True)))


def register(traced: TracedRuns, person: User) -> tuple[Workspace, PromptSet, list[PromptVersion]]:
    """Register the folder beside a set of four versions, the third of them shipped; nothing is examined."""
    workspace = Workspace.objects.create(slug="ws", name="WS", path=str(traced.folder), created_at=NOW)
    prompt_set = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    versions = [
        prompt_set.save_version(each, base=prompt_set.revision, message=f"m{number}", author=person, at=NOW)
        for number, each in enumerate((PLAIN, SAME_TEAM, SHIPPED, UNTAKEN), start=1)
    ]
    note_export(workspace, versions[2], person)
    return workspace, prompt_set, versions


def examine(workspace: Workspace) -> None:
    """As the server does by itself."""
    assert attribute_workspace(workspace, timezone.now()).problem is None
