"""The editor's page: what it holds for people, for scripts, and for browsers without any."""

import html
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.template.variables import VARIABLES
from studio.models import Draft, PromptSet
from tests.studio.editing import EDIT, SAVE, TEAM, fields, make_context, make_set
from tests.studio.markup import tight


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("shared")
    make_context("own", rounds=2, prompt_set=made)
    return made


def page(client: Client, query: str = "") -> str:
    answer = client.get(EDIT + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_newest_version_stands_in_the_form(prompt_set: PromptSet, signed_in: Client) -> None:
    text = page(signed_in)
    for name, value in (("base", "1"), ("revision", "0"), ("seq", "0"), ("kind", "team")):
        assert f'name="{name}" value="{value}"' in text
    assert f"\n{TEAM}</textarea>" in text and "{{ submission }}" in text
    assert Draft.objects.count() == 0  # looking stores nothing


def test_each_page_has_a_tab_name_of_its_own(prompt_set: PromptSet, signed_in: Client) -> None:
    names = {re.findall(r'name="tab" value="([-\w]+)"', page(signed_in))[0] for _ in range(3)}
    assert len(names) == 3


def test_saving_is_what_enter_does(prompt_set: PromptSet, signed_in: Client) -> None:
    form = page(signed_in).partition('<form id="editor"')[2].partition("</form>")[0]
    buttons = re.findall(r"<button(?![^>]*type=\"button\")[^>]*>", form)
    assert "data-save" in buttons[0] and "formaction" not in buttons[0]
    assert f'action="{SAVE}"' in form


@pytest.mark.parametrize("kind", VARIABLES)
def test_completion_is_offered_just_the_variables_of_the_template(
    prompt_set: PromptSet, signed_in: Client, kind: str
) -> None:
    text = page(signed_in)
    found = re.search(rf'data-kind="{kind}"[^>]* data-variables="([^"]*)"', text)
    assert found
    offered = json.loads(html.unescape(found[1]))
    known = VARIABLES[kind]  # type: ignore[index]
    assert [each["name"] for each in offered] == [variable.name for variable in known]
    assert all(each["type"] in ("string", "int") for each in offered)


def test_the_variables_are_told_with_their_values_in_the_context(
    prompt_set: PromptSet, signed_in: Client
) -> None:
    def rows(text: str) -> list[str]:
        panel = text.partition('id="variables"')[2].partition("</ul>")[0]
        return [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in panel.split("<li")[1:]]

    address = "/prompts/set/variables/?kind=evaluator&context=own&round=1"
    asked = rows(signed_in.get(address).content.decode())
    assert asked == rows(page(signed_in, "?kind=evaluator&context=own&round=1"))
    assert 'data-variable="submission"> submission string The submission to be evaluated text 1' in asked
    assert signed_in.get("/prompts/set/variables/?context=nothing").status_code == 404
    assert signed_in.get("/prompts/nothing/variables/").status_code == 404


def test_the_address_chooses_template_context_and_round(prompt_set: PromptSet, signed_in: Client) -> None:
    text = page(signed_in, "?kind=evaluator&context=own&round=1")
    assert 'data-panel="evaluator" aria-labelledby="tab-evaluator">' in tight(text)
    assert '<option value="own" selected>' in tight(text) and "Judge:\ntext 1" in text


def test_the_sets_own_context_comes_first_and_others_are_not_offered(
    prompt_set: PromptSet, person: User, signed_in: Client
) -> None:
    make_context("foreign", prompt_set=make_set(person, "other"))
    text = page(signed_in)
    assert '<option value="own" selected>' in text and 'value="shared"' in text
    assert "foreign" not in text and "Round 2" in text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?kind=nothing", 400),
        ("?round=abc", 400),
        ("?round=" + "9" * 5000, 400),
        ("?round=٣", 400),
        ("?context=%00", 400),
        ("?context=" + "x" * 90, 400),
        ("?round=" + "9" * 18, 200),
        ("?round=&context=", 200),
    ],
)
def test_an_address_that_no_page_has_is_refused(
    prompt_set: PromptSet, signed_in: Client, query: str, status: int
) -> None:
    assert signed_in.get(EDIT + query).status_code == status


def test_a_context_that_was_deleted_costs_nobody_their_text(prompt_set: PromptSet, signed_in: Client) -> None:
    gone = "no longer exists; the preview shows another one"
    text = page(signed_in, "?context=nothing&round=1")
    assert gone in text and '<option value="own" selected>' in text and "Round 2" in text
    asked = fields(team="typed {{ user_prompt }}\n", context="nothing", message="m")
    previewed = signed_in.post("/prompts/set/preview/", asked)
    assert previewed.status_code == 200 and gone in previewed.content.decode()
    assert signed_in.post(SAVE, asked).status_code == 302
    assert "typed {{ user_prompt }}" in page(signed_in)


def test_the_editor_of_a_set_that_does_not_exist_is_not_found(signed_in: Client) -> None:
    for path in ("edit", "discard", "conflict"):
        assert signed_in.get(f"/prompts/nothing/{path}/").status_code == 404
    for path in ("save", "draft", "preview", "discard", "conflict", "copies/1"):
        assert signed_in.post(f"/prompts/nothing/{path}/", fields()).status_code == 404


def test_without_a_session_every_part_leads_to_the_sign_in(prompt_set: PromptSet, client: Client) -> None:
    for path in ("edit", "discard", "conflict"):
        assert client.get(f"/prompts/set/{path}/")["Location"].startswith("/signin/")
    for path in ("save", "draft", "preview", "discard", "conflict", "copies/1"):
        assert client.post(f"/prompts/set/{path}/", fields())["Location"].startswith("/signin/")
    assert Draft.objects.count() == 0


def test_what_stores_or_renders_takes_a_post_with_its_token_only(prompt_set: PromptSet, person: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person)
    for path in ("save", "draft", "preview", "copies/1"):
        assert strict.get(f"/prompts/set/{path}/").status_code == 405
    for path in ("save", "draft", "preview", "discard", "conflict", "copies/1"):
        assert strict.post(f"/prompts/set/{path}/", fields()).status_code == 403
    assert Draft.objects.count() == 0


def test_errors_of_the_other_templates_are_told_on_opening(prompt_set: PromptSet, signed_in: Client) -> None:
    sent = fields(judgment_user_prompt="x\n{{ nothing }}\n", evaluator_user_prompt="{{ submission|upper }}\n")
    signed_in.post("/prompts/set/draft/", sent)
    for text in (page(signed_in), signed_in.post("/prompts/set/preview/", sent).content.decode()):
        listed = tight(text.partition('id="problems"')[2])
        assert re.findall(r'class="finding (\w+)" data-line="(\d+)" data-kind="(\w+)"', listed) == [
            ("error", "2", "judgment")
        ]
        assert '<pre class="prompt"' in text  # the template that is shown has a prompt all the same


def test_what_a_person_wrote_is_text_on_the_page(prompt_set: PromptSet, signed_in: Client) -> None:
    evil = "</textarea><script>alert(1)</script>\n"
    signed_in.post("/prompts/set/draft/", fields(team=evil, message='"><script>alert(2)</script>'))
    text = page(signed_in)
    assert "<script>alert" not in text and "&lt;/textarea&gt;&lt;script&gt;" in text
