"""Exports write a file whole and never over an edit; intents and receipts tell what became of them."""

import json
import resource
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError

import studio.workspaces.exports.writing
from builder.files.writing import turn
from builder.jail import JailPool
from studio.models import Export, ExportReceipt, Label, PromptSet, PromptVersion, Workspace
from studio.preview.saving import Refused
from studio.prompts.models import VersionConflict
from studio.workspaces.exports.models import Outcome, hash_of
from studio.workspaces.exports.plan import Target, plan, trial
from studio.workspaces.exports.reconciling import reconcile
from studio.workspaces.exports.undoing import CannotUndo, undo
from studio.workspaces.exports.writing import STEPS, Order, confirm
from studio.workspaces.state import state_of, states_of
from tests.hanging import HANGS
from tests.studio.clock import NOW
from tests.studio.editing import make_context
from tests.studio.workspaces.exports.confirming import (
    file_of,
    make_set,
    make_workspace,
    order,
    prompt_file,
    templates,
    version,
)


@pytest.fixture
def research(person: User) -> PromptSet:
    return make_set("research", person, "one", "two", "three")


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    settings.STUDIO_WORKSPACE_ROOTS = (tmp_path,)
    return tmp_path


@pytest.fixture
def workspace(root: Path, research: PromptSet) -> Workspace:
    """Its file holds version 1."""
    return make_workspace(root / "mine", word="one")


def export(
    what: PromptVersion, *orders: Order, by: User, batch: UUID | None = None, **more: object
) -> list[tuple[str, str]]:
    """What each workspace's receipt says."""
    batch = batch or uuid4()
    confirm(what, orders, batch=batch, by=by, at=NOW, **more)  # type: ignore[arg-type]
    return outcomes(batch)


def planned(what: PromptVersion, person: User, *workspaces: Workspace) -> list[Target]:
    return plan(what, states_of(workspaces), owner=person, today=NOW.date())


def outcomes(batch: UUID) -> list[tuple[str, str]]:
    rows = Export.objects.filter(batch=batch).order_by("workspace__slug")
    return [(each.workspace.slug, each.receipt.outcome) for each in rows]


def content(workspace: Workspace) -> bytes | None:
    path = prompt_file(workspace.folder)
    return path.read_bytes() if path.exists() else None


# --- what it writes ----------------------------------------------------------------------


def test_an_export_leaves_intent_and_receipt(workspace: Workspace, research: PromptSet, person: User) -> None:
    before = content(workspace)
    assert export(version(research, 3), order(workspace), by=person, label_name="production") == [
        ("mine", "written")
    ]
    after = content(workspace)
    assert after == file_of(templates("three"))
    made = Export.objects.get()
    assert (bytes(made.before), bytes(made.after)) == (before, after)
    assert (made.version, made.label_name, made.by) == (version(research, 3), "production", person)
    assert made.receipt.hash_found == made.hash_after and not made.receipt.reconciled


