"""The table of models: shipped and dated, corrected by people, of whom none overwrites another."""

import importlib
import json
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from builder.cache.tokens import encoding_for
from builder.system.cache_report import CACHE_MINIMUMS
from studio.models import LanguageModel
from studio.prompts.language_models import AS_OF, SHIPPED, ListedModel, add_missing
from tests.studio.clock import NOW
from tests.studio.editing import make_set

LIST = "/models/"


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    """The table as a new studio has it."""
    add_missing()


def gpt() -> LanguageModel:
    return LanguageModel.objects.get(name="openai:gpt-4o")


def form(**more: Any) -> dict[str, Any]:
    return {
        "name": "openai:gpt-4o",
        "provider": "OpenAI",
        "context_tokens": "128,000",
        "cache_minimum": "1024",
        "cache_step": "128",
        "input_price": "2.40",
        "cached_price": "1.2",
        "cache_write_price": "",
        "output_price": "9",
        "as_of": "2026-06-01",
        "note": "read today",
        "revision": 1,
    } | more


def test_the_migration_ships_every_model_and_leaves_those_there_alone() -> None:
    migration = importlib.import_module("studio.migrations.0001_first_release")
    LanguageModel.objects.exclude(name="openai:gpt-4o").delete()
    LanguageModel.objects.update(input_price=7)
    migration.add_shipped(apps, connection.schema_editor())
    assert set(LanguageModel.objects.values_list("name", flat=True)) == set(SHIPPED)
    assert gpt().input_price == 7


def test_shipped_figures_are_dated_unchecked_and_agree_with_the_builders_cache_minimums() -> None:
    minimums = {(each.provider, each.tokens, each.step) for each in CACHE_MINIMUMS}
    for figures in SHIPPED.values():
        assert (figures["provider"], figures["cache_minimum"], figures["cache_step"]) in minimums
        assert figures["as_of"] == AS_OF == CACHE_MINIMUMS[0].as_of
        assert "not checked" in figures["note"]
        assert figures["cached_price"] < figures["input_price"] < figures["output_price"]
        assert (encoding_for(figures["name"]) is not None) == (figures["provider"] == "OpenAI")


def test_the_list_shows_every_figure_with_its_date_and_where_it_is_from(signed_in: Client) -> None:
    page = signed_in.get(LIST).content.decode()
    for each in SHIPPED:
        assert each in page
    row = page.partition("openai:gpt-4o<")[2].partition("</tr>")[0]
    for figure in ("128,000", "1,024", "in steps of 128", "$2.50", "$1.25", "$10.00", "bundled"):
        assert figure in row
    assert "Jan. 31, 2026" in row or "2026-01-31" in row
    assert page.count("not checked") == 1, "said once, above the table"
    assert page.count("Prompts up to 200,000 tokens") == 2 and page.count("out of date?") <= 1


def test_figures_older_than_half_a_year_are_marked() -> None:
    assert not ListedModel(gpt(), AS_OF + timedelta(days=180)).is_stale
    assert ListedModel(gpt(), AS_OF + timedelta(days=181)).is_stale


def test_a_correction_is_stored_and_says_whose_it_is(signed_in: Client) -> None:
    assert signed_in.post(f"{LIST}{gpt().pk}/", form())["Location"] == LIST
    model = gpt()
    assert (model.input_price, model.output_price, model.as_of) == (Decimal("2.4"), 9, date(2026, 6, 1))
    assert (model.context_tokens, model.revision, model.cache_write_price) == (128_000, 2, None)
    row = signed_in.get(LIST).content.decode().partition("openai:gpt-4o<")[2].partition("</tr>")[0]
    assert "yuki" in row and "bundled" not in row and "read today" in row


