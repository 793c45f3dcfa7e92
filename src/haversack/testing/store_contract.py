"""What every store back-end must do, as plain test methods that any runner of `test_*` methods collects.

Subclass StoreContract in a test module and say how your store is opened. Nothing here needs pytest.
"""

# ruff: noqa: D102, S101, PLR2004 - each method is a test: its name says what must hold, with literal values

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from haversack.errors import ConflictError, StoreError
from haversack.model.identity import SUBJECT, fingerprint
from haversack.model.lives import lives_of
from haversack.model.memory import Json, Kind, Memory, SessionInfo, Source, Stage, Trust, Turn
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.model.query import Filter
from haversack.store import lease as leases
from haversack.store.port import (
    BY_SESSION,
    HIDDEN,
    LEASE,
    SEGMENT,
    SYSTEM,
    Batch,
    Erasure,
    Price,
    Record,
    Restage,
    Said,
    Store,
    Vector,
    Written,
)
from haversack.testing.names import NEAR_NAMES

__all__ = ["StoreContract", "sample_memory", "sample_turn"]

_START = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
_NASTY = "left\0right \U0001f600 \u0645\u0631\u062d\u0628\u0627 '; DROP TABLE memories; -- \\u0000 \ufffd\u200b\n\t%_"


def sample_memory(number: int, content: str | None = None, kind: Kind = Kind.FACT) -> Memory:
    """A plain memory; the same number gives the same id."""
    at = _START + timedelta(minutes=number)
    return Memory(
        id=f"{number:026d}",
        kind=kind,
        content=f"statement {number}" if content is None else content,
        created_at=at,
        event_time=at,
    )


def sample_turn(number: int, session: str = "s", key: str | None = None) -> Turn:
    """A plain turn; the same number gives the same id."""
    message = Message(role=Role.USER, parts=(Text(f"words {number}"),))
    return Turn(id=f"T{number:025d}", session=session, message=message, at=_START + timedelta(minutes=number), key=key)


