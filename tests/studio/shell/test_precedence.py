"""Short requests go before long ones, which wait for them between the parts of their work."""

import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest
from django.db import transaction

from studio.shell.precedence import PRECEDENCE, Precedence, ShortFirst

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Long:
    """Work in a thread of its own that has computed a little and then gives way."""

    def __init__(self, precedence: Precedence, in_transaction: bool = False) -> None:
        self.precedence, self.in_transaction = precedence, in_transaction
        self.computed = threading.Event()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()
        self.computed.wait()

    def _work(self) -> None:
        with self.precedence.long():
            before = time.thread_time()
            while time.thread_time() - before < 0.002:
                pass
            self.computed.set()
            if self.in_transaction:
                with transaction.atomic():
                    self.precedence.give_way()
            else:
                self.precedence.give_way()

    def is_over(self, seconds: float) -> bool:
        self.thread.join(seconds)
        return not self.thread.is_alive()


def test_a_long_request_goes_on_when_the_short_one_is_answered() -> None:
    precedence = Precedence(short_seconds=60, patience=1e6)
    with precedence.short():
        work = Long(precedence)
        assert not work.is_over(0.2)
    assert work.is_over(20)


def test_nobody_can_hold_up_a_long_request_with_short_ones() -> None:
    precedence = Precedence(short_seconds=60, patience=2)
    with precedence.short():
        assert Long(precedence).is_over(20)


def test_a_short_request_that_computes_on_has_to_give_way_itself() -> None:
    precedence = Precedence(short_seconds=0, patience=1e6)
    with precedence.short():
        precedence.give_way()
        assert Long(precedence).is_over(20)


@pytest.mark.django_db(transaction=True)
def test_an_open_transaction_waits_for_nobody() -> None:
    precedence = Precedence(short_seconds=60, patience=1e6)
    with precedence.short():
        assert Long(precedence, in_transaction=True).is_over(20)


@pytest.mark.parametrize(
    ("environ", "goes_first"),
    [
        ({"PATH_INFO": "/healthz"}, True),
        ({"PATH_INFO": "/prompts/a/preview/", "REQUEST_METHOD": "POST"}, True),
        ({"PATH_INFO": "/prompts/a/preview/"}, False),
        ({"PATH_INFO": "/prompts/a/save/", "REQUEST_METHOD": "POST"}, False),
    ],
)
def test_health_checks_and_previews_are_short(environ: "WSGIEnvironment", goes_first: bool) -> None:
    seen = []

    def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        seen.append(threading.get_ident() in PRECEDENCE.short_threads())
        return [b""]

    list(ShortFirst(application)(environ, lambda *_: lambda _: None))
    assert seen == [goes_first]
    assert not PRECEDENCE.short_threads()