def test_of_two_people_the_second_sees_what_the_first_saved(signed_in: Client) -> None:
    signed_in.post(f"{LIST}{gpt().pk}/", form())
    late = signed_in.post(f"{LIST}{gpt().pk}/", form(input_price="3"))
    page = late.content.decode()
    assert late.status_code == 409
    assert 'value="3"' in page and "<td>2.4</td>" in page
    assert gpt().input_price == Decimal("2.4")
    assert signed_in.post(f"{LIST}{gpt().pk}/", form(input_price="3", revision=2)).status_code == 302
    assert gpt().input_price == 3


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("name", "", "required"),
        ("name", "openai:gpt-5", "Another model of the table has this name."),
        ("input_price", "-1", "greater than or equal to 0"),
        ("input_price", "NaN", "Enter a number"),
        ("input_price", "1.23456", "4 decimal places"),
        ("context_tokens", "many", "whole number"),
        ("context_tokens", "9" * 30, "less than or equal to"),
        ("cache_step", "0", "greater than or equal to 1"),
        ("as_of", "yesterday", "valid date"),
        ("as_of", "2999-01-01", "in the future"),
        ("note", "x" * 301, "at most 300"),
    ],
)
def test_what_does_not_do_is_said_at_the_field(signed_in: Client, field: str, value: str, says: str) -> None:
    answer = signed_in.post(f"{LIST}{gpt().pk}/", form(**{field: value}))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert says in page.partition(f'id="id_{field}_error"')[2].partition("</p>")[0]
    assert gpt().revision == 1


def test_the_shipped_figures_come_back(signed_in: Client) -> None:
    address = f"{LIST}{gpt().pk}/"
    assert "Restore bundled prices" not in signed_in.get(address).content.decode()
    signed_in.post(address, form())
    assert "Restore bundled prices" in signed_in.get(address).content.decode()
    assert signed_in.post(f"{address}reset/", {"revision": 1}).status_code == 409
    assert signed_in.post(f"{address}reset/", {"revision": 2}).status_code == 302
    model = gpt()
    assert (model.input_price, model.as_of, model.changed_at) == (Decimal("2.5"), AS_OF, None)


def test_a_model_is_added_and_one_of_ones_own_has_no_shipped_figures(signed_in: Client) -> None:
    added = signed_in.post(f"{LIST}new/", form(name="local:tiny", cache_minimum="", input_price=""))
    made = LanguageModel.objects.get(name="local:tiny")
    assert added["Location"] == LIST
    assert (made.cache_minimum, made.input_price, made.changed_by_id) == (None, None, User.objects.get().pk)
    assert signed_in.post(f"{LIST}{made.pk}/reset/", {"revision": 1}).status_code == 404


def test_deleting_names_the_sets_first_and_goes_on_only_if_these_are_all(
    signed_in: Client, person: User
) -> None:
    model, address = gpt(), f"{LIST}{gpt().pk}/delete/"
    assert "No set uses this model." in signed_in.get(address).content.decode()
    prompt_set = make_set(person)
    prompt_set.language_model = model
    prompt_set.save()
    assert signed_in.post(address, {"revision": 1, "sets": 0}).status_code == 409
    page = signed_in.get(address).content.decode()
    assert "/prompts/set/settings/" in page and 'name="sets" value="1"' in page
    assert signed_in.post(address, {"revision": 1, "sets": 1})["Location"] == LIST
    prompt_set.refresh_from_db()
    assert prompt_set.language_model is None


def test_deleted_shipped_models_can_be_added_again(signed_in: Client) -> None:
    LanguageModel.objects.all().delete()
    assert "Add the bundled models" in signed_in.get(LIST).content.decode()
    signed_in.post(f"{LIST}shipped/")
    assert LanguageModel.objects.count() == len(SHIPPED)
    assert "Add the bundled models" not in signed_in.get(LIST).content.decode()


def test_the_table_is_there_as_a_file(signed_in: Client) -> None:
    LanguageModel.objects.filter(name="openai:gpt-4o").update(changed_at=NOW)
    answer = signed_in.get(LIST, {"format": "json"})
    rows = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    found = {row["name"]: row for row in rows}["openai:gpt-4o"]
    assert (found["input_price"], found["as_of"], found["shipped"]) == (2.5, "2026-01-31", False)
