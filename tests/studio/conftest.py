"""Tests of the studio: Django is set up, with a database of their own."""

import tests.with_django  # noqa: F401

# isort: split

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone, translation

from builder.jail import JailPool
from studio.access.accounts import Role
from studio.models import Workspace
from studio.shell import jail, sized_cache
from studio.shell.turns import PLACES
from tests.studio.clock import NOW
from tests.studio.jail import PATIENT, UseJail
from tests.studio.odd_workspace import make_odd_workspace


@pytest.fixture(scope="session", autouse=True)
def patient_jail() -> None:
    """The pool of this process, with more time to start."""
    jail.use(JailPool(limits=PATIENT))


@pytest.fixture(scope="session", autouse=True)
def time_enough() -> Iterator[None]:
    """Pages leave out what they have no time for; on a busy machine that would be left out of tests, too.
    A test about such a time sets it itself."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "compare.matrix.ROW_SECONDS",
            "compare.matrix.WAIT_SECONDS",
            "compare.matrix_page.PLAIN_SECONDS",
            "compare.rendered.OVERVIEW_SECONDS",
            "preview.saving.TRIAL_SECONDS",
            "results.replay.run_page.TABLE_SECONDS",
            "results.replay.run_page.FILE_SECONDS",
            "workspaces.candidates.SECONDS",
        ):
            patch.setattr(f"studio.{name}", 120.0)
        patch.setattr("builder.files.answering.SECONDS", 120.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def administrators() -> Iterator[None]:
    """People of tests that are not about roles may do everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("studio.access.accounts.FIRST_ROLE", Role.ADMINISTRATOR)
        yield


@pytest.fixture(autouse=True)
def own_turns() -> Iterator[None]:
    """A streamed answer that a test does not read to its end keeps its turn; a server closes each."""
    yield
    PLACES._taken.clear()


@pytest.fixture(autouse=True)
def begins_in_english() -> Iterator[None]:
    """A request in Japanese leaves its language to the thread; each test begins in English."""
    with translation.override("en"):
        yield


@pytest.fixture
def person(db: None) -> User:
    """Somebody with a password."""
    return User.objects.create_user("yuki", password="correct horse battery")


@pytest.fixture
def signed_in(client: Client, person: User) -> Client:
    """A browser of that somebody, signed in."""
    client.force_login(person)
    return client


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder for the demo; its workspaces are made once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def demo(db: None, demo_folder: Path) -> Path:
    """The demo, as a first start loads it."""
    from studio.home.demo import load_demo
    from studio.home.demo.workspaces import keep_running

    load_demo(demo_folder)
    keep_running(demo_folder / "demo", timezone.now())
    return demo_folder


@pytest.fixture(scope="session")
def odd_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with what MixSeek allows and nobody expects."""
    return make_odd_workspace(tmp_path_factory.mktemp("odd"))


@pytest.fixture
def odd_one(db: None, odd_folder: Path) -> Workspace:
    """The same, registered."""
    return Workspace.objects.create(slug="odd", name="<Odd>", path=str(odd_folder), created_at=NOW)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """Each test begins with empty caches."""
    sized_cache.clear_all()


@pytest.fixture
def use_jail() -> Iterator[UseJail]:
    """Hands the studio another jail until the test ends."""
    before = jail.use(None)
    jail.use(before)
    yield jail.use
    jail.use(before)


@pytest.fixture
def own_jail(use_jail: UseJail) -> Iterator[JailPool]:
    """A small jail for one test: whom it makes wait is nobody in the next one."""
    with JailPool(size=1, spares=1, limits=PATIENT) as own:
        use_jail(own)
        yield own
