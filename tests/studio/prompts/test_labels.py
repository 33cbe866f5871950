"""Labels point at versions and remember where they pointed before."""

import re

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from studio.models import Label, LabelMove, PromptSet, PromptVersion, Workspace
from studio.prompts.labels import LabelInUse
from studio.prompts.texts import Templates
from tests.studio.clock import NOW
from tests.studio.markup import tight


def two_versions(person: User) -> list[PromptVersion]:
    prompt_set = PromptSet.objects.create(slug="set", name="Set", created_at=NOW, changed_at=NOW)
    return [
        prompt_set.save_version(Templates(text, "e", "j"), base=base, message=text, author=person, at=NOW)
        for base, text in enumerate(("one", "two"))
    ]


def test_a_move_points_the_label_and_is_kept(person: User) -> None:
    one, two = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    Label.objects.move("production", two, by=person, at=NOW)
    assert Label.objects.get().version == two
    moves = [(move.from_version, move.to_version, move.moved_by) for move in LabelMove.objects.order_by("pk")]
    assert moves == [(None, one, person), (one, two, person)]


def test_a_move_to_where_the_label_is_makes_no_history(person: User) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    Label.objects.move("production", one, by=person, at=NOW)
    assert LabelMove.objects.count() == 1


def test_a_label_taken_off_keeps_its_history(person: User) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    Label.objects.remove(Label.objects.get(), by=person, at=NOW, note="nobody uses it")
    assert not Label.objects.exists()
    moves = [(move.from_version, move.to_version, move.note) for move in LabelMove.objects.order_by("pk")]
    assert moves == [(None, one, ""), (one, None, "nobody uses it")]


def test_a_label_that_workspaces_follow_cannot_be_taken_off(person: User) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    Workspace.objects.create(
        slug="w", name="Research", path="/srv/w", label=Label.objects.get(), created_at=NOW
    )
    with pytest.raises(LabelInUse):
        Label.objects.remove(Label.objects.get(), by=person, at=NOW)
    assert Label.objects.count() == 1 and LabelMove.objects.count() == 1


def test_a_label_that_somebody_took_off_already_moves_no_more(person: User) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    label = Label.objects.get()
    assert Label.objects.remove(label, by=person, at=NOW) is not None
    label.pk = label.pk or 1
    assert Label.objects.remove(label, by=person, at=NOW) is None
    assert LabelMove.objects.count() == 2


def move(client: Client, **data: object) -> HttpResponse:
    answer: HttpResponse = client.post("/prompts/set/labels/", data)
    return answer


def test_a_move_from_the_page_shows_as_a_badge(person: User, signed_in: Client) -> None:
    two_versions(person)
    answer = move(signed_in, name="Production", version="v1", note="first run")
    assert answer["Location"] == "/prompts/set/versions/1/"
    assert "production now points to v1." in signed_in.get(answer["Location"]).content.decode()
    recorded = LabelMove.objects.get()
    assert (recorded.name, recorded.note, recorded.moved_by) == ("production", "first run", person)
    for page in ("/prompts/", "/prompts/set/"):
        text = tight(signed_in.get(page).content.decode())
        assert 'href="/prompts/set/versions/1/" title="production points to version 1"' in text


def test_a_page_shows_where_a_label_has_been(person: User, signed_in: Client) -> None:
    two_versions(person)
    move(signed_in, name="検証", version=1, note="試し")
    move(signed_in, name="検証", version=2)
    move(signed_in, name="検証", version="", note="終わり")
    page = signed_in.get("/prompts/set/labels/検証/").content.decode()
    assert page.index("終わり") < page.index("試し")
    assert "Removed" in page and "compare/?old=1&amp;new=2" in page
    assert ">Remove<" not in page.replace("\n", "").replace(" ", "")


def test_a_long_history_of_moves_comes_in_pages(person: User, signed_in: Client) -> None:
    one, two = two_versions(person)
    for at in range(26):
        Label.objects.move("production", one, by=person, at=NOW, note=f"to one {at}")
        Label.objects.move("production", two, by=person, at=NOW, note=f"to two {at}")
    first = signed_in.get("/prompts/set/labels/production/").content.decode()
    assert "to two 25" in first and "to one 1<" in first and "to two 0<" not in first
    older = re.search(r'href="(\?before=\d+)"', first)
    assert older
    rest = signed_in.get(f"/prompts/set/labels/production/{older[1]}").content.decode()
    assert "to two 0<" in rest and "to one 0<" in rest and "to one 1<" not in rest


def test_taking_off_a_label_that_workspaces_follow_says_which(person: User, signed_in: Client) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    Workspace.objects.create(
        slug="w", name="Research", path="/srv/w", label=Label.objects.get(), created_at=NOW
    )
    answer = move(signed_in, name="production", version="")
    assert answer.status_code == 409 and "Workspaces follow production: Research." in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "version", "status"),
    [
        ("", "1", 400),
        ("two words", "1", 400),
        ("a/b", "1", 400),
        ("x" * 41, "1", 400),
        ("a\x00", "1", 400),
        ("draft", "1", 400),
        ("v3", "1", 400),
        ("12", "1", 400),
        ("１２", "1", 400),
        ("fine", "x", 400),
        ("fine", "0", 400),
        ("fine", "9" * 5000, 400),
        ("fine", "3", 404),
        ("fine", "", 404),
    ],
)
def test_moves_that_cannot_be_made_are_refused(
    person: User, signed_in: Client, name: str, version: str, status: int
) -> None:
    two_versions(person)
    assert move(signed_in, name=name, version=version).status_code == status
    assert not Label.objects.exists() and not LabelMove.objects.exists()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/prompts/set/labels/never/", 404),
        ("/prompts/none/labels/production/", 404),
        ("/prompts/set/labels/production/?before=x", 400),
        ("/prompts/set/labels/production/?before=" + "9" * 30, 400),
        ("/prompts/set/labels/production/?before=1", 200),
    ],
)
def test_addresses_of_labels(person: User, signed_in: Client, path: str, status: int) -> None:
    one, _ = two_versions(person)
    Label.objects.move("production", one, by=person, at=NOW)
    assert signed_in.get(path).status_code == status
