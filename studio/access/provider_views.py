"""Views of sign-in by OpenID Connect: to the provider, and back. Both are 404 where none is configured."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.access.signin import TooManyAttempts, count_attempt
from studio.shell.refusal import RequestRefused
from studio.shell.requests import way_back


@never_cache
@login_not_required
@require_GET
def provider_signin(request: HttpRequest) -> HttpResponse:
    """Go to the provider. A link, because a form's redirect to another site is against our own policy."""
    _require_provider()
    from requests import RequestException

    from studio.access.provider import PROVIDER_ID, SignedTokens

    provider = SignedTokens(request, PROVIDER_ID).get_provider()
    provider.oauth2_adapter_class = SignedTokens
    try:
        answer: HttpResponse = provider.redirect(request, process="login", next_url=way_back(request))
    except (RequestException, KeyError, ValueError) as error:
        raise RequestRefused(
            503, _("The provider is not responding."), _("Sign in with a password, or try again in a minute.")
        ) from error
    return answer


@never_cache
@login_not_required
@require_GET
def provider_callback(request: HttpRequest) -> HttpResponse:
    """Come back with a code; the account is signed in, or it is said why not."""
    _require_provider()
    from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView

    from studio.access.provider import PROVIDER_ID, SignedTokens

    try:
        count_attempt(request)
    except TooManyAttempts:
        raise RequestRefused(
            429, _("Too many sign-ins from your address."), _("Try again in a minute.")
        ) from None
    answer: HttpResponse = OAuth2CallbackView.adapter_view(SignedTokens(request, PROVIDER_ID))(request)
    return answer


def _require_provider() -> None:
    if not settings.STUDIO_OIDC:
        raise Http404
