"""Every address of the studio, whichever room it belongs to."""

from django.urls import URLPattern, get_resolver


def every_route() -> list[URLPattern]:
    """Those for browsers; the API's have tests of their own, made from its document."""
    routes = [
        route
        for room in get_resolver().url_patterns
        for route in room.url_patterns
        if not str(route.pattern).removeprefix("^").startswith("api/v1/")
    ]
    assert len(routes) > 80
    return routes
