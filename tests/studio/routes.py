"""Every address of the studio, whichever room it belongs to."""

from django.urls import URLPattern, get_resolver


def every_route() -> list[URLPattern]:
    routes = [route for room in get_resolver().url_patterns for route in room.url_patterns]
    assert len(routes) > 80
    return routes