class StoreContract(ABC):
    """The contract of the port. Each test asks for one new, empty store."""

    @abstractmethod
    def open_store(self) -> Store:
        """Open this test's store. The first call makes it, empty; later calls open the same one again."""

    def test_a_memory_comes_back_as_it_was(self) -> None:
        store = self.open_store()
        full = Memory(
            id="7" * 26,
            kind=Kind.RELATION,
            content=_NASTY,
            created_at=_START,
            event_time=_START - timedelta(days=900, microseconds=1),
            speaker="Zo\u00eb",
            importance=0.1 + 0.2,
            confidence=0.0,
            trust=Trust.EXTRACTED,
            entities=("\u6771\u4eac", "a,b"),
            tags=("", "x y"),
            metadata={"n": None, "t": True, "i": 2**53 + 1, "f": 1e-300, "l": [1, "\0", {"d": []}], "": ""},
            pinned=True,
            source=Source(session="s", turns=("t1", "t2"), memories=("m",), document="d", part=(0, 3)),
            valid_from=_START,
            valid_to=_START + timedelta(microseconds=1),
            expires_at=_START + timedelta(days=1),
            superseded_by="8" * 26,
            stage=Stage.DECAYED,
            deleted_at=_START,
            stage_before=Stage.LONG_TERM,
            duplicate_of="7" * 26,
            access_count=12,
            accessed_at=_START,
        )
        store.apply("n", Batch(memories=(full,)))
        (back,) = store.memories("n", [full.id])
        assert back == replace(full, born=1, changed=1)
        assert type(back.pinned) is bool
        assert type(back.metadata["t"]) is bool
        assert back.created_at.tzinfo is UTC

    def test_an_empty_and_a_large_content_come_back(self) -> None:
        store = self.open_store()
        large = "\u6f22\U0001f600x" * 300_000
        store.apply("n", Batch(memories=(sample_memory(1, ""), sample_memory(2, large))))
        assert [memory.content for memory in store.memories("n", [f"{2:026d}", f"{1:026d}"])] == [large, ""]

    def test_a_turn_comes_back_as_it_was(self) -> None:
        store = self.open_store()
        call = ToolCall(id="c1", name="look", arguments='{"q": "not json')
        asked = Message(role=Role.ASSISTANT, name="Bo", tool_calls=(call, replace(call, id="c2")))
        parts = (
            Text(_NASTY),
            Image(url="data:x", width=3, height=None, detail="low", caption="a cat"),
            Opaque(kind="audio", json='{"a":1}'),
        )
        answer = Message(role=Role.TOOL, parts=parts, tool_call_id="c1")
        turns = (
            replace(sample_turn(1, key="k\0"), message=asked, metadata={"page": [1, None]}),
            replace(sample_turn(2), message=answer),
        )
        placed = store.apply("n", Batch(turns=turns)).turns
        assert placed == (replace(turns[0], position=0), replace(turns[1], position=1))
        assert store.turns("n", "s") == list(placed)
        assert store.turns_by_id("n", [turns[1].id, "nobody", turns[0].id]) == [placed[1], placed[0]]

    def test_every_memory_takes_the_next_number(self) -> None:
        store = self.open_store()
        assert store.sequence("n") == 0
        assert store.apply("n", Batch(memories=(sample_memory(1), sample_memory(2)))).sequence == 2
        assert store.apply("n", Batch(memories=(sample_memory(1, "new words"),))).sequence == 3
        first, second = store.memories("n", [f"{1:026d}", f"{2:026d}"])
        assert (first.content, first.born, first.changed) == ("new words", 1, 3)
        assert (second.born, second.changed) == (2, 2)
        assert (store.sequence("n"), store.sequence("other")) == (3, 0)

    def test_what_passes_a_filter_comes_by_change_number(self) -> None:
        store = self.open_store()
        at = _START + timedelta(days=1)
        plain = [sample_memory(number) for number in range(8)]
        rows = (
            replace(plain[0], tags=("a", "b\0c"), source=Source(session="s")),
            replace(plain[1], tags=("A",), source=Source(session="s ")),
            replace(plain[2], kind=Kind.PASSAGE, source=Source(session="s"), metadata={"n": 1, "x\0": None}),
            replace(plain[3], stage=Stage.DELETED, metadata={"n": True}),
            replace(plain[4], superseded_by=plain[5].id, valid_to=at),
            replace(plain[5], expires_at=at, metadata={"n": 1.0, "": ""}),
            replace(plain[6], valid_from=at + timedelta(microseconds=1)),
            replace(plain[7], tags=("b", "a"), metadata={"n": "1"}),
        )
        store.apply("n", Batch(memories=rows))
        store.apply("n", Batch(memories=(rows[0],)))
        store.apply("N", Batch(memories=rows))

        def found(chosen: Filter, now: datetime | None = at, **page: int) -> list[int]:
            return [int(memory.id) for memory in store.select("n", chosen, now=now, **page)]

        assert found(Filter()) == [1, 2, 7, 0]
        assert found(Filter(), None) == [1, 2, 3, 4, 5, 6, 7, 0]
        assert found(Filter(), None, after=3, limit=2) == [3, 4]
        assert found(Filter(), None, limit=0) == []
        assert found(Filter(session="s")) == [2, 0]
        assert found(Filter(kinds=frozenset({Kind.PASSAGE}))) == [2]
        assert found(Filter(kinds=frozenset())) == []
        assert found(Filter(tags=frozenset({"a"}))) == [7, 0]
        assert found(Filter(tags=frozenset({"a", "b\0c"}))) == [0]
        assert found(Filter(where=(("n", 1),)), None) == [2, 5]
        assert found(Filter(where=(("n", True),)), None) == [3]
        assert found(Filter(where=(("x\0", None),))) == [2]
        assert found(Filter(where=(("y", None),))) == []
        assert found(Filter(since=plain[2].event_time, until=plain[7].event_time)) == [2]
        assert found(Filter(as_of=at - timedelta(microseconds=1))) == [1, 2, 4, 5, 7, 0]

    def test_what_was_made_of_what(self) -> None:
        store = self.open_store()
        plain = [sample_memory(number) for number in range(6)]
        rows = (
            replace(plain[0], source=Source(turns=("t1",))),
            replace(plain[1], source=Source(memories=(plain[0].id, plain[5].id))),
            replace(plain[2], duplicate_of=plain[1].id),
            replace(plain[3], metadata={"haversack.duplicate_of": plain[1].id}, source=Source(turns=("t1", "t2"))),
        )
        store.apply("n", Batch(memories=rows))

        def made_of(*names: str) -> list[str]:
            return [memory.id for memory in store.derived("n", names)]

        assert made_of("t1") == [plain[0].id, plain[3].id]
        assert made_of("t2", "t1", "t2") == [plain[0].id, plain[3].id]
        assert made_of(plain[0].id) == [plain[1].id]
        assert made_of(plain[1].id) == [plain[2].id]
        assert made_of("nobody") == []
        assert store.derived("N", ["t1"]) == []
        store.apply("n", Batch(memories=(replace(rows[3], source=Source(turns=("t2",))),)))
        assert made_of("t1") == [plain[0].id]
        assert made_of("t2") == [plain[3].id]
        store.apply("n", Batch(erase=Erasure(memories=(plain[3].id,))))
        assert made_of("t2") == []
        store.apply("n", Batch(erase=Erasure(everything=True)))
        assert made_of("t1", plain[0].id, plain[1].id) == []

    def test_the_parts_of_texts(self) -> None:
        store = self.open_store()
        plain = [sample_memory(number, kind=Kind.PASSAGE) for number in range(7)]
        rows = (
            replace(plain[0], source=Source(turns=("t1",), part=(0, 2))),
            replace(plain[1], source=Source(turns=("t1",), part=(1, 2))),
            replace(plain[2], source=Source(part=(0, 2))),
            replace(plain[3], source=Source(part=(1, 2), memories=("other", plain[2].id))),
            replace(plain[4], source=Source(turns=("t1",), part=(0, 1))),
            replace(plain[5], source=Source(turns=("t1",))),
            replace(plain[6], source=Source(part=(1, 2))),
        )
        store.apply("n", Batch(memories=rows[::-1]))
        assert [memory.id for memory in store.parts("n", ["t1"])] == [plain[1].id, plain[0].id]
        assert [memory.id for memory in store.parts("n", [plain[2].id])] == [plain[3].id, plain[2].id]
        assert store.parts("n", ["other", plain[6].id, ""]) == []
        assert store.parts("N", ["t1"]) == []
        store.apply("n", Batch(memories=(replace(rows[0], source=Source(turns=("t1",))),)))
        assert [memory.id for memory in store.parts("n", ["t1"])] == [plain[1].id]

    def test_what_was_superseded_comes_newest_first(self) -> None:
        store = self.open_store()
        rows = tuple(replace(sample_memory(number), superseded_by="x" if number != 1 else None) for number in range(3))
        rows = (*rows, replace(sample_memory(3), superseded_by="x", stage=Stage.DELETED))
        store.apply("n", Batch(memories=rows))
        store.apply("N", Batch(memories=rows))
        assert [memory.id for memory in store.superseded("n")] == [rows[2].id, rows[0].id]

    def test_changes_bring_their_vectors(self) -> None:
        store = self.open_store()
        rows = tuple(sample_memory(number) for number in range(3))
        vectors = tuple(Vector(memory=row.id, model="m", data=row.id.encode()) for row in rows[1:])
        store.apply("n", Batch(memories=rows, vectors=vectors))
        store.apply("n", Batch(vectors=(Vector(memory=rows[0].id, model="M", data=b"other"),)))
        assert store.changes("n", model="m").vectors == {row.id: row.id.encode() for row in rows[1:]}
        assert store.changes("n", model="m", since=1, limit=1).vectors == {rows[1].id: rows[1].id.encode()}
        assert store.changes("n", model="m", since=3).vectors == {}
        assert store.changes("n").vectors == {}

    def test_records_are_found_by_what_they_speak_of(self) -> None:
        store = self.open_store()

        def put(collection: str, key: str, about: str | None, session: str | None) -> Written:
            return Written(collection=collection, key=key, value=b"v", about=about, session=session)

        for collection in ("audit", "job", "key", LEASE, "c"):
            written = (put(collection, "1", "n", "s"), put(collection, "2", "n", None), put(collection, "3", "N", "s"))
            store.apply(SYSTEM, Batch(records=written))
            store.apply("n", Batch(records=(put(collection, "4", None, "s"), put(collection, "5", None, "S"))))

            def found(
                namespace: str, about: str | None = None, session: str | None = None, kind: str = collection
            ) -> str:
                records = store.records(namespace, kind, about=about, session=session)
                return "".join(record.key for record in records)

            assert (found(SYSTEM), found(SYSTEM, "n"), found(SYSTEM, "n", "s")) == ("123", "12", "1")
            assert (found("n"), found("n", None, "s"), found("n", "n")) == ("45", "4", "")
            store.apply(SYSTEM, Batch(records=(put(collection, "1", "N", None),)))
            assert (found(SYSTEM, "n", "s"), found(SYSTEM, "N")) == ("", "13")
            record = Record(collection=collection, key="1", value=b"v", version=2, about="N")
            assert store.record(SYSTEM, collection, "1") == record

    def test_records_are_found_by_the_beginning_of_a_name_and_from_the_end(self) -> None:
        store = self.open_store()
        names = {"1": "ab", "2": "a", "3": "a\U0010ffff", "4": "b", "5": None, "6": "A", "7": "a\ud7ff", "8": "a\ue000"}
        for collection in ("audit", "c"):
            written = (Written(collection=collection, key=key, value=b"", about=about) for key, about in names.items())
            store.apply(SYSTEM, Batch(records=tuple(written)))

            def found(about: str | None, limit: int, kind: str = collection, *, newest: bool = False) -> str:
                records = store.records(SYSTEM, kind, about=about, limit=limit, newest=newest)
                return "".join(record.key for record in records)

            assert (found("a*", 9), found("a", 9), found("*", 9), found("c*", 9)) == ("12378", "2", "1234678", "")
            assert (found("a\U0010ffff*", 9), found("a\ud7ff*", 9)) == ("3", "7")
            assert (found(None, 3, newest=True), found("a*", 2, newest=True), found("a*", 2)) == ("678", "78", "12")
            assert (found(None, 0, newest=True), found("c", 3, newest=True)) == ("", "")

    def test_namespaces_are_found_by_name_by_beginning_and_page_by_page(self) -> None:
        store = self.open_store()
        names = ["a", "a b", "ab", "abc", "b", "ä", "\U0010ffff"]
        for name in (*names, "gone"):
            store.apply(name, Batch(memories=(sample_memory(1),)))
        store.apply("gone", Batch(erase=Erasure(everything=True, graves=False)))
        store.apply(SYSTEM, Batch(records=(Written(collection="c", key="k", value=b"v"),)))
        assert store.namespaces() == store.namespaces(["*"]) == sorted(names)
        assert store.namespaces(["ab*", "a", "gone", "", "zz*"]) == ["a", "ab", "abc"]
        assert store.namespaces(["a*", "ab*", "ab"]) == ["a", "a b", "ab", "abc"]
        assert store.namespaces(["\U0010ffff*"]) == ["\U0010ffff"]
        assert store.namespaces([]) == []
        assert store.namespaces(["a*", "b"], after="a b", limit=2) == ["ab", "abc"]
        assert store.namespaces(after="b", limit=1) == ["ä"]

    def test_a_filter_by_tags_follows_what_memories_have_now(self) -> None:
        store = self.open_store()
        rows = [replace(sample_memory(number), tags=("x", "y\0z", "x")) for number in range(3)]
        store.apply("n", Batch(memories=tuple(rows)))
        store.apply("N", Batch(memories=tuple(rows)))

        def found(*tags: str, after: int = 0) -> list[str]:
            chosen = Filter(tags=frozenset(tags))
            return [memory.id for memory in store.select("n", chosen, now=None, after=after)]

        assert found("x") == found("y\0z", "x") == [row.id for row in rows]
        store.apply("n", Batch(memories=(replace(rows[0], tags=("z",)),)))
        store.apply("n", Batch(erase=Erasure(memories=(rows[1].id,))))
        assert (found("x"), found("z"), found("x", "z"), found("y")) == ([rows[2].id], [rows[0].id], [], [])
        assert (found("z", after=4), found("x", after=2)) == ([], [rows[2].id])
        store.apply("n", Batch(erase=Erasure(everything=True)))
        assert found("x") == found("z") == []

    def test_turns_records_prices_and_vectors_take_no_number(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=(sample_memory(1),)))
        name = f"{1:026d}"
        batch = Batch(
            turns=(sample_turn(1),),
            records=(Written(collection="c", key="k", value=b"v"),),
            prices=(Price(memory=name, encoding="e", tokens=3),),
            vectors=(Vector(memory=name, model="m", data=b"v"),),
        )
        assert store.apply("n", batch).sequence == 1
        assert store.sequence("n") == 1

    def test_the_last_of_two_with_one_id_wins(self) -> None:
        store = self.open_store()
        applied = store.apply("n", Batch(memories=(sample_memory(1, "a"), sample_memory(2), sample_memory(1, "b"))))
        assert applied.sequence == 2
        assert [(m.content, m.born) for m in store.memories("n", [f"{1:026d}"])] == [("b", 1)]

    def test_memories_come_in_the_order_asked(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=tuple(map(sample_memory, range(1_500)))))
        ids = [f"{number:026d}" for number in range(1_499, -1, -1)]
        assert [memory.id for memory in store.memories("n", ids)] == ids
        assert [memory.id for memory in store.memories("n", [ids[5], "x", ids[2], ids[5]])] == [ids[5], ids[2], ids[5]]
        assert store.memories("n", []) == []

    def test_a_refused_batch_leaves_nothing(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=(sample_memory(1),), records=(Written(collection="c", key="k", value=b"1"),)))
        batch = Batch(
            erase=Erasure(memories=(f"{1:026d}",)),
            memories=(sample_memory(2),),
            turns=(sample_turn(1),),
            prices=(Price(memory=f"{2:026d}", encoding="e", tokens=3),),
            records=(
                Written(collection="c", key="new", value=b"2"),
                Written(collection="c", key="k", value=b"2", expected=7),
            ),
        )
        _refused(ConflictError, lambda: store.apply("n", batch))
        assert store.sequence("n") == 1
        assert store.memories("n", [f"{1:026d}", f"{2:026d}"]) == [replace(sample_memory(1), born=1, changed=1)]
        assert (store.turns("n", "s"), store.sessions("n")) == ([], [])
        assert [record.key for record in store.records("n", "c")] == ["k"]

    def test_changes_can_be_read_in_pieces(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=tuple(map(sample_memory, range(1, 6)))))
        store.apply("n", Batch(erase=Erasure(memories=(f"{2:026d}",)), memories=(sample_memory(1, "later"),)))
        everything = store.changes("n")
        assert [memory.changed for memory in everything.memories] == [3, 4, 5, 7]
        assert (everything.erased, everything.upto, everything.more) == ((f"{2:026d}",), 7, False)
        piece = store.changes("n", since=3, limit=3)
        assert [memory.changed for memory in piece.memories] == [4, 5]
        assert (piece.erased, piece.upto, piece.more) == ((f"{2:026d}",), 6, True)
        rest = store.changes("n", since=piece.upto, limit=3)
        assert ([memory.content for memory in rest.memories], rest.upto, rest.more) == (["later"], 7, False)
        nothing = store.changes("n", since=7)
        assert (nothing.memories, nothing.erased, nothing.upto, nothing.more) == ((), (), 7, False)
        unknown = store.changes("never")
        assert (unknown.memories, unknown.upto, unknown.reset) == ((), 0, False)

    def test_turns_keep_their_places(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(turns=tuple(map(sample_turn, range(4)))))
        store.apply("n", Batch(turns=(sample_turn(9, session="other"), sample_turn(4))))
        assert [turn.position for turn in store.turns("n", "s")] == [0, 1, 2, 3, 4]
        assert [turn.position for turn in store.turns("n", "s", after=1, limit=2)] == [2, 3]
        assert [turn.position for turn in store.turns("n", "s", limit=2, newest=True)] == [3, 4]
        assert [turn.position for turn in store.turns("n", "s", after=3, limit=9, newest=True)] == [4]
        assert [turn.position for turn in store.turns("n", "s", newest=True)] == [0, 1, 2, 3, 4]
        assert store.turns("n", "s", limit=0) == store.turns("n", "s", limit=0, newest=True) == []
        assert [turn.position for turn in store.turns("n", "other")] == [0]
        assert store.turns("n", "S") == []
        hidden = (store.turns("n", "s")[3], store.turns("n", "other")[0])
        store.apply("n", Batch(records=tuple(Written(collection=HIDDEN, key=turn.id, value=b"") for turn in hidden)))
        assert [turn.position for turn in store.turns("n", "s", limit=2, newest=True, shown=True)] == [2, 4]
        assert [turn.position for turn in store.turns("n", "s", after=1, limit=2, shown=True)] == [2, 4]
        assert [turn.position for turn in store.turns("n", "s", after=1, limit=2)] == [2, 3]
        assert store.turns("n", "other", shown=True) == []

    def test_the_same_turn_is_kept_once(self) -> None:
        store = self.open_store()
        first = Batch(turns=(sample_turn(1, key="k1"),), memories=(_said(1, 1),))
        store.apply("n", first)
        again = Batch(
            turns=(
                sample_turn(2, key="k1"),
                sample_turn(3, key="k2"),
                sample_turn(4, key="k2"),
                sample_turn(1),
                sample_turn(5, session="other", key="k1"),
            ),
            memories=(_said(2, 2), _said(3, 3), _said(4, 4, 3), sample_memory(5)),
            prices=tuple(Price(memory=f"{number:026d}", encoding="e", tokens=number) for number in (2, 3)),
        )
        applied = store.apply("n", again)
        assert [turn.id for turn in applied.turns] == [sample_turn(3).id, sample_turn(5).id]
        assert applied.skipped == (sample_turn(2).id, sample_turn(4).id, sample_turn(1).id)
        ids = [f"{number:026d}" for number in range(1, 6)]
        assert [memory.id for memory in store.memories("n", ids)] == [ids[0], ids[2], ids[3], ids[4]]
        assert store.prices("n", "e", ids) == {ids[2]: 3}
        before = store.changes("n")
        assert store.apply("n", first).skipped == (sample_turn(1).id,)
        assert store.changes("n") == before

    def test_an_erased_turn_leaves_its_place_empty_and_its_key_taken(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(turns=tuple(sample_turn(number, key=f"k{number}") for number in range(3))))
        erase = Erasure(turns=(sample_turn(2).id, sample_turn(0).id, "nobody"))
        assert store.apply("n", Batch(erase=erase)).erased_turns == (sample_turn(0).id, sample_turn(2).id)
        applied = store.apply("n", Batch(turns=(sample_turn(7, key="k2"), sample_turn(8, key="k8"))))
        assert applied.skipped == (sample_turn(7).id,)
        assert [(turn.id, turn.position) for turn in store.turns("n", "s")] == [
            (sample_turn(1).id, 1),
            (sample_turn(8).id, 3),
        ]
        assert store.sessions("n") == [
            SessionInfo(id="s", turns=2, first_at=sample_turn(1).at, last_at=sample_turn(8).at)
        ]

    def test_an_erased_turn_stays_away_whether_it_had_a_key_or_not(self) -> None:
        store = self.open_store()
        said = (sample_turn(1), sample_turn(2, key="k2"), sample_turn(3, session="t"))
        store.apply("n", Batch(turns=said))
        store.apply("n", Batch(erase=Erasure(turns=(said[0].id, said[1].id), sessions=("t",))))
        assert store.erased("n", [turn.id for turn in said]) == {turn.id for turn in said}
        elsewhere = replace(said[0], session="u")
        mine = replace(sample_memory(4), source=Source(turns=(said[0].id,)))
        applied = store.apply("n", Batch(turns=(*said, elsewhere, sample_turn(5)), memories=(mine,)))
        assert [turn.id for turn in applied.turns] == [sample_turn(5).id]
        assert applied.skipped == (said[0].id, said[1].id, said[2].id, said[0].id)
        assert store.memories("n", [mine.id]) == []

    def test_what_one_namespace_erased_is_nothing_to_another(self) -> None:
        store = self.open_store()
        held = Batch(turns=(sample_turn(1, key="k"), sample_turn(2)), memories=(sample_memory(1),))
        ids = [*(turn.id for turn in held.turns), sample_memory(1).id]
        store.apply("n", held)
        store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,), sessions=("s",))))
        assert (store.erased("n", ids), store.erased("m", ids)) == (set(ids), set())
        assert [turn.id for turn in store.apply("m", held).turns] == ids[:2]
        assert [memory.id for memory in store.memories("m", ids)] == ids[2:]
        assert store.apply("n", Batch(turns=held.turns)).turns == ()

    def test_erasing_without_graves_lets_it_come_back(self) -> None:
        store = self.open_store()
        held = Batch(turns=(sample_turn(1, key="k"), sample_turn(2)), memories=(sample_memory(1),))
        store.apply("n", held)
        here = Erasure(memories=(sample_memory(1).id,), sessions=("s",), graves=False)
        assert len(store.apply("n", Batch(erase=here)).erased_turns) == 2
        assert len(store.apply("n", held).turns) == 2
        store.apply("n", Batch(erase=replace(here, graves=True)))
        assert store.census("n").tombstones == 1
        store.apply("n", Batch(erase=Erasure(everything=True, graves=False)))
        assert (store.census("n").tombstones, store.namespaces()) == (0, [])
        assert len(store.apply("n", held).turns) == 2

    def test_an_erased_session_begins_anew(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(turns=(sample_turn(1, key="k"), sample_turn(2), sample_turn(3, session="t", key="k"))))
        applied = store.apply("n", Batch(erase=Erasure(sessions=("s", "nothing"))))
        assert applied.erased_turns == (sample_turn(1).id, sample_turn(2).id)
        assert [info.id for info in store.sessions("n")] == ["t"]
        applied = store.apply("n", Batch(turns=(sample_turn(4, key="k"), sample_turn(5))))
        assert applied.skipped == (sample_turn(4).id,)
        assert [turn.position for turn in applied.turns] == [0]

    def test_a_writer_does_not_bring_back_what_was_erased_meanwhile(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=(sample_memory(1),)))
        (read,) = store.memories("n", [f"{1:026d}"])
        store.apply("n", Batch(erase=Erasure(everything=True, graves=False)))
        _refused(ConflictError, lambda: store.apply("n", Batch(memories=(read,), seen=1)))
        assert store.census("n").memories == {}
        assert store.apply("n", Batch(memories=(sample_memory(1),), seen=1)).sequence == 3

    def test_what_is_made_of_erased_turns_is_refused(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(turns=(sample_turn(1), sample_turn(2))))
        store.apply("n", Batch(memories=(sample_memory(1),), made_of=(sample_turn(1).id, sample_turn(2).id)))
        store.apply("n", Batch(erase=Erasure(turns=(sample_turn(2).id,))))
        batch = Batch(memories=(sample_memory(2),), made_of=(sample_turn(1).id, sample_turn(2).id))
        _refused(ConflictError, lambda: store.apply("n", batch))
        assert store.memories("n", [f"{2:026d}"]) == []

    def test_what_rests_on_a_memory_that_changed_or_is_gone_is_refused(self) -> None:
        store = self.open_store()
        one, two, new = sample_memory(1), sample_memory(2), sample_memory(3)
        seen = store.apply("n", Batch(memories=(one, two))).sequence
        rests = Batch(memories=(new,), made_of=(one.id, two.id), seen=seen)
        store.apply("n", Batch(memories=(replace(two, importance=0.9),)))
        _refused(ConflictError, lambda: store.apply("n", rests))
        store.apply("n", replace(rests, memories=(), seen=None))
        store.apply("n", replace(rests, memories=(), seen=3))
        store.apply("n", Batch(erase=Erasure(memories=(one.id,))))
        for seen_then in (None, 9):
            _refused(ConflictError, lambda seen=seen_then: store.apply("n", replace(rests, seen=seen)))
        assert store.memories("n", [new.id]) == []

    def test_what_was_decided_on_all_is_refused_after_any_change(self) -> None:
        store = self.open_store()
        _refused(ConflictError, lambda: store.apply("n", Batch(memories=(sample_memory(1),), sequence=1)))
        seen = store.apply("n", Batch(memories=(sample_memory(1),), sequence=0)).sequence
        store.apply("n", Batch(memories=(sample_memory(2),)))
        erase = Batch(erase=Erasure(memories=(sample_memory(1).id,)), sequence=seen)
        _refused(ConflictError, lambda: store.apply("n", erase))
        assert store.apply("n", replace(erase, sequence=2)).erased_memories == (sample_memory(1).id,)

    def test_nothing_is_said_that_was_said_or_erased_after_the_writer_had_looked(self) -> None:
        store = self.open_store()
        about: dict[str, Json] = {SUBJECT: "alice/city"}
        said = [
            sample_memory(1, "The mill is old"),
            replace(sample_memory(2, "Alice lives in Faro"), metadata=about),
            sample_memory(3, "The tide is low", kind=Kind.PASSAGE),
            replace(sample_memory(4, "The quay is wet"), superseded_by="x"),
            replace(sample_memory(5, "The sea is cold"), stage=Stage.DELETED),
        ]
        store.apply("n", Batch(memories=tuple(said)))
        same = sample_memory(11, "the MILL  is old")
        city = replace(sample_memory(12, "Alice lives in Porto"), metadata=about)
        for new, place in ((same, 0), (city, 1)):
            _refused(ConflictError, lambda new=new, at=place: store.apply("n", Batch(memories=(new,), new_since=at)))
        others = [sample_memory(20 + number, one.content, kind=one.kind) for number, one in enumerate(said[2:])]
        store.apply("n", Batch(memories=(replace(said[0], pinned=True), *others), new_since=0))
        store.apply("n", Batch(erase=Erasure(memories=(said[0].id,))))
        _refused(ConflictError, lambda: store.apply("n", Batch(memories=(same,), new_since=9)))
        store.apply("n", Batch(memories=(same, city), new_since=store.sequence("n")))

    def test_a_session_without_turns_loses_its_name(self) -> None:
        store = self.open_store()
        places = [(where, session) for where in BY_SESSION for session in ("s", "t")] + [("note", "s")]
        written = tuple(Written(collection=where, key=session, value=b"1") for where, session in places)
        store.apply("n", Batch(turns=(sample_turn(1), sample_turn(2), sample_turn(3, session="t")), records=written))

        def left() -> list[tuple[str, str]]:
            return [(where, r.key) for where in (*BY_SESSION, "note") for r in store.records("n", where)]

        store.apply("n", Batch(erase=Erasure(turns=(sample_turn(2).id,))))
        assert left() == places
        store.apply("n", Batch(erase=Erasure(turns=(sample_turn(1).id,))))
        assert left() == [(where, "t") for where in BY_SESSION] + [("note", "s")]
        applied = store.apply("n", Batch(turns=(sample_turn(4), sample_turn(5, session="t"))))
        assert [turn.position for turn in applied.turns] == [0, 1]

    def test_an_erased_memory_leaves_a_tombstone(self) -> None:
        store = self.open_store()
        mine, other = f"{1:026d}", f"{2:026d}"
        values = Batch(
            memories=(sample_memory(1, "Caf\u00e9 at  nine"), sample_memory(2)),
            prices=(Price(memory=mine, encoding="e", tokens=1), Price(memory=other, encoding="e", tokens=2)),
            vectors=(Vector(memory=mine, model="m", data=b"1"), Vector(memory=other, model="m", data=b"2")),
        )
        store.apply("n", values)
        applied = store.apply("n", Batch(erase=Erasure(memories=("nobody", mine, mine))))
        assert (applied.erased_memories, applied.sequence) == ((mine,), 3)
        assert [memory.id for memory in store.memories("n", [mine, other])] == [other]
        assert (store.prices("n", "e", [mine, other]), store.vectors("n", "m", [mine, other])) == (
            {other: 2},
            {other: b"2"},
        )
        same = fingerprint(Kind.FACT, "CAFE\u0301 at nine")
        assert store.tombstoned("n", [same, fingerprint(Kind.FACT, "statement 2"), "junk"]) == {same}
        assert store.tombstoned("other", [same]) == set()
        _refused(ConflictError, lambda: store.apply("n", Batch(memories=(sample_memory(3), sample_memory(1)))))
        assert store.memories("n", [f"{3:026d}"]) == []
        both = Batch(erase=Erasure(memories=(other,)), memories=(sample_memory(2),))
        _refused(ConflictError, lambda: store.apply("n", both))

    def test_a_replacement_of_what_changed_after_it_was_read_is_refused_whole(self) -> None:
        store = self.open_store()
        one, two, new = sample_memory(1), sample_memory(2), sample_memory(3)
        seen = store.apply("n", Batch(memories=(one, two))).sequence
        store.apply("n", Batch(memories=(replace(two, importance=0.9),)))
        both = Batch(memories=(replace(one, pinned=True), replace(two, pinned=True)), seen=seen)
        _refused(ConflictError, lambda: store.apply("n", both))
        assert [memory.pinned for memory in store.memories("n", [one.id, two.id])] == [False, False]
        store.apply("n", Batch(memories=(replace(one, pinned=True), new), seen=seen))
        assert store.memories("n", [one.id])[0].pinned

    def test_a_stage_alone_is_written_and_told_in_brief_to_those_who_know_the_rest(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=tuple(sample_memory(number) for number in (1, 2, 3))))
        before = store.memories("n", [sample_memory(2).id])[0]
        assert store.apply("n", Batch(stages=(Restage(before.id, 2, Stage.DECAYED),))).sequence == 4
        assert store.memories("n", [before.id]) == [replace(before, stage=Stage.DECAYED, changed=4)]
        brief = store.changes("n", since=3, known=3)
        assert (brief.memories, brief.restaged, brief.upto) == ((), ((before.id, Stage.DECAYED, 0.5),), 4)
        assert [memory.id for memory in store.changes("n", since=1, known=1).memories] == [
            sample_memory(3).id,
            before.id,
        ]
        store.apply("n", Batch(memories=(replace(before, content="other words"),)))
        assert store.changes("n", since=3, known=3).restaged == ()
        assert [memory.content for memory in store.changes("n", since=3, known=3).memories] == ["other words"]

    def test_a_stage_is_not_written_over_what_was_not_read(self) -> None:
        store = self.open_store()
        first, second = sample_memory(1), sample_memory(2)
        store.apply("n", Batch(memories=(first, second)))
        for wrong in (Restage(first.id, 2, Stage.DECAYED), Restage(sample_memory(9).id, 1, Stage.DECAYED)):
            _refused(
                ConflictError,
                lambda wrong=wrong: store.apply("n", Batch(stages=(Restage(second.id, 2, Stage.DECAYED), wrong))),
            )
        assert {memory.stage for memory in store.changes("n").memories} == {Stage.ACTIVE}

    def test_ageing_is_told_of_what_may_end(self) -> None:
        store = self.open_store()
        memories = [
            replace(sample_memory(1, "nul\0tail"), entities=("a", "b"), access_count=3, accessed_at=_START),
            replace(sample_memory(2), pinned=True),
            replace(sample_memory(3), pinned=True, expires_at=_START),
            replace(sample_memory(4, kind=Kind.PASSAGE), superseded_by="x"),
            replace(sample_memory(5, kind=Kind.PASSAGE), stage=Stage.DELETED, deleted_at=_START),
            replace(sample_memory(6), superseded_by="x", accessed_at=_START + timedelta(days=1)),
        ]
        store.apply("n", Batch(memories=tuple(memories)))
        page = store.lives("n", spared={Kind.PASSAGE}, sized=True)
        wanted = lives_of(replace(memories[place], born=place + 1, changed=place + 1) for place in (0, 2, 4, 5))
        for column in fields(wanted):
            assert list(getattr(page.lives, column.name)) == list(getattr(wanted, column.name)), column.name
        assert (page.upto, page.more) == (6, False)
        first = store.lives("n", limit=2)
        assert (list(first.lives.ids), first.upto, first.more) == ([memories[0].id, memories[2].id], 3, True)
        assert list(store.lives("n", since=3).lives.ids) == [memories[each].id for each in (3, 4, 5)]

    def test_erasing_everything_leaves_a_number_alone(self) -> None:
        store = self.open_store()
        store.apply("kept", Batch(memories=(sample_memory(1),)))
        store.apply(
            "n",
            Batch(
                memories=(sample_memory(1), sample_memory(2)),
                turns=(sample_turn(1, key="k"),),
                records=(Written(collection="c", key="k", value=b"v"),),
            ),
        )
        store.apply("n", Batch(erase=Erasure(memories=(f"{1:026d}",))))
        applied = store.apply("n", Batch(erase=Erasure(everything=True), memories=(sample_memory(3),)))
        assert (applied.erased_memories, applied.erased_turns) == ((f"{2:026d}",), (sample_turn(1).id,))
        changes = store.changes("n", since=2)
        assert changes.reset
        assert [memory.changed for memory in changes.memories] == [6]
        assert (changes.erased, changes.upto) == ((f"{1:026d}", f"{2:026d}"), 6)
        assert not store.changes("n", since=5).reset
        assert (store.records("n", "c"), store.sessions("n"), store.census("n").tombstones) == ([], [], 2)
        _refused(ConflictError, lambda: store.apply("n", Batch(memories=(sample_memory(2),))))
        applied = store.apply("n", Batch(turns=(sample_turn(1), sample_turn(2, key="k"), sample_turn(3))))
        assert [(turn.id, turn.position) for turn in applied.turns] == [(sample_turn(3).id, 0)]
        store.apply("n", Batch(erase=Erasure(everything=True)))
        assert store.namespaces() == ["kept", "n"]
        store.apply("n", Batch(erase=Erasure(everything=True, graves=False)))
        assert store.namespaces() == ["kept"]
        assert len(store.memories("kept", [f"{1:026d}"])) == 1

    def test_prices_and_vectors_hold_as_long_as_they_are_true(self) -> None:
        store = self.open_store()
        one = sample_memory(1)
        values = Batch(
            memories=(one,),
            prices=(
                Price(memory=one.id, encoding="e", tokens=5),
                Price(memory=one.id, encoding="f", tokens=6),
                Price(memory="nobody", encoding="e", tokens=7),
            ),
            vectors=(Vector(memory=one.id, model="m", data=b"\0\1"), Vector(memory="nobody", model="m", data=b"2")),
        )
        store.apply("n", values)
        ids = [one.id, "nobody"]
        assert store.prices("n", "e", ids) == {one.id: 5}
        assert store.vectors("n", "m", ids) == {one.id: b"\0\1"}
        assert store.vectors("n", "other", ids) == {}
        touched = replace(one, access_count=1, stage=Stage.DECAYED, importance=0.9, tags=("t",))
        store.apply("n", Batch(memories=(touched,), prices=(Price(memory=one.id, encoding="e", tokens=8),)))
        assert (store.prices("n", "e", ids), store.prices("n", "f", ids)) == ({one.id: 8}, {one.id: 6})
        for untrue in (
            replace(one, content="other words"),
            replace(one, speaker="Bo"),
            replace(one, kind=Kind.INSIGHT),
            replace(one, event_time=_START),
        ):
            store.apply("n", values)
            store.apply("n", Batch(memories=(untrue,), prices=(Price(memory=one.id, encoding="e", tokens=9),)))
            assert (store.prices("n", "e", ids), store.prices("n", "f", ids)) == ({one.id: 9}, {})
            assert store.vectors("n", "m", ids) == {}

    def test_records_compare_and_set(self) -> None:
        store = self.open_store()

        def put(value: bytes | None, expected: int | None = None) -> None:
            store.apply("n", Batch(records=(Written(collection="c", key="k", value=value, expected=expected),)))

        _refused(ConflictError, lambda: put(b"1", 1))
        put(b"1", 0)
        _refused(ConflictError, lambda: put(b"1", 0))
        put(b"2", 1)
        put(b"3")
        assert store.record("n", "c", "k") == Record(collection="c", key="k", value=b"3", version=3)
        assert store.record("n", "C", "k") is store.record("m", "c", "k") is None
        _refused(ConflictError, lambda: put(None, 2))
        put(None, 3)
        put(None)
        assert store.record("n", "c", "k") is None
        put(b"4", 0)
        assert store.record("n", "c", "k") == Record(collection="c", key="k", value=b"4", version=1)

    def test_of_two_who_take_a_lease_at_once_one_has_it(self) -> None:
        store = self.open_store()
        for round_, kind in enumerate(("first", "expired", "released")):
            won: list[leases.Lease | None] = []
            between = _Meanwhile(store, lambda won=won, at=3 * round_: won.append(_taken(store, "quick", at)))
            assert _taken(cast("Store", between), "slow", 3 * round_) is None, kind
            (lease,) = won
            assert lease is not None
            assert leases.held_by(store, "n", "work", _START + timedelta(minutes=3 * round_)) == "quick"
            if kind == "expired":
                leases.release(store, "n", lease)

    def test_of_two_who_write_the_first_version_of_a_record_one_is_told(self) -> None:
        store = self.open_store()
        one, two = (Written(collection="c", key="k", value=value, expected=0) for value in (b"1", b"2"))
        store.apply("n", Batch(records=(one,)))
        _refused(ConflictError, lambda: store.apply("n", Batch(records=(two,))))
        assert store.record("n", "c", "k") == Record(collection="c", key="k", version=1, value=b"1")

    def test_records_are_listed_by_key(self) -> None:
        store = self.open_store()
        keys = ["", "a", "a%", "a\0", "aa", "ab", "b", "\u00e9", "\uffff", "\U0001f600", "\U0010ffff", "A"]
        store.apply("n", Batch(records=tuple(Written(collection="c", key=key, value=b"") for key in keys)))
        store.apply("n", Batch(records=(Written(collection="d", key="a", value=b""),)))

        def listed(prefix: str = "", after: str = "", limit: int = 1_000) -> list[str]:
            return [record.key for record in store.records("n", "c", prefix=prefix, after=after, limit=limit)]

        assert listed() == sorted(keys)[1:]
        assert listed(prefix="a") == ["a", "a\0", "a%", "aa", "ab"]
        assert listed(prefix="a", after="a%", limit=1) == ["aa"]
        assert listed(prefix="a", after="b") == []
        assert listed(prefix="\U0010ffff") == ["\U0010ffff"]
        assert listed(after="b", limit=2) == ["\u00e9", "\uffff"]

    def test_erasing_drops_the_segments_and_the_records_about_it(self) -> None:
        store = self.open_store()
        name = f"{1:026d}"
        records = [(SEGMENT, "0"), (SEGMENT, "1"), ("view", name), ("view", "other"), ("note", sample_turn(1).id)]

        def put_all() -> None:
            store.apply(
                "n",
                Batch(records=tuple(Written(collection=where, key=key, value=b"words") for where, key in records)),
            )

        def left() -> list[tuple[str, str]]:
            return [(where, r.key) for where in (SEGMENT, "view", "note") for r in store.records("n", where)]

        store.apply("m", Batch(records=(Written(collection=SEGMENT, key="0", value=b"words"),)))
        store.apply("n", Batch(memories=(sample_memory(1),), turns=(sample_turn(1),)))
        put_all()
        store.apply("n", Batch(erase=Erasure(memories=("nobody",))))
        assert len(left()) == 5
        store.apply("n", Batch(erase=Erasure(memories=(name,))))
        assert left() == [("view", "other"), ("note", sample_turn(1).id)]
        put_all()
        store.apply("n", Batch(erase=Erasure(sessions=("s",))))
        assert left() == [("view", name), ("view", "other")]
        assert len(store.records("m", SEGMENT)) == 1

    def test_a_statement_is_found_by_its_fingerprint(self) -> None:
        store = self.open_store()
        store.apply(
            "n",
            Batch(
                memories=(
                    replace(sample_memory(9, "Tea"), stage=Stage.DELETED),
                    replace(sample_memory(8, "tea"), superseded_by="x"),
                    sample_memory(7, "TEA "),
                    sample_memory(1, "tea"),
                    sample_memory(2, "tea", Kind.INSIGHT),
                    sample_memory(3, "tea", Kind.PASSAGE),
                )
            ),
        )
        fact, insight = fingerprint(Kind.FACT, "tea"), fingerprint(Kind.INSIGHT, "tea")
        asked = [fact, insight, fingerprint(Kind.PASSAGE, "tea"), fingerprint(Kind.FACT, "coffee")]
        one, two, seven = store.memories("n", [f"{number:026d}" for number in (1, 2, 7)])
        assert store.said("n", asked) == Said(sequence=6, memories={fact: one, insight: two})
        assert store.said("n", []) == Said(sequence=6)
        assert store.said("m", asked) == Said(sequence=0)
        store.apply("n", Batch(memories=(sample_memory(1, "coffee"),)))
        assert store.said("n", asked[:3]) == Said(sequence=7, memories={fact: seven, insight: two})
        assert store.said("n", asked[2:3]) == Said(sequence=7)
        many = [*(f"{number:032d}" for number in range(2_000)), fact]
        assert store.said("n", many) == Said(sequence=7, memories={fact: seven})

    def test_sessions_are_listed_newest_first(self) -> None:
        store = self.open_store()
        turns = (sample_turn(5, "b"), sample_turn(1, "b"), sample_turn(9, "c"), sample_turn(5 + 100, "a"))
        turns = (*turns[:3], replace(turns[3], at=turns[0].at))
        store.apply("n", Batch(turns=turns))
        assert [(info.id, info.turns) for info in store.sessions("n")] == [("c", 1), ("a", 1), ("b", 2)]
        assert (store.sessions("n")[2].first_at, store.sessions("n")[2].last_at) == (turns[1].at, turns[0].at)
        store.apply("n", Batch(erase=Erasure(turns=(turns[2].id,))))
        assert [info.id for info in store.sessions("n")] == ["a", "b"]

    def test_nothing_crosses_namespaces(self) -> None:
        store = self.open_store()
        names = list(NEAR_NAMES)
        for number, name in enumerate(names):
            store.apply(name, _everything(number))
        store.apply(SYSTEM, Batch(records=(Written(collection="c", key="k", value=b"system"),)))
        assert store.namespaces() == sorted(names)
        for number, name in enumerate(names):
            (memory,) = store.changes(name).memories
            (turn,) = store.turns(name, "s")
            assert (memory.content, turn.message.text) == (f"statement {number}", f"words {number}")
            assert [record.value for record in store.records(name, "c")] == [str(number).encode()]
            everybody = [f"{each:026d}" for each in range(len(names))]
            assert store.prices(name, "e", everybody) == {f"{number:026d}": number}
            assert store.vectors(name, "m", everybody) == {f"{number:026d}": bytes([number])}
            marks = [fingerprint(Kind.FACT, f"statement {each}") for each in range(len(names))]
            assert store.said(name, marks).memories == {marks[number]: memory}
            counted = store.census(name)
            assert (counted.memories, counted.turns, counted.sessions) == ({"fact": 1}, 1, 1)
            assert store.sequence(name) == 1
        store.apply(names[0], Batch(erase=Erasure(everything=True, graves=False)))
        assert store.namespaces() == sorted(names[1:])
        for number, name in enumerate(names[1:], start=1):
            assert [memory.content for memory in store.changes(name).memories] == [f"statement {number}"]
            store.apply(name, Batch(turns=(sample_turn(0),)))  # what another erased may still be said here
            assert len(store.turns(name, "s")) == 2
        record = store.record(SYSTEM, "c", "k")
        assert record is not None
        assert record.value == b"system"

    def test_a_price_of_what_was_read_is_kept_while_that_is_so(self) -> None:
        store = self.open_store()
        one = sample_memory(1)
        store.apply("n", Batch(memories=(one,)))
        store.apply("n", Batch(prices=(Price(memory=one.id, encoding="e", tokens=5, changed=1),)))
        store.apply("n", Batch(memories=(replace(one, content="other words"),)))
        store.apply("n", Batch(prices=(Price(memory=one.id, encoding="e", tokens=5, changed=1),)))
        assert store.prices("n", "e", [one.id]) == {}

    def test_a_vector_made_of_what_was_read_is_kept_while_that_is_so(self) -> None:
        store = self.open_store()
        one, two = sample_memory(1), sample_memory(2)
        store.apply("n", Batch(memories=(one, two)))
        read = {memory.id: memory.changed for memory in store.changes("n").memories}
        store.apply("n", Batch(memories=(replace(one, content="new words"),)))
        made = tuple(Vector(memory=name, model="m", data=b"v", changed=read[name]) for name in read)
        store.apply("n", Batch(vectors=made))
        assert store.vectors("n", "m", list(read)) == {two.id: b"v"}
        assert store.embedded("n", "m") == 1
        store.apply("n", Batch(vectors=(Vector(memory=one.id, model="m", data=b"w"),)))
        assert (store.embedded("n", "m"), store.embedded("n", "other"), store.embedded("never", "m")) == (2, 0, 0)

    def test_a_census_counts_exactly(self) -> None:
        store = self.open_store()
        memories = (
            sample_memory(1),
            sample_memory(2),
            replace(sample_memory(3), stage=Stage.DELETED),
            replace(sample_memory(4, kind=Kind.PASSAGE), superseded_by="x"),
        )
        store.apply("n", Batch(memories=memories, turns=(sample_turn(1), sample_turn(2), sample_turn(3, "t"))))
        store.apply("n", Batch(erase=Erasure(memories=(f"{2:026d}",), turns=(sample_turn(3).id,))))
        census = store.census("n")
        assert (census.memories, census.deleted) == ({"fact": 1, "passage": 1}, 1)
        assert (census.sessions, census.turns, census.tombstones) == (1, 2, 1)
        assert store.census("never").memories == {}

    def test_what_was_stored_is_there_after_reopening(self) -> None:
        store = self.open_store()
        if "durable" not in store.abilities:
            return
        store.apply("n", replace(_everything(1), turns=(sample_turn(1), sample_turn(2))))
        store.apply("n", Batch(memories=(sample_memory(2),), erase=Erasure(turns=(sample_turn(2).id,))))
        seen = (store.changes("n"), store.turns("n", "s"), store.census("n"), store.records("n", "c"))
        store.close()
        store = self.open_store()
        assert (store.changes("n"), store.turns("n", "s"), store.census("n"), store.records("n", "c")) == seen
        assert store.apply("n", Batch(memories=(sample_memory(3),))).sequence == 3
        assert [turn.position for turn in store.apply("n", Batch(turns=(sample_turn(5),))).turns] == [2]

    def test_a_closed_store_says_so(self) -> None:
        store = self.open_store()
        store.apply("n", Batch(memories=(sample_memory(1),)))
        store.close()
        store.close()
        _refused(StoreError, lambda: store.sequence("n"))
        _refused(StoreError, lambda: store.apply("n", Batch(memories=(sample_memory(2),))))
        _refused(StoreError, store.namespaces)

    def test_threads_may_share_it(self) -> None:
        store = self.open_store()
        failures: list[BaseException] = []

        def write(worker: int) -> None:
            try:
                for number in range(10):
                    each = 100 * worker + number
                    store.apply("n", Batch(memories=(sample_memory(each),), turns=(sample_turn(each),)))
                    seen = store.changes("n")
                    assert [memory.changed for memory in seen.memories] == list(range(1, seen.upto + 1))
            except BaseException as failure:  # noqa: BLE001 - handed to the test's own thread
                failures.append(failure)

        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert store.sequence("n") == 40
        assert sorted(memory.born for memory in store.changes("n").memories) == list(range(1, 41))
        assert [turn.position for turn in store.turns("n", "s")] == list(range(40))


