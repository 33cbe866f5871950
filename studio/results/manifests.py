"""Manifests of pinned runs, as attribution uses them: what a run says of itself, to be verified."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from builder.client.manifest import Manifest, read_manifests
from studio.models import PromptVersion, RunResult, Workspace
from studio.results.origins import storable
from studio.workspaces.roots import FolderRefused, require_allowed


@dataclass(frozen=True)
class Claims:
    """Manifests by the execution that they name; one that fits several executions says nothing."""

    manifests: Mapping[str, Manifest]

    @classmethod
    def of(cls, workspace: Workspace) -> "Claims":
        """What lies in the workspace's logs; of two for one execution the newer counts."""
        try:
            manifests = read_manifests(require_allowed(workspace))
        except FolderRefused:
            manifests = []
        return cls({each.executions[0]: each for each in reversed(manifests) if each.link == "one"})

    def news(self, results: QuerySet[RunResult]) -> set[str]:
        """Executions whose results do not know of their manifest yet."""
        if not self.manifests:
            return set()
        known = dict(results.exclude(pinned="").values_list("execution_id", "pinned"))
        return {name for name, claim in self.manifests.items() if known.get(name) != claim.reference}

    def note(self, result: RunResult) -> int | None:
        """Keep what the run's manifest says with its result; the key of the version that it names."""
        claim = self.manifests.get(result.execution_id)
        if claim is None:
            return None
        result.pinned = storable(claim.reference)
        named = PromptVersion.objects.filter(prompt_set__slug=claim.prompt_set, number=claim.version)
        return named.filter(content_hash=claim.hash).values_list("pk", flat=True).first()
