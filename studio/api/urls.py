"""Addresses of the API: the operations of each resource behind the gate, and the reference page."""

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from studio.api import context_views, set_views, version_views, views
from studio.api.document import StudioApi
from studio.api.gate import gated, not_found
from studio.api.problems import answer_to

api = StudioApi()
for _room in (set_views, version_views, context_views):
    api.add_router("", _room.router)


def _answer(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    assert isinstance(error, Exception)
    return answer_to(request, error)


for _kind in list(api._exception_handlers):
    api.add_exception_handler(_kind, _answer)  # type: ignore[arg-type]


def _operations() -> list[URLPattern]:
    """Ninja's views, each once: one of them answers all methods of its address."""
    views_by_route = {str(each.pattern): each for each in api.urls[0] if each.name != "api-root"}
    return [
        path(f"api/v1/{route}", gated(each.callback), name=f"api-{each.name}")
        for route, each in views_by_route.items()
    ]


urlpatterns = [
    path("api/", views.reference, name="api-reference"),
    path("api/v1/openapi.json", views.openapi, name="api-openapi"),
    *_operations(),
    path("api/v1/<path:rest>", gated(not_found), name="api-nothing"),
]
