"""Sets that hold `system_prompt.toml`: the same drafts, versions, histories and comparisons as templates."""

import html
import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from builder.jail import JailPool
from studio.models import Draft, PromptSet, PromptVersion, SampleContext
from studio.preview.saving import Refused, save_as_version
from studio.prompts.file_kinds import DEFAULT_SYSTEM
from studio.prompts.history import history_page, words_of
from studio.prompts.history_index import HistoryNote
from studio.prompts.system_text import read_text
from studio.prompts.texts import SystemText, Templates
from tests.studio.clock import NOW
from tests.studio.system.system_sets import fields, make_system_set, text

TYPO = text(more='dosc_path = "x"\n[system_prompt.tme]\ntimeFormat = "24"\n')


@pytest.fixture
def system_set(person: User) -> PromptSet:
    return make_system_set(person, text(), text("You are bold."))


def test_a_hash_of_templates_is_never_that_of_a_system_prompt() -> None:
    assert SystemText("").content_hash != Templates("", "", "").content_hash
    assert SystemText("a").content_hash != SystemText("b").content_hash


def test_the_first_text_can_be_used_as_it_is() -> None:
    read = read_text(DEFAULT_SYSTEM.system_prompt, owner="1")
    assert read.findings == ()
    settings = {each.name: each for each in read.settings}
    assert settings["bootstrap.bootstrapMaxChars"].value == "20000"
    assert settings["time.userTimezone"].given
    assert not settings["reply_tags"].given


def test_new_set_of_a_system_prompt_begins_with_the_usual_settings(signed_in: Client) -> None:
    sent = {"name": "Agents", "dialect": "mixseek", "start": "defaults", "holds": "system"}
    page = signed_in.post("/prompts/new/", sent, follow=True)
    made = PromptSet.objects.get(name="Agents")
    assert made.file_kind.is_system and made.kinds == ("system",)
    assert made.latest is not None and made.latest.templates == DEFAULT_SYSTEM
    said = page.content.decode()
    assert 'name="system_prompt"' in said and "team_user_prompt" not in said
    assert "bootstrap.bootstrapMaxChars" in said


def test_new_set_may_begin_empty(signed_in: Client, person: User) -> None:
    sent = {"name": "Agents", "dialect": "mixseek", "start": "empty", "holds": "system"}
    signed_in.post("/prompts/new/", sent)
    draft = Draft.objects.get(person=person)
    assert draft.templates == SystemText("")
    assert signed_in.get("/prompts/agents/edit/").status_code == 200


def test_draft_is_kept_and_becomes_a_version(signed_in: Client, system_set: PromptSet) -> None:
    wanted = text("You are kind.")
    answer = signed_in.post("/prompts/sys/draft/", fields(wanted.replace("\n", "\r\n"), base=2))
    assert answer.json()["revision"] == 1
    assert Draft.objects.get().templates == SystemText(wanted)
    saved = signed_in.post("/prompts/sys/save/", fields(wanted, base=2, revision=1, seq=2, message="Kinder"))
    assert saved.status_code == 302
    version = system_set.versions.first()
    assert version is not None and version.number == 3
    assert version.system_prompt == wanted and version.team_user_prompt == ""


def test_draft_without_its_text_is_refused_and_empties_nothing(signed_in: Client, person: User) -> None:
    make_system_set(person)
    signed_in.post("/prompts/sys/draft/", fields(text("You are kind.")))
    sent = fields("")
    del sent["system_prompt"]
    answer = signed_in.post("/prompts/sys/draft/", sent | {"team_user_prompt": "x"})
    assert answer.status_code == 400 and "system_prompt" in answer.json()["message"]
    assert Draft.objects.get().templates == SystemText(text("You are kind."))


def test_unknown_keys_refuse_a_version_with_their_lines(signed_in: Client, person: User) -> None:
    made = make_system_set(person)
    answer = signed_in.post("/prompts/sys/save/", fields(TYPO, message="try"))
    said = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-line="5"' in said and 'data-line="6"' in said
    assert "docs_path" in said and "Not saved: fix the problems below." in said
    assert made.versions.count() == 1 and Draft.objects.get().templates == SystemText(TYPO)


