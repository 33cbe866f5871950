"""The page of an import: the file beside the newest version of the chosen set. Used by its views."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from builder.orchestrators.finder import Orchestrator
from studio.compare.versions import Panel, View, changes_in, written_panel
from studio.models import PromptSet
from studio.prompts.findings import Finding
from studio.prompts.labels import USUAL_LABELS
from studio.prompts.texts import TEXT_NAMES, TextKind
from studio.shell.refusal import RequestRefused
from studio.workspaces.imports.importing import Proposal
from studio.workspaces.imports.incoming import FileContent, IncomingFile, WorkspaceFile
from studio.workspaces.orchestrators import orchestrators_of

PROBLEMS_SHOWN = 100
_USUAL = dict.fromkeys(USUAL_LABELS)
SETS_OFFERED = 500


@dataclass(frozen=True)
class SideName:
    """What the head of a column says."""

    title: str


@dataclass(frozen=True)
class ImportPage:
    """The page before it is rendered."""

    proposal: Proposal
    view: View
    held: WorkspaceFile | None = None
    """Which file of its workspace it is; None where the person may not change what that follows."""

    @property
    def file(self) -> IncomingFile:
        return self.proposal.file

    @property
    def content(self) -> FileContent:
        return self.proposal.content

    @property
    def prompt_set(self) -> PromptSet | None:
        return self.proposal.prompt_set

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """What the workspace's file could follow of the set, with what it follows now first; none where it
        follows the set already."""
        if self.held is None or self.file.workspace is None:
            return []
        now = self.held.label_of(self.file.workspace)
        if now is not None and self.prompt_set is not None and now.prompt_set_id == self.prompt_set.pk:
            return []
        points = self.prompt_set.pointers if self.prompt_set else {}
        stays = f"{now.prompt_set.name} · {now.name}" if now else _("No label")
        return [
            ("", stays),
            *((name, f"{name} (v{points.get(name, self.next_number)})") for name in {**points, **_USUAL}),
        ]

    @property
    def usual_label(self) -> str:
        """What is chosen at first: a workspace that follows nothing follows the imported set."""
        workspace = self.file.workspace
        is_free = self.held is not None and workspace is not None and self.held.label_of(workspace) is None
        return USUAL_LABELS[0] if is_free else ""

    @cached_property
    def readers(self) -> list[Orchestrator]:
        """The orchestrator files of its workspace whose runs read the file."""
        if self.file.workspace is None or not self.file.file_kind.has_templates:
            return []
        found = orchestrators_of(self.file.workspace)
        return [one for one in found if one.prompts.name == self.file.name]

    @property
    def old(self) -> SideName:
        latest = self.proposal.latest
        return SideName(f"v{latest.number}" if latest else "")

    @property
    def new(self) -> SideName:
        return SideName(self.file.name.rpartition("/")[2])

    @cached_property
    def panels(self) -> list[Panel]:
        """The texts beside those of the newest version; none for a set without one."""
        if self.proposal.latest is None:
            return []
        panels: list[Panel] = []
        for kind in self.proposal.templates.parts if self.proposal.templates else ():
            panels.append(self.panel(kind, panels))
        return panels

    @property
    def texts(self) -> list[tuple[TextKind, str, str]]:
        """Kind, name and text of what would come in."""
        parts = self.proposal.templates.parts if self.proposal.templates else {}
        return [(kind, TEXT_NAMES[kind], text) for kind, text in parts.items()]

    def panel(self, kind: TextKind, above: Sequence[Panel] = ()) -> Panel:
        """One text."""
        latest, templates = self.proposal.latest, self.proposal.templates
        assert latest is not None and templates is not None
        if kind not in templates.parts:
            raise RequestRefused(404, _("There are no such rows."))
        return written_panel(latest.templates, templates, kind, self.view, above)

    @property
    def changes(self) -> int:
        return changes_in(self.panels)

    @property
    def problems(self) -> Sequence[Finding]:
        return self.content.problems[:PROBLEMS_SHOWN]

    @property
    def more_problems(self) -> int:
        return max(len(self.content.problems) - PROBLEMS_SHOWN, 0)

    @property
    def outside(self) -> Sequence[Finding]:
        return self.content.outside[:PROBLEMS_SHOWN]

    @property
    def meant(self) -> bool:
        """Whether one of the keys that stay outside looks like a slip of the hand."""
        return any(finding.advice for finding in self.content.outside)

    @property
    def next_number(self) -> int:
        return self.proposal.base + 1

    @property
    def more_outside(self) -> int:
        return self.all_outside - len(self.outside)

    @property
    def all_outside(self) -> int:
        return len(self.content.outside) + self.content.more_outside

    @cached_property
    def offered(self) -> Sequence[PromptSet]:
        """Sets to choose from, those changed last first; the chosen one is always there."""
        sets = list(
            PromptSet.objects.filter(archived=False, holds=self.file.holds).order_by("-changed_at", "pk")[
                :SETS_OFFERED
            ]
        )
        chosen = self.prompt_set
        return sets if chosen is None or chosen in sets else [chosen, *sets]
