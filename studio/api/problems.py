"""Problem details (RFC 9457): every refusal of the API, with a code that programs can rely on."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from django import forms
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from ninja.errors import HttpError, ValidationError
from pydantic import BaseModel, Field

from builder.errors import BuilderError, CoolingDown, JailError
from studio.access.roles import NotAllowed
from studio.access.tokens import TooManyRequests
from studio.contexts.pasted_json import Unreadable
from studio.preview.saving import NothingChanged, Refused, VersionConflict
from studio.prompts.findings import Finding
from studio.prompts.protection import ApprovalNeeded
from studio.shell.jail import status_of
from studio.shell.language import reader_language
from studio.shell.outages import is_outage, what_is_out
from studio.shell.refusal import RequestRefused, usual_advice, usual_title
from studio.shell.turns import COME_BACK_SECONDS, Busy

log = logging.getLogger("django.request")

CODES = {
    "bad-request": gettext_lazy("The request cannot be read."),
    "json-unreadable": gettext_lazy("The body is not JSON that the studio accepts."),
    "input-invalid": gettext_lazy("A value is missing or wrong; “errors” says which."),
    "token-missing": gettext_lazy("Send a token: “Authorization: Bearer pst_…”."),
    "token-invalid": gettext_lazy("The token is unknown, expired or revoked."),
    "scope-missing": gettext_lazy("The token does not have the scope that this needs."),
    "not-allowed": gettext_lazy("The role of the token's person does not include this."),
    "not-found": gettext_lazy("There is no such object or address."),
    "method-not-allowed": gettext_lazy("This address does not support the method."),
    "conflict": gettext_lazy("Changed meanwhile, or blocked by something else."),
    "another-agent": gettext_lazy("Another agent reports this workspace."),
    "begin-again": gettext_lazy("Batches were merged, or settings changed, meanwhile: send again."),
    "report-refused": gettext_lazy("The agent's report is inconsistent."),
    "approval-needed": gettext_lazy("The label moves only by a proposal that another releaser approves."),
    "version-conflict": gettext_lazy("A version was saved since “base”; “current” is its number."),
    "nothing-changed": gettext_lazy("The text is the same as in the base version; no version was created."),
    "text-refused": gettext_lazy("The text has errors; “problems” lists them."),
    "precondition-failed": gettext_lazy("It is no longer what “If-Match” names; read it again."),
    "precondition-required": gettext_lazy("Send “If-Match” with the ETag that you read."),
    "idempotency-key-invalid": gettext_lazy("An “Idempotency-Key” is 1 to 200 visible ASCII characters."),
    "idempotency-key-reused": gettext_lazy("The key was used for another request."),
    "idempotency-in-progress": gettext_lazy("The request with this key is still in progress."),
    "too-large": gettext_lazy("The request or its response is too large."),
    "rate-limited": gettext_lazy("This token has used all its requests for this minute."),
    "busy": gettext_lazy("The studio is busy with other large requests. Try again later."),
    "unavailable": gettext_lazy("Not available right now; try again."),
    "server-error": gettext_lazy("Internal error of the studio; its log has the details."),
}
"""Every code of the API's own. A text that meets a limit of the jail has that limit's code."""

_BY_STATUS = {
    400: "bad-request",
    401: "token-invalid",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    413: "too-large",
    422: "input-invalid",
    429: "rate-limited",
    503: "unavailable",
}
REFERENCE = "/api/"
"""The page that explains the codes."""


class ProblemShown(BaseModel):
    """Something wrong in a text, or worth knowing about it, as data."""

    severity: Literal["error", "warning", "hint"]
    code: str
    message: str
    advice: str = ""
    text: str | None = Field(None, description="The text of the version that it is about.")
    file: str = ""
    line: int | None = None
    column: int | None = None
    replaces: str | None = None
    replacement: str | None = None
    where: str = Field("", description="The sample context and round that it shows in.")


class FieldError(BaseModel):
    """What is wrong with one value of the input."""

    field: str
    message: str


class Problem(BaseModel):
    """A refusal, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str = ""
    code: str
    advice: str = ""
    problems: list[ProblemShown] = []
    errors: list[FieldError] = []
    current: int | None = Field(
        None, description="The number of the newest version, where that is the point."
    )


class Refusal(Exception):
    """Ends a request of the API with a problem."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str = "",
        *,
        advice: str = "",
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.detail = status, code, detail
        self.advice, self.headers, self.more = advice, headers or {}, more


def shown(findings: Iterable[Finding]) -> list[ProblemShown]:
    """Findings as data, in the reader's language."""
    return [
        ProblemShown(
            severity=finding.severity,
            code=finding.code,
            message=finding.text,
            advice=finding.advice,
            text=finding.kind,
            file=finding.file,
            line=finding.line,
            column=finding.column,
            replaces=finding.replaces,
            replacement=finding.replacement,
            where=finding.where,
        )
        for finding in findings
    ]


def refuse_invalid(form: forms.BaseForm) -> None:
    """422 with what a form of the pages says about each value."""
    if form.is_valid():
        return
    errors = [
        FieldError(field="" if name == "__all__" else name, message=str(message))
        for name, messages in form.errors.items()
        for message in messages
    ]
    raise Refusal(422, "input-invalid", errors=errors)


