"""A small OpenID Connect provider on this machine: authorization code with PKCE, signed ID tokens."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "studio", "provider's secret"


class OpenIdProvider:
    """`people` can sign in: each name with its claims. `forge` changes an ID token before it is signed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.people: dict[str, dict[str, Any]] = {}
        self.forge: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.key = self.signing_key = rsa.generate_private_key(65537, 2048)
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, str] = {}

    def environment(self, roles: str) -> dict[str, str]:
        """The studio's settings for this provider."""
        return {
            "STUDIO_OIDC_ISSUER": self.address,
            "STUDIO_OIDC_CLIENT_ID": CLIENT,
            "STUDIO_OIDC_CLIENT_SECRET": SECRET,
            "STUDIO_OIDC_NAME": "Example",
            "STUDIO_OIDC_ROLES": roles,
        }

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}

    def authorized(self, query: dict[str, str], name: str) -> str:
        """Where the browser goes after somebody signed in here."""
        assert query["response_type"] == "code" and query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256" and "openid" in query["scope"].split()
        code = secrets.token_urlsafe()
        self.codes[code] = {**query, "name": name}
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The tokens for a code: once, with the client's secret and the verifier of its challenge."""
        asked = self.codes.pop(sent.get("code", ""), None)
        verifier = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if (
            asked is None
            or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT, SECRET)
            or sent.get("redirect_uri") != asked["redirect_uri"]
            or challenge != asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        name, now = asked["name"], int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "sub": f"id of {name}", "iat": now, "exp": now + 300}
        token = secrets.token_urlsafe()
        self.tokens[token] = name
        signed = jwt.encode(self.forge(claims), self.signing_key, "RS256", {"kid": "one"})
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 300, "id_token": signed}

    def userinfo(self, token: str) -> dict[str, Any]:
        name = self.tokens[token]
        return {"sub": f"id of {name}", "preferred_username": name, **self.people[name]}


@contextmanager
def openid_provider() -> Iterator[OpenIdProvider]:
    """It answers for as long as this lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self.answer(200, provider.configuration())
            elif parts.path == "/keys":
                self.answer(200, provider.keys())
            elif parts.path == "/userinfo":
                self.answer(200, provider.userinfo(self.headers["Authorization"].removeprefix("Bearer ")))
            elif parts.path == "/authorize" and "as" in query:
                self.send_response(302)
                self.send_header("Location", provider.authorized(query, query["as"]))
                self.end_headers()
            elif parts.path == "/authorize":
                links = "".join(
                    f'<p><a href="?{parts.query.replace("&", "&amp;")}&amp;as={name}">{name}</a></p>'
                    for name in provider.people
                )
                page = f"<!doctype html><html lang=en><title>Provider</title><h1>Who are you?</h1>{links}"
                self.answer(200, page)
            else:
                self.answer(200, "")  # a favicon

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(*provider.exchange({name: values[0] for name, values in parse_qs(body).items()}))

        def answer(self, status: int, content: dict[str, Any] | str) -> None:
            page = isinstance(content, str)
            data = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if page else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = OpenIdProvider(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
