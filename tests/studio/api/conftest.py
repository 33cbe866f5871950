"""Tokens for tests of the API."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from studio.access import tokens
from studio.access.accounts import Account, Role
from studio.access.tokens import ApiToken, RequestCounter, Scope
from studio.api import gate
from studio.editor.sets import create_set, save_defaults
from studio.models import PromptSet
from tests.studio.api.client import Api
from tests.studio.clock import NOW

MakeApi = Callable[..., Api]


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's tokens may have the numbers of another's."""
    monkeypatch.setattr(gate, "COUNTER", RequestCounter())
    assert tokens.COUNTER is not gate.COUNTER


@pytest.fixture
def make_api(person: User) -> MakeApi:
    """A client with a token of the person, or of somebody else."""

    def make(*scopes: str, of: User | None = None, role: Role | None = None) -> Api:
        owner = of or person
        if role is not None:
            Account.objects.filter(user=owner).update(role=role)
        _token, key = ApiToken.objects.make(
            owner, "test", scopes=scopes or list(Scope), days=1, at=timezone.now()
        )
        return Api(key)

    return make


@pytest.fixture
def api(make_api: MakeApi) -> Api:
    """One that may do everything."""
    return make_api()


@pytest.fixture
def research(person: User) -> PromptSet:
    """A set with one version."""
    made = create_set("Research", tags=["team"], dialect="mixseek", by=person, at=NOW)
    save_defaults(made, by=person, at=NOW)
    return made


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The API's own: its tests write into the demo's workspaces."""
    return tmp_path_factory.mktemp("api-data")
