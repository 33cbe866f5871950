"""Addresses of static files follow their content."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client, override_settings


@pytest.fixture
def style(tmp_path: Path) -> Iterator[Path]:
    finders.get_finder.cache_clear()
    with override_settings(DEBUG=True, STATICFILES_DIRS=[tmp_path]):
        yield tmp_path / "a.css"
    finders.get_finder.cache_clear()


def test_address_changes_with_the_content(style: Path) -> None:
    style.write_text("a {}")
    before = static("a.css")
    assert before.startswith("/static/a.css?v=")
    assert static("a.css") == before
    style.write_text("b {}")
    assert static("a.css") != before


def test_missing_file_keeps_its_plain_address() -> None:
    assert static("no-such-file.css") == "/static/no-such-file.css"


def test_bundle_may_be_kept_for_long(client: Client) -> None:
    answer = client.get(static("studio.css"))
    assert answer.status_code == 200
    assert "max-age=31536000" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Security-Policy"]