def test_broken_toml_is_one_finding_with_its_line() -> None:
    found = read_text("[system_prompt]\nmode = full\n", owner="1").findings
    assert [(each.kind, each.severity, each.line) for each in found] == [("system", "error", 2)]


def test_hint_does_not_keep_a_text_from_being_saved(person: User) -> None:
    made = make_system_set(person)
    wanted = text(more="[elsewhere]\nx = 1\n")
    assert [each.severity for each in read_text(wanted, owner="1").findings] == ["hint"]
    saved = save_as_version(made, SystemText(wanted), base=1, message="more", by=person, at=NOW)
    assert saved.number == 2


def test_preview_marks_the_typo_and_knows_what_was_meant(signed_in: Client, system_set: PromptSet) -> None:
    answer = signed_in.post("/prompts/sys/preview/", fields(TYPO), headers={"HX-Request": "true"})
    said = answer.content.decode()
    assert answer.status_code == 200 and 'data-state="problems"' in said
    found = json.loads(said.split('data-problems="')[1].split('"')[0].replace("&quot;", '"'))
    assert [(each["line"], each["replaces"], each["replacement"]) for each in found] == [
        (5, "dosc_path", "docs_path"),
        (6, "tme", "time"),
    ]
    plain = signed_in.post("/prompts/sys/preview/", fields(TYPO)).content.decode()
    assert "<html" in plain and "dosc_path" in plain


def test_preview_shows_the_settings_as_read(signed_in: Client, system_set: PromptSet) -> None:
    answer = signed_in.post("/prompts/sys/preview/", fields(text("Hm.")), headers={"HX-Request": "true"})
    assert 'data-state="text"' in answer.content.decode()
    assert "Hm." in answer.content.decode() and "identity_line" in answer.content.decode()


def test_without_the_jail_nothing_is_saved_and_nothing_lost(
    signed_in: Client, person: User, own_jail: JailPool
) -> None:
    made = make_system_set(person)
    own_jail.close()
    answer = signed_in.post("/prompts/sys/save/", fields(text("Later."), message="try"))
    assert answer.status_code == 503
    assert made.versions.count() == 1 and Draft.objects.get().templates == SystemText(text("Later."))


def test_two_writers_are_put_together(signed_in: Client, person: User) -> None:
    made = make_system_set(person, text(more='# Where\n# docs are\ndocs_path = "docs"\n'))
    other = text("You are bold.", '# Where\n# docs are\ndocs_path = "docs"\n')
    made.save_version(SystemText(other), base=1, message="other", author=person, at=NOW)
    mine = text(more='# Where\n# docs are\ndocs_path = "manual"\n')
    page = signed_in.post("/prompts/sys/save/", fields(mine, message="mine"))
    assert page.status_code == 409 and "system_prompt.toml" in page.content.decode()
    pin = page.content.decode().split('name="pin" value="')[1].split('"')[0]
    signed_in.post("/prompts/sys/conflict/", {"pin": pin, "system": "merged"})
    both = text("You are bold.", '# Where\n# docs are\ndocs_path = "manual"\n')
    assert Draft.objects.get().templates == SystemText(both)


def test_versions_are_compared_side_by_side_and_as_text(signed_in: Client, system_set: PromptSet) -> None:
    page = signed_in.get("/prompts/sys/compare/1...2").content.decode()
    assert "system_prompt.toml" in page and "bold" in page and "data-change" in page
    assert "Rendered prompts" not in page and "/matrix/" not in page
    plain = signed_in.get("/prompts/sys/compare/1...2.diff").content.decode()
    assert plain.startswith("--- sys/v1/system_prompt.toml") and '+identity_line = "You are bold."' in plain
    assert signed_in.get("/prompts/sys/compare/1...2?rendered=on").status_code == 200
    assert signed_in.get("/prompts/sys/compare/1...2?rows=system.0-2").status_code == 200
    assert signed_in.get("/prompts/sys/compare/1...2?rows=team.0-2").status_code == 404