def _said(number: int, *turns: int) -> Memory:
    source = Source(session="s", turns=tuple(sample_turn(each).id for each in turns))
    return replace(sample_memory(number, kind=Kind.PASSAGE), source=source)


def _everything(number: int) -> Batch:
    return Batch(
        memories=(sample_memory(number),),
        turns=(sample_turn(number),),
        prices=(Price(memory=f"{number:026d}", encoding="e", tokens=number),),
        records=(Written(collection="c", key="k", value=str(number).encode()),),
        vectors=(Vector(memory=f"{number:026d}", model="m", data=bytes([number])),),
    )


class _Meanwhile:
    """A store in which something else happens once, right behind the next reading of a record."""

    def __init__(self, store: Store, happens: Callable[[], object]) -> None:
        self._store = store
        self._happens: Callable[[], object] | None = happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def record(self, namespace: str, collection: str, key: str) -> Record | None:
        found = self._store.record(namespace, collection, key)
        happens, self._happens = self._happens, None
        if happens is not None:
            happens()
        return found


def _taken(store: Store, owner: str, minutes: int = 0) -> leases.Lease | None:
    now = _START + timedelta(minutes=minutes)
    return leases.acquire(store, "n", "work", owner=owner, now=now, seconds=60)


def _refused(error: type[Exception], call: Callable[[], object]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"expected {error.__name__}")
