"""Outages: the database or the disk cannot be used at the moment, which is no mistake of the studio's.

Used by the error pages, by the API's problems and by the log.
"""

import errno
import logging

from django.db import InterfaceError, InternalError, OperationalError
from django.utils.translation import gettext as _

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY = (errno.EROFS,)


def is_outage(error: BaseException | None) -> bool:
    """Whether it is the database or the disk that said no."""
    if isinstance(error, OSError):
        return error.errno in (*_FULL, *_READ_ONLY, errno.EIO)
    return isinstance(error, OperationalError | InterfaceError | InternalError)


def what_is_out(error: BaseException) -> str:
    """The sentence for a person who cannot do anything about it but tell the administrator."""
    said, number = str(error).lower(), getattr(error, "errno", None)
    if number in _FULL or "is full" in said or "no space left" in said:
        return _("The disk that holds the studio’s data is full. Nothing was saved.")
    if number in _READ_ONLY or "readonly" in said or "read-only" in said:
        return _("The studio’s data can only be read at the moment. Nothing was saved.")
    return _("The studio’s database is not responding.")


class InOneLine(logging.Filter):
    """A log's line for an outage instead of a traceback for each request; nothing is left out."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if is_outage(error):
            record.msg, record.args = f"{record.getMessage()}: {' '.join(str(error).split())}", ()
            record.exc_info = record.exc_text = None
        return True
