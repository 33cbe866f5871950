"""Proxies: what they say of the person's address and scheme is believed where the operator names them.

Used by `wsgi`, so that it holds under any server. Anybody can send these headers: from others they are
dropped.
"""

import logging
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Network = IPv4Network | IPv6Network

_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_BY",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
)
_log = logging.getLogger(__name__)


class BehindProxies:
    """The application, with address and scheme as the named proxies tell them."""

    def __init__(self, application: "WSGIApplication", proxies: Sequence[Network]) -> None:
        self.application = application
        self.proxies = proxies
        self._warned = False

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        told = {name: environ.pop(name, "") for name in _HEADERS}
        scheme = _last(told["HTTP_X_FORWARDED_PROTO"])
        if self._named(environ.get("REMOTE_ADDR", "")):
            environ["REMOTE_ADDR"] = self._client(environ["REMOTE_ADDR"], told["HTTP_X_FORWARDED_FOR"])
            if scheme in ("http", "https"):
                environ["wsgi.url_scheme"] = scheme
        elif scheme and self.proxies and not self._warned:
            self._warned = True
            _log.warning(
                "What %s says as a proxy is not believed: if it is yours, name it in STUDIO_PROXIES.",
                environ.get("REMOTE_ADDR", ""),
            )
        return self.application(environ, start_response)

    def _client(self, peer: str, chain: str) -> str:
        """The nearest address of the chain that is no proxy of ours: what is before may be invented."""
        client = peer
        for part in reversed(chain.split(",")):
            address = part.strip()
            if not _is_address(address):
                break
            client = address
            if not self._named(address):
                break
        return client

    def _named(self, address: str) -> bool:
        return _is_address(address) and any(ip_address(address) in network for network in self.proxies)


def _last(values: str) -> str:
    return values.rpartition(",")[2].strip().lower()


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
