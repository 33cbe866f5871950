"""Requests as views get them: django-htmx has read what htmx says of itself."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """A request that says whether htmx asks, and for which part of a page."""

    htmx: HtmxDetails
