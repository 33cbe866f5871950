"""Requests that no page of ours makes, for every address of the studio: a seed gives the same ones again."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from django.urls import URLPattern

from tests.studio.routes import every_route

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
NUMBERS = (
    "", "0", "-1", "1", "2", "3.5", "1e309", "NaN", "٣", "１", "0x1", "abc", "null", " 1", "1\0", "9" * 30,
    "9" * 5000, "-" + "9" * 400, str(2**31), str(2**63), str(2**64),
)  # fmt: skip
WORDS = (
    "", "team", "nothing", "\0", "a\0b", "\ufffd", "x" * 70_000, "(", "[", "%", "_", "'; DROP TABLE x; --",
    "../../etc/passwd", "<script>alert(1)</script>", "{{ 7 * 7 }}", "{% for a in range(9) %}", "\u202e",
    "🏆" * 50, "調査", "\r\n\r\n", "draft", "1...2", "mine", "true", "[]", "null",
)  # fmt: skip
JSONS = (
    "", "{", "null", "[]", "[[[[", "1", '"text"', '{"a": ', '{"user_prompt": "\\ud800"}', "NaN", "1e999",
    "[" * 100_000, '{"a":' * 100_000, "9" * 5000, "\ufeff{}", '{"round_number": ' + "9" * 5000 + "}",
    '{"user_prompt": null, "round_number": "x"}', '{"ranking": [1, 2]}', '{"round_history": {"a": 1}}',
)  # fmt: skip
RAW = (
    b"",
    b"\xff\xfe",
    b"%",
    b"%zz",
    b"%ED%A0%80=%ED%A0%80",
    b"=",
    b"&&&&",
    b"a=b;c=d",
    b"\0",
    b"a=%00",
    b"x" * 10,
)
FILES = (
    b"",
    bytes(range(256)),
    b"[prompt_builder]\nteam_user_prompt = 'a'\n",
    b"[prompt_builder\n",
    b"\xef\xbb\xbfprompt_builder = 1",
    "[prompt_builder]\nteam_user_prompt = '調査'\n".encode("utf-16"),
    b"\xff\xfe\x00\xd8",
    b"a." * 5000 + b" = 1",
    b"[" * 5000,
    b"a = " + b"9" * 5000,
)
TYPES = (
    "application/x-www-form-urlencoded", "application/json", "text/plain", "multipart/form-data",
    "multipart/form-data; boundary=x", "multipart/form-data; boundary=\xff", "application/octet-stream", "",
    "application/x-www-form-urlencoded; charset=utf-7", "application/x-www-form-urlencoded; charset=nonsense",
)  # fmt: skip
HEADERS = (
    {},
    {"HX-Request": "true"},
    {"HX-Request": "true", "HX-Target": "prompts", "HX-Current-URL": "http://[::1"},
    {"Accept-Language": "ja, x" * 50},
    {"If-None-Match": "\0", "Range": "bytes=9-1"},
)
FIELDS = re.findall(
    r"\S+",
    """q tag before base revision tab seq message kind show context round go team_user_prompt
    evaluator_user_prompt judgment_user_prompt copy pin team team-1 name slug dialect tags archived version
    old new rendered w rows open json data submission user_prompt round_number team_id team_name execution_id
    theme language next username password note description prompt_set add remove set fill all into sha256
    file state order raw whole page format table have of by run task do handed_in workspace execution
    batch target overwrite source label chosen baseline versions row plain after anyway
    mode from to part start action""",
)


@dataclass(frozen=True)
class BadRequest:
    """One of them, as Django's test client takes it."""

    method: str
    path: str
    content: bytes = b""
    content_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.path[:200]} {self.content_type} {self.content[:200]!r} {self.headers}"


def bad_requests(seed: int, count: int, known: dict[str, list[str]]) -> Iterator[BadRequest]:
    """``known`` has values that exist: now and then one is drawn, so that more is reached."""
    random = Random(seed)
    routes = every_route()
    for number in range(count):
        pattern = routes[number % len(routes)]
        path = _path(random, pattern, known)
        method = random.choice(("GET", "POST", "POST", "POST", random.choice(METHODS)))
        headers = random.choice(HEADERS)
        if random.random() < 0.4:
            path += "?" + _query(random, known)
        if method in ("GET", "HEAD", "OPTIONS"):
            yield BadRequest(method, path, headers=headers)
        else:
            content, content_type = _body(random, known)
            yield BadRequest(method, path, content, content_type, headers)


def _path(random: Random, pattern: URLPattern, known: dict[str, list[str]]) -> str:
    parts = {name: _part(random, name, known) for name in pattern.pattern.converters}
    route = str(pattern.pattern)
    for name in parts:
        start = next(
            at
            for at in range(len(route))
            if route[at] == "<" and f":{name}>" in route[at : route.index(">", at) + 1]
        )
        stop = route.index(">", start) + 1
        route = route[:start] + quote(parts[name], safe="") + route[stop:]
    return "/" + route


def _part(random: Random, name: str, known: dict[str, list[str]]) -> str:
    if random.random() < 0.8 and known.get(name):
        return random.choice(known[name])
    return random.choice((*WORDS[:14], *NUMBERS))[:300] or "x"


def _value(random: Random, name: str, known: dict[str, list[str]]) -> str:
    if random.random() < 0.4 and known.get(name):
        return random.choice(known[name])
    return random.choice(random.choice((NUMBERS, WORDS, JSONS)))


def _query(random: Random, known: dict[str, list[str]]) -> str:
    if random.random() < 0.1:
        return random.choice(("%", "%ff=%fe", "=&=", "a[]=1", "&" * 500, "%00=%00"))
    names = random.sample(FIELDS, random.randint(1, 4))
    return urlencode({name: _value(random, name, known)[:2000] for name in names})


def _body(random: Random, known: dict[str, list[str]]) -> tuple[bytes, str]:
    draw = random.random()
    if draw < 0.1:
        return random.choice(RAW), random.choice(TYPES)
    if draw < 0.2:
        return random.choice(JSONS).encode(), random.choice(TYPES)
    names = [name for name in FIELDS if random.random() < random.choice((0.3, 0.9))]
    data: dict[str, Any] = {name: _value(random, name, known) for name in names}
    # Most reach further with the fields that a form must have.
    if random.random() < 0.6:
        data |= {name: random.choice(known[name]) for name in ("base", "revision", "kind", "context")}
        data |= {name: data.get(name, "text") for name in FIELDS if name.endswith("_user_prompt")}
    if draw < 0.3:
        return json.dumps(data).encode(), "application/json"
    if draw < 0.45:
        return _with_file(random, data), "multipart/form-data; boundary=x"
    return urlencode(data, errors="surrogatepass").encode(), "application/x-www-form-urlencoded"


def _with_file(random: Random, data: dict[str, Any]) -> bytes:
    """A form with a file of any content and name, whole or cut off."""
    parts = [(f'name="{name}"', str(value).encode(errors="replace")) for name, value in data.items()]
    names = ("a.toml", "", "..", "a\0b", "../../etc/passwd", "x" * 500, '"', "調査.toml", "\r\nX: y")
    parts.append((f'name="file"; filename="{random.choice(names)}"', random.choice(FILES)))
    body = b"".join(
        b"--x\r\nContent-Disposition: form-data; " + head.encode() + b"\r\n\r\n" + content + b"\r\n"
        for head, content in parts
    )
    return body + random.choice((b"--x--\r\n", b"--x--\r\n", b"", b"--x"))
