"""The address that watches ask."""

import pytest
from django.db import DatabaseError, connection
from django.test import Client


def test_a_well_server_says_ok_without_a_session(client: Client, db: None) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": connection.vendor})


def test_a_server_without_its_database_says_so(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def cursor(self) -> None:
            raise DatabaseError

    monkeypatch.setattr("studio.shell.views.connection", Broken())
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "error")
