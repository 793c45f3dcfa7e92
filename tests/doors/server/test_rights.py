"""What a key may hand out, take back and erase; what is written down of refusals; streams that end with their key."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

import haversack
from haversack.engine.erasing import MOST_ERASED
from haversack.engine.haversack import Haversack
from haversack.errors import BusyError
from haversack.guard.settings import Limits, TokenSettings
from haversack.server.app import create_app
from haversack.server.run import Server
from haversack.server.settings import ServerSettings

from .conftest import Http

Call = Callable[..., httpx.Response]
NS = "/v1/namespaces/alice"
DAKERA = "/v1/memory/forget"


def test_a_key_over_http_ends_with_its_maker(sack: Haversack, make: Callable[..., Call]):
    end = datetime.now(UTC) + timedelta(days=1)
    maker = sack.keys.create("maker", scope="admin", expires_at=end)
    shown = {"authorization": f"Bearer {maker.secret}"}
    http = make()
    made = http("POST", "/v1/keys", json={"name": "child", "scope": "admin"}, headers=shown).json()["key"]
    assert (made["expires_at"], made["made_by"]) == (end.isoformat(), maker.key.id)
    for path, body in (("/v1/keys", {"expires_at": "2999-01-01"}), ("/admin/keys", {"expires_in_days": 2})):
        later = http("POST", path, json={"name": "later", "scope": "read", **body}, headers=shown)
        assert (later.status_code, "ends at" in later.text) == (400, True)
    endless = sack.keys.create("endless").key
    taken = http("POST", f"/v1/keys/{endless.id}/rotate", json={}, headers=shown).json()["key"]
    assert (taken["expires_at"], taken["made_by"]) == (end.isoformat(), maker.key.id)
    dakera = sack.keys.create("endless").key
    http("POST", f"/admin/keys/{dakera.id}/rotate", json={}, headers=shown)
    replaced = sack.keys.get(dakera.id).replaced_by
    assert sack.keys.get(replaced or "").expires_at == end


@pytest.mark.parametrize("may", [False, True])
def test_tokens_make_keys_where_the_settings_say_so(sack: Haversack, tmp_path: Path, *, may: bool):
    signer, end = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps({"keys": [{**json.loads(ECAlgorithm.to_jwk(signer.public_key())), "kid": "k"}]}))
    claims = {"iss": "i", "aud": "a", "sub": "bob", "iat": datetime.now(UTC), "exp": end, "scope": "haversack:admin"}
    token = jwt.encode({**claims, "haversack_namespaces": ["alice"]}, signer, "ES256", {"kid": "k"})
    settings = TokenSettings(issuer="i", audience="a", jwks=str(jwks), make_keys=may)
    http = Http(create_app(sack, ServerSettings(tokens=settings)), token)
    old = sack.keys.create("old", namespaces=["alice"]).key
    asked = {"name": "child", "scope": "read", "namespaces": ["alice"]}
    answers = [http("POST", "/v1/keys", json=asked), http("POST", f"/v1/keys/{old.id}/rotate", json={})]
    if may:
        made = [answer.json()["key"] for answer in answers]
        assert [(key["expires_at"], key["made_by"]) for key in made] == [(end.isoformat(), "token:bob")] * 2
    else:
        answers.append(http("POST", "/admin/keys", json=asked))
        answers.append(http("POST", f"/admin/keys/{old.id}/rotate", json={}))
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "INSUFFICIENT_SCOPE")] * 4
        assert [key.name for key in sack.keys.all()] == ["old"]


def test_revoking_over_http_takes_the_children_when_asked_to(sack: Haversack, http: Call):
    parent = sack.keys.create("parent", scope="admin")
    child = sack.keys.create("child", maker=parent.key)
    assert http("DELETE", f"/v1/keys/{parent.key.id}").json()["revoked_at"] is not None
    assert sack.keys.check(child.secret) is not None
    assert http("DELETE", f"/v1/keys/{parent.key.id}?children=true").status_code == 200
    assert sack.keys.check(child.secret) is None
    assert child.key.id in list(sack.audit.read(did="revoke key"))[-1].memories


@pytest.mark.parametrize(
    ("path", "gone"), [("/v1/keys", ["outside"]), ("/v1/keys", [" "]), ("/admin/keys", ["outside"])]
)
def test_a_refused_change_of_a_key_changes_nothing(
    sack: Haversack, make: Callable[..., Call], path: str, gone: list[str]
):
    lead = make("admin", ["team-*"])
    key = sack.keys.create("agent", namespaces=["team-a"]).key
    refused = lead("PATCH", f"{path}/{key.id}", json={"name": "taken", "namespaces": gone})
    assert refused.status_code in {400, 403}
    assert sack.keys.get(key.id) == key


def test_every_agent_is_no_prefix(sack: Haversack, http: Call):
    wanted = {"name": "x", "scope": "read", "namespaces": ["_dakera_agent_*"]}
    refused = http("POST", "/admin/keys", json=wanted)
    assert (refused.status_code, "every namespace" in refused.text) == (400, True)
    made = http("POST", "/admin/keys", json={**wanted, "namespaces": ["_dakera_agent_a*"]}).json()
    assert sack.keys.get(made["key_id"]).namespaces == ("a*",)


def test_a_namespace_is_not_named_like_a_pattern(http: Call, make: Callable[..., Call]):
    assert http("POST", "/v1/namespaces/team*/memories", json={"content": "x"}).status_code == 400
    assert http("POST", "/v1/memory/store", json={"agent_id": "*", "content": "x"}).status_code == 400
    assert make("read", ["team*"])("GET", "/v1/namespaces/team*").status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        {"since": "1971-01-01T00:00:00Z"},
        {"kinds": ["fact"]},
        {"tags": ["t"]},
        {"session": "s", "since": "1971-01-01T00:00:00Z"},
        {"until": "2999-01-01"},
    ],
)
def test_erasing_by_a_condition_takes_an_admin(sack: Haversack, make: Callable[..., Call], body: dict[str, Any]):
    memory = sack.namespace("alice").remember("kept", tags=["t"])
    writer = make("write")
    erasing = {**body, "hard": True, "preview": False}
    refused = writer("POST", f"{NS}/forget", json=erasing)
    assert (refused.status_code, refused.json()["code"]) == (403, "INSUFFICIENT_SCOPE")
    assert sack.namespace("alice").get(memory.id) == memory
    assert writer("POST", f"{NS}/forget", json={**erasing, "preview": True}).status_code == 200
    assert writer("POST", f"{NS}/forget", json={**erasing, "hard": False}).status_code == 200
    sack.namespace("alice").restore(memory.id)
    assert make("admin")("POST", f"{NS}/forget", json=erasing).status_code == 200


def test_a_writer_erases_what_it_names_up_to_a_number(sack: Haversack, make: Callable[..., Call]):
    ns, writer = sack.namespace("alice"), make("write")
    made = [one.id for one in ns.remember_many([{"content": f"number {n}"} for n in range(MOST_ERASED + 2)])]
    flags = {"hard": True, "preview": False}
    assert writer("POST", f"{NS}/forget", json={"ids": made[1:], **flags}).status_code == 403
    body = {"agent_id": "alice", "memory_ids": made[1:], "hard": True}
    assert writer("POST", DAKERA, json=body).status_code == 403
    assert writer("POST", DAKERA, json={**body, "memory_ids": made[:1]}).status_code == 200
    assert len(writer("POST", f"{NS}/forget", json={"ids": made[2:], **flags}).json()["memories"]) == MOST_ERASED
    for name, count in (("small", 3), ("large", MOST_ERASED + 1)):
        ns.session(name).extend({"role": "user", "content": f"{name} turn {number}"} for number in range(count))
    assert writer("POST", f"{NS}/forget", json={"session": "large", **flags}).status_code == 403
    assert writer("POST", f"{NS}/forget", json={"session": "small", **flags}).status_code == 200


def test_denials_are_logged_with_their_origin_and_put_into_the_audit_within_bounds(
    sack: Haversack, make: Callable[..., Call], caplog: pytest.LogCaptureFixture
):
    reader = make("read", ["alice"])
    key = next(key for key in sack.keys.all() if key.name == "read")
    with caplog.at_level(logging.WARNING, "haversack.denials"):
        reader("GET", "/v1/namespaces/secret/memories")
        reader("POST", f"{NS}/recall", json={"query": "x", "namespaces": ["bob"]})
        reader("POST", f"{NS}/memories", json={"content": "x"})
        reader("GET", f"{NS}/memories", headers={"authorization": "Bearer hvs_nobody_nothing"})
    told: list[dict[str, Any]] = [vars(record)["fields"] for record in caplog.records]
    assert [(one["status"], one["code"], one["namespace"], one["key"], one["route"]) for one in told] == [
        (403, "NAMESPACE_ACCESS_DENIED", "secret", key.id, "GET /v1/namespaces/{namespace}/memories"),
        (403, "NAMESPACE_ACCESS_DENIED", "bob", key.id, "POST /v1/namespaces/{namespace}/recall"),
        (403, "INSUFFICIENT_SCOPE", None, key.id, "POST /v1/namespaces/{namespace}/memories"),
        (401, "INVALID_API_KEY", None, None, "GET /v1/namespaces/{namespace}/memories"),
    ]
    assert {one["address"] for one in told} == {"127.0.0.1"}
    for _ in range(150):
        reader("GET", "/v1/namespaces/secret/memories")
    denied = list(sack.audit.read(did="denied"))
    assert [deed.namespace for deed in denied[:3]] == ["secret", "bob", None]
    assert {deed.who for deed in denied} == {key.id}
    assert 100 <= len(denied) <= 101


def test_where_the_store_lies_is_not_told(
    sack: Haversack, http: Call, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def busy(*_: object, **_named: object) -> list[str]:
        raise BusyError("/home/alice/memory.db is busy")

    monkeypatch.setattr(sack, "namespaces", busy)
    answered = http("GET", "/v1/namespaces")
    assert (answered.status_code, "/home" in answered.text) == (503, False)
    assert "/home/alice/memory.db is busy" in caplog.text


def test_the_description_is_open_and_names_its_server(make: Callable[..., Call]):
    described = make()("GET", "/openapi.json", headers={"authorization": ""})
    assert (described.status_code, described.json()["servers"]) == (200, [{"url": "/"}])


@pytest.fixture
def quick() -> Iterator[tuple[str, Haversack]]:
    """A real server that asks for the key of a stream all the time."""
    with haversack.open(":memory:", embedder="none") as sack:
        settings = ServerSettings(limits=Limits(key_check_seconds=0.01))
        server = Server(create_app(sack, settings), settings, host="127.0.0.1", port=0)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", sack
            server.stop()
            thread.join(20)


@pytest.fixture
def events(quick: tuple[str, Haversack], request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a stream: of a namespace, or of a job that is at work."""
    address, sack = quick
    begun, go = threading.Event(), threading.Event()

    def work(_: object) -> dict[str, Any]:
        begun.set()
        assert go.wait(20)
        return {}

    if request.param == "namespace":
        yield f"{address}{NS}/events"
        return
    job = sack.jobs.start("wait", "alice", work, asked_by="test")
    assert begun.wait(20)
    yield f"{address}/v1/jobs/{job.id}/events"
    go.set()


