"""Whatever is sent, the answer is never a server error."""

from random import Random
from urllib.parse import quote_from_bytes

import pytest
from django.contrib.auth.models import User
from django.test import Client

WORDS = (
    b"research-team", b"round-1", b"research", b"1", b"0", b"-1", b"abc", b"", b"9" * 30, b"9" * 5000, b"1e5",
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"(", b"%", b"' OR 1=1 --", b"../../etc/passwd", b"{{ 7*7 }}",
    b"<script>", "順位".encode(), "🏆".encode(), b"x" * 5000, b"null", b"[]", b"[" * 2000, b'{"a": 1}',
    b"\r\nSet-Cookie: a=b",
)  # fmt: skip
PLACES = (
    "prompts",
    "contexts",
    "workspaces",
    "runs",
    "shortcuts",
    "signin",
    "theme",
    "language",
    "keys",
    "healthz",
)
FIELDS = ("q", "tag", "before", "theme", "language", "keys", "next", "username", "password", "page")
TYPES = (
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json",
    "text/plain",
    "x",
)


def requests(number: int) -> list[dict[str, str | bytes]]:
    """Paths, queries and bodies put together at random, the same each time."""
    rng = Random(20260501)

    def word() -> str:
        return quote_from_bytes(rng.choice(WORDS))

    def pairs() -> str:
        return "&".join(f"{rng.choice(FIELDS)}={word()}" for _ in range(rng.randrange(4)))

    made: list[dict[str, str | bytes]] = []
    for _ in range(number):
        parts = [rng.choice(PLACES), *(word() for _ in range(rng.randrange(3)))]
        if rng.random() < 0.3:
            parts = ["prompts", "research-team", "versions", word()]
        body = pairs().encode() if rng.random() < 0.7 else b"".join(rng.choices(WORDS, k=3))
        made.append(
            {
                "REQUEST_METHOD": rng.choice(("GET", "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS")),
                "path": "/" + "/".join(parts) + rng.choice(("/", "/", "")),
                "QUERY_STRING": pairs(),
                "CONTENT_TYPE": rng.choice(TYPES),
                "body": body,
            }
        )
    return made


def server_errors(person: User, number: int) -> list[str]:
    client = Client(raise_request_exception=False)
    wrong = []
    for request in requests(number):
        client.force_login(person)
        answer = client.generic(
            str(request["REQUEST_METHOD"]),
            str(request["path"]),
            request["body"],
            content_type=str(request["CONTENT_TYPE"]),
            QUERY_STRING=str(request["QUERY_STRING"]),
        )
        if answer.status_code >= 500:
            wrong.append(f"{answer.status_code}: {request}")
    return wrong


def test_no_request_is_a_server_error(demo: object, person: User) -> None:
    assert server_errors(person, 200) == []


@pytest.mark.slow
def test_no_request_of_many_is_a_server_error(demo: object, person: User) -> None:
    assert server_errors(person, 3000) == []
