"""The reference page of the API, and its OpenAPI document."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studio.api.document import FILE
from studio.api.reference_page import reference_page


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """Conventions, operations and codes."""
    base = request.build_absolute_uri("/api/v1/")
    return render(request, "api/reference.html", {"page": reference_page(), "base": base})


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The document, for programs; it says nothing that the source does not."""
    return HttpResponse(FILE.read_bytes(), content_type="application/json")
