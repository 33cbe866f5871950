"""A preview for a workspace: its own file, rendered in the dialect that its MixSeek speaks."""

from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from builder.files.prompt_file import merge
from studio.contexts.samples import add_samples
from studio.models import SampleContext, Workspace
from studio.workspaces.models import mark_of
from tests.studio.clock import NOW

HISTORY = {
    "team_user_prompt": "TEAM {{ round_number }}\n{{ submission_history }}\n",
    "evaluator_user_prompt": "EVALUATOR\n{{ submission }}\n",
    "judgment_user_prompt": "JUDGE\n{{ ranking_table }}\n",
}


@pytest.fixture
def workspace(db: None, tmp_path: Path) -> Workspace:
    add_samples(NOW)
    put(tmp_path, merge(None, HISTORY, NOW.date()))
    return Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)


def put(folder: Path, data: bytes) -> None:
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "prompt_builder.toml").write_bytes(data)


def page(client: Client, query: str = "", status: int = 200) -> str:
    answer = client.get(f"/workspaces/mine/preview/{query}")
    assert answer.status_code == status
    return unescape(answer.content.decode())


def late(workspace: Workspace) -> str:
    """A context with rounds behind it."""
    found = next(each for each in SampleContext.objects.all() if each.round_context.round_number > 2)
    return f"?context={found.slug}"


def test_the_workspaces_dialect_is_used(signed_in: Client, workspace: Workspace) -> None:
    assert "### スコア: " in page(signed_in, late(workspace))
    Workspace.objects.update(dialect="contract")
    shown = page(signed_in, late(workspace))
    assert "スコア: " in shown and "### スコア: " not in shown
    assert "<code>contract</code>" in shown


def test_each_round_of_the_context_can_be_seen(signed_in: Client, workspace: Workspace) -> None:
    query = late(workspace)
    assert "TEAM 3" in page(signed_in, f"{query}&round=3")
    assert "TEAM 2" in page(signed_in, f"{query}&round=2")
    assert "EVALUATOR" in page(signed_in) and "JUDGE" in page(signed_in)


def test_an_error_and_a_missing_template_are_told(signed_in: Client, workspace: Workspace) -> None:
    put(workspace.folder, merge(None, {"team_user_prompt": "a\n{{ teem }}\n"}, NOW.date()))
    shown = page(signed_in)
    assert "Line 2" in shown and "<code>teem</code>" in shown
    assert shown.count("MixSeek uses its default.") == 2


def test_without_a_file_or_a_context_it_says_so(signed_in: Client, workspace: Workspace) -> None:
    SampleContext.objects.all().delete()
    assert "every variable has its sample value" in page(signed_in)
    (workspace.folder / "configs" / "prompt_builder.toml").unlink()
    assert "There is no prompt file." in page(signed_in)


@pytest.mark.parametrize("query", ["?round=0", "?round=x", "?context=a/b", "?round=" + "9" * 40])
def test_odd_queries_are_refused(signed_in: Client, workspace: Workspace, query: str) -> None:
    page(signed_in, query, status=400)


def test_a_round_that_the_context_does_not_have_is_its_own(signed_in: Client, workspace: Workspace) -> None:
    assert "TEAM 99" not in page(signed_in, f"{late(workspace)}&round=99")


def test_other_prompt_files_have_a_preview_of_their_own(signed_in: Client, workspace: Workspace) -> None:
    (workspace.folder / "configs/other.toml").write_bytes(
        merge(None, HISTORY | {"team_user_prompt": "OTHER {{ round_number }}\n"}, NOW.date())
    )
    (workspace.folder / "configs/news.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "configs/other.toml"\n'
    )
    link = f"?file={mark_of('configs/other.toml').replace('@', '%40')}"
    assert f"/workspaces/mine/preview/{link}" in signed_in.get("/workspaces/mine/").text
    shown = page(signed_in, link)
    assert "<code>configs/other.toml</code>" in shown and "OTHER 1" in shown
    assert f"{link}&context=" in shown, "a round's link stays with the file"
    assert "TEAM" in page(signed_in) and "OTHER" not in page(signed_in)
    page(signed_in, "?file=@000000000000", status=404)
    page(signed_in, "?file=other", status=400)
