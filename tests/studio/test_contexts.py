"""Sample contexts: valid by the builder's rules, shown in the reader's language."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import translation

from studio.models import PromptSet, SampleContext
from tests.studio.clock import NOW

DATA = {
    "user_prompt": "task",
    "round_number": 2,
    "round_history": [{"round_number": 1, "submission_content": "s", "evaluation_score": 70}],
    "team_id": "t",
    "team_name": "T",
    "execution_id": "e",
}


def context(**more: object) -> SampleContext:
    values = {"slug": "c", "name": "C", "data": DATA, "submission": "s", "created_at": NOW, "changed_at": NOW}
    return SampleContext(**{**values, **more})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"round_number": 0}, "round_number"),
        ({"user_prompt": " "}, "user_prompt"),
        ({"round_history": [{"round_number": 1}]}, "round_history.0.submission_content"),
        ({"ranking": "x"}, "ranking"),
    ],
)
def test_a_problem_in_the_data_names_its_field(db: None, change: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        context(data={**DATA, **change}).full_clean()
    assert field in str(refused.value)


def test_a_context_serves_all_three_templates(db: None) -> None:
    made = context(submission="handed in")
    assert made.round_context.round_number == 2
    assert (made.evaluator_context.user_query, made.evaluator_context.submission) == ("task", "handed in")


def test_a_set_uses_its_own_contexts_and_the_shared_ones(db: None) -> None:
    mine, other = (PromptSet.objects.create(slug=s, name=s, created_at=NOW, changed_at=NOW) for s in "ab")
    for slug, owner in (("own", mine), ("other", other), ("shared", None)):
        context(slug=slug, name=slug, prompt_set=owner).save()
    assert {each.slug for each in SampleContext.objects.for_set(mine)} == {"own", "shared"}


def test_shipped_names_are_shown_in_japanese_and_others_as_they_are(demo: object) -> None:
    shipped = SampleContext.objects.get(slug="round-5-last")
    own = context(name="Save", description="")
    with translation.override("ja"):
        assert (shipped.title, own.title, own.about) == ("ラウンド5、最下位", "Save", "")


def test_the_list_is_searched_in_the_language_it_is_shown_in(demo: object, signed_in: Client) -> None:
    english = signed_in.get("/contexts/?q=LAST place").content.decode()
    japanese = signed_in.get("/contexts/?q=最下位", headers={"Accept-Language": "ja"}).content.decode()
    for page in (english, japanese):
        assert "/contexts/round-5-last/" in page and "/contexts/round-1/" not in page


def test_a_context_page_shows_text_as_it_is(demo: object, signed_in: Client) -> None:
    page = signed_in.get("/contexts/braces-html-emoji/").content.decode()
    assert "&lt;script&gt;alert(" in page and "{{ not_a_variable }}" in page and "🏆" in page
    assert "<script>alert" not in page


def test_an_unknown_context_is_not_found(signed_in: Client) -> None:
    assert signed_in.get("/contexts/nothing/").status_code == 404
