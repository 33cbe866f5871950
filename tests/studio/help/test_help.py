"""The help: its pages in both languages, and the "?" of terms."""

import re
from pathlib import Path

import pytest
from django.template import Context, Template
from django.test import Client, RequestFactory

from studio.help.glossary import TERMS
from studio.help.pages import PAGES
from tests.studio.markup import tight

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "static" / "src" / "help" / "pictures"
TAG = re.compile(r"""{% term ["']([\w-]+)["'] %}""")


def test_the_help_lists_every_page_and_every_term(signed_in: Client) -> None:
    page = signed_in.get("/help/").content.decode()
    for each in PAGES:
        assert f'href="/help/{each.slug}/"' in page
    for term in TERMS.values():
        assert f'id="{term.slug}"' in page and str(term.title) in page


@pytest.mark.parametrize("slug", [page.slug for page in PAGES])
def test_a_page_says_the_same_in_both_languages(signed_in: Client, slug: str) -> None:
    texts = {}
    for language in ("en", "ja"):
        signed_in.cookies["studio-language"] = language
        texts[language] = tight(signed_in.get(f"/help/{slug}/").content.decode())
    for mark in ("<li>", "<h2>", "<img ", '<pre class="source">'):
        assert texts["en"].count(mark) == texts["ja"].count(mark), mark
    assert not re.search("[ぁ-ん]", texts["en"].split("<main")[1])
    japanese = texts["ja"].split('class="help-text"')[1]
    assert re.search("[ぁ-ん]", japanese) and not re.search("。 [ぁ-んァ-ン]", japanese)


def test_pictures_are_there_for_both_languages_and_small() -> None:
    named = {
        f"{page.slug}.{language}.webp" for page in PAGES if page.has_picture for language in ("en", "ja")
    }
    there = {path.name: path.stat().st_size for path in PICTURES.glob("*.webp")}
    assert set(there) == named
    assert sum(there.values()) < 1_500_000


def test_an_unknown_page_is_not_there(signed_in: Client) -> None:
    assert signed_in.get("/help/nothing/").status_code == 404


def test_every_term_has_its_page_and_stands_on_some_page() -> None:
    on_pages = {
        slug for path in (ROOT / "templates").rglob("*.html") for slug in TAG.findall(path.read_text("utf-8"))
    }
    assert on_pages == set(TERMS)
    assert {term.page for term in TERMS.values()} <= {"", *(page.slug for page in PAGES)}


def test_a_term_is_explained_once_per_page() -> None:
    request = RequestFactory().get("/")
    twice = Template('{% term "label" %}|{% term "label" %}|{% term "round" %}')
    first, second, other = twice.render(Context({"request": request})).split("|")
    assert 'id="term-label"' in first and "points at one version" in first
    assert second.strip() == ""
    assert 'id="term-round"' in other
