"""`haversack keys` and `haversack serve` as a person uses them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import haversack

PROGRAM = [sys.executable, "-c", "from haversack.cli import main; main()"]


def run(store: Path, *words: str, code: int = 0) -> str:
    line = [*PROGRAM, *words, "--store", str(store)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_a_key_from_making_to_revoking(tmp_path: Path):
    store = tmp_path / "memory.db"
    secret = run(store, "keys", "create", "agent", "--scope", "write", "--for", "user-*", "--expires", "90d").strip()
    assert re.fullmatch(r"hvs_[a-z2-7]{16}_[A-Za-z0-9_-]{43}", secret)
    key_id = secret.split("_")[1]
    listed = run(store, "keys", "list")
    assert key_id in listed
    assert secret not in listed
    rotated = json.loads(run(store, "keys", "rotate", key_id, "--grace", "1h", "--json"))
    run(store, "keys", "revoke", rotated["key"]["id"])
    told = {key["id"]: key for key in json.loads(run(store, "keys", "list", "--json"))}
    assert told[key_id]["replaced_by"] == rotated["key"]["id"]
    assert told[rotated["key"]["id"]]["revoked_at"] is not None
    assert "did you mean 'write'" in run(store, "keys", "create", "x", "--scope", "writer", code=2)
    assert "no span of time" in run(store, "keys", "rotate", key_id, "--grace", "soon", code=2)
    assert "no key" in run(store, "keys", "revoke", "nowhere", code=3)


@pytest.mark.skipif(os.name != "posix", reason="stops by a signal")
def test_serving_until_told_to_stop(tmp_path: Path):
    store = tmp_path / "memory.db"
    assert "needs keys" in run(store, "serve", "--host", "0.0.0.0", "--port", "0", "--embedder", "none", code=2)  # noqa: S104
    served = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", "--embedder", "none", "--store", str(store)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stderr is not None
        line = next(line for line in served.stderr if "Uvicorn running" in line)
        address = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert address is not None
        kept = httpx.post(f"{address[0]}/v1/namespaces/alice/memories", json={"content": "kept"}, timeout=20)
        assert kept.status_code == 201
        found = httpx.post(f"{address[0]}/v1/namespaces/alice/recall", json={"query": "kept"}, timeout=20)
        assert len(found.json()["hits"]) == 1
        refused = httpx.get(f"{address[0]}/v1/namespaces", headers={"host": "evil.example"}, timeout=20)
        assert refused.status_code == 421
        served.send_signal(signal.SIGTERM)
        rest = served.stderr.read()
        assert served.wait(20) == 0
        logged = [json.loads(one) for one in rest.splitlines() if '"request"' in one]
        assert [one["status"] for one in logged if one["message"] == "request"] == [201, 200, 421]
        assert "kept" not in rest
    finally:
        served.kill()
        if served.stderr:
            served.stderr.close()
        served.wait(20)
    with haversack.open(store, embedder="none") as sack:
        assert sack.namespace("alice").stats().memories == {"fact": 1}
        assert sack.namespace("alice").maintenance.flush() == 1
