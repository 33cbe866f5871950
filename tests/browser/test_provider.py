"""Sign-in by OpenID Connect in a browser: to the provider and back, by code and PKCE."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.openid_provider import OpenIdProvider, openid_provider
from tests.studio_process import Studio


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider() as running:
        yield running


def test_somebody_signs_in_at_the_provider(
    browser: Browser, provider: OpenIdProvider, tmp_path: Path
) -> None:
    provider.people["aoi"] = {"groups": ["prompt-leads"]}
    roles = provider.environment("prompt-leads=releaser")
    studio = Studio(tmp_path / "data", "--port", "0", "--no-demo", **roles)
    context = browser.new_context(base_url=studio.base, locale="en")
    try:
        page = context.new_page()
        refusals: list[str] = []
        page.on("console", lambda line: refusals.append(line.text) if line.type == "error" else None)
        page.goto("/contexts/")
        page.get_by_role("link", name="Sign in with Example").click()
        expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
        page.get_by_role("link", name="aoi").click()
        expect(page).to_have_url(f"{studio.base}/contexts/")
        page.locator("summary", has_text="aoi").click()
        page.get_by_role("link", name="Who may do what").click()
        expect(page.get_by_text("Your role: Releaser")).to_be_visible()
        page.locator("summary", has_text="aoi").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in with Example")).to_be_visible()
        assert refusals == []
    finally:
        context.close()
        assert studio.end(signal.SIGINT) == 0
