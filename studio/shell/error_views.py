"""Django's handlers for 400, 403, 404, 500 and a failed CSRF check, named in `urls` and `settings`."""

import sys

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from studio.shell.layout import theme_of
from studio.shell.outages import is_outage, what_is_out
from studio.shell.refusal import refusal_page, usual_advice, usual_title
from studio.shell.turns import COME_BACK_SECONDS


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, and 413 for what is too large."""
    if isinstance(exception, RequestDataTooBig):
        return refusal_page(request, 413, _("The request is larger than the studio accepts."))
    return refusal_page(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return refusal_page(request, 403, str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return refusal_page(request, 404)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form whose token is missing or old."""
    return refusal_page(
        request,
        403,
        _("This form was open for too long, or your browser did not send its cookie."),
        _("Go back, reload the page and send it again. If it keeps happening, allow cookies here."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 for an outage; made without database, session or context processors: any may be out."""
    error = sys.exception()
    out = error is not None and is_outage(error)
    status = 503 if out else 500
    context = {
        "status": status,
        "problem_title": usual_title(status),
        "what": what_is_out(error) if error is not None and out else "",
        "advice": usual_advice(status),
        "layout_template": "shell/bare.html",
        "theme": theme_of(request),
        "LANGUAGE_CODE": get_language(),
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
    part = bool(HtmxDetails(request))
    text = render_to_string("shell/_problem.html" if part else "shell/problem.html", context)
    headers = {"Retry-After": str(COME_BACK_SECONDS)} if out else {}
    return HttpResponse(text, status=status, headers=headers)
