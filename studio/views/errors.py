"""Error pages that say what happened and what to do next."""

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from studio import problems
from studio.layout import theme_of
from studio.run_problems import BeingCopied


def problem_page(request: HttpRequest, status: int, what: str = "", advice: str = "") -> HttpResponse:
    """The page of a problem; an htmx request gets the part that fits into its page."""
    signed_in = hasattr(request, "user") and request.user.is_authenticated
    part = HtmxDetails(request)  # there is no request.htmx yet where a middleware gave up
    context = {
        "status": status,
        "problem_title": problems.title(status),
        "what": what,
        "advice": advice or problems.advice(status),
        "layout_template": "base.html" if signed_in else "bare.html",
    }
    return render(request, "_problem.html" if part else "problem.html", context, status=status)


def copying_page(request: HttpRequest, problem: BeingCopied) -> HttpResponse:
    """202: how far the copy is; the page asks again and becomes the one that was wanted."""
    htmx = HtmxDetails(request)
    if htmx and htmx.target != "main":
        return problem_page(request, problem.status, problem.what, problem.advice)
    return render(request, "runs/copying.html", {"copy": problem.copy}, status=202)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, and 413 for what is too large."""
    if isinstance(exception, RequestDataTooBig):
        return problem_page(request, 413, _("The request is larger than the studio accepts."))
    return problem_page(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    return problem_page(request, 403, str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return problem_page(request, 404)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form whose token is missing or old."""
    return problem_page(
        request,
        403,
        _("This form was open for too long, or your browser did not send its cookie."),
        _("Go back, reload the page and send it again. If it keeps happening, allow cookies here."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500, made without database, session or context processors: any of them may be what broke."""
    context = {
        "status": 500,
        "problem_title": problems.title(500),
        "advice": problems.advice(500),
        "layout_template": "bare.html",
        "theme": theme_of(request),
        "LANGUAGE_CODE": get_language(),
        "csp_nonce": getattr(request, "csp_nonce", ""),
    }
    text = render_to_string("_problem.html" if HtmxDetails(request) else "problem.html", context)
    return HttpResponse(text, status=500)
