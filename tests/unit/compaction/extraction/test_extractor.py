from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from haversack.compaction.extraction.background import BackgroundExtraction
from haversack.compaction.extraction.extractor import RECALLED, Extracted, Extractor
from haversack.errors import ServiceError
from haversack.lifecycle.policy import Policy
from haversack.model.memory import Kind, Memory, Trust, Turn
from haversack.model.message import Message, Role, Text
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure
from haversack.testing.scripted import Line, ScriptedChat

NOW = datetime(2026, 1, 2, tzinfo=UTC)
Say = Callable[..., Message]
Append = Callable[[Sequence[Message]], None]


@pytest.fixture
def make(store: MemoryStore) -> Callable[..., Extractor]:
    numbers = iter(range(1, 1_000_000))

    def entropy(size: int) -> bytes:
        return next(numbers).to_bytes(size, "big")

    def related(_: Sequence[str]) -> list[Memory]:
        return [memory for memory in store.changes("n").memories if memory.superseded_by is None]

    def build(*lines: Line, policy: Policy | None = None) -> Extractor:
        return Extractor(
            store=store,
            namespace="n",
            policy=policy or Policy(),
            clock=lambda: NOW,
            related=related,
            service=ScriptedChat(lines=lines) if lines else None,
            entropy=entropy,
        )

    return build


Make = Callable[..., Extractor]


def contents(store: MemoryStore, kind: Kind | None = None) -> list[str]:
    live = [memory for memory in store.changes("n").memories if memory.superseded_by is None]
    return sorted(memory.content for memory in live if kind is None or memory.kind is kind)


def actions(*items: object) -> str:
    return json.dumps({"actions": items})


def test_rules_alone_extract_once(make: Make, append: Append, say: Say, store: MemoryStore) -> None:
    append([say("user", "My name is Alice. We decided to use Postgres."), say("assistant", "Noted.")])
    extractor = make()
    assert extractor.pending("s") == 2
    first = extractor.extract("s")
    assert (first.turns, len(first.added), first.errors) == (2, 2, ())
    assert (extractor.pending("s"), extractor.extract("s")) == (0, Extracted())
    assert contents(store) == ["user: My name is Alice.", "user: We decided to use Postgres."]
    memory = next(memory for memory in store.changes("n").memories if memory.kind is Kind.PROFILE)
    assert (memory.source.session, memory.source.turns, memory.trust) == ("s", ("t0",), Trust.EXTRACTED)


def test_a_newer_statement_on_the_subject_ends_the_older(
    make: Make, append: Append, say: Say, store: MemoryStore
) -> None:
    extractor = make()
    append([say("user", "I live in Rome.")])
    extractor.extract("s")
    append(
        [say("user", "hm"), say("user", "I moved to Oslo."), say("user", "I like tea"), say("user", "I don't like tea")]
    )
    done = extractor.extract("s")
    assert contents(store) == ["user: I don't like tea", "user: I moved to Oslo."]
    assert len(done.ended) == 2
    assert len(store.changes("n").memories) == 4


def test_a_repeated_statement_is_known_already(make: Make, append: Append, say: Say) -> None:
    extractor = make()
    append([say("user", "I live in Rome."), say("user", "i LIVE in  rome.")])
    done = extractor.extract("s")
    assert (len(done.added), [skipped.reason for skipped in done.skipped]) == (1, ["known already"])


def test_a_model_adds_with_evidence_only(make: Make, append: Append, say: Say, store: MemoryStore) -> None:
    append([say("user", "Alice told me that she prefers metric units.")])
    done = make(
        actions(
            {"event": "ADD", "text": "Alice prefers metric units", "evidence": "she prefers  METRIC units"},
            {"event": "ADD", "text": "Bob likes tea", "evidence": "Bob likes tea"},
            {"event": "ADD", "text": "Alice prefers metric units always", "evidence": ""},
            {"event": "ADD", "text": "Something else entirely different", "evidence": ""},
        )
    ).extract("s")
    assert contents(store) == ["Alice prefers metric units", "Alice prefers metric units always"]
    assert [(skipped.index, skipped.reason) for skipped in done.skipped] == [(1, "no evidence"), (3, "no evidence")]


def test_updates_keep_and_date_what_they_replace(make: Make, append: Append, say: Say, store: MemoryStore) -> None:
    append([say("user", "I live in Rome.")])
    make().extract("s")
    append([say("user", "I have left; it is Oslo for me.")])
    update = {
        "event": "UPDATE",
        "id": "0",
        "kind": "profile",
        "text": "user lives in Oslo",
        "evidence": "it is Oslo for me",
    }
    done = make(actions(update, {"event": "UPDATE", "id": "7", "text": "x"})).extract("s")
    assert contents(store) == ["user lives in Oslo"]
    assert (len(done.added), len(done.ended), done.skipped[0].reason) == (1, 1, "unknown id")
    old = next(memory for memory in store.changes("n").memories if memory.id == done.ended[0])
    assert (old.superseded_by, old.content) == (done.added[0], "user: I live in Rome.")


