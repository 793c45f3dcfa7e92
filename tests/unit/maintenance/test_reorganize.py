from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from haversack.compaction import CompactionConfig
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import MemorySettings
from haversack.errors import InputError, RefusedError, ServiceError, StoreError
from haversack.llm.port import ChatService
from haversack.maintenance import reorganize as reorganizing
from haversack.maintenance.run import RunState
from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.store.port import Batch
from haversack.testing.scripted import Line, ScriptedChat


@pytest.fixture
def sack(engine: Core) -> Iterator[Haversack]:
    with Haversack(engine) as opened:
        yield opened


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    return sack.namespace("n")


def put(engine: Core, number: int, content: str, **fields: object) -> Memory:
    """A statement as an import or an older program left it: not looked at when it was written."""
    at = engine.clock()
    row = Memory(id=f"{number:026}", kind=Kind.FACT, content=content, created_at=at, event_time=at, **fields)  # pyright: ignore[reportArgumentType]
    engine.store.apply("n", Batch(memories=(row,)))
    return engine.store.memories("n", [row.id])[0]


def test_duplicates_are_hidden_the_trusted_one_stays_and_undo_shows_them(ns: Namespace, engine: Core) -> None:
    same = put(engine, 1, "the office in Berlin has two of the printers", trust=Trust.EXTRACTED)
    better = put(engine, 2, "the office in Berlin has two printers", trust=Trust.VERIFIED)
    other = put(engine, 3, "the office in Paris has two printers", trust=Trust.EXTRACTED)
    planned = ns.maintenance.reorganize()
    assert planned.preview
    done = ns.maintenance.reorganize(execute=True)
    assert done.decision == planned.decision
    assert {(each.keep, each.hide) for each in done.decision.duplicates} == {(better.id, same.id)}
    assert (ns.get(same.id).superseded_by, ns.get(better.id).superseded_by, ns.get(other.id).superseded_by) == (
        better.id,
        None,
        None,
    )
    assert ns.maintenance.reorganize(execute=True).decision.touched == ()
    assert done.run is not None
    assert ns.maintenance.undo(done.run).restored == (same.id,)
    assert replace(ns.get(same.id), changed=0) == replace(same, changed=0)


def test_what_ended_is_softly_deleted_and_what_repeats_it_is_not_hidden_behind_it(
    ns: Namespace, clock: list[timedelta]
) -> None:
    ended = ns.remember("the meeting is in room four", trust="manual", expires_at="2026-03-02")
    repeats = ns.remember("The meeting is in room  FOUR", trust="extracted", kind="insight")
    clock[0] = timedelta(days=2)
    done = ns.maintenance.reorganize(execute=True)
    assert [(each.memory, each.reason) for each in done.decision.pruned] == [(ended.id, "expired")]
    assert done.verified
    assert (ns.get(ended.id).stage, ns.get(repeats.id).stage) == (Stage.DELETED, Stage.ACTIVE)
    assert ns.maintenance.reorganize(execute=True).decision.touched == ()


def test_no_cadence_of_maintenance_changes_what_a_memory_was_given(
    ns: Namespace, engine: Core, clock: list[timedelta]
) -> None:
    """Stage, the marks of ending and what stands before it are maintenance's; all else stays as it was written."""
    put(engine, 1, "the office in Berlin has two of the printers", trust=Trust.EXTRACTED, importance=0.3)
    put(engine, 2, "the office in Berlin has two printers", trust=Trust.VERIFIED, importance=0.4)
    for number in range(3, 9):
        words = f"Ada keeps the number {number} in her {('red', 'old', 'big', 'new', 'low', 'wet')[number - 3]} book"
        put(engine, number, words, entities=("Ada",), importance=number / 10)
    ns.remember("the meeting is in room four", expires_at="2026-03-09", importance=0.9)
    ns.session("s").add("user", "hello there")
    given = {one.id: _given(one) for one in engine.store.changes("n").memories}
    for days in (0, 1, 10, 40, 41, 200):
        clock[0] = timedelta(days=days)
        ns.maintenance.reorganize(execute=True)
        ns.maintenance.lifecycle(execute=True)
        now = {one.id: _given(one) for one in engine.store.changes("n").memories}
        assert {name: given[name] for name in given.keys() & now} == {name: now[name] for name in given.keys() & now}
        assert {1, 2} <= {int(name) for name in now if name.isdigit()} or days > 1


def _given(memory: Memory) -> Memory:
    fields = {name: value for name, value in memory.metadata.items() if not name.startswith("haversack.")}
    ended = {"stage": Stage.ACTIVE, "superseded_by": None, "valid_to": None, "changed": 0}
    marks = dict.fromkeys(("deleted_at", "stage_before", "duplicate_of"))
    return replace(memory, metadata=fields, **ended, **marks)


