"""Pages of a workspace on another machine: the same as if its folder were here."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from builder.client.manifest import Manifest, write
from builder.errors import StudioRefused
from builder.leaderboard import AggregationStore
from studio.machines.mirror import mirror_folder
from studio.machines.models import RemoteWorkspace
from studio.models import RunResult, Workspace
from studio.results.attribution import attribute_workspace
from tests.studio.clock import NOW
from tests.studio.machines.conftest import Workplace

LOCAL, REMOTE = "here", "workspace-gpu-1"


class _Words(HTMLParser):
    """The visible text of the page's main part, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in ("script", "style", "time")
        self.words += [
            value or "" for name, value in attrs if name in ("href", "action", "title", "data-copy")
        ]

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("script", "style", "time")

    def handle_data(self, data: str) -> None:
        if not self.skipped and data.strip():
            self.words.append(" ".join(data.split()))


def words(page: str) -> list[str]:
    parser = _Words()
    parser.feed(page.partition("<main")[2].partition("</main>")[0] or page)
    return parser.words


@pytest.fixture
def twins(workplace: Workplace, person: User) -> Workplace:
    """One workspace, registered by its folder and by its agent."""
    folder = workplace.folder
    (folder / "AGENTS.md").write_text("Be careful with the harvest.\n")
    (folder / "SOUL.md").symlink_to("AGENTS.md")
    (folder / "skills" / "counting").mkdir(parents=True)
    (folder / "skills" / "counting" / "SKILL.md").write_text(
        "---\nname: counting\ndescription: Count apples.\n---\nOne, two.\n"
    )
    (folder / "configs" / "system_prompt.toml").write_text('[system_prompt]\nmode = "full"\n')
    workplace.play("second task", runs=2)
    local = Workspace.objects.create(slug=LOCAL, name="Twin", path=str(folder), created_at=NOW)
    workplace.agent.once()
    remote = Workspace.objects.get(slug=REMOTE)
    Workspace.objects.filter(pk=remote.pk).update(name="Twin")
    for workspace in (local, remote):
        workspace.refresh_from_db()
        assert attribute_workspace(workspace, timezone.now()).problem is None
    return workplace


def addresses(folder: Path) -> list[str]:
    """Every page of a workspace, behind its own address."""
    with AggregationStore(folder) as store:
        first, second, *_ = (execution.execution_id for execution in store.executions(limit=5))
        team = store.delivered_rounds(first).rounds[0].team_id
    run = f"runs/{first}/"
    round_two = f"{run}teams/{team}/rounds/2/"
    return [
        "", "preview/", "settings/", "system/", "system/compare/", "system/full.txt", "system/minimal.txt",
        "teams/", f"teams/{team}/", "scores/", "runs/", "runs/compare/", f"runs/{first}...{second}/", run,
        f"{run}teams/{team}/", round_two, f"{round_two}prompt.txt", f"{round_two}replay/",
        f"{round_two}context/", f"{run}replay/", "import/",
    ]  # fmt: skip


ONLY_LOCAL = {
    "": r"owner \w+|[\d.]+ MB|.* UTC",  # the database there has indexes
    "settings/": r"Folder|Path of the.*|pwd|prints it.*|Working directory.*|Where|mixseek exec|is started.*"
    r"|\.env|there overrides.*",
    "system/": r"/workspaces/here/system/compare/\?from=\d+.*",
}
ONLY_REMOTE = {
    "": r"machine last heard of|[\d.]+ MB|.* UTC",
    "settings/": ".*",  # the section about the machine
    "system/": r"/workspaces/here/system/compare/\?from=.*|Built from what .*|\.md|,|\.txt|\) and.*",
}


def test_every_page_shows_what_a_local_workspace_shows(twins: Workplace, person: User) -> None:
    browser = Client()
    browser.force_login(person)
    remote = Workspace.objects.get(slug=REMOTE)
    for address in addresses(twins.folder):
        pages = []
        for slug in (LOCAL, REMOTE):
            answer = browser.get(f"/workspaces/{slug}/{address}", follow=True)
            assert answer.status_code == 200, (slug, address)
            pages.append(answer.content.decode())
        assert str(mirror_folder(remote.path)) not in pages[1], address
        pages[1] = pages[1].replace(remote.path, str(twins.folder)).replace(REMOTE, LOCAL)
        here, there = map(words, pages)
        lacking = [word for word in here if word not in there]
        assert all(re.fullmatch(ONLY_LOCAL.get(address, ""), word) for word in lacking), (address, lacking)
        added = [word for word in there if word not in here]
        assert all(re.fullmatch(ONLY_REMOTE.get(address, ""), word) for word in added), (address, added)
    # The system prompt is that of the machine: its folder and what stands in it, not this server's.
    prompt = browser.get(f"/workspaces/{REMOTE}/system/full.txt").content.decode()
    assert prompt.count("Be careful with the harvest.") == 2 and "Count apples." in prompt
    assert str(twins.folder / "skills" / "counting" / "SKILL.md") in prompt


def test_pages_say_that_texts_are_not_sent(twins: Workplace, person: User) -> None:
    browser = Client()
    browser.force_login(person)
    (twins.folder / "AGENTS.md").write_text("Be careful with the harvest. Confidential.\n")
    twins.agent.once()
    assert "Confidential" in browser.get(f"/workspaces/{REMOTE}/system/full.txt").content.decode()
    browser.post(f"/workspaces/{REMOTE}/machine/texts/", {"texts": "no"})
    twins.agent.once()
    assert {file.name.rpartition(".")[2] for file in RemoteWorkspace.objects.get().files.all()} == {"toml"}
    (pinned,) = twins.play("third task")
    manifest = Manifest(
        id="1" * 32, studio="", prompt_set="harvesters", version=3, hash="h", by="hana", program="mixseek",
        started_at=NOW, executions=[pinned], link="one",
    )  # fmt: skip
    write(twins.folder, manifest, None)
    twins.agent.once()
    remote = Workspace.objects.get(slug=REMOTE)
    assert attribute_workspace(remote, timezone.now()).problem is None
    for address in addresses(twins.folder):
        answer = browser.get(f"/workspaces/{REMOTE}/{address}", follow=True)
        page = answer.content.decode()
        assert not re.search("the harvest|second task|third task|is blank|when the run ends", page), address
        says = "Texts not sent" in page
        assert says or address.startswith(("import/", "preview/")) or address.endswith("prompt.txt"), address
    # A manifest that nothing can confirm is no contradiction.
    page = browser.get(f"/workspaces/{REMOTE}/runs/{pinned}/").content.decode()
    assert "harvesters@3" in page and "no stored prompt confirms it" in page and "contradiction" not in page
    # What was found out before is still known; the newer run says why it is not.
    attributions = RunResult.objects.filter(workspace=remote).values_list("found", flat=True)
    assert attributions.count() == 4


def test_a_workspace_whose_reports_were_deleted_can_be_restored_and_is_reported_anew(
    twins: Workplace, person: User
) -> None:
    browser = Client()
    browser.force_login(person)
    browser.post(f"/workspaces/{REMOTE}/machine/forget/")
    with pytest.raises(StudioRefused, match="409"):
        twins.agent.once()
    answer = browser.post(f"/workspaces/{REMOTE}/archive/", {"archived": "no"}, follow=True)
    assert "Its machine has never reported it." in answer.content.decode()
    for address in ("", "settings/", "runs/", "system/"):
        assert browser.get(f"/workspaces/{REMOTE}/{address}").status_code == 200, address
    assert browser.get("/workspaces/").status_code == 200
    assert twins.agent.once().executions == 3
