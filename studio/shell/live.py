"""Live parts of pages: the browser asks every few seconds and gets only the parts that changed.

A page names its parts; each stands in an element of that id. The answer to a poll holds the line that says
how old the data is, and those parts whose text is another than the browser has.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from studio.shell.requests import Request

ELEMENT = "live"
"""The id of the line that asks; htmx names it in the request."""

_MOST_NAMED = 20
_AGING = re.compile(r"(<time [^<>]*\bdata-relative>)[^<]*")
"""The words of a relative time: the browser keeps them true by itself."""


def live_parts(
    request: HttpRequest, templates: Mapping[str, str], context: Mapping[str, Any]
) -> dict[str, tuple[SafeString, str]]:
    """The parts of a page by id, each with its mark: the same for the same part, whatever time has passed."""
    parts = {}
    for identity, template in templates.items():
        html = render_to_string(template, dict(context), request)
        told = _AGING.sub(r"\1", html)
        mark = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
        parts[identity] = (html, mark)
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
