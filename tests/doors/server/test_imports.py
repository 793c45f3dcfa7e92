"""What a key's scope lets an import write."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from haversack.engine.haversack import Haversack
from haversack.store.port import SYSTEM, Batch, Written
from haversack.store.sqlite.store import SqliteStore

Call = Callable[..., httpx.Response]
NS = "/v1/namespaces/alice"
HEADER = {"type": "header", "format": "haversack", "version": 1}


def record(collection: str, key: str, value: bytes) -> dict[str, Any]:
    return {"type": "record", "collection": collection, "key": key, "base64": base64.b64encode(value).decode()}


def bring_in(sack: Haversack, http: Call, *lines: dict[str, Any]) -> dict[str, Any]:
    content = "".join(json.dumps(line) + "\n" for line in (HEADER, *lines)).encode()
    job = http("POST", f"{NS}/import?format=haversack", content=content)
    assert job.status_code == 202
    return dict(sack.jobs.wait(job.json()["id"], 20).result)


def test_a_write_key_imports_no_policy_and_an_admin_key_does(sack: Haversack, make: Callable[..., Call]):
    write, admin = make("write"), make("admin")
    admin("POST", f"{NS}/memories", json={"content": "Alice likes tea"})
    before = admin("GET", f"{NS}/policy").json()
    policy = record("policy", "lifecycle", b'{"max_memories": 0, "retention_days": 0}')
    refused = bring_in(sack, write, policy)
    assert (refused["records"], refused["bad"]) == (0, 1)
    assert "admin" in refused["problems"][0]
    assert admin("GET", f"{NS}/policy").json() == before
    assert bring_in(sack, admin, policy)["records"] == 1
    assert admin("GET", f"{NS}/policy").json() != before


def test_garbage_neither_lands_nor_stops_anybody(sack: Haversack, make: Callable[..., Call], tmp_path: Path):
    http, operator = make("write"), make("admin")
    kept = http("POST", f"{NS}/memories", json={"content": "Alice likes tea"}).json()["id"]
    places = ("view", "lease", "cost", "extracted", "access", "trim", "feedback", "run", "journal", "segment", "any")
    done = bring_in(sack, http, *(record(place, kept, b"\xff") for place in places))
    assert (done["records"], done["bad"]) == (0, len(places))
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        for place in (*places, "policy", "hidden", "earlier", "receipt", "visit", "run_step"):
            for key in (kept, "lifecycle", "maintenance"):
                written = Written(collection=place, key=key, value=b"\xff")
                store.apply("alice", Batch(records=(written,)))
        for place in ("job", "audit", "snapshot", "schedule", "proposal", "lease", "run"):
            store.apply(SYSTEM, Batch(records=(Written(collection=place, key="k", value=b"\xff"),)))
    for path in ("runs", "health", "costs", "trimmed", "policy", f"memories/{kept}", f"memories/{kept}/history"):
        assert operator("GET", f"{NS}/{path}").status_code == 200, path
    assert operator("POST", f"{NS}/lifecycle", json={}).status_code == 200
    health = operator("GET", "/v1/store/health")
    assert health.status_code == 200
    assert {"damaged-record"} == {fault["code"] for fault in health.json()["faults"]}
    assert operator("DELETE", f"{NS}/memories/{kept}?hard=true").status_code == 200


def test_what_an_import_replaces_is_told_kept_and_audited(sack: Haversack, make: Callable[..., Call]):
    write, admin = make("write"), make("admin")
    memory = write("POST", f"{NS}/memories", json={"content": "the gate is 4711"}).json()["id"]
    lines = [json.loads(line) for line in admin("GET", f"{NS}/export").text.splitlines()]
    (line,) = [each for each in lines if each["type"] == "memory"]
    refused = bring_in(sack, write, line | {"content": "the gate is 1", "trust": "correction"})
    assert (refused["replaced"], refused["bad"]) == ([], 1)
    done = bring_in(sack, write, line | {"content": "the gate is 1234", "trust": "verified"})
    assert (done["replaced"], done["bad"]) == ([memory], 0)
    (before,) = admin("GET", f"{NS}/memories/{memory}/history").json()["earlier"]
    assert before["fields"]["content"] == "the gate is 4711"
    sack.audit.flush()
    deeds = [deed for deed in sack.audit.read() if deed.did == "replace by import"]
    assert [deed.memories for deed in deeds] == [(memory,)]
