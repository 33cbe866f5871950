"""What the store cannot answer, as a page's problem."""

from collections.abc import Iterator
from contextlib import contextmanager

from builder.errors import DatabaseMissing, LeaderboardError, UnknownRun
from studio.language import reader_language
from studio.problems import Problem


@contextmanager
def as_problems() -> Iterator[None]:
    """Whatever the store refuses inside ends the request with a page that says so."""
    try:
        yield
    except LeaderboardError as error:
        language = reader_language()
        status = 404 if isinstance(error, UnknownRun | DatabaseMissing) else 503
        raise Problem(status, error.text(language), error.advice(language)) from error