@pytest.mark.parametrize("how", ["revoked", "deleted", "narrowed"])
@pytest.mark.parametrize("events", ["namespace", "job"], indirect=True)
def test_events_end_with_their_key(quick: tuple[str, Haversack], events: str, how: str):
    _, sack = quick
    issued = sack.keys.create("reader", namespaces=["alice"])
    shown = {"authorization": f"Bearer {issued.secret}"}
    with httpx.stream("GET", events, headers=shown, timeout=20) as stream:
        lines = stream.iter_lines()
        assert next(lines) in {": connected", "event: running"}
        match how:
            case "revoked":
                sack.keys.revoke(issued.key.id)
            case "deleted":
                sack.keys.delete(issued.key.id)
            case _:
                sack.keys.change(issued.key.id, namespaces=["bob"])
        assert all(not line or line.startswith("data: ") for line in lines)


def test_events_end_when_their_key_expires(quick: tuple[str, Haversack]):
    address, sack = quick
    brief = sack.keys.create("brief", expires_at=datetime.now(UTC) + timedelta(seconds=0.5))
    shown = {"authorization": f"Bearer {brief.secret}"}
    with httpx.stream("GET", f"{address}{NS}/events", headers=shown, timeout=20) as stream:
        assert [line for line in stream.iter_lines() if line] == [": connected"]


@pytest.mark.parametrize(
    ("scope", "path", "status"), [("write", f"{NS}/memories", 413), ("read", f"{NS}/memories", 403), (None, "/x", 401)]
)
def test_a_client_that_sends_it_all_first_sees_the_answer(
    quick: tuple[str, Haversack], scope: str | None, path: str, status: int
):
    address, sack = quick
    host, port = address.removeprefix("http://").split(":")
    shown = f"Authorization: Bearer {sack.keys.create('x', scope=scope).secret}" if scope else "X-None: 1"
    size = 24 << 20
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", shown, f"Content-Length: {size}", "", "")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall("\r\n".join(lines).encode())
        for _ in range(24):
            connection.sendall(b"x" * (1 << 20))
        answered = connection.makefile("rb").read()
    assert answered.startswith(f"HTTP/1.1 {status} ".encode())
    assert json.loads(answered.partition(b"\r\n\r\n")[2])["status"] == status
