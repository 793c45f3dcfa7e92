"""What one `remember` costs a store in a file: statements and transactions, and that its answer is what was stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import haversack
from haversack.model.memory import Source

if TYPE_CHECKING:
    from haversack.engine.haversack import Haversack


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(str(tmp_path / "store.db"), embedder="none") as sack:
        yield sack


@pytest.mark.parametrize(("kind", "most"), [("passage", 9), ("fact", 17)])
def test_one_transaction_and_few_statements(sack: Haversack, kind: str, most: int) -> None:
    ns, said = sack.namespace("n"), list[str]()
    for number in range(3):
        ns.remember(f"The crane has number {number}", kind=kind)
    store: Any = sack._core.store
    store._connections.lease().connection.set_trace_callback(said.append)
    ns.remember("The quay has number 4", kind=kind)
    assert [words for words in said if words.startswith("BEGIN IMMEDIATE")] == ["BEGIN IMMEDIATE"]
    assert len(said) <= most


def test_the_answer_is_what_was_stored(sack: Haversack) -> None:
    ns = sack.namespace("n")
    first = ns.remember("Alice lives in Oslo", subject="alice/city", event_time="2026-01-01")
    told = ns.remember_many(
        [
            {
                "content": "Alice lives in Bergen",
                "subject": "alice/city",
                "event_time": "2026-02-01",
                "importance": 1,
                "entities": ["Alice"],
                "tags": ["home"],
                "metadata": {"n": [1, {"deep": None}], "x": 1.5},
                "pinned": True,
                "source": Source(session="s", turns=["t"], memories=["m"]),  # pyright: ignore[reportArgumentType]
                "expires_at": "2030-01-01",
            },
            "Alice  lives in BERGEN",
            {"content": "\n\n".join(f"Paragraph {n} of the long report." for n in range(99)), "kind": "passage"},
            {"content": "The harbour is deep", "supersedes": first.id},
        ]
    )
    assert told == [ns.get(one.id) for one in told]
    assert told[0] == told[1]
    again = ns.remember("The harbour is deep", tags=["more"])
    assert again == ns.get(told[3].id)
    assert again.tags == ("more",)
