"""Who makes a request."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest


def person_of(request: HttpRequest) -> User:
    """The person who is signed in; every view that asks needs a session."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
