"""Tags of every page: times in the reader's language, commands inside a sentence shown as code."""

from datetime import timedelta

import pytest
from django.template import Context, Template
from django.utils import translation

from studio.shell.tags import relative, with_code
from tests.studio.clock import NOW


@pytest.mark.parametrize(
    ("ago", "english", "japanese"),
    [
        (timedelta(seconds=-5), "just now", "たった今"),
        (timedelta(seconds=59), "just now", "たった今"),
        (timedelta(seconds=60), "1 minute ago", "1分前"),
        (timedelta(minutes=59), "59 minutes ago", "59分前"),
        (timedelta(hours=1), "1 hour ago", "1時間前"),
        (timedelta(hours=47), "1 day ago", "1日前"),
        (timedelta(days=13), "1 week ago", "1週間前"),
        (timedelta(days=62), "2 months ago", "2か月前"),
        (timedelta(days=800), "2 years ago", "2年前"),
    ],
)
def test_a_moment_is_told_in_its_largest_unit(ago: timedelta, english: str, japanese: str) -> None:
    with translation.override("en"):
        assert relative(NOW - ago, NOW) == english
    with translation.override("ja"):
        assert relative(NOW - ago, NOW) == japanese


def test_the_exact_time_is_in_the_title() -> None:
    text = Template("{% load shell %}{% when moment %}").render(Context({"moment": NOW}))
    assert text.startswith(
        '<time datetime="2026-05-01T09:30:00+00:00" title="May 1, 2026, 9:30 a.m. UTC" data-relative>'
    )


def test_no_moment_is_a_dash() -> None:
    assert Template("{% load shell %}{% when moment %}").render(Context({"moment": None})) == "–"


def test_words_between_backticks_are_code() -> None:
    assert with_code("Run `manage.py link` now.") == "Run <code>manage.py link</code> now."


def test_markup_stays_text() -> None:
    assert with_code("<b> `<i>` ` alone") == "&lt;b&gt; <code>&lt;i&gt;</code> ` alone"
