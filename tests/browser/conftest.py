"""Tests in a real browser, against a server with the demo; the console must stay clean."""

import tests.with_django  # noqa: F401

# isort: split

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer
from pytest_django.plugin import DjangoDbBlocker

from builder.jail import JailPool
from studio.access.signin import issue_link_token
from studio.home.demo import load_demo
from studio.home.demo.workspaces import WORKSPACES, keep_running, make_workspace
from studio.prompts.language_models import add_missing
from studio.shell import jail
from tests.browser.patience import PATIENCE
from tests.browser.profiles import Profiles
from tests.browser.traffic import Traffic
from tests.browser.watch import Watch
from tests.chromium import ARGUMENTS, find_chromium
from tests.studio.jail import PATIENT

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def patient_jail() -> None:
    """The pool of this process, with more time to start."""
    jail.use(JailPool(limits=PATIENT))


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


@pytest.fixture(scope="session")
def address(browser: Browser) -> Iterator[str]:
    """Where the studio of this process answers."""
    live = LiveServer("127.0.0.1")
    yield live.url
    live.stop()


@pytest.fixture(scope="module")
def server(
    db: None, address: str, traffic: Traffic, demo_workspaces: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The address of a studio with the demo, for the tests of a module; its files are theirs alone."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(demo_workspaces, folder, dirs_exist_ok=True)
    keep_running(folder / "demo", timezone.now())
    load_demo(folder)
    add_missing()  # what a new studio has, and the module before took away
    return address


@pytest.fixture(scope="session")
def watching() -> Watch:
    """What watches the browser from the first test to the last."""
    return Watch()


@pytest.fixture
def watch(watching: Watch) -> Iterator[Watch]:
    """Fails the test on a console error, an uncaught error, an outside request or an unexpected answer."""
    watching.begin()
    yield watching
    assert watching.complaints == []


@pytest.fixture(scope="session")
def profiles(browser: Browser, address: str, watching: Watch) -> Iterator[Profiles]:
    """The browser's profiles, which tests use one after the other."""
    made = Profiles(browser, address, watching)
    yield made
    made.close()


@pytest.fixture
def stranger(profiles: Profiles, server: str, traffic: Traffic, watch: Watch) -> Iterator[Page]:
    """A page of somebody who has not signed in, in a browser that speaks English."""
    page = profiles.use()
    yield page
    profiles.leave(page.context)
    traffic.wait_for_silence(PATIENCE / 1000)


@pytest.fixture
def page(stranger: Page) -> Page:
    """An empty page of somebody who followed a sign-in link; the page behind the link is not loaded."""
    return sign_in(stranger)


@pytest.fixture
def context(page: Page) -> BrowserContext:
    """That page's browser profile, for more pages of the same person."""
    return page.context


@pytest.fixture
def plain(profiles: Profiles, server: str, traffic: Traffic, watch: Watch) -> Iterator[Page]:
    """A signed-in page of a browser that runs no scripts."""
    page = profiles.use(java_script_enabled=False)
    yield sign_in(page)
    profiles.leave(page.context)
    traffic.wait_for_silence(PATIENCE / 1000)


def sign_in(page: Page) -> Page:
    link = reverse("signin-link", args=[issue_link_token()])
    assert page.request.get(link, max_redirects=0).status == 302
    return page
