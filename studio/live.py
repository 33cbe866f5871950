"""Pages that keep themselves current: the browser asks every few seconds and gets only what changed.

A page names its parts; each stands in an element of that id. The answer to a poll holds the line that says
how old the data is, and those parts whose text is another than the browser has.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from studio.htmx import Request

ELEMENT = "live"
"""The id of the line that asks; htmx names it in the request."""

_MOST_NAMED = 20


@dataclass(frozen=True)
class LivePart:
    """A part of a page as it is now; ``mark`` tells it from how it was."""

    id: str
    html: SafeString
    mark: str


def live_parts(
    request: HttpRequest, templates: Mapping[str, str], context: Mapping[str, Any]
) -> list[LivePart]:
    """The parts of a page, by id and template."""
    parts = []
    for identity, template in templates.items():
        html = render_to_string(template, dict(context), request)
        mark = hashlib.sha256(html.encode("utf-8", "replace")).hexdigest()[:12]
        parts.append(LivePart(identity, html, mark))
    return parts


def is_poll(request: Request) -> bool:
    return request.htmx.target == ELEMENT


def take_marks(request: HttpRequest) -> frozenset[str]:
    """The marks of what the browser has. They leave the request: no link of the page should carry them on."""
    known = request.GET.getlist("have")
    if known:
        query = request.GET.copy()
        del query["have"]
        request.GET = query  # type: ignore[assignment]
    return frozenset(known[:_MOST_NAMED])
