"""Addresses of the API: every operation behind the gate, and the reference page."""

from django.urls import URLPattern, path, re_path

from studio.api import views
from studio.api.all_views import api
from studio.api.gate import gated, not_found


def _operations() -> list[URLPattern]:
    """Ninja's views, each once: one of them answers all methods of its address."""
    by_route = {str(each.pattern): each for each in api.urls[0] if isinstance(each, URLPattern)}
    return [
        path(f"api/v1/{route}", gated(each.callback), name=f"api-{each.name}")
        for route, each in by_route.items()
        if route and each.callback is not None
    ]


urlpatterns = [
    path("api/", views.reference, name="api-reference"),
    path("api/v1/openapi.json", views.openapi, name="api-openapi"),
    *_operations(),
    re_path(r"^api/v1/[\s\S]*", gated(not_found), name="api-nothing"),  # line ends, too
]
