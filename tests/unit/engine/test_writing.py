"""What one `remember` costs a store in a file: statements and transactions, and that its answer is what was stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import haversack
from haversack.errors import ConflictError, NotFoundError
from haversack.model.memory import Memory, Source
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure

if TYPE_CHECKING:
    from haversack.engine.haversack import Haversack
    from haversack.engine.namespace import Namespace
    from haversack.store.port import Store


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(str(tmp_path / "store.db"), embedder="none") as sack:
        yield sack


@pytest.mark.parametrize(("kind", "most"), [("passage", 9), ("fact", 18)])
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


class Racing:
    """A store in which something happens behind the next reading of rows."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.then: Callable[[], object] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        found = self.store.memories(namespace, ids)
        if found and self.then is not None:
            then, self.then = self.then, None
            then()
        return found


VERBS: dict[str, Callable[[Namespace, str], object]] = {
    "edit": lambda ns, name: ns.edit(name, pinned=True),
    "vote": lambda ns, name: ns.vote(name, "up"),
    "forget": lambda ns, name: ns.forget(name),
    "restore": lambda ns, name: ns.restore(name),
    "correct": lambda ns, name: ns.knowledge.correct(name, "Not so."),
    "supersede": lambda ns, name: ns.remember("Not so.", supersedes=name),
    "merge": lambda ns, name: ns.merge([name, ns.remember("another").id]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_erased_while_a_verb_works_does_not_come_back(engine: Callable[..., Haversack], verb: str) -> None:
    store = Racing(MemoryStore())
    ns = engine(store).namespace("n")
    name = ns.remember("The crane is red").id
    if verb == "restore":
        ns.forget(name)
    store.then = lambda: store.apply("n", Batch(erase=Erasure(everything=True)))
    with pytest.raises((NotFoundError, ConflictError)):
        VERBS[verb](ns, name)
    assert all(one.content in {"Not so.", "another"} for one in ns.everything())


def test_a_statement_that_goes_while_it_is_told_again_is_told_anew(engine: Callable[..., Haversack]) -> None:
    store = Racing(MemoryStore())
    ns = engine(store).namespace("n")
    first = ns.remember("The crane is red")
    store.then = lambda: store.apply("n", Batch(erase=Erasure(everything=True)))
    again = ns.remember("The crane is red", tags=["new"])
    assert again.id != first.id
    assert [one.content for one in ns.everything()] == ["The crane is red"]
