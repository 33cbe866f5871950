"""The release that a workspace runs: by its prompts, from the installed package, or fixed by a person."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from builder.simulation import TEAMS, Run, simulate
from builder.template.dialect import MIXSEEK_A15, MIXSEEK_A18, MIXSEEK_A19, RELEASES
from studio.models import RunResult, Workspace
from studio.results.attribution import attribute_workspace
from studio.workspaces.registering import register
from studio.workspaces.release import format_of_version
from tests.studio.clock import NOW
from tests.studio.markup import words_of
from tests.studio.workspaces.sent_settings import sent_settings

TEAM = {"team": "{{ user_prompt }}\n{{ submission_history }}\n{{ current_datetime }}\n"}
BEGUN = datetime(2026, 9, 1, 9, tzinfo=UTC)


def install(folder: Path, version: str) -> None:
    (folder / f".venv/lib/python3.12/site-packages/mixseek_core-{version}.dist-info").mkdir(parents=True)


def a_workspace(folder: Path) -> Workspace:
    return register(folder, name="W", dialect="", label=None, by=None, at=NOW)


def examined(workspace: Workspace) -> Workspace:
    assert attribute_workspace(workspace, timezone.now()).problem is None
    return Workspace.objects.get()


@pytest.fixture
def folder(tmp_path: Path, settings: object) -> Path:
    settings.STUDIO_WORKSPACE_ROOTS = [tmp_path]  # type: ignore[attr-defined]
    (tmp_path / "team" / "w").mkdir(parents=True)
    return tmp_path / "team" / "w"


def test_without_a_trace_it_is_the_newest(db: None, signed_in: Client, folder: Path) -> None:
    workspace = a_workspace(folder)
    assert workspace.spoken is MIXSEEK_A19
    assert "newest known release: not detected from runs or an installed package" in words_of(
        signed_in, "/workspaces/w/"
    )


def test_an_installed_package_tells_also_from_above(signed_in: Client, folder: Path) -> None:
    install(folder.parent, "0.1.0a18")
    assert a_workspace(folder).spoken is MIXSEEK_A18
    page = words_of(signed_in, "/workspaces/w/")
    assert "mixseek-0.1.0a18 from the installed package, 0.1.0a18" in page


def test_nothing_above_the_roots_is_looked_at(db: None, folder: Path, settings: object) -> None:
    install(folder.parent, "0.1.0a15")
    settings.STUDIO_WORKSPACE_ROOTS = [folder]  # type: ignore[attr-defined]
    assert a_workspace(folder).found_by == ""


@pytest.mark.parametrize(
    ("version", "name"),
    [("0.1.0a3", "a15"), ("0.1.0a16", "a15"), ("0.1.0a17", "a18"), ("0.1.0a20", "a19"), ("0.2.0", "a19")],
)
def test_versions_that_are_not_known_are_taken_for_the_nearest(version: str, name: str) -> None:
    assert format_of_version(version).name == f"mixseek-0.1.0{name}"


def test_prompts_count_more_and_the_newest_run_most(signed_in: Client, folder: Path) -> None:
    install(folder, "0.1.0a18")
    workspace = a_workspace(folder)
    days = iter(range(9))

    def run(dialect: object, rounds: int = 2) -> str:
        begun = BEGUN + timedelta(days=next(days))
        return simulate(folder, [Run("Do.", begun, TEAMS[:1], rounds, TEAM, dialect=dialect)])[0]  # type: ignore[arg-type]

    first = run(MIXSEEK_A15)
    assert (examined(workspace).spoken, examined(workspace).found_in) == (MIXSEEK_A15, first)
    # 0.1.0a18 and a19 look the same without tags: the package decides between the two.
    second = run(MIXSEEK_A19)
    assert (examined(workspace).spoken, examined(workspace).found_in) == (MIXSEEK_A18, second)
    assert "this release or the previous one" in words_of(signed_in, "/workspaces/w/")
    # A single first round tells nothing.
    run(MIXSEEK_A15, rounds=1)
    assert examined(workspace).found_in == second
    shown = list(RunResult.objects.order_by("started_at").values_list("formats", flat=True))
    newer = [MIXSEEK_A19.name, MIXSEEK_A18.name]
    assert shown == [[MIXSEEK_A15.name], newer, [dialect.name for dialect in RELEASES]]


def test_a_person_fixes_it_and_what_was_found_is_proposed(signed_in: Client, folder: Path) -> None:
    install(folder, "0.1.0a19")
    a_workspace(folder)
    sent = sent_settings(signed_in, "w", dialect="mixseek-0.1.0a15")
    assert signed_in.post("/workspaces/w/settings/", sent).status_code == 302
    assert Workspace.objects.get().spoken is MIXSEEK_A15
    page = words_of(signed_in, "/workspaces/w/")
    assert "mixseek-0.1.0a15 set in the settings" in page
    assert "mixseek-0.1.0a19 is installed: apply" in page
    signed_in.post("/workspaces/w/release/")
    assert Workspace.objects.get().spoken is MIXSEEK_A19
