"""Pages about the studio itself."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from studio.layout import shortcuts as all_shortcuts


@require_safe
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Every key of the studio."""
    return render(request, "pages/shortcuts.html", {"groups": all_shortcuts()})


@require_safe
def design(request: HttpRequest) -> HttpResponse:
    """Every component once; only in debug."""
    if not settings.DEBUG:
        raise Http404
    return render(
        request, "pages/design.html", {"now": timezone.now(), "text": "# {{ user_prompt }}\n\n順位\n"}
    )
