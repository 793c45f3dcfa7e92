"""What is called is what was checked: one resolution for each connection, no redirects, the host's certificate."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError, URLError

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from jwt.algorithms import ECAlgorithm

from haversack.embed.remote import RemoteEmbedder
from haversack.errors import ServiceError
from haversack.guard.bearer import token_reader
from haversack.guard.settings import TokenSettings
from haversack.outgoing import Way, opener_for

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1", "::1"]), pytest.mark.usefixtures("socket_enabled")]

Served = tuple[int, list[tuple[str, str]]]
Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(body, to=…, certificate=…): a server on this machine; its port, and path and Host of what it was asked."""
    running: list[ThreadingHTTPServer] = []

    def start(body: bytes = b"{}", *, to: str | None = None, certificate: Path | None = None) -> Served:
        seen: list[tuple[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with suppress(ValueError):
                    self.rfile.read(int(self.headers.get("Content-Length", "0")))
                seen.append((self.path, self.headers["Host"]))
                self.send_response(200 if to is None else 307)
                if to is not None:
                    self.send_header("Location", to)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        running.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return server.server_port, seen

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class Names:
    """A name server that changes its mind: each question gets the next answer, and the last one again."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def fetch(url: str, way: Way) -> bytes:
    with opener_for(url, way).open(url, timeout=5) as response:
        return response.read()


def test_the_connection_goes_to_the_address_that_was_resolved(serve: Serve) -> None:
    port, seen = serve(b"hello")
    names = Names(["127.0.0.1"])
    assert fetch(f"http://service.test:{port}/x", Way(allow_private=True, resolve=names)) == b"hello"
    assert seen == [("/x", f"service.test:{port}")]
    assert names.asked == ["service.test"]


def test_a_name_that_leads_elsewhere_by_the_time_of_the_call_is_not_called(serve: Serve) -> None:
    port, seen = serve()
    names = Names(["127.0.0.1"], ["93.184.215.14"])
    with pytest.raises(URLError, match=r"leads to the private address 127\.0\.0\.1"):
        fetch(f"http://service.test:{port}/x", Way(resolve=names))
    assert names.asked == ["service.test"]
    assert seen == []


def test_one_private_address_among_others_is_enough_to_refuse(serve: Serve) -> None:
    port, seen = serve()
    with pytest.raises(URLError, match="private address"):
        fetch(f"http://service.test:{port}/", Way(resolve=Names(["93.184.215.14", "127.0.0.1"])))
    assert seen == []


def test_the_next_address_is_tried_when_one_does_not_answer(serve: Serve) -> None:
    port, _ = serve(b"hello")
    with socket.create_server(("::1", 0), family=socket.AF_INET6):
        pass
    assert (
        fetch(f"http://service.test:{port}/", Way(allow_private=True, resolve=Names(["::1", "127.0.0.1"]))) == b"hello"
    )


def test_a_host_without_an_address_cannot_be_reached() -> None:
    with pytest.raises(URLError, match=r"no address is known for nowhere\.test"):
        fetch("http://nowhere.test/", Way(resolve=Names([])))


def test_a_redirect_is_an_answer_and_not_followed(serve: Serve) -> None:
    aim, seen = serve()
    port, _ = serve(to=f"http://127.0.0.1:{aim}/stolen")
    with pytest.raises(HTTPError) as redirected:
        fetch(f"http://127.0.0.1:{port}/", Way(allow_this_machine=True))
    redirected.value.close()
    assert redirected.value.code == 307
    assert seen == []


def test_embeddings_name_where_a_redirect_pointed(serve: Serve) -> None:
    aim, seen = serve()
    port, _ = serve(to=f"http://127.0.0.1:{aim}/stolen?key=hunter2")
    with pytest.raises(ServiceError) as told:
        RemoteEmbedder(f"http://127.0.0.1:{port}/v1", "m", dimension=2).embed(["x"])
    assert str(told.value) == (
        f"the embeddings service at 127.0.0.1 answered 307: it redirects to 'http://127.0.0.1:{aim}/stolen?…', "
        "and redirects are not followed: set that address"
    )
    assert seen == []


def test_embeddings_go_where_the_name_leads_at_the_call_or_nowhere(serve: Serve) -> None:
    port, seen = serve()
    way = Way(allow_this_machine=True, resolve=Names(["127.0.0.1"]))
    with pytest.raises(ServiceError, match=r"cannot be reached: it leads to the private address 127\.0\.0\.1"):
        RemoteEmbedder(f"http://service.test:{port}/v1", "m", dimension=2, way=way).embed(["x"])
    assert seen == []


def test_through_a_proxy_the_proxy_resolves(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    port, seen = serve(b"through")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    names = Names(["10.0.0.1"])
    assert fetch("http://service.test/x", Way(resolve=names)) == b"through"
    assert seen == [("http://service.test/x", "service.test")]
    assert names.asked == []
    monkeypatch.setenv("no_proxy", "service.test")
    with pytest.raises(URLError, match=r"private address 10\.0\.0\.1"):
        fetch("http://service.test/x", Way(resolve=names))


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate for service.test and its key, trusted by this process."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "service.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("service.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    place = tmp_path / "service.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    place.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return place


def test_the_certificate_is_that_of_the_host_and_not_of_the_address(serve: Serve, certificate: Path) -> None:
    port, seen = serve(b"hello", certificate=certificate)
    way = Way(allow_private=True, resolve=Names(["127.0.0.1"]))
    assert fetch(f"https://service.test:{port}/x", way) == b"hello"
    assert seen == [("/x", f"service.test:{port}")]
    with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
        fetch(f"https://other.test:{port}/x", way)
    assert len(seen) == 1


def test_a_key_set_is_fetched_once_and_from_nowhere_else(serve: Serve) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(ECAlgorithm.to_jwk(key.public_key())) | {"kid": "one", "use": "sig"}
    port, seen = serve(json.dumps({"keys": [public]}).encode())

    def token(kid: str) -> str:
        claims = {
            "iss": "i",
            "aud": "a",
            "sub": "s",
            "scope": "haversack:read",
            "exp": datetime.now(UTC) + timedelta(hours=1),
        }
        return jwt.encode(claims, key, algorithm="ES256", headers={"kid": kid})

    settings = TokenSettings(issuer="i", audience="a", jwks=f"http://127.0.0.1:{port}/keys", allow_private=True)
    read = token_reader(settings)
    for _ in range(3):
        found = read(token("one"))
        assert found is not None
        assert found.name == "s"
    for _ in range(20):
        assert read(token("unknown")) is None
    assert len(seen) == 1  # a flood of unknown keys asks no more
    moved, _ = serve(to=f"http://127.0.0.1:{port}/keys")
    elsewhere = TokenSettings(issuer="i", audience="a", jwks=f"http://127.0.0.1:{moved}/keys", allow_private=True)
    assert token_reader(elsewhere)(token("one")) is None
    assert len(seen) == 1
