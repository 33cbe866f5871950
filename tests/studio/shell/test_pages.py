"""Pages about the studio itself."""

import pytest
from django.test import Client

from studio.shell.layout import sections, shortcuts
from tests.studio.markup import tight


def test_the_page_of_shortcuts_lists_every_key(signed_in: Client) -> None:
    page = signed_in.get("/shortcuts/").content.decode()
    for _, keys in shortcuts():
        for shortcut in keys:
            assert shortcut.does in page


def test_every_section_can_be_reached_by_keys_and_marks_itself(signed_in: Client) -> None:
    for section in sections():
        page = tight(signed_in.get(section.url).content.decode())
        assert f'href="{section.url}" data-keys="{section.keys}" aria-current="page"' in page
        assert page.count('aria-current="page"') == 1


def test_the_design_page_is_for_debugging_only(signed_in: Client, settings: object) -> None:
    assert signed_in.get("/design/").status_code == 404
    settings.DEBUG = True  # type: ignore[attr-defined]
    assert signed_in.get("/design/").status_code == 200


@pytest.mark.parametrize("path", ["/prompts/", "/contexts/", "/workspaces/", "/runs/"])
def test_an_empty_studio_says_what_to_do_next(signed_in: Client, path: str) -> None:
    assert 'class="empty"' in signed_in.get(path).content.decode()
