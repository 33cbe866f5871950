"""Templates that attack, at preview and at save: refused or stopped, and the next preview works."""

import time
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from builder.jail import JailPool, Limits
from studio.models import Draft, PromptSet, PromptVersion
from tests.builder.attacks import ATTACKS, HARMLESS
from tests.builder.jail.attacks import GREEDY
from tests.studio.editing import HTMX, PREVIEW, SAVE, fields, make_context, make_set
from tests.studio.jail import UseJail

QUICK = ("a text times a number", "much output")


@pytest.fixture
def prompt_set(person: User) -> PromptSet:
    made = make_set(person)
    make_context("start")
    make_context("third", rounds=3)
    return made


@pytest.fixture(scope="module")
def jail() -> Iterator[JailPool]:
    # Without a cool-down: who was stopped in one test has the number of somebody in the next.
    with JailPool(size=2, spares=2, limits=Limits(cool_down=0.0)) as own:
        yield own


@pytest.fixture(autouse=True)
def only_this_jail(jail: JailPool, use_jail: UseJail) -> None:
    use_jail(jail)


def somebody(name: str) -> Client:
    """A person of their own."""
    client = Client()
    client.force_login(User.objects.create_user(name))
    return client


def previews_again(client: Client) -> bool:
    answer = client.post(PREVIEW, fields(context="third", team=f"x\n{time.monotonic()}"), headers=HTMX)
    return answer.status_code == 200 and 'data-state="text"' in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *((name, 2) for name in ATTACKS),
        *(pytest.param(name, 999, marks=pytest.mark.slow) for name in ATTACKS),
    ],
)
def test_what_the_gate_keeps_out_is_refused_with_a_line_at_preview_and_at_save(
    prompt_set: PromptSet, signed_in: Client, name: str, most: int
) -> None:
    for text in list(ATTACKS[name])[:most]:
        if "\ud800" in text:
            continue  # no browser can send half a character; test_drafts tries it byte by byte
        shown = signed_in.post(PREVIEW, fields(team=text, context="third"), headers=HTMX)
        page = shown.content.decode()
        assert shown.status_code == 200 and 'data-state="problems"' in page and "Line " in page, text
        saved = signed_in.post(SAVE, fields(team=text, message="m", revision=_revision()))
        assert saved.status_code in (400, 413, 422), text
    assert PromptVersion.objects.count() == 1
    assert previews_again(signed_in)


def _revision() -> int:
    draft = Draft.objects.first()
    return draft.revision if draft else 0


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in GREEDY]
)
def test_what_takes_too_much_is_stopped_by_name_at_preview_and_at_save(
    prompt_set: PromptSet, name: str
) -> None:
    text, limits = GREEDY[name]
    looker, saver = somebody("looker"), somebody("saver")
    page = looker.post(PREVIEW, fields(team=text, context="third"), headers=HTMX).content.decode()
    assert any(f"&quot;jail-{limit}&quot;" in page for limit in limits), page
    assert previews_again(looker)
    saved = saver.post(SAVE, fields(team=text, message="m"))
    assert saved.status_code == 422 and "Not saved: fix the problems below." in saved.content.decode()
    assert PromptVersion.objects.count() == 1
    assert previews_again(saver)


def test_what_is_harmless_can_be_previewed_and_saved(prompt_set: PromptSet, signed_in: Client) -> None:
    base = 1
    for text in HARMLESS:
        shown = signed_in.post(PREVIEW, fields(team=text, context="start"), headers=HTMX)
        assert 'data-state="text"' in shown.content.decode(), text
    for text in list(HARMLESS)[:5]:
        saved = signed_in.post(SAVE, fields(team=text, base=base, revision=_revision(), message="m"))
        assert saved.status_code == 302, text
        base += 1
    assert PromptVersion.objects.count() == base
