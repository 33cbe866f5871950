"""Whose word about a person's address and scheme is taken."""

from ipaddress import ip_network
from typing import Any

import pytest

from studio.shell.proxies import BehindProxies

PROXIES = (ip_network("127.0.0.0/8"), ip_network("10.1.0.0/16"), ip_network("::1"))


def asked(peer: str, **headers: str) -> tuple[str, str, list[str]]:
    """Address and scheme that the application gets, and the headers about proxies that are left."""
    seen: dict[str, Any] = {}

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        seen.update(environ)
        return []

    environ = {"REMOTE_ADDR": peer, "wsgi.url_scheme": "http"}
    environ |= {f"HTTP_X_FORWARDED_{name}": value for name, value in headers.items()}
    BehindProxies(application, PROXIES)(environ, lambda *_: lambda _: None)
    return seen["REMOTE_ADDR"], seen["wsgi.url_scheme"], [name for name in seen if "FORWARDED" in name]


def test_a_named_proxy_is_believed() -> None:
    assert asked("127.0.0.1", FOR="192.0.2.7", PROTO="https") == ("192.0.2.7", "https", [])
    assert asked("::1", FOR="2001:db8::7", PROTO="https") == ("2001:db8::7", "https", [])


def test_a_stranger_is_not() -> None:
    assert asked("192.0.2.9", FOR="192.0.2.7", PROTO="https", HOST="x") == ("192.0.2.9", "http", [])


def test_of_a_chain_the_nearest_that_is_no_proxy_of_ours_counts() -> None:
    assert asked("127.0.0.1", FOR="1.1.1.1, 192.0.2.7, 10.1.2.3")[0] == "192.0.2.7"
    assert asked("127.0.0.1", FOR="10.1.2.3")[0] == "10.1.2.3"


@pytest.mark.parametrize("chain", ["", "unknown", "192.0.2.7, <script>", "1" * 5000, "127.0.0.1:80"])
def test_what_is_no_address_is_not_taken_for_one(chain: str) -> None:
    assert asked("127.0.0.1", FOR=chain)[0] == "127.0.0.1"


def test_an_odd_scheme_changes_nothing() -> None:
    assert asked("127.0.0.1", PROTO="gopher")[1] == "http"


def test_a_proxy_that_is_not_named_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    asked("192.0.2.9", PROTO="https")
    assert "192.0.2.9" in caplog.text and "STUDIO_PROXIES" in caplog.text
