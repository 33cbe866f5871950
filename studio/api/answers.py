"""Answers of the API: JSON with an ETag, conditions of a request, pages with a cursor."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from django.http import HttpRequest, HttpResponse
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticSerializationError

from studio.api.problems import Refusal

_TAG = re.compile(r'(?<!W/)"[^"]*"')
Row = TypeVar("Row")
Shape = TypeVar("Shape", bound=BaseModel)


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("NUL (\\u0000)")
    return text


Word = Annotated[str, Field(max_length=200), AfterValidator(_storable)]
"""A short text that a database can be asked for."""
StoredText = Annotated[str, Field(max_length=2_000), AfterValidator(_storable)]
"""A text that every database takes."""
Limit = Annotated[int, Field(ge=1, le=100, description="How many, at most.")]
Cursor = Annotated[Word, Field(description="“next” of the page before.")]


class Page(BaseModel, Generic[Shape]):
    """Some rows of a list."""

    items: list[Shape]
    next: str | None = Field(None, description="The cursor of the next page; null on the last one.")


def page_of(
    rows: Sequence[Row], limit: int, shape: Callable[[Row], Shape], cursor: Callable[[Row], Any]
) -> HttpResponse:
    """A page out of one row more than fits."""
    items = [shape(row) for row in rows[:limit]]
    return answer(Page(items=items, next=str(cursor(rows[limit - 1])) if len(rows) > limit else None))


def number_of(cursor: str) -> int | None:
    """A cursor that is a number; None for the first page."""
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise Refusal(400, "bad-request", "cursor")
    return int(cursor)


def answer(body: BaseModel, status: int = 200, *, etag: str = "", location: str = "") -> HttpResponse:
    """The JSON of a shape. Written by pydantic itself: ninja would check it once more."""
    try:
        text = body.model_dump_json()
    except PydanticSerializationError:
        # A file's name may hold bytes that are no text; JSON can say so, UTF-8 cannot.
        text = json.dumps(body.model_dump(), default=str)
    made = HttpResponse(text, status=status, content_type="application/json")
    if etag:
        made["ETag"] = f'"{etag}"'
    if location:
        made["Location"] = location
    return made


def tag_of(*values: object) -> str:
    """An ETag of values that change together with what is shown."""
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


def unchanged(request: HttpRequest, etag: str) -> HttpResponse | None:
    """304 where the client has it already."""
    if f'"{etag}"' not in _TAG.findall(request.headers.get("If-None-Match", "").replace("W/", "")):
        return None
    made = HttpResponse(status=304)
    made["ETag"] = f'"{etag}"'
    return made


def require_match(request: HttpRequest, etag: str, *, must: bool = False) -> None:
    """412 where the client saw something else; 428 where it has to say what it saw."""
    named = request.headers.get("If-Match")
    if named is None:
        if must:
            raise Refusal(428, "precondition-required")
        return
    if not etag or (named.strip() != "*" and f'"{etag}"' not in _TAG.findall(named)):
        raise Refusal(412, "precondition-failed", headers={"ETag": f'"{etag}"'} if etag else {})
