"""The pages of a workspace's system prompt: three modes, what parts cost, kept builds, any two compared."""

import os
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.system.built_prompt import BuiltPrompt
from builder.system.cache_report import CACHE_MINIMUMS
from studio.models import Label, LanguageModel, PromptSet, SystemBuild, Workspace
from studio.prompts.file_kinds import FileKind
from studio.system.building import build_now
from studio.system.builds import LONGEST_KEPT, MOST_KEPT, build_before, keep
from studio.system.comparison_page import cache_minimums
from tests.studio.clock import NOW
from tests.studio.editing import make_set
from tests.studio.markup import tight

SKILL = "---\nname: pdf\ndescription: Fill forms\n---\n" + "Fill in each field, one by one. " * 100
URL = "/workspaces/mine/system/"


@pytest.fixture
def workspace(db: None, tmp_path: Path) -> Workspace:
    for name in ("IDENTITY", "SOUL", "USER", "HEARTBEAT"):
        (tmp_path / f"{name}.md").write_text(f"This is the {name.lower()} of the agent: 栞.\n" * 3)
    put(tmp_path, "AGENTS.md", "x" * 30_000)
    put(tmp_path, "skills/pdf/SKILL.md", SKILL)
    return Workspace.objects.create(slug="mine", name="Mine", path=str(tmp_path), created_at=NOW)


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def settings_of(workspace: Workspace, text: str) -> None:
    put(workspace.folder, "configs/system_prompt.toml", text)


def page(client: Client, path: str = "", status: int = 200) -> str:
    answer = client.get(f"{URL}{path}")
    assert answer.status_code == status
    return unescape(answer.content.decode())


def built(workspace: Workspace) -> BuiltPrompt:
    return build_now(workspace).builds["full"]


def test_three_modes_stand_side_by_side_and_are_files(signed_in: Client, workspace: Workspace) -> None:
    shown = page(signed_in)
    assert "There is no <code>configs/system_prompt.toml</code>: the default settings apply." in shown
    for mode, prompt in build_now(workspace).builds.items():
        assert f'id="{mode}-text"' in shown
        answer = signed_in.get(f"{URL}{mode}.txt")
        assert answer.content.decode() == prompt.text
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
    page(signed_in, "half.txt", status=404)


def test_sections_files_and_skills_say_what_they_cost(signed_in: Client, workspace: Workspace) -> None:
    shown = page(signed_in, "?mode=minimal")
    assert "Not included in the mode <code>minimal</code>" in shown
    assert "workspace: changes with an edit of its files" in shown and "<td>workspace</td>" in shown
    assert str(workspace.folder / "AGENTS.md") in shown and "truncated" in shown
    costs = build_now(workspace).skill_costs(built(workspace))
    assert f"{costs['pdf'].inlined.tokens - costs['pdf'].reference.tokens} tokens saved" in shown
    assert "Tokens: o200k_base." in shown


def test_estimates_are_marked(signed_in: Client, workspace: Workspace) -> None:
    settings_of(workspace, '[system_prompt.runtime]\nmodel = "claude-opus-4-5"\n')
    assert "≈ marks an estimate" in page(signed_in)


def test_a_broken_file_is_told_by_line_beside_the_last_build(signed_in: Client, workspace: Workspace) -> None:
    assert "This is a saved build" not in page(signed_in)
    settings_of(workspace, "[system_prompt]\nmode = 'ful'\nidentity = 'x'\n")
    shown = page(signed_in)
    assert "Line 2: <code>mode</code> must be one of" in shown and "Line 3: <code>identity</code>" in shown
    assert "This is a saved build" in shown and "This is the soul" in shown
    assert SystemBuild.objects.count() == 3
    settings_of(workspace, "[system_prompt\n")
    assert "Line 1:" in page(signed_in)
    page(signed_in, "full.txt", status=404)
    page(signed_in, "compare/?from=now/full&to=now/none")
    assert signed_in.post(f"{URL}keep/", {"mode": "full"}).status_code == 404


def test_skills_outside_are_read_where_the_operator_names_their_folder(
    signed_in: Client,
    workspace: Workspace,
    tmp_path_factory: pytest.TempPathFactory,
    settings: Any,
) -> None:
    shared = tmp_path_factory.mktemp("shared")
    put(shared, "team/gmail/SKILL.md", "---\nname: gmail\ndescription: Search mail\n---\n")
    settings_of(workspace, f'[system_prompt.skills]\ndirs = ["{shared}/team"]\n')
    assert "only folders that the operator allows are read" in page(signed_in)
    assert "gmail" not in built(workspace)
    settings.STUDIO_SKILL_ROOTS = (shared,)
    assert "only folders that the operator allows are read" not in page(signed_in)
    assert "<name>gmail</name>" in built(workspace)


