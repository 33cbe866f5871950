"""Turns for heavy requests: a few at a time, of one person fewer, and a time to come back for the rest.

Used by views that read files, render or compare much: they must not take every thread that pages and previews
are answered with.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from studio.shell.refusal import RequestRefused
from studio.shell.requests import person_of

COME_BACK_SECONDS = 5

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponseBase]


class Busy(RequestRefused):
    """503: there is no place for the request now; the page says when to come back."""

    def __init__(self) -> None:
        super().__init__(
            503,
            _("The studio is busy with other large requests."),
            _("Try again in %(seconds)d seconds. Your input was not lost.") % {"seconds": COME_BACK_SECONDS},
        )

    def page(self, request: HttpRequest) -> HttpResponse:
        """With the time for programs, too."""
        answer = super().page(request)
        answer["Retry-After"] = str(COME_BACK_SECONDS)
        return answer


class Places:
    """The places of one process. A few requests wait for one, for a moment; the others are sent away."""

    def __init__(self, places: int = 6, of_person: int = 2, waiting: int = 4, seconds: float = 2.0) -> None:
        self._places, self._of_person = places, of_person
        self._most_waiting, self._seconds = waiting, seconds
        self._changed = threading.Condition()
        self._taken: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()

    def take(self, person: str) -> None:
        """Have a place, or raise ``Busy``; ``give_back`` must follow."""
        with self._changed:
            if not self._is_free(person):
                self._wait(person)
            self._taken[person] += 1

    def _is_free(self, person: str) -> bool:
        return self._taken.total() < self._places and self._taken[person] < self._of_person

    def _wait(self, person: str) -> None:
        if self._waiting.total() >= self._most_waiting or self._waiting[person] >= self._of_person:
            raise Busy
        self._waiting[person] += 1
        try:
            if not self._changed.wait_for(lambda: self._is_free(person), self._seconds):
                raise Busy
        finally:
            self._waiting[person] -= 1

    def give_back(self, person: str) -> None:
        with self._changed:
            self._taken[person] -= 1
            if not self._taken[person]:
                del self._taken[person]
            self._changed.notify_all()

    @contextmanager
    def taken(self, person: str) -> Iterator[None]:
        self.take(person)
        try:
            yield
        finally:
            self.give_back(person)


PLACES = Places()


def heavy(view: View[Arguments]) -> View[Arguments]:
    """A view that takes a place, and keeps it until its answer is sent where that is written as it goes."""

    @wraps(view)
    def in_turn(
        request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponseBase:
        person = str(person_of(request).pk)
        PLACES.take(person)
        try:
            answer = view(request, *args, **kwargs)
        except BaseException:
            PLACES.give_back(person)
            raise
        if answer.streaming:
            answer._resource_closers.append(lambda: PLACES.give_back(person))  # type: ignore[attr-defined]
        else:
            PLACES.give_back(person)
        return answer

    return in_turn
