"""Where to go after a form: back to the page it was on, as long as that page is ours."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def way_back(request: HttpRequest) -> str:
    """The path in ``next``; the start page for anything that is not a path on this server."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    # A bare word is no path, and a redirect would take it for the name of a view.
    return wanted if ours and wanted.startswith("/") else "/"
