"""Headers that narrow the browser, on whatever the studio answers."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client


def directives(policy: str) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in policy.split("; "))


@pytest.mark.parametrize(
    "path",
    ["/prompts/", "/signin/", "/healthz", "/nothing/", "/prompts/?q=%00", "/signout/", "/static/nothing.js"],
)
def test_every_answer_carries_the_policy(signed_in: Client, path: str) -> None:
    answer = signed_in.get(path)
    policy = directives(answer["Content-Security-Policy"])
    assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert re.fullmatch(r"'self' 'nonce-[\w-]{22}'", policy["script-src"])
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]


def test_the_nonce_is_new_each_time_and_is_the_one_on_the_page(signed_in: Client) -> None:
    pages = [signed_in.get("/prompts/") for _ in range(2)]
    nonces = [re.search(r"'nonce-([\w-]+)'", page["Content-Security-Policy"]).group(1) for page in pages]  # type: ignore[union-attr]
    assert nonces[0] != nonces[1]
    for page, nonce in zip(pages, nonces, strict=True):
        assert set(re.findall(r'nonce="([^"]*)"', page.content.decode())) == {nonce}


def test_an_error_in_a_view_carries_them_too(
    person: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(person)
    monkeypatch.setattr("studio.prompts.views.valid_or_refuse", lambda *_: 1 / 0)
    answer = client.get("/prompts/")
    assert answer.status_code == 500
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_pages_are_kept_by_nobody_else(signed_in: Client) -> None:
    assert signed_in.get("/prompts/")["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize(
    "path", ["/prompts/", "/contexts/", "/workspaces/", "/runs/", "/shortcuts/", "/signin/"]
)
def test_no_page_has_inline_script_or_style(demo: object, signed_in: Client, path: str) -> None:
    page = signed_in.get(path, follow=True).content.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", page) == []
