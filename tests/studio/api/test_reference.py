"""The reference page: every operation and every code, in both languages, for whoever is signed in."""

import json
from html import unescape

from django.test import Client

from studio.api.document import FILE
from studio.api.problems import CODES


def test_the_reference_has_every_operation_and_code(signed_in: Client) -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"))
    pages = [
        unescape(signed_in.get("/api/", headers={"Accept-Language": language}).content.decode())
        for language in ("en", "ja")
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert all(f"{method.upper()} {path}" in page for page in pages)
            assert operation["summary"] in pages[0] and operation["summary"] not in pages[1]
    assert all(f'id="{code}"' in page for page in pages for code in CODES)


def test_the_document_is_for_programs_without_a_session(client: Client, db: None) -> None:
    answer = client.get("/api/v1/openapi.json")
    assert (answer.status_code, answer.json()["openapi"]) == (200, "3.1.0")
    assert client.get("/api/").status_code == 302
