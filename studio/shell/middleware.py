"""The studio's middleware: security headers, the sign-in that every view needs, pages of refusals."""

import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from studio.shell.refusal import RequestRefused

Answer = Callable[[HttpRequest], HttpResponseBase]

_PERMISSIONS = ", ".join(
    f"{feature}=()" for feature in ("camera", "geolocation", "microphone", "payment", "usb")
)


# Our own files, and what carries the response's nonce; nothing inline, nothing from outside. The editor puts
# its own <style> into the page and marks it with the nonce.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'nonce-{nonce}'",
        "style-src 'self' 'nonce-{nonce}'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


class SecurityHeaders:
    """Outermost, so that errors and static files get the headers too."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        nonce = secrets.token_urlsafe(16)
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
        response["Permissions-Policy"] = _PERMISSIONS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        for name, value in (
            # Django's own middleware sets these, but not on what is answered before it.
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ):
            response.setdefault(name, value)
        if "Cache-Control" not in response:
            # Pages belong to one person; static files bring their own rule.
            patch_cache_control(response, private=True, no_cache=True)
        return response


class SignInRequired(LoginRequiredMiddleware):
    """Every view needs a session unless it says otherwise with ``login_not_required``."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """To the sign-in page; an htmx request takes the whole page there, not a part of it."""
        response = super().process_view(request, view_func, view_args, view_kwargs)
        htmx = HtmxDetails(request)
        if response is not None and htmx:
            # The part's own address is no page to come back to: the one in the browser is.
            return HttpResponseClientRedirect(
                _signin_address(request, htmx.current_url or "") or response["Location"]
            )
        return response


def _signin_address(request: HttpRequest, back: str) -> str:
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}):
        return ""
    parts = urlsplit(back)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return f"{resolve_url('signin')}?{urlencode({'next': target})}"


class RefusalPages:
    """Turns a `RequestRefused` that a view raised into its page."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return exception.page(request) if isinstance(exception, RequestRefused) else None
