"""Sign-in by OpenID Connect, through django-allauth. Imported only where a provider is configured.

The library does the flow: state, PKCE, the exchange of the code. Here its answer becomes an account of the
studio, with the role that the person's groups give. None of the provider's tokens is stored.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from studio.access.accounts import Account, Role
from studio.access.audit import Event, record, record_refused_signin
from studio.access.people import LastAdministrator, change
from studio.shell.refusal import refusal_page

PROVIDER_ID = "oidc"
_LONGEST_NAME = 100


class SignedTokens(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """An ID token is required and its signature checked; the user's info must be of the same person."""

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Where the provider sends people back to."""
        return request.build_absolute_uri(reverse("provider-callback"))

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """What the provider says about the person."""
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("no ID token")
        found = super().complete_login(request, app, token, **kwargs)
        data = found.account.extra_data
        if data["userinfo"].get("sub") != data["id_token"].get("sub"):
            raise OAuth2Error("the user's info is somebody else's")
        return found

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        self.did_fetch_access_token = False  # the library leaves the signature out where TLS stands in for it
        try:
            decoded: dict[str, Any] = super()._decode_id_token(app, id_token)
        except (KeyError, TypeError, ValueError, NotImplementedError) as error:
            raise OAuth2Error("the ID token cannot be read") from error
        return decoded


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """What becomes of a sign-in at the provider. Django-allauth's SOCIALACCOUNT_ADAPTER."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """Sign the person in; the library's own sign-up and its pages are not used."""
        data = sociallogin.account.extra_data
        claims = {**data["id_token"], **data["userinfo"]}
        provider = settings.STUDIO_OIDC
        role = provider.role_of(groups_of(claims, provider.claim)) if provider else ""
        if not role:
            _refuse(
                request,
                _("None of your groups may use this studio."),
                _("Ask an administrator of this studio, or of your groups."),
            )
        try:
            person = _account(sociallogin.account.uid, claims, Role[role.upper()])
        except IntegrityError:  # two first sign-ins at once: the other one made the account
            person = _account(sociallogin.account.uid, claims, Role[role.upper()])
        if not person.is_active:
            _refuse(request, _("Your account is disabled."), _("Ask an administrator of this studio."))
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
        raise ImmediateHttpResponse(HttpResponseRedirect(sociallogin.state.get("next") or "/"))

    def on_authentication_error(self, request: HttpRequest, *args: Any, **kwargs: Any) -> NoReturn:
        """The flow was broken off, or what came back does not hold."""
        _refuse(
            request,
            _("Sign-in with the provider failed."),
            _("Start again on the sign-in page. If it happens again, tell an administrator."),
        )


def groups_of(claims: Mapping[str, Any], name: str) -> set[str]:
    """The groups in a claim: a list, or one word; `realm_access.roles` is one inside another."""
    value: Any = claims
    for part in [name] if name in claims else name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    found = value if isinstance(value, list) else [value]
    return {group for group in found if isinstance(group, str)}


def _account(uid: str, claims: Mapping[str, Any], role: Role) -> User:
    """The account of that person of the provider, made at the first sign-in, with the role of today."""
    with transaction.atomic():
        known = SocialAccount.objects.filter(provider=PROVIDER_ID, uid=uid).select_related("user").first()
        if known is None:
            person = User.objects.create_user(_free_name(claims), password=None)
            Account.objects.filter(user=person).update(role=role)
            SocialAccount.objects.create(user=person, provider=PROVIDER_ID, uid=uid)
            record(Event.PERSON_JOINED, person, by=person, after={"role": role.name.lower()})
        else:
            person = known.user
    if person.account.role != role and person.is_active and known is not None:
        with suppress(LastAdministrator):  # who keeps the role until there is another one
            change(person, {"role": role})
    return User.objects.get(pk=person.pk)


def _free_name(claims: Mapping[str, Any]) -> str:
    """A name nobody has: an account with a password is never taken over by its name or address."""
    wanted = str(claims.get("preferred_username") or claims.get("email") or "").partition("@")[0]
    name = re.sub(r"[^\w.+-]", "", wanted)[:_LONGEST_NAME] or "person"
    free, number = name, 1
    while User.objects.filter(username__iexact=free).exists():
        number += 1
        free = f"{name}{number}"
    return free


def _refuse(request: HttpRequest, what: str, advice: str) -> NoReturn:
    record_refused_signin("", "provider")
    ways = [(_("Sign in"), reverse("signin"))]
    raise ImmediateHttpResponse(refusal_page(request, 403, what, advice, ways=ways))
