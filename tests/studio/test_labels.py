"""Labels point at versions and remember where they pointed before."""

from django.contrib.auth.models import User

from studio.models import Label, LabelMove, PromptSet, PromptVersion
from studio.models.prompts import Templates
from tests.studio.clock import NOW


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