def test_draft_is_compared_with_a_version(signed_in: Client, system_set: PromptSet) -> None:
    signed_in.post("/prompts/sys/draft/", fields(text("You are kind."), base=2))
    assert "kind" in signed_in.get("/prompts/sys/compare/2...draft").content.decode()


def test_history_finds_words_of_old_texts_and_can_be_indexed_anew(system_set: PromptSet) -> None:
    def found(query: str) -> list[int]:
        page = history_page(system_set, words_of(query), before=None, size=9)
        return [entry.version.number for entry in page.entries]

    assert (found("careful"), found("bold"), found("timid")) == ([1], [2], [])
    HistoryNote.objects.all().delete()
    call_command("reindex", verbosity=0)
    assert found("careful") == [1]


def test_old_text_is_restored(signed_in: Client, system_set: PromptSet) -> None:
    signed_in.post("/prompts/sys/versions/1/restore/", {"base": 2})
    assert system_set.versions.get(number=3).templates == SystemText(text())


def test_copy_holds_a_system_prompt_too(signed_in: Client, system_set: PromptSet) -> None:
    signed_in.post("/prompts/sys/duplicate/", {"name": "Other"})
    copy = PromptSet.objects.get(name="Other")
    assert copy.file_kind.is_system and copy.latest is not None
    assert copy.latest.templates == SystemText(text("You are bold."))


def test_pages_of_a_set_work_and_those_of_templates_say_why_not(
    signed_in: Client, system_set: PromptSet
) -> None:
    for page in ("", "settings/", "versions/1/", "edit/", "discard/"):
        expected = 404 if page == "discard/" else 200
        assert signed_in.get(f"/prompts/sys/{page}").status_code == expected, page
    for page in ("matrix/", "suggestions/", "scores/", "versions/1/runs/"):
        answer = signed_in.get(f"/prompts/sys/{page}")
        assert (
            answer.status_code == 404
            and "is a system prompt, which has no such page" in answer.content.decode()
        ), page
    assert signed_in.get("/contexts/?set=sys").status_code == 404
    coverage = {"kind": "team", "team_user_prompt": "x"}
    assert signed_in.post("/prompts/sys/coverage/", coverage).status_code == 404
    assert signed_in.get("/prompts/sys/edit/?kind=team").status_code == 400
    assert "/matrix/" not in signed_in.get("/prompts/sys/").content.decode()
    settings = {"name": "Renamed", "tags": "agents", "dialect": "mixseek"}
    assert signed_in.post("/prompts/sys/settings/", settings).status_code == 302
    assert "Renamed" in signed_in.get("/prompts/").content.decode()


def test_refused_text_raises_for_whoever_saves_without_a_page(person: User) -> None:
    made = make_system_set(person)
    with pytest.raises(Refused):
        save_as_version(made, SystemText("x"), base=1, message="x", by=person, at=NOW)
    assert PromptVersion.objects.count() == 1 and not SampleContext.objects.exists()


def test_no_link_of_its_pages_leads_nowhere(signed_in: Client, system_set: PromptSet) -> None:
    starts = ("", "edit/", "settings/", "versions/2/", "compare/1...2", "export/?version=2")
    pages = [signed_in.get(f"/prompts/sys/{each}").content.decode() for each in starts]
    found = {link.split("#")[0] for page in pages for link in re.findall(r'(?:href|hx-get)="(/[^"]+)"', page)}
    assert "/prompts/sys/versions/1/" in found
    broken = [link for link in sorted(found) if signed_in.get(html.unescape(link)).status_code >= 400]
    # There is no draft yet to be compared, put together or discarded; these links are hidden till then.
    drafts = ["compare/2...draft", "conflict/", "discard/"]
    assert broken == [f"/prompts/sys/{each}" for each in drafts]
