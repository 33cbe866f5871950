"""The sender: a thread that sends webhooks as they come and tries again what failed.

Started by `manage.py studio`.
"""

import logging
import threading

from django.db import DatabaseError, connection

from studio.access.deliveries import send_due
from studio.access.webhooks import WAKE

SECONDS = 5.0
"""Between two looks for what is to be tried again."""

_log = logging.getLogger(__name__)


class Sender:
    """Ends with the process; what it had begun is tried again by the next one."""

    def __init__(self) -> None:
        self._ended = False

    def start(self) -> None:
        """Send what is due, now and from now on."""
        threading.Thread(target=self._run, name="webhooks", daemon=True).start()

    def end(self) -> None:
        """Stop after what is under way."""
        self._ended = True
        WAKE.set()

    def _run(self) -> None:
        while not self._ended:
            WAKE.clear()
            try:
                busy = bool(send_due())
            except DatabaseError as error:
                busy = False
                _log.warning("Webhooks could not be sent: %s", error)
            except Exception:
                busy = False
                _log.exception("Webhooks could not be sent")
            finally:
                connection.close()
            if not busy:
                WAKE.wait(SECONDS)