def test_everything_else_in_the_file_stays(workspace: Workspace, research: PromptSet, person: User) -> None:
    path = prompt_file(workspace.folder)
    path.write_bytes(b"# mine\n[other]\nkey = 1  # keep\n\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    export(version(research, 2), order(workspace), by=person)
    written = path.read_bytes()
    assert written.startswith(b"# mine\n[other]\nkey = 1  # keep\n\n")
    assert b"two\r\n" in written and b"one" not in written.partition(b"[prompt_builder]")[2]


def test_a_missing_file_is_made_with_its_folder(root: Path, research: PromptSet, person: User) -> None:
    workspace = make_workspace(root / "new")
    (root / "new" / "configs").rmdir()
    assert export(version(research, 1), order(workspace), by=person) == [("new", "written")]
    made = Export.objects.get()
    assert made.before is None and made.hash_before == "" and content(workspace) == bytes(made.after)


def test_a_file_that_is_so_already_is_not_touched(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    inode = prompt_file(workspace.folder).stat().st_ino
    assert export(version(research, 1), order(workspace), by=person) == [("mine", "unchanged")]
    assert prompt_file(workspace.folder).stat().st_ino == inode


def test_the_file_that_mixseek_reads_is_written(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    (workspace.folder / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "prompts/team.toml"\n'
    )
    target = planned(version(research, 2), person, workspace)[0]
    assert (target.standing, target.state.relative, target.state.named_by) == (
        "new",
        "prompts/team.toml",
        "configs/orchestrator.toml:2",
    )
    export(version(research, 2), Order(workspace, ""), by=person)
    assert (workspace.folder / "prompts" / "team.toml").read_bytes() == file_of(templates("two"))
    assert content(workspace) == file_of(templates("one"))


def test_a_database_named_as_the_prompt_file_is_never_overwritten(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    (workspace.folder / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "mixseek.db"\n'
    )
    (workspace.folder / "mixseek.db").write_bytes(b"years of runs")
    target = planned(version(research, 2), person, workspace)[0]
    assert target.standing == "refused" and "mixseek.db, which is no TOML file" in target.reason
    seen = Order(workspace, hash_of(b"years of runs"), overwrite=True)
    assert export(version(research, 2), seen, by=person) == [("mine", "failed")]
    assert (workspace.folder / "mixseek.db").read_bytes() == b"years of runs"


def test_a_broken_orchestrator_file_keeps_everything_as_it_is(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    (workspace.folder / "configs" / "orchestrator.toml").write_text("[orchestrator\n")
    target = planned(version(research, 2), person, workspace)[0]
    assert target.standing == "refused" and "orchestrator.toml" in target.reason
    assert export(version(research, 2), order(workspace), by=person) == [("mine", "failed")]
    assert content(workspace) == file_of(templates("one"))


# --- what it never does ------------------------------------------------------------------


def test_an_invalid_version_cannot_be_exported(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    bad = research.save_version(templates("{{ tema }}"), base=3, message="bad", author=person, at=NOW)
    with pytest.raises(Refused) as refused:
        planned(bad, person, workspace)
    assert [finding.kind for finding in refused.value.findings] == ["team", "evaluator", "judgment"]
    with pytest.raises(Refused):
        export(bad, order(workspace), by=person)
    assert not Export.objects.exists() and content(workspace) == file_of(templates("one"))


@pytest.mark.slow
def test_a_version_that_meets_a_limit_cannot_be_exported(
    workspace: Workspace, research: PromptSet, person: User, own_jail: JailPool
) -> None:
    endless = templates(HANGS)
    bad = research.save_version(endless, base=3, message="slow", author=person, at=NOW)
    with pytest.raises(Refused) as refused:
        export(bad, order(workspace), by=person)
    assert refused.value.findings[0].kind == "team"
    assert not Export.objects.exists()


def test_a_branch_that_never_ends_and_no_context_reaches_cannot_be_exported(
    workspace: Workspace, research: PromptSet, person: User, own_jail: JailPool
) -> None:
    dormant = "a\n{% if 'Q4 forecast' in user_prompt %}\n" + HANGS + "{% endif %}\n"
    texts = replace(templates("x"), team_user_prompt=dormant)
    bad = research.save_version(texts, base=3, message="dormant", author=person, at=NOW)
    with pytest.raises(Refused) as refused:
        export(bad, order(workspace), by=person)
    (finding,) = refused.value.findings
    assert (finding.kind, finding.line, finding.where) == ("team", 3, "If this branch is taken")
    assert not Export.objects.exists()


def test_lines_that_nothing_leads_to_are_named_before_an_export(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    text = "a\n{% for x in [] %}\nnever\n{% endfor %}\n{% if round_number > 99 %}\nlater\n{% endif %}\n"
    texts = replace(templates("x"), team_user_prompt=text)
    version = research.save_version(texts, base=3, message="odd", author=person, at=NOW)
    (hint,) = [finding for finding in trial(version, [state_of(workspace)], owner=person) if not finding.code]
    assert (hint.severity, hint.text) == ("hint", "Not checked, because no sample covers them: lines 3.")


def test_a_version_older_than_the_context_it_fails_in_cannot_be_exported(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    texts = templates("x")
    old = research.save_version(
        type(texts)("{{ 1 // (round_number - 2) }}", texts.evaluator_user_prompt, "j"),
        base=3,
        message="divides",
        author=person,
        at=NOW,
    )
    make_context("second", rounds=2, prompt_set=research)
    with pytest.raises(Refused):
        export(old, order(workspace), by=person)
    assert not Export.objects.exists()


def test_a_change_since_the_page_is_a_conflict_and_the_other_workspace_is_done(
    workspace: Workspace, root: Path, research: PromptSet, person: User
) -> None:
    other = make_workspace(root / "other", word="one")
    seen = order(workspace)
    prompt_file(workspace.folder).write_bytes(file_of(templates("two")))
    assert export(version(research, 3), seen, order(other), by=person) == [
        ("mine", "failed"),
        ("other", "written"),
    ]
    receipt = ExportReceipt.objects.get(outcome=Outcome.FAILED)
    assert receipt.error_code == "file-changed"
    assert content(workspace) == file_of(templates("two"))
    assert content(other) == file_of(templates("three"))


def test_a_hand_edit_is_not_overwritten_unless_knowingly(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    edit = file_of(templates("by hand"))
    prompt_file(workspace.folder).write_bytes(edit)
    assert export(version(research, 3), order(workspace), by=person) == [("mine", "failed")]
    assert content(workspace) == edit and research.versions.count() == 3

    assert export(version(research, 3), order(workspace, overwrite=True), by=person) == [("mine", "written")]
    kept = Export.objects.latest("pk").kept_as
    assert kept is not None and kept.templates == templates("by hand")
    assert (kept.number, kept.origin, kept.author) == (4, "adopted", person)
    assert "Mine" in kept.message and kept.origin_note == "mine: configs/prompt_builder.toml"


def test_a_kept_edit_goes_to_the_set_that_the_workspace_follows(
    root: Path, research: PromptSet, person: User
) -> None:
    other = make_set("other", person, "four")
    Label.objects.move("production", version(other, 1), by=person, at=NOW)
    workspace = make_workspace(root / "follower", other.labels.get(), word="by hand")
    export(version(research, 3), order(workspace, overwrite=True), by=person)
    kept = Export.objects.get().kept_as
    assert kept is not None and kept.prompt_set == other


@pytest.mark.slow
@pytest.mark.parametrize(
    "found",
    [b"not [ toml", b"\xef\xbb\xbf[prompt_builder]\n", b"\xff\xfe", b"prompt_builder = 1\n"],
    ids=["broken", "bom", "no text", "scalar"],
)
def test_a_broken_file_is_replaced_as_a_whole_and_its_bytes_are_kept(
    workspace: Workspace, research: PromptSet, person: User, found: bytes
) -> None:
    prompt_file(workspace.folder).write_bytes(found)
    target = planned(version(research, 3), person, workspace)[0]
    assert target.standing == "edited" and target.unmergeable is not None
    export(version(research, 3), order(workspace, overwrite=True), by=person)
    made = Export.objects.get()
    assert (bytes(made.before), made.kept_as) == (found, None)
    assert content(workspace) == file_of(templates("three"))
    undo(made, batch=uuid4(), by=person, at=NOW)
    assert content(workspace) == found


def test_a_file_with_some_of_the_templates_needs_a_knowing_overwrite(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    path = prompt_file(workspace.folder)
    path.write_text('[prompt_builder]\nteam_user_prompt = "mine alone"\n')
    assert export(version(research, 3), order(workspace), by=person) == [("mine", "failed")]
    path.write_text("# nothing but a comment\n[prompt_builder]\n")
    assert export(version(research, 3), order(workspace), by=person) == [("mine", "written")]
    assert path.read_text().startswith("# nothing but a comment\n[prompt_builder]\n")


def test_a_file_that_would_be_replaced_whole_is_never_overwritten_unasked(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    """Its templates are those of a version; what else it holds is in none."""
    path, texts = prompt_file(workspace.folder), vars(templates("one"))
    inline = ", ".join(f"{name} = {json.dumps(text)}" for name, text in texts.items())
    found = f"# by hand\nprompt_builder = {{{inline}}}\n[notes]\nkeep = 1\n".encode()
    path.write_bytes(found)
    target = planned(version(research, 3), person, workspace)[0]
    assert (target.state.version, target.standing) == (version(research, 1), "edited")
    assert target.unmergeable is not None
    assert export(version(research, 3), order(workspace), by=person) == [("mine", "failed")]
    assert path.read_bytes() == found
    assert export(version(research, 3), order(workspace, overwrite=True), by=person) == [("mine", "written")]
    made = Export.objects.latest("pk")
    assert (bytes(made.before), made.kept_as) == (found, version(research, 1))
    assert research.versions.count() == 3


def test_a_kept_edit_has_the_line_ends_that_templates_have(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    path = prompt_file(workspace.folder)
    path.write_bytes(path.read_bytes().replace(b"one\n", b"by hand\\r\n", 1))
    export(version(research, 3), order(workspace, overwrite=True), by=person)
    made = Export.objects.get()
    assert made.kept_as is not None and "\r" not in made.kept_as.team_user_prompt
    undo(made, batch=uuid4(), by=person, at=NOW)
    assert Export.objects.latest("pk").version == made.kept_as


def test_an_edit_that_cannot_be_kept_just_now_is_not_overwritten(
    workspace: Workspace, research: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody saves versions of the set all the time."""

    def busy(*args: object, **more: object) -> None:
        raise VersionConflict

    monkeypatch.setattr(studio.workspaces.exports.writing, "save_as_version", busy)
    other = make_workspace(workspace.folder.parent / "other", word="one")
    edit = file_of(templates("by hand"))
    prompt_file(workspace.folder).write_bytes(edit)
    both = (order(workspace, overwrite=True), order(other))
    assert export(version(research, 3), *both, by=person) == [("mine", "failed"), ("other", "written")]
    assert content(workspace) == edit


def test_a_file_that_two_workspaces_name_is_written_for_the_first(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    inner = make_workspace(workspace.folder / "inner", word="one")
    orchestrator = workspace.folder / "configs" / "orchestrator.toml"
    orchestrator.write_text('[orchestrator]\nprompt_builder_config = "inner/configs/prompt_builder.toml"\n')
    both = [order(inner), Order(workspace, order(inner).seen)]
    targets = planned(version(research, 2), person, inner, workspace)
    assert [target.standing for target in targets] == ["ready", "refused"]
    assert "Inner" in targets[1].reason
    assert export(version(research, 2), *both, by=person) == [("inner", "written"), ("mine", "failed")]
    assert content(inner) == file_of(templates("two"))


def test_two_files_in_one_folder_take_their_turn_together(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    inner = make_workspace(workspace.folder / "inner", word="one")
    (workspace.folder / "configs" / "orchestrator.toml").write_text(
        '[orchestrator]\nprompt_builder_config = "inner/configs/other.toml"\n'
    )
    (inner.folder / "configs" / "other.toml").write_bytes(file_of(templates("one")))
    both = [order(inner), Order(workspace, order(inner).seen)]
    assert export(version(research, 2), *both, by=person) == [("inner", "written"), ("mine", "written")]
    assert (inner.folder / "configs" / "other.toml").read_bytes() == content(inner)


def test_the_same_confirmation_twice_writes_once(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    batch, sent = uuid4(), order(workspace)
    assert export(version(research, 3), sent, by=person, batch=batch) == [("mine", "written")]
    prompt_file(workspace.folder).write_bytes(file_of(templates("one")))
    assert export(version(research, 3), sent, by=person, batch=batch) == [("mine", "written")]
    assert Export.objects.count() == 1 and content(workspace) == file_of(templates("one"))


def test_a_confirmation_that_grows_does_what_is_new(
    workspace: Workspace, root: Path, research: PromptSet, person: User
) -> None:
    batch = uuid4()
    other = make_workspace(root / "other", word="one")
    export(version(research, 3), order(workspace), by=person, batch=batch)
    both = export(version(research, 3), order(workspace), order(other), by=person, batch=batch)
    assert both == [("mine", "written"), ("other", "written")]


@pytest.mark.parametrize("what", ["link", "hard link", "protected", "folder link", "gone"])
def test_what_must_not_be_written_is_refused_with_a_sentence(
    workspace: Workspace, research: PromptSet, person: User, root: Path, what: str
) -> None:
    path = prompt_file(workspace.folder)
    seen = order(workspace)
    if what == "link":
        path.rename(root / "elsewhere.toml")
        path.symlink_to(root / "elsewhere.toml")
    elif what == "hard link":
        path.with_name("other.toml").hardlink_to(path)
    elif what == "protected":
        path.chmod(0o444)
    elif what == "folder link":
        path.parent.rename(root / "away")
        path.parent.symlink_to(root / "away")
    else:
        workspace.folder.rename(root / "moved")
    target = planned(version(research, 3), person, workspace)[0]
    assert target.standing == "refused" and target.reason
    assert export(version(research, 3), seen, by=person) == [("mine", "failed")]
    assert Export.objects.get().receipt.error_code
    assert b"three" not in b"".join(each.read_bytes() for each in root.rglob("*.toml"))


def test_a_workspace_that_left_the_roots_is_refused(
    workspace: Workspace, research: PromptSet, person: User, settings: Any, root: Path
) -> None:
    seen = order(workspace)
    settings.STUDIO_WORKSPACE_ROOTS = (root / "elsewhere",)
    assert export(version(research, 3), seen, by=person) == [("mine", "failed")]
    assert content(workspace) == file_of(templates("one"))


@pytest.mark.parametrize("step", [*STEPS[: STEPS.index("replaced")]])
def test_a_link_that_takes_the_files_place_in_between_is_left_alone(
    workspace: Workspace, research: PromptSet, person: User, root: Path, step: str
) -> None:
    away = root / "away.toml"
    away.write_bytes(b"elsewhere")

    def swap(told: str) -> None:
        if told == step:
            prompt_file(workspace.folder).unlink()
            prompt_file(workspace.folder).symlink_to(away)

    assert export(version(research, 3), order(workspace), by=person, on_step=swap) == [("mine", "failed")]
    assert Export.objects.get().receipt.error_code == "file-link"
    assert away.read_bytes() == b"elsewhere" and prompt_file(workspace.folder).is_symlink()


@pytest.mark.parametrize("step", [*STEPS[: STEPS.index("replaced")]])
def test_an_edit_in_between_is_left_alone(
    workspace: Workspace, research: PromptSet, person: User, step: str
) -> None:
    def edit(told: str) -> None:
        if told == step:
            prompt_file(workspace.folder).write_bytes(b"edited")

    assert export(version(research, 3), order(workspace), by=person, on_step=edit) == [("mine", "failed")]
    receipt = Export.objects.get().receipt
    assert (receipt.error_code, receipt.hash_found) == ("file-changed", hash_of(b"edited"))
    assert content(workspace) == b"edited"


def test_a_file_that_may_not_grow_stays_and_the_next_one_is_written(
    workspace: Workspace, root: Path, research: PromptSet, person: User
) -> None:
    other = make_workspace(root / "other", word="one")
    limits, told = resource.getrlimit(resource.RLIMIT_FSIZE), list[str]()

    def limit(step: str) -> None:
        # For the first file alone, and not while the database writes.
        told.append(step)
        small = step == "compared" and told.count(step) == 1
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 if small else limits[0], limits[1]))

    found = export(version(research, 3), order(workspace), order(other), by=person, on_step=limit)
    assert found == [("mine", "failed"), ("other", "written")]
    assert ExportReceipt.objects.get(outcome="failed").error_code == "file-unwritable"
    assert content(workspace) == file_of(templates("one"))


def test_intents_are_recorded_all_together_or_not_at_all(
    workspace: Workspace, root: Path, research: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_workspace(root / "other", word="one")
    save = Export.save

    def refuse(self: Export) -> None:
        if self.workspace == other:
            raise DatabaseError("disk full")
        save(self)

    monkeypatch.setattr(Export, "save", refuse)
    with pytest.raises(DatabaseError):
        export(version(research, 3), order(workspace), order(other), by=person)
    assert not Export.objects.exists() and content(workspace) == file_of(templates("one"))


def test_a_receipt_that_the_database_refuses_is_mended_later(
    workspace: Workspace, root: Path, research: PromptSet, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, batch = make_workspace(root / "other", word="one"), uuid4()
    create = ExportReceipt.objects.create

    def refuse(**fields: Any) -> ExportReceipt:
        if fields["export"].workspace == workspace:
            raise DatabaseError("disk full")
        made: ExportReceipt = create(**fields)
        return made

    monkeypatch.setattr(ExportReceipt.objects, "create", refuse)
    confirm(version(research, 3), [order(workspace), order(other)], batch=batch, by=person, at=NOW)
    monkeypatch.undo()
    assert [each.export.workspace.slug for each in ExportReceipt.objects.all()] == ["other"]
    reconcile(NOW)
    assert outcomes(batch) == [("mine", "written"), ("other", "written")]


# --- the way back ------------------------------------------------------------------------


def test_an_undo_brings_back_every_byte_and_can_be_undone(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    path = prompt_file(workspace.folder)
    path.write_bytes(b"# odd \xe3\x81\x82\r\n" + path.read_bytes())
    before = content(workspace)
    export(version(research, 3), order(workspace), by=person)
    after = content(workspace)
    first = Export.objects.get()
    batch = uuid4()
    undo(first, batch=batch, by=person, at=NOW)
    assert content(workspace) == before and outcomes(batch) == [("mine", "written")]
    back = Export.objects.get(batch=batch)
    assert (back.undoes, back.version, back.hash_before) == (first, version(research, 1), first.hash_after)
    undo(first, batch=batch, by=person, at=NOW)  # sent twice
    assert Export.objects.count() == 2
    undo(back, batch=uuid4(), by=person, at=NOW)
    assert content(workspace) == after


def test_undoing_a_first_file_takes_it_away(root: Path, research: PromptSet, person: User) -> None:
    workspace = make_workspace(root / "new")
    export(version(research, 1), order(workspace), by=person)
    undo(Export.objects.get(), batch=uuid4(), by=person, at=NOW)
    assert content(workspace) is None
    back = Export.objects.latest("pk")
    assert (back.after, back.hash_after, back.version) == (None, "", None)
    undo(back, batch=uuid4(), by=person, at=NOW)
    assert content(workspace) == file_of(templates("one"))


def test_an_undo_is_refused_once_the_file_changed(
    workspace: Workspace, research: PromptSet, person: User
) -> None:
    export(version(research, 3), order(workspace), by=person)
    made = Export.objects.get()
    prompt_file(workspace.folder).write_bytes(b"edited")
    with pytest.raises(CannotUndo, match="would lose what was changed"):
        undo(made, batch=uuid4(), by=person, at=NOW)
    prompt_file(workspace.folder).unlink()
    with pytest.raises(CannotUndo, match="no longer there"):
        undo(made, batch=uuid4(), by=person, at=NOW)
    assert Export.objects.count() == 1


def test_what_wrote_nothing_cannot_be_undone(workspace: Workspace, research: PromptSet, person: User) -> None:
    export(version(research, 1), order(workspace), by=person)
    with pytest.raises(CannotUndo, match="wrote nothing"):
        undo(Export.objects.get(), batch=uuid4(), by=person, at=NOW)


# --- cut off -----------------------------------------------------------------------------


class CutOff(BaseException):
    """In place of a kill: nothing of ours catches it. Processes are killed in test_export_faults."""


@pytest.mark.parametrize("step", STEPS)
def test_after_an_export_was_cut_off_the_receipt_tells_the_truth(
    workspace: Workspace, research: PromptSet, person: User, step: str
) -> None:
    def cut(told: str) -> None:
        if told == step:
            raise CutOff

    with pytest.raises(CutOff):
        export(version(research, 3), order(workspace), by=person, on_step=cut)
    if step == "kept":
        assert not Export.objects.exists()
        return
    made = Export.objects.get()
    assert (step == "receipted") == hasattr(made, "receipt")
    reconcile(NOW)
    written = STEPS.index(step) >= STEPS.index("replaced")
    assert content(workspace) == file_of(templates("three" if written else "one"))
    receipt = ExportReceipt.objects.get(export=made)
    assert receipt.outcome == ("written" if written else "failed")
    assert receipt.reconciled == (step != "receipted")
    assert reconcile(NOW) == []


@pytest.fixture
def cut_off(workspace: Workspace, research: PromptSet, person: User) -> Iterator[Export]:
    """An export that was killed right after its write."""

    def cut(told: str) -> None:
        if told == "done":
            raise CutOff

    with pytest.raises(CutOff):
        export(version(research, 3), order(workspace), by=person, on_step=cut)
    yield Export.objects.get()


def test_an_edit_after_the_crash_makes_it_unclear(cut_off: Export, workspace: Workspace) -> None:
    prompt_file(workspace.folder).write_bytes(b"edited")
    assert [receipt.outcome for receipt in reconcile(NOW)] == ["unclear"]


def test_an_export_under_way_elsewhere_is_left_alone(cut_off: Export, workspace: Workspace) -> None:
    with turn(prompt_file(workspace.folder), workspace.folder):
        assert reconcile(NOW + timedelta(days=1)) == []
    assert [receipt.outcome for receipt in reconcile(NOW)] == ["written"]


def test_a_folder_that_is_gone_for_now_is_waited_for(cut_off: Export, workspace: Workspace) -> None:
    aside = workspace.folder.with_name("aside")
    workspace.folder.rename(aside)
    assert reconcile(NOW + timedelta(minutes=1)) == []
    aside.rename(workspace.folder)
    assert [receipt.outcome for receipt in reconcile(NOW + timedelta(minutes=2))] == ["written"]


def test_a_folder_that_stays_away_makes_it_unclear(cut_off: Export, workspace: Workspace) -> None:
    workspace.folder.rename(workspace.folder.with_name("aside"))
    assert [receipt.outcome for receipt in reconcile(NOW + timedelta(hours=1))] == ["unclear"]


def test_the_next_export_settles_what_was_cut_off_before_it(
    cut_off: Export, workspace: Workspace, research: PromptSet, person: User
) -> None:
    export(version(research, 2), order(workspace), by=person)
    cut_off.refresh_from_db()
    assert (cut_off.receipt.outcome, cut_off.receipt.reconciled) == ("written", True)


def test_another_workspace_that_names_the_file_settles_it_too(
    cut_off: Export, workspace: Workspace, research: PromptSet, person: User
) -> None:
    outer = Workspace.objects.create(
        slug="outer", name="Outer", path=str(workspace.folder.parent), created_at=NOW
    )
    (outer.folder / "configs").mkdir()
    (outer.folder / "configs" / "orchestrator.toml").write_text(
        f'[orchestrator]\nprompt_builder_config = "{workspace.folder.name}/configs/prompt_builder.toml"\n'
    )
    export(version(research, 2), Order(outer, order(workspace).seen), by=person)
    cut_off.refresh_from_db()
    assert cut_off.receipt.outcome == "written"


def test_what_was_cut_off_can_be_undone_at_once(cut_off: Export, workspace: Workspace, person: User) -> None:
    undo(cut_off, batch=uuid4(), by=person, at=NOW)
    assert content(workspace) == file_of(templates("one"))
