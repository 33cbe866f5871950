"""A request that is refused: the exception that ends it and the page it becomes.

Raised by views and by what they call; `middleware.RefusalPages` and the error handlers make the page.
"""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

Way = tuple[str, str]
"""A way out: what its button says, and where it leads."""


class RequestRefused(Exception):
    """Ends the request with a page that says what is wrong and what to do next."""

    def __init__(
        self, status: int, what: str, advice: str = "", *, title: str = "", ways: Sequence[Way] = ()
    ) -> None:
        super().__init__(what)
        self.status, self.what, self.advice, self.title, self.ways = status, what, advice, title, ways

    def page(self, request: HttpRequest) -> HttpResponse:
        """The answer to the request; a subclass may answer in its own way."""
        return refusal_page(request, self.status, self.what, self.advice, title=self.title, ways=self.ways)


def refusal_page(
    request: HttpRequest,
    status: int,
    what: str = "",
    advice: str = "",
    *,
    title: str = "",
    ways: Sequence[Way] = (),
) -> HttpResponse:
    """The page of a refusal; an htmx request gets the part that fits into its page."""
    signed_in = hasattr(request, "user") and request.user.is_authenticated
    part = bool(HtmxDetails(request))
    context = {
        "status": status,
        "problem_title": title or usual_title(status),
        "what": what,
        "advice": advice or usual_advice(status),
        "ways": ways,
        "layout_template": "shell/base.html" if signed_in else "shell/bare.html",
    }
    return render(request, "shell/_problem.html" if part else "shell/problem.html", context, status=status)


def usual_title(status: int) -> str:
    """What a status means, in a few words."""
    titles = {
        400: _("Bad request"),
        403: _("Not allowed"),
        404: _("Page not found"),
        405: _("Method not allowed"),
        409: _("Changed meanwhile"),
        410: _("This link has expired"),
        413: _("Too large"),
        429: _("Too many attempts"),
        503: _("Not available right now"),
    }
    return titles.get(status, _("Internal error"))


def usual_advice(status: int) -> str:
    """What to do about it where nobody knows better."""
    advices = {
        400: _("Check the address or the form, and try again."),
        403: _("Sign in with an account that has access, or ask the administrator."),
        404: _("Check the address, or start from one of the lists on the left."),
        405: _("Go back and use the button or link on the page."),
        409: _("Check the changes, then decide."),
        410: _("Run `manage.py link` where the studio is installed to get a new one."),
        413: _("Shorten the text or split the file, and send it again."),
        429: _("Wait a moment, then try again. Your input was not lost."),
        503: _("Try again in a moment. Your input was not lost."),
    }
    return advices.get(status, _("Try again; the server's log has the details."))
