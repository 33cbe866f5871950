"""Tests in a real browser, against a server with the demo; the console must stay clean."""

import tests.with_django  # noqa: F401

# isort: split

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

from studio.operations.demo import load_demo
from studio.operations.demo.workspaces import WORKSPACES, make_workspace
from studio.prompts.language_models import add_missing
from studio.shell.signin import issue_link_token
from tests.browser.patience import PATIENCE
from tests.browser.readiness import act_when_ready
from tests.browser.traffic import Traffic
from tests.chromium import ARGUMENTS, find_chromium

expect.set_options(timeout=PATIENCE)


@dataclass
class Watch:
    """What went wrong while a page was used; a test names the error answers that it provokes."""

    complaints: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)

    def expect(self, *statuses: int) -> None:
        self.expected.update(statuses)

    def attach(self, context: BrowserContext) -> None:
        # Not by a route, which would switch off the browser's cache; Chromium itself finds no other host.
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        context.on("response", self._response)

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname not in ("localhost", "127.0.0.1"):
            self.complaints.append(f"outside request: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        # A failed answer shows up in the console too; `_response` tells which.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.complaints.append(f"{response.status} for {response.url}")


@pytest.fixture(scope="session")
def browser(django_db_setup: None) -> Iterator[Browser]:
    """One Chromium for all tests; the test database is made before its event loop runs."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def db(browser: Browser, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """In place of pytest-django's: rows are committed, for the server to see, and go with the module."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        # Playwright keeps an event loop in this thread, which Django takes for an async view.
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture(scope="session")
def traffic() -> Traffic:
    return Traffic()


@pytest.fixture(scope="session")
def demo_workspaces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo's workspaces, which take long to make; nobody writes to it."""
    folder = tmp_path_factory.mktemp("demo-original")
    for demo in WORKSPACES:
        make_workspace(demo, folder / "demo" / demo.slug, timezone.now())
    return folder


@pytest.fixture(scope="module")
def server(
    db: None, traffic: Traffic, demo_workspaces: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a studio with the demo, for the tests of a module; its files are theirs alone."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(demo_workspaces, folder, dirs_exist_ok=True)
    load_demo(folder)
    add_missing()  # what a new studio has, and the module before took away
    live = LiveServer("127.0.0.1")
    yield live.url
    live.stop()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fails the test on a console error, an uncaught error, an outside request or an unexpected answer."""
    watching = Watch()
    yield watching
    assert watching.complaints == []


@pytest.fixture
def context(browser: Browser, server: str, traffic: Traffic, watch: Watch) -> Iterator[BrowserContext]:
    """A fresh browser profile that speaks English."""
    made = browser.new_context(
        base_url=server,
        viewport={"width": 1280, "height": 800},
        locale="en-US",
        color_scheme="light",
        reduced_motion="reduce",  # a colour is looked at when it is there, not on its way
    )
    made.set_default_timeout(PATIENCE)
    made.on("page", act_when_ready)
    watch.attach(made)
    yield made
    # An editor sends its draft when it is left: signed out, that does not reach the next test's.
    made.clear_cookies(name="studio-session")
    made.close()
    traffic.wait_for_silence(PATIENCE / 1000)


@pytest.fixture
def stranger(context: BrowserContext) -> Page:
    """A page of somebody who has not signed in."""
    return context.new_page()


@pytest.fixture
def page(stranger: Page) -> Page:
    """An empty page of somebody who followed a sign-in link; the page behind the link is not loaded."""
    link = reverse("signin-link", args=[issue_link_token()])
    assert stranger.request.get(link, max_redirects=0).status == 302
    return stranger
