"""Language and theme: switched by a post, kept in a cookie."""

import pytest
from django.test import Client


def test_the_language_switch_is_kept(signed_in: Client) -> None:
    answer = signed_in.post("/language/", {"language": "ja", "next": "/prompts/"})
    assert answer["Location"] == "/prompts/"
    page = signed_in.get("/prompts/").content.decode()
    assert '<html lang="ja"' in page and "プロンプト" in page


def test_an_unknown_language_changes_nothing(signed_in: Client) -> None:
    signed_in.post("/language/", {"language": "xx", "next": "/prompts/"})
    assert '<html lang="en"' in signed_in.get("/prompts/").content.decode()


@pytest.mark.parametrize("theme", ["light", "dark", "system"])
def test_the_theme_is_in_the_first_byte_of_the_page(client: Client, db: None, theme: str) -> None:
    client.post("/theme/", {"theme": theme, "next": "/signin/"})
    assert f'data-theme="{theme}"' in client.get("/signin/").content.decode()
    assert client.cookies["studio-theme"]["httponly"]


def test_keys_can_be_switched_off_and_on_again(signed_in: Client) -> None:
    for choice, off in (("off", True), ("on", False)):
        signed_in.post("/keys/", {"keys": choice, "next": "/shortcuts/"})
        assert ("data-keys-off" in signed_in.get("/shortcuts/").content.decode()) == off
    assert signed_in.post("/keys/", {"keys": "maybe"}).status_code == 400


def test_a_switch_by_htmx_changes_the_cookie_alone(client: Client, db: None) -> None:
    answer = client.post("/theme/", {"theme": "dark"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.cookies["studio-theme"].value) == (204, "dark")


def test_an_unknown_theme_is_refused_and_a_forged_cookie_ignored(client: Client, db: None) -> None:
    assert client.post("/theme/", {"theme": "pink"}).status_code == 400
    client.cookies["studio-theme"] = '"><script>'
    assert 'data-theme="system"' in client.get("/signin/").content.decode()


@pytest.mark.parametrize("path", ["/theme/", "/language/"])
def test_the_way_back_stays_here(client: Client, db: None, path: str) -> None:
    data = {"theme": "dark", "language": "ja", "next": "https://evil.example/"}
    assert client.post(path, data)["Location"] == "/"
    assert client.get(path).status_code == 405