def test_odd_folders_are_told_and_never_an_error(
    signed_in: Client, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = workspace.folder
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("SECRET")
    for name in ("SOUL.md", "USER.md", "IDENTITY.md"):
        (folder / name).unlink()
    (folder / "SOUL.md").symlink_to(outside)
    (folder / "USER.md").symlink_to(folder / "USER.md")
    (folder / "IDENTITY.md").write_bytes(bytes(range(256)))
    (folder / "skills" / "loop").symlink_to(folder / "skills")
    put(folder, "skills/colon/SKILL.md", "---\nname: colon\ndescription: Use when: always & <b>\n---\n")
    put(folder, "skills/none/SKILL.md", "no front matter")
    os.mkfifo(folder / "skills" / "pdf" / "pipe")
    put(folder, "HEARTBEAT.md", "</code></pre><script>alert(1)</script>\r\n\x1b[31m\u202e")
    assert "<script>alert" not in signed_in.get(URL).content.decode()
    assert "<script>alert" not in signed_in.get(f"{URL}compare/").content.decode()
    shown = page(signed_in)
    assert "SECRET" not in shown
    assert "a symbolic link to outside the workspace" in shown and "points to itself" in shown
    assert "is not UTF-8 text" in shown and "does not begin with front matter" in shown
    assert "read line by line instead" in shown
    (folder / "configs").symlink_to(outside.parent)
    assert "is a symbolic link" in page(signed_in)


def test_a_folder_that_is_gone_or_left_the_roots_shows_nothing_kept(
    signed_in: Client, workspace: Workspace
) -> None:
    page(signed_in)
    kept = dict(SystemBuild.objects.values_list("mode", "pk"))
    Workspace.objects.update(path="/etc")
    for path in ("", "compare/", f"compare/?from={kept['full']}&to={kept['minimal']}"):
        shown = page(signed_in, path)
        assert "not in an allowed folder" in shown and "This is the soul" not in shown
    Workspace.objects.update(path=str(workspace.folder / "gone"))
    assert "does not exist" in page(signed_in)


def test_a_new_text_is_kept_once_and_head_keeps_nothing(signed_in: Client, workspace: Workspace) -> None:
    signed_in.head(URL)
    assert SystemBuild.objects.count() == 0
    page(signed_in)
    page(signed_in)
    assert sorted(SystemBuild.objects.values_list("mode", flat=True)) == ["full", "minimal", "none"]
    put(workspace.folder, "HEARTBEAT.md", "other\n")
    page(signed_in)
    assert SystemBuild.objects.count() == 5
    assert SystemBuild.objects.filter(mode="full").first().prompt == built(workspace)  # type: ignore[union-attr]


def test_a_note_goes_to_the_build_that_is_kept_already(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    page(signed_in)
    answer = signed_in.post(f"{URL}keep/", {"mode": "full", "note": " before  the move "}, follow=True)
    assert "before the move" in answer.content.decode()
    kept = SystemBuild.objects.get(mode="full")
    assert (kept.note, kept.by) == ("before the move", person)
    refused = signed_in.post(f"{URL}keep/", {"mode": "full", "note": "x" * 201})
    assert refused.status_code == 422 and "x" * 201 in refused.content.decode()


def test_the_oldest_without_a_note_make_room(workspace: Workspace) -> None:
    first = built(workspace)
    row = {"mode": "full", "built": first.as_json()}
    for number in range(MOST_KEPT):
        note = "mine" if number == 0 else ""
        workspace.system_builds.create(
            sha256=str(number), at=NOW + timedelta(minutes=number), note=note, **row
        )
    assert keep(workspace, first, at=NOW + timedelta(days=1)) == "kept"
    assert keep(workspace, first, at=NOW + timedelta(days=2)) == "noted"
    left = list(workspace.system_builds.values_list("sha256", flat=True))
    assert len(left) == MOST_KEPT
    assert "0" in left and "1" not in left and left[0] == first.sha256
    workspace.system_builds.update(note="all", sha256="x")
    keep(workspace, first, at=NOW + timedelta(days=3))
    assert not workspace.system_builds.filter(sha256=first.sha256).exists()


def test_what_no_row_should_hold_is_not_kept(signed_in: Client, workspace: Workspace) -> None:
    settings_of(workspace, '[system_prompt]\nextra_context = "a\\u0000b"\n')
    page(signed_in)
    assert keep(workspace, built(workspace), at=NOW) == "unwritable"
    settings_of(workspace, "[system_prompt.bootstrap]\nbootstrapMaxChars = 1000000\n")
    put(workspace.folder, "SOUL.md", "long " * (LONGEST_KEPT // 4))
    assert "Shortened" in page(signed_in)
    assert not SystemBuild.objects.filter(mode="full").exists()
    answer = signed_in.post(f"{URL}keep/", {"mode": "full"}, follow=True)
    assert "too long to be saved" in answer.content.decode()


def test_an_edit_of_heartbeat_keeps_the_prefix_through_user(signed_in: Client, workspace: Workspace) -> None:
    page(signed_in)
    put(workspace.folder, "HEARTBEAT.md", "This is something else: 別.\n")
    shown = page(signed_in, "compare/")
    assert '<dd id="reaches">USER.md</dd>' in tight(shown)
    assert "The first difference: Project Context" in shown
    old = SystemBuild.objects.get(mode="full")
    common, found, _ = old.prompt.text.partition("## HEARTBEAT.md\n\nThis is ")
    assert f'value="{len((common + found).encode())}"' in shown
    assert "<del>the heartbeat" in shown and "<ins>something else: 別." in shown
    assert '<tr class="changed"' in shown and 'href="/models/"' in shown


def test_any_two_builds_are_compared_and_rows_come_alone(signed_in: Client, workspace: Workspace) -> None:
    shown = page(signed_in, "compare/")
    assert "two modes are compared" in shown
    assert (
        "The later build does not have this section: Not included in the mode <code>minimal</code>" in shown
    )
    assert "Both texts are identical." in page(signed_in, "compare/?from=now/none&to=now/none")
    rows = page(signed_in, "compare/?from=now/full&to=now/minimal&rows=text.0-2")
    assert "<html" not in rows and "<tbody" in rows
    page(signed_in, "compare/?from=999&to=now/full", status=404)
    for query in ("from=now/half", "to=0", "open=team.1-2", "from=" + "9" * 30):
        page(signed_in, f"compare/?{query}", status=400)


def test_yesterdays_build_is_what_a_comparison_begins_with(workspace: Workspace) -> None:
    row = {"mode": "full", "built": {}}
    for sha256, hours in (("old", 40), ("yesterday", 20), ("today", 1)):
        workspace.system_builds.create(sha256=sha256, at=NOW - timedelta(hours=hours), **row)
    found = build_before(workspace, "full", "now", NOW)
    assert found is not None and found.sha256 == "yesterday"
    workspace.system_builds.filter(at__lt=NOW - timedelta(hours=2)).delete()
    found = build_before(workspace, "full", "now", NOW)
    assert found is not None and found.sha256 == "today"
    assert build_before(workspace, "full", "today", NOW) is None


def test_minimums_are_the_studios_own_where_it_has_any(db: None) -> None:
    LanguageModel.objects.all().delete()
    assert list(cache_minimums()) == list(CACHE_MINIMUMS)
    for name in ("one", "two"):
        LanguageModel.objects.create(
            name=name, provider="P", cache_minimum=2048, cache_step=64, as_of=NOW.date()
        )
    LanguageModel.objects.create(name="no cache", provider="P", as_of=NOW.date())
    (only,) = cache_minimums()
    assert (only.models, only.tokens, only.step, only.as_of) == ("one, two", 2048, 64, NOW.date())


def test_the_page_leads_to_where_the_settings_are_written(
    signed_in: Client, workspace: Workspace, person: User
) -> None:
    make_set(person)
    PromptSet.objects.update(holds=FileKind.SYSTEM, name="Agents <b>")
    written = PromptSet.objects.get()
    link = f'<a href="{written.get_absolute_url()}">Agents <b></a>'
    assert f"Settings are edited in: {link}" in tight(page(signed_in))
    version = written.versions.get()
    label = Label.objects.create(prompt_set=written, name="live", version=version, moved_at=NOW)
    Workspace.objects.update(system_label=label)
    assert f"The settings follow {link}" in tight(page(signed_in))