def problem_answer(refusal: Refusal) -> HttpResponse:
    """The answer to a refused request."""
    code = refusal.code
    body = Problem(
        type=f"{REFERENCE}#{code if code in CODES else 'limits'}",
        title=str(CODES.get(code) or usual_title(refusal.status)),
        status=refusal.status,
        detail=refusal.detail,
        code=code,
        advice=refusal.advice,
        **refusal.more,
    )
    answer = HttpResponse(
        body.model_dump_json(), status=refusal.status, content_type="application/problem+json"
    )
    for name, value in refusal.headers.items():
        answer[name] = value
    return answer


def answer_to(request: HttpRequest, error: Exception) -> HttpResponse:
    """The answer to whatever ended a request."""
    refusal = _refusal(error)
    if refusal.status == 500:
        log.error("API: %s %s", request.method, request.path, exc_info=error)
    return problem_answer(refusal)


def _refusal(error: Exception) -> Refusal:
    wait = {"Retry-After": str(COME_BACK_SECONDS)}
    match error:
        case Refusal():
            return error
        case ValidationError():
            return Refusal(422, "input-invalid", errors=_field_errors(error.errors))
        case Refused():
            return Refusal(422, "text-refused", problems=shown(error.findings))
        case VersionConflict():
            return Refusal(409, "version-conflict")
        case NothingChanged():
            return Refusal(409, "nothing-changed")
        case Busy():
            return Refusal(503, "busy", error.what, advice=error.advice, headers=wait)
        case NotAllowed():
            return Refusal(403, "not-allowed", error.what, advice=error.advice)
        case ApprovalNeeded():
            return Refusal(409, "approval-needed", error.what, advice=error.advice)
        case RequestRefused():
            headers = wait if error.status in (429, 503) else {}
            code = _BY_STATUS.get(error.status, "bad-request")
            return Refusal(error.status, code, error.what, advice=error.advice, headers=headers)
        case JailError():
            seconds = error.seconds if isinstance(error, CoolingDown) else COME_BACK_SECONDS
            said = Finding.of(error)
            headers = {"Retry-After": str(seconds)}
            return Refusal(status_of(error), error.code, said.text, advice=said.advice, headers=headers)
        case BuilderError():
            language = reader_language()
            return Refusal(422, error.code, error.text(language), advice=error.advice(language))
        case Unreadable():
            return Refusal(400, "json-unreadable", str(error))
        case RequestDataTooBig():
            return Refusal(413, "too-large", _("The request is larger than the studio accepts."))
        case TooManyRequests():
            left = error.allowance
            return Refusal(429, "rate-limited", headers={"Retry-After": str(left.seconds)})
        case Http404():
            return Refusal(404, "not-found", advice=usual_advice(404))
        case PermissionDenied():
            return Refusal(403, "not-allowed", str(error))
        case HttpError():
            return Refusal(error.status_code, _BY_STATUS.get(error.status_code, "bad-request"), str(error))
        case _ if is_outage(error):
            log.warning("API: no database or no disk", exc_info=error)
            return Refusal(503, "unavailable", what_is_out(error), headers=wait)
    return Refusal(500, "server-error")


def _field_errors(errors: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    """What pydantic found, by the path of the value, in the reader's language."""
    return [
        FieldError(field=".".join(str(part) for part in error["loc"][1:]), message=_said(error))
        for error in errors[:20]
    ]


def _said(error: Mapping[str, Any]) -> str:
    said = _WRONG.get(error["type"].partition("_parsing")[0].partition("_from")[0].removesuffix("_type"))
    return str(said) % error.get("ctx", {}) if said else str(error["msg"])


_WRONG = {
    "missing": gettext_lazy("Required."),
    "string": gettext_lazy("Must be a text."),
    "int": gettext_lazy("Must be a whole number."),
    "float": gettext_lazy("Must be a number."),
    "bool": gettext_lazy("Must be true or false."),
    "list": gettext_lazy("Must be a list."),
    "dict": gettext_lazy("Must be an object."),
    "model": gettext_lazy("Must be an object."),
    "model_attributes": gettext_lazy("Must be an object."),
    "uuid": gettext_lazy("Must be a UUID."),
    "datetime": gettext_lazy("Must be a time such as 2026-01-31T09:30:00Z."),
    "enum": gettext_lazy("Must be one of: %(expected)s."),
    "literal_error": gettext_lazy("Must be one of: %(expected)s."),
    "greater_than_equal": gettext_lazy("Must be at least %(ge)s."),
    "less_than_equal": gettext_lazy("Must be at most %(le)s."),
    "greater_than": gettext_lazy("Must be more than %(gt)s."),
    "less_than": gettext_lazy("Must be less than %(lt)s."),
    "string_too_short": gettext_lazy("Must have at least %(min_length)s characters."),
    "string_too_long": gettext_lazy("Must have at most %(max_length)s characters."),
    "string_pattern_mismatch": gettext_lazy("Must match %(pattern)s."),
    "too_short": gettext_lazy("Must have at least %(min_length)s items."),
    "too_long": gettext_lazy("Must have at most %(max_length)s items."),
    "value_error": gettext_lazy("Cannot hold %(error)s."),
}
"""By pydantic's type of error, without what follows the kind of value."""
