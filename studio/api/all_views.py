"""All operations of the API, put together from the resources."""

from django.http import HttpRequest, HttpResponse

from studio.api import (
    client_views,
    context_views,
    export_views,
    machine_views,
    run_views,
    set_views,
    text_views,
    version_views,
    workspace_views,
)
from studio.api.document import StudioApi
from studio.api.problems import answer_to

api = StudioApi()
for _resource in (
    set_views,
    version_views,
    client_views,
    context_views,
    text_views,
    workspace_views,
    export_views,
    machine_views,
    run_views,
):
    api.add_router("", _resource.router)


def _answer(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    assert isinstance(error, Exception)
    return answer_to(request, error)


for _kind in list(api._exception_handlers):
    api.add_exception_handler(_kind, _answer)
