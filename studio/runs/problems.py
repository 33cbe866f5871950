"""What the store cannot answer, as a page's problem."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from builder.errors import CopyUnderWay, DatabaseMissing, LeaderboardError, UnknownRun
from builder.leaderboard import AggregationStore
from studio.models import Workspace
from studio.runs.lists import CURRENT_WITHIN, FirstCopy
from studio.shell.language import reader_language
from studio.shell.refusal import RequestRefused
from studio.workspaces.stores import NotAllowed, store_of


class BeingCopied(RequestRefused):
    """The first copy of a database is on its way: the page comes by itself when it is there."""

    def __init__(self, error: CopyUnderWay) -> None:
        language = reader_language()
        super().__init__(503, error.text(language), error.advice(language))
        self.copy = FirstCopy(error.done, error.total)

    def page(self, request: HttpRequest) -> HttpResponse:
        """202 with how far the copy is: the page asks again and becomes the one that was wanted."""
        part = request.headers.get("HX-Request") == "true" and request.headers.get("HX-Target") != "main"
        if request.method != "GET" or part:
            return super().page(request)
        return render(request, "runs/copying.html", {"copy": self.copy}, status=202)


@contextmanager
def reading(workspace: Workspace) -> Iterator[AggregationStore]:
    """The workspace's store, as current as it can be without keeping anybody; see ``as_problems``."""
    with as_problems():
        store = store_of(workspace)
        # A list of nothing is no problem, so it is up to the question to miss the database.
        with suppress(DatabaseMissing):
            store.refresh(wait=CURRENT_WITHIN)
        yield store


@contextmanager
def as_problems() -> Iterator[None]:
    """Whatever the store refuses inside ends the request with a page that says so."""
    try:
        yield
    except CopyUnderWay as error:
        raise BeingCopied(error) from error
    except NotAllowed as error:
        language = reader_language()
        raise RequestRefused(403, error.text(language), error.advice(language)) from error
    except LeaderboardError as error:
        language = reader_language()
        status = 404 if isinstance(error, UnknownRun | DatabaseMissing) else 503
        raise RequestRefused(status, error.text(language), error.advice(language)) from error
