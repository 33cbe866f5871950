"""The page from which everything is taken as one file."""

import tempfile
import zipfile

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from studio.access.audit import Event, record
from studio.access.roles import Action, needs
from studio.everything.places import ZipTarget
from studio.everything.writing import write_everything
from studio.shell.turns import heavy


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Action.TAKE_OUT, posts=True)
def everything(request: HttpRequest) -> HttpResponseBase:
    """What is in it and what is not; posting gives the zip."""
    return _zip(request) if request.method == "POST" else render(request, "everything/page.html")


@heavy
def _zip(request: HttpRequest) -> HttpResponseBase:
    now = timezone.now()
    # On the data's own disk, which has room; without a name, so that nothing of it stays.
    file = tempfile.TemporaryFile(dir=settings.STUDIO_DATA)  # noqa: SIM115 (the answer closes it)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        write_everything(ZipTarget(archive), now)
    record(Event.EVERYTHING_WRITTEN, name="zip")
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"prompt-studio-{now:%Y-%m-%d}.zip")
