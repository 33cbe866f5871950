"""The pages of API tokens: shown once, ended by their owner, those of services by administrators."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from studio.access.accounts import Account, Role
from studio.access.tokens import ApiToken
from studio.models import AuditEntry

FORM = {"name": "laptop", "scopes": ["read", "write"], "days": "30"}


def sent_key(page: str) -> str:
    found = re.search(r'id="new-token">(pst_[-\w]+)<', page)
    assert found
    return found[1]


def test_a_token_is_shown_once_and_works_until_it_is_ended(signed_in: Client, person: User) -> None:
    page = signed_in.post("/account/tokens/", FORM)
    key = sent_key(page.content.decode())
    assert "no-store" in page["Cache-Control"]
    api = Client(headers={"Authorization": f"Bearer {key}"})
    assert api.get("/api/v1/sets").status_code == 200
    again = signed_in.get("/account/tokens/").content.decode()
    assert key not in again and key[:10] in again
    token = ApiToken.objects.get()
    assert (token.name, token.scopes, token.used_at is not None) == ("laptop", ["read", "write"], True)
    signed_in.post(f"/account/tokens/{token.pk}/end/")
    assert api.get("/api/v1/sets").status_code == 401
    told = AuditEntry.objects.filter(action__startswith="token.").values_list("action", flat=True)
    assert sorted(told) == ["token.ended", "token.made"]


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": ["all"]}, {"scopes": []}, {"days": "9999"}])
def test_a_token_without_name_scope_or_end_is_not_made(signed_in: Client, wrong: dict[str, object]) -> None:
    assert signed_in.post("/account/tokens/", FORM | wrong).status_code == 422
    assert not ApiToken.objects.exists()


def test_nobody_ends_the_token_of_another(signed_in: Client, person: User) -> None:
    signed_in.post("/account/tokens/", FORM)
    other = Client()
    other.force_login(User.objects.create_user("ken"))
    assert other.post(f"/account/tokens/{ApiToken.objects.get().pk}/end/").status_code == 404
    assert "pst_" not in other.get("/account/tokens/").content.decode()


def test_administrators_make_and_end_tokens_of_services(signed_in: Client, person: User) -> None:
    page = signed_in.post("/tokens/", FORM | {"name": "ci", "role": "2"}).content.decode()
    assert (
        Client(headers={"Authorization": f"Bearer {sent_key(page)}"}).get("/api/v1/sets").status_code == 200
    )
    token = ApiToken.objects.get()
    assert (token.person.username, token.role) == ("service:ci", Role.EDITOR)
    assert signed_in.post("/tokens/", FORM | {"role": "4"}).status_code == 422
    assert "pst_" not in signed_in.get("/account/tokens/").content.decode()
    Account.objects.filter(user=person).update(role=Role.RELEASER)
    assert signed_in.post(f"/tokens/{token.pk}/end/").status_code == 403
    Account.objects.filter(user=person).update(role=Role.ADMINISTRATOR)
    signed_in.post(f"/tokens/{token.pk}/end/")
    assert not ApiToken.objects.exists()
