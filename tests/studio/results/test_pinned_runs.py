"""A run whose manifest says which version it was started with."""

import hashlib
from pathlib import Path

from django.contrib.auth.models import User
from django.test import Client

from builder.client.manifest import Manifest
from builder.client.manifest import write as write_manifest
from studio.models import PromptVersion, RunResult
from studio.results.models import Basis, Found
from tests.studio.clock import NOW
from tests.studio.traced_runs import TracedRuns, examine, make_traced_runs, register


def result_of(traced: TracedRuns, run: str) -> RunResult:
    return RunResult.objects.get(execution_id=traced.ids[run])


def pin(traced: TracedRuns, run: str, version: PromptVersion, **said: object) -> Manifest:
    """The manifest that `prompt-studio exec` would have left of a run."""
    manifest = Manifest(
        id=hashlib.md5(run.encode()).hexdigest(),
        studio="http://studio.example",
        prompt_set=version.prompt_set.slug,
        version=version.number,
        hash=version.content_hash,
        by="hana",
        program="mixseek",
        started_at=NOW,
        executions=[traced.ids[run]],
        link="one",
    ).model_copy(update=said)
    write_manifest(traced.folder, manifest, None)
    return manifest


def test_a_manifest_decides_what_the_bytes_leave_open_and_is_checked_against_them(
    tmp_path: Path, person: User, signed_in: Client
) -> None:
    traced = make_traced_runs(tmp_path)
    workspace, _set, versions = register(traced, person)
    examine(workspace)
    assert result_of(traced, "plain").found == Found.SEVERAL  # two versions with the same team template
    pin(traced, "plain", versions[1])
    pin(traced, "shipped", versions[0])
    pin(traced, "strange", versions[2], hash="f" * 64)
    examine(workspace)
    plain = result_of(traced, "plain")
    assert (plain.found, plain.version, plain.basis) == (Found.EXACT, versions[1], Basis.MANIFEST)
    # The bytes win over a manifest that says something else.
    assert result_of(traced, "shipped").version == versions[2]
    assert result_of(traced, "strange").found == Found.UNKNOWN
    for run, says in (
        ("plain", "its prompts confirm it"),
        ("shipped", "started with set@1, but its prompts"),
    ):
        page = signed_in.get(f"/workspaces/ws/runs/{traced.ids[run]}/").content.decode()
        assert says in " ".join(page.split())
