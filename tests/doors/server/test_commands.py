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
    told = run(store, "keys", "revoke", key_id, "--with-children")
    assert told.splitlines() == [f"revoked {key_id} (agent)"]
    assert "did you mean 'write'" in run(store, "keys", "create", "x", "--scope", "writer", code=2)
    assert "no span of time" in run(store, "keys", "rotate", key_id, "--grace", "soon", code=2)
    assert "no key" in run(store, "keys", "revoke", "nowhere", code=3)


def test_revoking_tells_of_children_and_takes_them(tmp_path: Path):
    store = tmp_path / "memory.db"
    with haversack.open(store, embedder="none") as sack:
        parent = sack.keys.create("parent", scope="admin").key
        child = sack.keys.create("child", maker=parent).key
    line = [*PROGRAM, "keys", "revoke", parent.id, "--store", str(store)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)
    assert "1 keys that it made still open" in done.stderr
    assert run(store, "keys", "revoke", parent.id, "--with-children").splitlines() == [
        f"revoked {parent.id} (parent)",
        f"revoked {child.id} (child)",
    ]


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_the_first_start_in_a_terminal_makes_a_key_and_shows_it_once(tmp_path: Path):
    store, secret = tmp_path / "memory.db", ""
    for is_first in (True, False):
        ours, theirs = os.openpty()
        served = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", "--embedder", "none", "--store", str(store)],
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert served.stderr is not None
            address = re.search(r"http://127[^ ]+:[1-9]\d*", next(one for one in served.stderr if "running" in one))
            assert address is not None
            assert httpx.get(f"{address[0]}/v1/namespaces", timeout=20).status_code == 401
            if is_first:
                secret = os.read(ours, 1000).decode().strip()
            shown = {"authorization": f"Bearer {secret}"}
            assert httpx.get(f"{address[0]}/v1/auth/whoami", headers=shown, timeout=20).json()["scope"] == "admin"
        finally:
            served.terminate()
            served.communicate(timeout=20)
            os.close(theirs)
            os.close(ours)
    with haversack.open(store, embedder="none") as sack:
        assert [key.name for key in sack.keys.all()] == ["first"]


@pytest.mark.skipif(os.name != "posix", reason="stops by a signal")
def test_serving_until_told_to_stop(tmp_path: Path):
    store = tmp_path / "memory.db"
    quick = ("--port", "0", "--embedder", "none")
    assert "has no key yet" in run(store, "serve", *quick, code=2)
    assert "reached by others" in run(store, "serve", "--open", "--host", "0.0.0.0", *quick, code=2)  # noqa: S104
    served = subprocess.Popen(
        [*PROGRAM, "serve", "--open", "--port", "0", "--embedder", "none", "--store", str(store)],
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
