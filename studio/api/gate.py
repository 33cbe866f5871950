"""The gate that every request of the API passes: token, rate, JSON, idempotency; problems, not pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja.parser import Parser

from studio.access.actors import Actor, Via
from studio.access.audit import record_refused_signin
from studio.access.roles import Action, require
from studio.access.tokens import COUNTER, Allowance, ApiToken, Scope, TooManyRequests
from studio.api.idempotency import answered_once
from studio.api.problems import Refusal, answer_to
from studio.contexts.pasted_json import Unreadable, read_json

SCOPES: dict[Action, Scope] = {
    Action.READ: Scope.READ,
    Action.EDIT: Scope.WRITE,
    Action.CONTEXT: Scope.WRITE,
    Action.LABEL: Scope.WRITE,
    Action.PROTECTED_LABEL: Scope.RELEASE,
    Action.EXPORT: Scope.RELEASE,
    Action.MACHINE: Scope.MACHINE,
}
"""The scope that a token needs for what its person may do."""
_READS = ("GET", "HEAD", "OPTIONS")

View = Callable[..., HttpResponse]


class ApiRequest(HttpRequest):
    """A request as operations get it."""

    user: User
    token: ApiToken
    actor: Actor
    json: Any


class Token:
    """What an operation needs: ninja asks it before the input is read."""

    openapi_security_schema = {"type": "http", "scheme": "bearer", "bearerFormat": "pst_…"}  # noqa: RUF012

    def __init__(self, action: Action) -> None:
        self.action = action

    def __call__(self, request: ApiRequest) -> ApiToken:
        allow(request, self.action)
        return request.token


READ, EDIT, CONTEXT, LABEL, EXPORT, MACHINE = map(
    Token, (Action.READ, Action.EDIT, Action.CONTEXT, Action.LABEL, Action.EXPORT, Action.MACHINE)
)


def allow(request: ApiRequest, action: Action, thing: Any = None) -> None:
    """Go on, or refuse: the token's scope, and its person's role, must include the action."""
    if action is Action.LABEL and getattr(thing, "protected", False):
        action = Action.PROTECTED_LABEL
    if SCOPES[action] not in request.token.scopes:
        raise Refusal(403, "scope-missing")
    require(request.token.actor, action)


class SentJson(Parser):
    """The body as the gate has read it."""

    def parse_body(self, request: HttpRequest) -> Any:
        """What ninja checks."""
        return request.json  # type: ignore[attr-defined]


def gated(view: View) -> View:
    """A view of ninja's behind the gate."""

    @wraps(view)
    def behind(request: ApiRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        allowance: Allowance | None = None
        try:
            request.token = _token(request)
            request.user = person = request.token.person
            request.actor = Actor(
                Via.API,
                person.pk,
                person.get_username(),
                request.token.name,
                request.META.get("REMOTE_ADDR", ""),
            )
            allowance = COUNTER.take(request.token, timezone.now())
            request.json = _json(request) if request.method not in _READS and not _is_raw(request) else None
            answer = (
                view(request, *args, **kwargs)
                if request.method in _READS or _is_raw(request)
                else answered_once(request, request.token, lambda: view(request, *args, **kwargs))
            )
            if answer.status_code == 405:
                raise Refusal(405, "method-not-allowed", headers={"Allow": answer["Allow"]})
        except Exception as error:
            if isinstance(error, TooManyRequests):
                allowance = error.allowance
            answer = answer_to(request, error)
        if allowance is not None:
            answer["RateLimit-Limit"] = str(allowance.limit)
            answer["RateLimit-Remaining"] = str(allowance.remaining)
            answer["RateLimit-Reset"] = str(allowance.seconds)
        return answer

    behind.csrf_exempt = True  # type: ignore[attr-defined]  # a token comes in a header, which no form sends
    behind.login_required = False  # type: ignore[attr-defined]
    return behind


def not_found(request: HttpRequest) -> HttpResponse:
    """Any other address of the API."""
    raise Refusal(404, "not-found")


def _token(request: HttpRequest) -> ApiToken:
    kind, _space, key = request.headers.get("Authorization", "").partition(" ")
    challenge = {"WWW-Authenticate": "Bearer"}
    if kind.lower() != "bearer" or not key.strip():
        raise Refusal(401, "token-missing", headers=challenge)
    token = ApiToken.objects.find(key.strip(), timezone.now())
    if token is None:
        record_refused_signin("", "token")
        raise Refusal(401, "token-invalid", headers=challenge)
    return token


def _is_raw(request: HttpRequest) -> bool:
    """Whether the body is bytes that an operation reads itself: too large to be kept in memory twice."""
    return request.content_type == "application/octet-stream"


def _json(request: HttpRequest) -> Any:
    if not request.body:
        return None
    try:
        text = request.body.decode()
    except UnicodeDecodeError:
        raise Unreadable(_("The text is not UTF-8.")) from None
    return read_json(text)
