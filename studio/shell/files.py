"""Static files and uploads, as `settings` names them for Django.

A static file's address changes with its content, so that browsers may keep it for long. An upload is as large
as a prompt file may be, and never lies on the server's disk.
"""

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler

MOST_BYTES = 4 * 1024 * 1024
"""Of a request with files, all of it: twice of what a prompt file may have, so that the page of the form
can say what is too large about the file itself."""


class VersionedStaticFiles(StaticFilesStorage):
    """Adds `?v=…`, a digest of the file, to the address of each static file."""

    def url(self, name: str | None) -> str:
        """`/static/studio.css?v=1f0c2b7a`; a file that is nowhere keeps its plain address."""
        # Outside debug the files are what they were at the start; a page full of icons asks often.
        address = _known.get(name or "") if not settings.DEBUG else None
        if address is None:
            version = _version(name or "")
            address = f"{super().url(name)}?v={version}" if version else super().url(name)
            _known[name or ""] = address
        return address


_known: dict[str, str] = {}


def _version(name: str) -> str:
    path = finders.find(name) if name else None
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8] if path else ""


class SmallUploads(MemoryFileUploadHandler):
    """Refuses a larger request before anything of it is read."""

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Called once, before the first field."""
        if content_length > MOST_BYTES:
            raise RequestDataTooBig
        self.activated = True