def test_a_bare_delete_of_what_was_contradicted_becomes_a_succession(
    make: Make, append: Append, say: Say, store: MemoryStore
) -> None:
    at = NOW - timedelta(days=9)
    ships = Memory(id="0" * 26, kind=Kind.FACT, content="The team ships on Fridays", created_at=at, event_time=at)
    store.apply("n", Batch(memories=(ships,)))
    append([say("user", "The team does not ship on Fridays any more, it ships on Mondays")])
    done = make(actions({"event": "DELETE", "id": "0"})).extract("s")
    assert (len(done.added), len(done.ended)) == (1, 1)
    assert contents(store) == ["The team does not ship on Fridays any more, it ships on Mondays"]


def test_a_delete_with_nothing_in_its_place_only_dates(
    make: Make, append: Append, say: Say, store: MemoryStore
) -> None:
    append([say("user", "I live in Rome.")])
    make().extract("s")
    append([say("assistant", "so be it")])
    done = make(actions({"event": "DELETE", "id": "0"})).extract("s")
    (memory,) = store.changes("n").memories
    assert (done.ended, memory.content, memory.valid_to) == (
        (memory.id,),
        "user: I live in Rome.",
        store.turns("n", "s")[1].at,
    )


def test_forgotten_for_good_is_not_extracted_again(make: Make, append: Append, say: Say, store: MemoryStore) -> None:
    append([say("user", "I live in Rome.")])
    (id_,) = make().extract("s").added
    store.apply("n", Batch(erase=Erasure(memories=(id_,))))
    append([say("user", "I live in Rome.")])
    done = make().extract("s")
    assert (done.added, [skipped.reason for skipped in done.skipped]) == ((), ["forgotten for good"])


def test_recalled_words_are_never_read(make: Make, store: MemoryStore) -> None:
    message = Message(role=Role.USER, parts=(Text("I live in Rome."),))
    turn = Turn(id="t", session="s", message=message, at=NOW, metadata={RECALLED: True})
    store.apply("n", Batch(turns=(turn,)))
    assert make().extract("s") == Extracted(turns=1)


def test_the_policy_decides_what_is_kept(make: Make, append: Append, say: Say) -> None:
    append([say("user", "I live in Rome. We decided to use Postgres.")])
    done = make(policy=Policy(keep=frozenset({Kind.DECISION}))).extract("s")
    assert (len(done.added), [skipped.reason for skipped in done.skipped]) == (1, ["policy keeps no profile"])


@pytest.mark.parametrize("line", [ServiceError("down"), "no JSON", "{"])
def test_a_failing_service_leaves_the_turns_pending(make: Make, append: Append, say: Say, line: Line) -> None:
    append([say("user", "I live in Rome.")])
    failed = make(line)
    done = failed.extract("s")
    assert (done.turns, len(done.errors), failed.pending("s")) == (0, 1, 1)
    assert make().extract("s").turns == 1


def test_two_readers_extract_once(make: Make, append: Append, say: Say, store: MemoryStore) -> None:
    append([say("user", "I live in Rome.")])
    other = make()

    def meddle(_: Sequence[Message]) -> str:
        other.extract("s")
        return actions({"event": "ADD", "text": "user lives in Rome", "evidence": "I live in Rome"})

    assert make(meddle).extract("s") == Extracted()
    assert contents(store) == ["user: I live in Rome."]


def test_turns_that_are_erased_while_they_are_read_leave_nothing(
    make: Make, append: Append, say: Say, store: MemoryStore
) -> None:
    append([say("user", "I live in Rome.")])

    def erase(_: Sequence[Message]) -> str:
        store.apply("n", Batch(erase=Erasure(sessions=("s",))))
        return actions({"event": "ADD", "text": "user lives in Rome", "evidence": "I live in Rome"})

    assert make(erase).extract("s") == Extracted()
    assert (contents(store), store.records("n", "extracted")) == ([], [])


def test_long_sessions_are_read_in_batches(make: Make, append: Append, say: Say) -> None:
    append([say("user", f"Our meeting {n} is on March {n % 28 + 1}.") for n in range(45)])
    done = make().extract("s")
    assert (done.turns, len(done.added)) == (45, 45)
    cancelled = threading.Event()
    cancelled.set()
    append([say("user", "hm")])
    assert make().extract("s", cancelled).turns == 0


class Slow:
    def __init__(self) -> None:
        self.go = threading.Event()
        self.calls: list[str] = []

    def extract(self, session: str, cancel: object = None) -> Extracted:
        self.calls.append(session)
        assert self.go.wait(10)
        if session == "bad":
            raise OSError("disk")
        return Extracted(turns=1)


def test_background_runs_start_every_few_turns_and_can_be_awaited() -> None:
    slow = Slow()
    heard: list[tuple[str, Extracted]] = []
    background = BackgroundExtraction(slow, every=2, report=lambda session, done: heard.append((session, done)))
    assert [background.after_turns("s") for _ in range(5)] == [False, True, False, False, False]
    assert not background.wait(0.01)
    slow.go.set()
    assert background.flush("s") == Extracted(turns=1)
    assert [background.after_turns("bad") for _ in range(2)] == [False, True]
    assert background.close()
    assert not background.after_turns("s")
    assert slow.calls == ["s", "s", "bad"]
