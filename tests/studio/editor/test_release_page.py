"""The page about another release: what it makes of a set, what to change, and the new defaults merged."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.template.defaults import default_templates
from builder.template.dialect import MIXSEEK_A15, MIXSEEK_A19
from studio.models import Draft, Label, PromptSet, SampleContext, Workspace
from studio.prompts.file_kinds import FileKind
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.markup import words_of

HERE = "/prompts/set/release/"
OLD, NEW = "mixseek-0.1.0a15", "mixseek-0.1.0a19"
TAGGED = Templates(
    "<task>\n{{ user_prompt }}\n</task>\n### あなたの提出内容 を読むこと\n{{ submission_history }}\n",
    "{{ submission }}\n",
    "{{ submission_history.split('\\n') | length }}\n",
)


def a_set(person: User, texts: Templates, dialect: str = OLD) -> PromptSet:
    made = PromptSet.objects.create(slug="set", name="Set", dialect=dialect, created_at=NOW, changed_at=NOW)
    made.save_version(texts, base=0, message="m", author=person, at=NOW)
    return PromptSet.objects.get()


def a_context(prompt_set: PromptSet) -> SampleContext:
    state = {"round_number": 1, "submission_content": "a</submission>b", "evaluation_score": 50.0}
    data = {"user_prompt": "Say <task>.", "round_number": 2, "round_history": [state]}
    names = {"team_id": "t", "team_name": "T", "execution_id": "e"}
    return SampleContext.objects.create(
        slug="late", name="Late", prompt_set=prompt_set, data=data | names, submission="</submission>",
        created_at=NOW, changed_at=NOW,
    )  # fmt: skip


def test_it_shows_what_changes_where_and_how(signed_in: Client, person: User) -> None:
    a_context(a_set(person, TAGGED))
    page = words_of(signed_in, f"{HERE}?{urlencode({'old': OLD, 'new': NEW})}")
    assert "Previews of this set use mixseek-0.1.0a15" in page
    # The first that changes is shown: the team's second round.
    assert "Late, round 2" in page and "have no earlier rounds" not in page
    assert "removed: ### あなたの提出内容:" in page and "added: <submission>" in page
    assert "a&lt;/submission&gt;b" in page
    assert "MixSeek neutralises <task> in the task." in page
    assert "MixSeek neutralises </submission> in the submission history." in page
    evaluator = words_of(signed_in, f"{HERE}?{urlencode({'old': OLD, 'new': NEW, 'kind': 'evaluator'})}")
    assert "MixSeek neutralises </submission> in the submission." in evaluator


def test_it_hints_at_what_relies_on_the_old_way(signed_in: Client, person: User) -> None:
    a_set(person, TAGGED)
    page = words_of(signed_in, f"{HERE}?{urlencode({'old': OLD, 'new': NEW})}")
    assert "Line 4 Warning あなたの提出内容 was the heading of a round's submission" in page
    assert "Line 1 Warning The template processes the history" in page
    assert "<task> encloses a part of the prompt, so 0.1.0a19 neutralises tags of this name" in page
    assert "based on the default" not in page and "Apply to my draft" not in page
    # Without a context there is no history to show a difference in, and the page says so.
    assert "Sample values have no earlier rounds" in page


def test_between_equal_formats_there_is_nothing_to_show(signed_in: Client, person: User) -> None:
    a_set(person, TAGGED, NEW)
    assert "Choose two different releases" in words_of(signed_in, HERE)
    same = words_of(signed_in, f"{HERE}?{urlencode({'old': 'mixseek-0.1.0a18', 'new': 'mixseek-0.1.0a18'})}")
    assert "Choose two different releases" in same
    assert signed_in.get(f"{HERE}?old=klingon").status_code == 400


def defaults_with_a_line() -> Templates:
    old = default_templates(MIXSEEK_A15)
    return Templates(
        old["team"] + "\n簡潔に答えてください。\n", old["evaluator"], "Judge {{ submission_history }}\n"
    )


def test_the_new_defaults_are_merged_into_a_draft(signed_in: Client, person: User) -> None:
    made = a_set(person, defaults_with_a_line())
    address = f"{HERE}?{urlencode({'old': OLD, 'new': NEW})}"
    answer = signed_in.get(address)
    page = answer.context["page"]
    assert [merge.kind for merge in page.merging] == ["team", "evaluator"]
    assert "This is the default template of 0.1.0a15" in answer.text
    assert "This is based on the default template of 0.1.0a15" in answer.text
    sent = {"old": OLD, "new": NEW, "pin": page.pin, "team": "merged", "evaluator": "theirs"}
    disputes = [each.field for merge in page.merging for each in merge.disputes if each.field]
    done = signed_in.post(HERE, sent | dict.fromkeys(disputes, "theirs then mine"))
    assert done["Location"] == "/prompts/set/edit/"
    texts = Draft.objects.get().templates.parts
    new = default_templates(MIXSEEK_A19)
    assert texts["evaluator"] == new["evaluator"]
    assert "# 入力の読み方" in texts["team"] and "簡潔に答えてください。" in texts["team"]
    assert texts["judgment"] == "Judge {{ submission_history }}\n"
    assert made.versions.count() == 1
    # The choice was made on a text that is not the draft's any more.
    assert signed_in.post(HERE, sent).status_code == 409


def test_a_set_takes_the_release_for_its_previews(signed_in: Client, person: User) -> None:
    a_set(person, TAGGED)
    signed_in.post(HERE, {"old": OLD, "new": NEW, "switch": "on"})
    assert PromptSet.objects.get().dialect == NEW


@pytest.fixture
def follower(person: User, tmp_path: Path) -> Workspace:
    made = a_set(person, TAGGED)
    a_context(made)
    label = Label.objects.create(
        prompt_set=made, name="production", version=made.versions.get(), moved_at=NOW
    )
    return Workspace.objects.create(
        slug="w", name="W", path=str(tmp_path), label=label, found_dialect=NEW, created_at=NOW
    )


def test_a_workspace_that_runs_another_release_is_named(signed_in: Client, follower: Workspace) -> None:
    said = "W runs mixseek-0.1.0a19; previews here use mixseek-0.1.0a15. Previews for both"
    assert said in words_of(signed_in, "/prompts/set/")
    assert said in words_of(signed_in, "/prompts/set/edit/")
    export = words_of(signed_in, "/prompts/set/export/?label=production&workspace=w")
    assert "W runs mixseek-0.1.0a19; previews of this set use mixseek-0.1.0a15." in export
    assert "1 of 1 contexts change between them: Late" in export
    Workspace.objects.update(dialect=OLD)
    assert "previews here use" not in words_of(signed_in, "/prompts/set/")
    assert "change between them" not in words_of(
        signed_in, "/prompts/set/export/?label=production&workspace=w"
    )


def test_a_system_prompt_has_no_releases(signed_in: Client) -> None:
    PromptSet.objects.create(slug="set", name="S", holds=FileKind.SYSTEM, created_at=NOW, changed_at=NOW)
    assert signed_in.get(HERE).status_code == 404
