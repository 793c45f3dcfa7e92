"""No route stands open: walked from the application itself, so that new routes are covered without a line here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

import haversack
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.guard.settings import Limits
from haversack.server.app import create_app, scopes_of
from haversack.server.gate import OPEN_PATHS
from haversack.server.settings import ServerSettings

Call = Callable[..., httpx.Response]

with haversack.open(":memory:") as _sack:
    ROUTES = scopes_of(create_app(_sack))
GUARDED = [(method, path, scope) for (method, path), scope in ROUTES.items() if scope is not None]


def _ids(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _path(template: str, namespace: str = "alice") -> str:
    return re.sub(r"\{[^}]+\}", "x", template.replace("{namespace}", namespace))


def test_only_health_is_open():
    assert {path for (_, path), scope in ROUTES.items() if scope is None} == OPEN_PATHS
    assert len(GUARDED) > 30


@pytest.mark.parametrize(("method", "path", "scope"), GUARDED, ids=_ids)
def test_a_route_refuses_those_without_a_valid_key(make: Callable[..., Call], method: str, path: str, scope: Scope):
    nobody = make()
    where = _path(path)
    for headers in (
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer hvs_AAAAAAAAAAAA_wrong"},
        {"authorization": "Basic eDp5"},
    ):
        refused = nobody(method, where, headers=headers)
        assert refused.status_code == 401, (method, where, headers)
        assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path", "scope"), GUARDED, ids=_ids)
def test_a_route_refuses_a_smaller_scope(make: Callable[..., Call], method: str, path: str, scope: Scope):
    smaller = [other for other in Scope if not other.covers(scope)]
    for other in smaller:
        refused = make(other.value)(method, _path(path))
        assert (refused.status_code, refused.json()["code"]) == (403, "INSUFFICIENT_SCOPE")


@pytest.mark.parametrize(("method", "path", "scope"), [row for row in GUARDED if "{namespace}" in row[1]], ids=_ids)
def test_a_route_refuses_a_foreign_namespace(make: Callable[..., Call], method: str, path: str, scope: Scope):
    caller = make("admin", ["bob", "team-*"])
    for foreign in ("alice", "Bob", "bob%00", "bob%2Fx", "team", "bob%20"):
        refused = caller(method, _path(path, foreign))
        assert (refused.status_code, refused.json()["code"]) == (403, "NAMESPACE_ACCESS_DENIED"), foreign


def test_a_key_in_the_query_string_is_no_key(sack: haversack.Haversack, make: Callable[..., Call]):
    secret = sack.keys.create("x", scope="admin").secret
    refused = make()("GET", f"/v1/namespaces?token={secret}&api_key={secret}", headers={"authorization": ""})
    assert refused.status_code == 401
    assert secret not in refused.text


def test_reading_along_needs_every_namespace(make: Callable[..., Call]):
    caller = make("read", ["alice"])
    for verb in ("recall", "context", "why"):
        body: dict[str, Any] = {"query": "x", "namespaces": ["bob"]}
        if verb == "why":
            body["memory_id"] = "x"
        assert caller("POST", f"/v1/namespaces/alice/{verb}", json=body).status_code == 403


def test_listing_shows_only_what_the_key_reaches(http: Call, make: Callable[..., Call]):
    for name in ("alice", "bob", "team-a"):
        http("POST", f"/v1/namespaces/{name}/memories", json={"content": "x"})
    job = http("POST", "/v1/namespaces/bob/reembed").json()
    caller = make("admin", ["team-*"])
    assert caller("GET", "/v1/namespaces").json()["namespaces"] == [{"name": "team-a"}]
    assert caller("GET", f"/v1/jobs/{job['id']}").status_code == 404
    assert caller("GET", "/v1/jobs").json()["jobs"] == []
    assert caller("GET", "/metrics").status_code == 403


@pytest.mark.parametrize(("method", "path", "scope"), GUARDED, ids=_ids)
def test_a_route_closes_when_the_first_key_is_made(method: str, path: str, scope: Scope):
    with haversack.open(":memory:", embedder="none") as sack:
        app = _open_app(sack)
        assert _send(app).status_code == 200
        secret = sack.keys.create("first", scope="admin").secret
        assert _send(app, method, _path(path)).status_code == 401
        assert _send(app, headers={"authorization": f"Bearer {secret}"}).status_code == 200
        sack.keys.revoke(secret.split("_")[1])
        assert _send(app, method, _path(path)).status_code == 401


def _open_app(sack: haversack.Haversack) -> FastAPI:
    return create_app(sack, ServerSettings(open=True))


def _send(app: FastAPI, method: str = "GET", path: str = "/v1/namespaces", **more: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:3300") as client:
            return await client.request(method, path, **more)

    return asyncio.run(send())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "127.0.0.1:3300"}, 200),
        ({"host": "[::1]:3300"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "localhost.evil.example"}, 421),
        ({"host": "[::1"}, 421),
        ({"origin": "http://localhost:3300"}, 200),
        ({"origin": "http://localhost:5173"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"forwarded": "for=192.0.2.1"}, 403),
        ({"x-forwarded-for": "192.0.2.1"}, 403),
        ({"x-forwarded-anything": ""}, 403),
        ({"x-real-ip": "192.0.2.1"}, 403),
        ({"via": "1.1 proxy"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"authorization": "Bearer hvs_AAAAAAAAAAAA_wrong"}, 401),
    ],
)
def test_without_keys_only_this_machine_is_let_in(sack: haversack.Haversack, headers: dict[str, str], status: int):
    assert _send(_open_app(sack), headers=headers).status_code == status


@pytest.mark.parametrize(
    "name",
    ["../../outside", "..\\..\\outside", "/abs/outside", "a/../../outside", "..", ".", "nul\u0000byte", "C:outside",
     "x\n", "é", "e\u0301", "CON", "%2e%2e", "a b?c#d", "🎒"],
)  # fmt: skip
def test_a_name_is_a_label_and_never_a_path(http: Call, sack: haversack.Haversack, tmp_path: Any, name: str):
    before = sorted(path.name for path in tmp_path.rglob("*"))
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    kept = http("POST", f"/v1/namespaces/{encoded}/memories", json={"content": "here"})
    assert kept.status_code == 201
    assert sack.namespaces() == [name]
    said = http(
        "POST", f"/v1/namespaces/{encoded}/sessions/{encoded}/turns", json={"turns": [{"role": "user", "content": "x"}]}
    )
    assert said.status_code == 201
    assert [one.id for one in sack.namespace(name).sessions()] == [name]
    assert http("GET", f"/v1/namespaces/{encoded}/memories/{encoded}").status_code in {400, 404}
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "path", ["/v1/namespaces/%ff/memories", "/v1/namespaces/%20/memories", f"/v1/namespaces/{'a' * 1001}/memories"]
)
def test_names_that_cannot_be_are_refused(http: Call, path: str):
    assert http("POST", path, json={"content": "x"}).status_code == 400


def test_wrong_keys_are_slowed_down_and_right_ones_are_not(make: Callable[..., Call]):
    caller = make(failures_per_minute=3)
    wrong = {"authorization": "Bearer hvs_nobody_nothing"}
    told = [caller("GET", "/v1/namespaces", headers=wrong) for _ in range(4)]
    assert [one.status_code for one in told] == [401, 401, 401, 429]
    assert (told[3].json()["code"], int(told[3].headers["retry-after"])) == ("RATE_LIMIT_EXCEEDED", 20)
    assert caller("GET", "/v1/namespaces").status_code == 200


def test_a_key_has_a_pace(make: Callable[..., Call]):
    caller = make("read", key_per_minute=2)
    answers = [caller("GET", "/v1/namespaces") for _ in range(3)]
    assert [answered.status_code for answered in answers] == [200, 200, 429]
    assert answers[0].headers["x-ratelimit-remaining"] == "1"
    assert int(answers[2].headers["retry-after"]) >= 1
    assert caller("GET", "/health").status_code == 200


def test_servers_of_one_store_count_a_key_together(make: Callable[..., Call], sack: Haversack):
    shown = {"authorization": f"Bearer {sack.keys.create('reader').secret}"}
    callers = [make(key_per_minute=4) for _ in range(2)]
    answers = [caller("GET", "/v1/namespaces", headers=shown) for _ in range(3) for caller in callers]
    assert [answered.status_code for answered in answers] == [200] * 4 + [429] * 2
    assert [answered.headers["x-ratelimit-remaining"] for answered in answers[:4]] == ["3", "2", "1", "0"]


@pytest.mark.parametrize(("body", "status"), [
    (b"[" * 200_000, 400),
    (b'{"a":' * 200_000, 400),
    (b'"' + b'\\"' * 200_000, 400),
    (b"{", 400),
    (b'{"content": NaN}', 400),
    (b'{"content": "x", "metadata": {"n": 1' + b"0" * 400 + b"}}", 201),
    (b'{"content": "x", "metadata": {"n": 1e999}}', 400),
    (b'{"content": "' + b"x" * 60_000 + b'"}', 413),
    (b'{"content": "' + b"x" * (5 << 20) + b'"}', 413),
    (b'{"content": "\\ud800 lone"}', 400),
    (b'{"content": "' + b"[" * 5_000 + b'"}', 201),
])  # fmt: skip
def test_shapes_that_hurt(http: Call, body: bytes, status: int):
    answered = http("POST", "/v1/namespaces/alice/memories", content=body, headers={"content-type": "application/json"})
    assert answered.status_code == status, answered.text[:300]


@pytest.mark.parametrize(
    "body",
    [
        b'{"content": "x", "metadata": {"a": NaN}}',
        b'{"content": "x", "importance": Infinity}',
        b'{"content": "x", "metadata": {"a": 1e999}}',
        b'{"content": "half of a pair \\ud800"}',
        b'{"content": "\xed\xa0\x80"}',
        b'{"content": "\xff"}',
        b'{"content": "\xc0\xaf"}',
        b'{"content": "x"} {"content": "y"}',
        '{"content": "x"}'.encode("utf-16"),
        b'{"content": "a\x00b"}',
        b"",
        b"null",
    ],
)
def test_what_is_no_strict_json_is_refused_and_nothing_is_stored(http: Call, sack: Haversack, body: bytes):
    answered = http("POST", "/v1/namespaces/alice/memories", content=body, headers={"content-type": "application/json"})
    assert (answered.status_code, answered.json()["code"]) == (400, "INVALID_REQUEST")
    assert sack.namespaces() == []


def test_a_mark_before_the_json_and_an_escaped_nul_do_no_harm(http: Call):
    body = b'\xef\xbb\xbf{"content": "a\\u0000b \\ud83d\\ude8b"}'
    answered = http("POST", "/v1/namespaces/alice/memories", content=body, headers={"content-type": "application/json"})
    assert (answered.status_code, answered.json()["content"]) == (201, "a\0b 🚋")


def test_nesting_is_judged_whatever_the_case_of_the_content_type(http: Call):
    for kind in ("application/json", "APPLICATION/JSON", "Application/vnd.api+Json"):
        answered = http("POST", "/v1/namespaces/a/memories", content=b"[" * 100, headers={"content-type": kind})
        assert (answered.status_code, answered.json()["detail"]) == (400, "the body is nested deeper than 32 levels")


def test_health_may_be_asked_by_its_head_alone(http: Call):
    for path in ("/health", "/health/live", "/health/ready"):
        assert http("HEAD", path).status_code == 200


def test_ten_thousand_items_are_too_many(http: Call):
    body = {"memories": [{"content": "x"}] * 10_000}
    assert http("POST", "/v1/namespaces/alice/memories/batch", json=body).status_code == 413
    assert http("GET", "/v1/namespaces").json()["namespaces"] == []


def test_limits_make_sense():
    with pytest.raises(haversack.HaversackError, match="body_bytes"):
        Limits(body_bytes=0)
