"""Files that are sent: as large as a prompt file may be, and never on the server's disk."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import MemoryFileUploadHandler

MOST_BYTES = 4 * 1024 * 1024
"""Of a request with files, all of it: twice of what a prompt file may have, so that the page of the form
can say what is too large about the file itself."""


class SmallUploads(MemoryFileUploadHandler):
    """Refuses a larger request before anything of it is read."""

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: Any, encoding: Any = None
    ) -> None:
        """Called once, before the first field."""
        if content_length > MOST_BYTES:
            raise RequestDataTooBig
        self.activated = True