def test_many_statements_about_one_name_are_summed_up_once(ns: Namespace) -> None:
    facts = [
        ns.remember(text, entities=["Ada"], kind="fact")
        for text in (
            "Ada works in Lisbon since May",
            "Ada leads the compiler group",
            "Ada speaks Portuguese at home",
            "Ada decided to use SQLite",
            "Ada cycles to work every Monday",
        )
    ]
    done = ns.maintenance.reorganize(execute=True)
    (made,) = done.decision.syntheses
    summary = ns.get(made.memory.id)
    assert (made.about, summary.kind, summary.source.memories) == ("Ada", Kind.SUMMARY, tuple(one.id for one in facts))
    assert summary.content.startswith("About Ada:\n")
    assert "SQLite" in summary.content
    assert ns.maintenance.reorganize(execute=True).decision.touched == ()
    ns.remember("Ada plays the cello", entities=["Ada"])
    again = ns.maintenance.reorganize(execute=True)
    assert [each.replaces for each in again.decision.syntheses] == [summary.id]
    assert ns.get(summary.id).superseded_by == again.decision.syntheses[0].memory.id
    assert again.run is not None
    ns.maintenance.undo(again.run)
    assert ns.get(summary.id).superseded_by is None
    assert ns.get(again.decision.syntheses[0].memory.id).stage is Stage.DELETED


ABOUT_ADA = (
    "Ada works in Lisbon since May 2024 and leads the compiler group there, which has eleven people",
    "Ada decided to use SQLite for the catalogue of the compiler group because it needs no server",
    "Ada speaks Portuguese at home and English in the compiler group, and she reads German well",
    "Ada cycles to work along the river every Monday and takes the train on all the other days",
    "Ada plays the cello in a quartet that meets in the library of the harbour school on Fridays",
)


def worded(engine: Core, *lines: Line) -> tuple[Namespace, ScriptedChat]:
    """The namespace with a chat service that answers these lines."""
    chat = ScriptedChat(lines=lines)
    memory = MemorySettings(compaction=CompactionConfig(llm_service="s"))

    def service(_: str) -> ChatService:
        return chat

    ns = Haversack(replace(engine, memory=memory, service=service)).namespace("n")
    for text in ABOUT_ADA:
        ns.remember(text, entities=["Ada"], kind="fact")
    return ns, chat


def test_a_configured_service_words_a_synthesis_on_execution_alone(engine: Core) -> None:
    words = (
        "Ada works in Lisbon since May 2024, leads the compiler group of eleven, decided to use SQLite, speaks"
        " Portuguese, English and German, cycles on Monday and plays the cello on Fridays."
    )
    ns, chat = worded(engine, words)
    planned = ns.maintenance.reorganize(steps=["synthesize"])
    assert chat.seen == []
    done = ns.maintenance.reorganize(steps=["synthesize"], execute=True)
    assert done.decision.touched == planned.decision.touched
    (made,) = done.decision.syntheses
    assert "cycles on Monday and plays the cello" in ns.get(made.memory.id).content
    assert ABOUT_ADA[0] in chat.seen[0].messages[1].text
    assert ns.maintenance.reorganize(steps=["synthesize"], execute=True).decision.touched == ()


@pytest.mark.parametrize("line", [ServiceError("down"), "", " ".join(ABOUT_ADA) * 2], ids=["fails", "empty", "longer"])
def test_a_service_that_is_of_no_use_leaves_the_statements_own_sentences(engine: Core, line: Line) -> None:
    ns, chat = worded(engine, line)
    planned = ns.maintenance.reorganize(steps=["synthesize"])
    done = ns.maintenance.reorganize(steps=["synthesize"], execute=True)
    assert len(chat.seen) >= 1
    assert done.decision == planned.decision
    assert len(done.decision.syntheses) == 1


def test_single_steps(ns: Namespace, engine: Core, clock: list[timedelta]) -> None:
    ns.remember("one two three four", expires_at="2026-03-02")
    put(engine, 1, "the printers stand beside the door")
    put(engine, 2, "the printers stand beside that door")
    clock[0] = timedelta(days=2)
    assert ns.maintenance.reorganize(steps=["analyze"]).decision.analysis["memories"] == 3
    done = ns.maintenance.reorganize(steps=["dedupe"], execute=True)
    assert (len(done.decision.duplicates), done.decision.pruned, done.decision.analysis) == (1, (), {})
    with pytest.raises(InputError, match="did you mean 'prune'"):
        ns.maintenance.reorganize(steps=["prunes"])


def test_what_somebody_edits_meanwhile_is_left_and_named(
    ns: Namespace, engine: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, 1, "the printers stand beside the door")
    twin = put(engine, 2, "the printers stand beside that door")
    decide = reorganizing.decide

    def slow(*args: object) -> object:
        decided = decide(*args)  # pyright: ignore[reportArgumentType]
        edited = replace(ns.get(twin.id), content="something else")
        engine.store.apply("n", Batch(memories=(edited,)))
        return decided

    monkeypatch.setattr(reorganizing, "decide", slow)
    done = ns.maintenance.reorganize(execute=True)
    assert done.left == (twin.id,)
    assert (ns.get(twin.id).content, ns.get(twin.id).superseded_by) == ("something else", None)


def test_a_broken_promise_fails_the_run(ns: Namespace, engine: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, 1, "the printers stand beside the door")
    put(engine, 2, "the printers stand beside that door")
    monkeypatch.setattr("haversack.engine.reorganizing.hidden_behind", lambda one, keep: replace(one, content="?"))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(StoreError, match="words of memory"):
        ns.maintenance.reorganize(execute=True)
    assert ns.maintenance.runs()[-1].state is RunState.FAILED


def test_a_namespace_in_memory_has_no_backup(ns: Namespace) -> None:
    ns.remember("x")
    assert ns.maintenance.reorganize(execute=True).backup is None
    with pytest.raises(RefusedError, match="capability"):
        ns.maintenance.reorganize(steps=["backup"], execute=True)
