"""The typed client: generated from the OpenAPI document, blocking and awaited, against a real server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import haversack
from haversack import client as package
from haversack.client import ApiError, AsyncClient, Client
from haversack.client.generate import calls_source, reference_source, shapes_source
from haversack.engine.haversack import Haversack
from haversack.server.app import create_app

ROOT = Path(__file__).parents[3]


@pytest.fixture
def client(served: tuple[str, Haversack]) -> Iterator[Client]:
    address, sack = served
    with Client(address, key=sack.keys.create("ops", scope="admin").secret) as opened:
        yield opened
    for name in sack.namespaces():
        sack.namespace(name).maintenance.reset(execute=True, confirm=name, snapshot=False)


@pytest.mark.parametrize(("name", "source"), [("shapes.py", shapes_source), ("calls.py", calls_source)])
def test_the_generated_modules_are_up_to_date(name: str, source: object):
    assert callable(source)
    with haversack.open(":memory:") as sack:
        wanted = source(create_app(sack).openapi())
    written = Path(str(package.__file__)).with_name(name).read_text(encoding="utf-8")
    assert written == wanted, "renew them: python -m haversack.client.generate openapi.json"


def test_the_page_of_reference_is_up_to_date():
    with haversack.open(":memory:") as sack:
        wanted = reference_source(create_app(sack).openapi())
    assert (ROOT / "docs/reference/http.md").read_text(encoding="utf-8") == wanted


def test_the_guide_runs(served: tuple[str, Haversack], monkeypatch: pytest.MonkeyPatch):
    address, sack = served
    guide = (ROOT / "docs/how-to/serve.md").read_text(encoding="utf-8")
    monkeypatch.setenv("HAVERSACK_KEY", sack.keys.create("guide", scope="write").secret)
    blocks = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace("http://localhost:3300", address), {"__name__": "guide"})  # noqa: S102 - our own page


def test_the_blocking_client(client: Client):
    kept = client.remember("a/b c", content="Alice prefers metric units", importance=0.8, metadata={"n": 1})
    assert (kept.kind, kept.metadata) == ("fact", {"n": 1})
    assert [hit.memory.id for hit in client.recall("a/b c", query="which units?", kinds=["fact"]).hits] == [kept.id]
    packed = client.context("a/b c", query="units", budget=100, model="gpt-4o")
    assert (packed.items, packed.tokens <= 100) == ([kept.id], True)
    assert packed.ledger.total == packed.tokens
    client.add_turns("a/b c", "s 1", turns=[{"role": "user", "content": "hello"}], idempotency_key="k1")
    assert [turn.message["content"] for turn in client.list_turns("a/b c", "s 1").turns] == ["hello"]
    assert client.edit_memory("a/b c", kept.id, tags=["x"], if_match="*").tags == ["x"]
    assert client.list_memories("a/b c", tag=["x"], limit=1).memories[0].id == kept.id
    assert sum('"type":"memory"' in line.replace(" ", "") for line in client.export("a/b c")) == 2
    assert "haversack_requests" in client.read_metrics()
    job = client.import_file("other", content=b'[{"role": "user", "content": "hi"}]', name="chat.json")
    assert job.kind == "import"


def test_problems_are_errors_with_a_code(client: Client):
    with pytest.raises(ApiError) as caught:
        client.get_memory("alice", "nowhere")
    assert (caught.value.status, caught.value.code) == (404, "NOT_FOUND")
    with pytest.raises(ApiError, match="NOT_FOUND"):
        list(client.job_events("nowhere"))


def test_the_awaited_client(client: Client, served: tuple[str, Haversack]):
    address, sack = served
    secret = sack.keys.create("ops", scope="admin").secret

    async def use() -> tuple[list[str], str]:
        async with AsyncClient(address, key=secret) as memory:
            kept = await asyncio.gather(*(memory.remember("alice", content=f"fact {n}") for n in range(5)))
            lines = [line async for line in memory.export("alice")]
            with pytest.raises(ApiError, match="NOT_FOUND"):
                await memory.get_job("nowhere")
            return [one.id for one in kept], "\n".join(lines)

    ids, lines = asyncio.run(use())
    assert len(set(ids)) == 5
    assert all(one in lines for one in ids)
    assert {one.id for one in client.list_memories("alice").memories} == set(ids)
