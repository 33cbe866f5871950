"""Sign-in by OpenID Connect, against a provider on this machine and a studio as people start it."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from studio.access.accounts import Role
from studio.access.environment import ROLE_NAMES, read_provider
from tests.openid_provider import OpenIdProvider, openid_provider
from tests.studio_process import ROOT, Studio

ROLES = "writers=editor, leads = releaser, a=b=administrator"
SETTINGS = {
    "STUDIO_OIDC_ISSUER": "https://login.example.org/",
    "STUDIO_OIDC_CLIENT_ID": "c",
    "STUDIO_OIDC_CLIENT_SECRET": "s",
    "STUDIO_OIDC_ROLES": ROLES,
}


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider() as running:
        yield running


@pytest.fixture(scope="module")
def studio(provider: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    data = tmp_path_factory.mktemp("oidc") / "data"
    running = Studio(data, "--port", "0", "--no-demo", **provider.environment(ROLES))
    yield running
    assert running.end(signal.SIGINT) == 0


@pytest.fixture(autouse=True)
def honest(request: pytest.FixtureRequest) -> None:
    if "provider" in request.fixturenames:
        provider: OpenIdProvider = request.getfixturevalue("provider")
        provider.forge, provider.signing_key = lambda claims: claims, provider.key


def sign_in(studio: Studio, provider: OpenIdProvider, name: str, groups: Any) -> requests.Response:
    """What the studio answers somebody who comes back from the provider."""
    provider.people[name] = {"groups": groups}
    browser = requests.Session()
    asked = browser.get(f"{studio.base}/signin/provider/?next=/roles/", allow_redirects=False)
    query = dict(parse_qsl(urlsplit(asked.headers["Location"]).query))
    return browser.get(provider.authorized(query, name))


def tell(studio: Studio, script: str) -> str:
    """What a few lines print in a Django shell of that studio."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", script],
        cwd=ROOT,
        env={**studio.environment, "STUDIO_DATA": str(studio.data)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def test_groups_give_the_role_at_every_sign_in(studio: Studio, provider: OpenIdProvider) -> None:
    for groups, role in [
        (["writers", "other"], "Editor"),
        (["writers", "leads"], "Releaser"),
        ("a=b", "Admin"),
    ]:
        answer = sign_in(studio, provider, "hana", groups)
        assert answer.url == f"{studio.base}/roles/" and f"Your role: {role}" in answer.text
    refused = sign_in(studio, provider, "hana", ["others"])
    assert refused.status_code == 403 and "None of your groups" in refused.text
    # The only administrator stays one, whatever the groups say.
    assert "Your role: Administrator" in sign_in(studio, provider, "hana", ["writers"]).text
    people = "from studio.models import *; print([(a.user.username, a.role) for a in Account.objects.all()])"
    assert tell(studio, people) == "[('hana', 4)]", "one account for all of them"


def test_a_name_that_somebody_has_is_not_taken_over(studio: Studio, provider: OpenIdProvider) -> None:
    tell(studio, "from django.contrib.auth.models import User; User.objects.create_user('Mio', password='x')")
    assert ">mio2<" in sign_in(studio, provider, "mio", ["writers"]).text
    tell(studio, "from studio.access.people import *; switch_off(User.objects.get(username='mio2'))")
    refused = sign_in(studio, provider, "mio", ["writers"])
    assert refused.status_code == 403 and "account is disabled" in refused.text


@pytest.mark.parametrize(
    "forge",
    [
        lambda claims: claims | {"aud": "another client"},
        lambda claims: claims | {"iss": "https://elsewhere.example"},
        lambda claims: claims | {"exp": 1},
        lambda claims: claims | {"sub": "id of somebody else"},
    ],
)
def test_a_token_that_does_not_hold_is_refused(
    studio: Studio, provider: OpenIdProvider, forge: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    provider.forge = forge
    assert sign_in(studio, provider, "ken", ["writers"]).status_code == 403


def test_a_token_signed_by_another_key_is_refused(studio: Studio, provider: OpenIdProvider) -> None:
    provider.signing_key = rsa.generate_private_key(65537, 2048)
    assert sign_in(studio, provider, "ken", ["writers"]).status_code == 403


def test_a_code_without_the_browser_that_asked_is_refused(studio: Studio, provider: OpenIdProvider) -> None:
    asked = requests.get(f"{studio.base}/signin/provider/", allow_redirects=False)
    query = dict(parse_qsl(urlsplit(asked.headers["Location"]).query))
    provider.people["ken"] = {"groups": ["writers"]}
    assert requests.get(provider.authorized(query, "ken")).status_code == 403
    for odd in ("", "?state=x&code=y", "?error=access_denied"):
        assert requests.get(f"{studio.base}/signin/provider/callback/{odd}").status_code == 403


def test_sign_ins_of_one_address_are_throttled(studio: Studio) -> None:
    for _number in range(31):
        answer = requests.get(f"{studio.base}/signin/provider/callback/")
    assert answer.status_code == 429


def test_nothing_is_offered_without_a_provider(client: Client, db: None) -> None:
    assert "/signin/provider/" not in client.get("/signin/").content.decode()
    assert client.get("/signin/provider/").status_code == 404
    assert client.get("/signin/provider/callback/").status_code == 404


def test_the_provider_is_read_from_the_environment() -> None:
    read = read_provider(SETTINGS)
    assert read and (read.issuer, read.name, read.claim) == (
        "https://login.example.org",
        "login.example.org",
        "groups",
    )
    assert [read.role_of(groups) for groups in ([], ["writers"], ["leads", "writers"])] == [
        "",
        "editor",
        "releaser",
    ]
    assert read_provider({}) is None
    assert tuple(role.name.lower() for role in Role) == ROLE_NAMES


@pytest.mark.parametrize(
    "change",
    [
        {"STUDIO_OIDC_ISSUER": "http://login.example.org"},
        {"STUDIO_OIDC_CLIENT_SECRET": ""},
        {"STUDIO_OIDC_ROLES": ""},
        {"STUDIO_OIDC_ROLES": "writers=king"},
    ],
)
def test_an_odd_provider_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(ImproperlyConfigured, match=next(iter(change))):
        read_provider(SETTINGS | change)
