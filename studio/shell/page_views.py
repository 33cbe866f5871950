"""Pages about the studio itself."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from studio.shell.charts import Series, Words, line_chart
from studio.shell.layout import shortcuts as all_shortcuts


@require_safe
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Every key of the studio."""
    return render(request, "pages/shortcuts.html", {"groups": all_shortcuts()})


@require_safe
def design(request: HttpRequest) -> HttpResponse:
    """Every component once; only in debug."""
    if not settings.DEBUG:
        raise Http404
    series = [
        Series(f"チーム {number}", ((1, 60.0 + number), (2, 71.0 - 2 * number), (3, 70.0 + number)))
        for number in range(1, 10)
    ]
    context = {
        "now": timezone.now(),
        "text": "# {{ user_prompt }}\n\n順位\n",
        "chart": line_chart("d-lines", series, Words(_("Chart"), _("Score by round and team"))),
    }
    return render(request, "pages/design.html", context)
