"""Uploads: what lies on the disk until they are imported, what is left of them, and what they may unpack to."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.engine.jobs import JobState
from haversack.server.upload import Upload

Call = Callable[..., httpx.Response]
IMPORT = "/v1/namespaces/alice/import?name=x.jsonl"
SECRET = b"my swordfish is called Wanda"
LINE = json.dumps({"role": "user", "content": SECRET.decode()}).encode() + b"\n"


@pytest.fixture
def held(sack: Haversack) -> Iterator[Event]:
    """Nothing is imported into alice until this is set."""
    begun, go = Event(), Event()

    def work(_: object) -> dict[str, Any]:
        begun.set()
        return {"went": go.wait(20)}

    sack.jobs.start("hold", "alice", work, asked_by="me")
    assert begun.wait(10)
    yield go
    go.set()


def nameless(folder: Path) -> bytes:
    """All that is on the disk of the files without a name that this process has open in a folder."""
    found = b""
    for each in Path("/proc/self/fd").iterdir():
        try:
            where = str(each.readlink())
            if where.startswith(f"{folder}/") and where.endswith(" (deleted)"):
                found += each.read_bytes()
        except OSError:
            continue  # closed meanwhile
    return found


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.rglob("*")} - {"memory.db-wal", "memory.db-shm"}


def test_an_upload_has_no_name_and_cannot_be_read_from_the_disk(
    http: Call, sack: Haversack, held: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    job = http("POST", IMPORT, content=LINE * 10_000).json()
    on_disk = nameless(tmp_path)
    assert len(LINE) * 9_000 < len(on_disk) <= len(LINE) * 10_000
    assert SECRET not in on_disk
    assert names(tmp_path) == {"memory.db"}
    held.set()
    assert sack.jobs.wait(job["id"], 30).result["turns"] == 10_000
    assert nameless(tmp_path) == b""


def test_a_cancelled_import_keeps_nothing(http: Call, held: Event, tmp_path: Path):
    job = http("POST", IMPORT, content=LINE * 10_000).json()
    assert nameless(tmp_path)
    assert http("DELETE", f"/v1/jobs/{job['id']}").json()["state"] == "cancelled"
    assert nameless(tmp_path) == b""
    assert not held.is_set()


def test_a_refused_import_keeps_nothing(make: Callable[..., Call], held: Event, tmp_path: Path):
    call = make("write")
    answers = [call("POST", IMPORT, content=LINE).status_code for _ in range(8)]
    before = len(nameless(tmp_path))
    refused = call("POST", IMPORT, content=LINE * 10_000)
    assert (answers, refused.status_code) == ([202] * 8, 503)
    assert "8 jobs of this namespace are waiting" in refused.json()["detail"]
    assert len(nameless(tmp_path)) == before
    assert not held.is_set()


_DIES = """
import sys
from pathlib import Path
from haversack.server.upload import Upload
upload = Upload(Path(sys.argv[1]))
upload.write(b"my swordfish is called Wanda" * 10_000)
print("written", flush=True)
sys.stdin.read()
"""


def test_a_killed_process_leaves_no_upload(tmp_path: Path):
    program = subprocess.Popen(
        [sys.executable, "-c", _DIES, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == "written\n"
        program.kill()
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_read_from_any_place(tmp_path: Path):
    content = os.urandom(100_003)
    upload = Upload(tmp_path)
    for start in range(0, len(content), 1_777):
        upload.write(content[start : start + 1_777])
    opened = upload.opened("x")
    assert (opened.size, opened.file.read()) == (len(content), content)
    for place in (0, 1, 15, 16, 17, 99_999, 31):
        assert opened.file.seek(place) == place
        assert opened.file.read(33) == content[place : place + 33]
        assert opened.file.tell() == place + 33 if place < 99_000 else len(content)
    upload.close()


def test_a_bomb_in_an_archive_does_not_unpack(http: Call, sack: Haversack):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"role": "user", "content": " " * (50 << 20)}]))
    assert len(packed.getvalue()) < 100_000
    job = http("POST", "/v1/namespaces/alice/import?name=x.zip", content=packed.getvalue()).json()
    ended = sack.jobs.wait(job["id"], 30)
    assert (ended.state, ended.result["turns"], ended.result["bad"]) == (JobState.DONE, 0, 1)
    assert "packed more times smaller than a file may be (200)" in ended.result["problems"][0]
    assert "server.imports.ratio" in ended.result["problems"][0]


def test_a_good_archive_is_read(http: Call, sack: Haversack):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"role": "user", "content": "hello"}]))
    job = http("POST", "/v1/namespaces/alice/import?name=x.zip", content=packed.getvalue()).json()
    assert sack.jobs.wait(job["id"], 30).result["turns"] == 1


def test_a_store_without_files_takes_uploads_too():
    with haversack.open(":memory:") as sack:
        assert sack.folder is None
    upload = Upload(None)
    upload.write(b"x")
    assert upload.opened("x").file.read() == b"x"
    upload.close()


def test_a_form_lies_in_no_other_file(http: Call, sack: Haversack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    lines = b"".join(json.dumps({"content": f"{n} {'x' * 1_000}"}).encode() + b"\n" for n in range(2_000))
    answered = http("POST", "/v1/import?agent_id=alice", files={"file": ("x.jsonl", lines)})
    assert (answered.status_code, answered.json()["imported"]) == (200, 2_000)
    assert sack.namespace("alice").stats().memories == {"fact": 2_000}
    too_large = http("POST", "/v1/import?agent_id=alice", files={"file": ("x.jsonl", b"x" * ((32 << 20) + (64 << 10)))})
    assert too_large.status_code == 413
    torn = http("POST", "/v1/import?agent_id=alice", content=b"x", headers={"content-type": "multipart/form-data"})
    assert torn.status_code == 400
