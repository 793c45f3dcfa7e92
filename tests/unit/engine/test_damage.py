"""Damage in one record or row: what cannot be decoded counts as absent, every verb goes on, and the doctor tells."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import haversack
from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.errors import HaversackError, NotFoundError, StoreError
from haversack.model.memory import Kind, Memory
from haversack.store.port import SEGMENT, SYSTEM, Batch, Written
from haversack.store.sqlite.store import SqliteStore
from haversack.transfer import read_files

OWN = [
    "access",
    "cost",
    "earlier",
    "extracted",
    "feedback",
    "hidden",
    "lease",
    "moving",
    "policy",
    "receipt",
    "run",
    "run_step",
    "segment",
    "trim",
    "view",
    "visit",
]
SPANNING = [
    "audit",
    "calibration",
    "exchanged",
    "job",
    "key",
    "key-use",
    "lease",
    "proposal",
    "run",
    "run_step",
    "schedule",
    "snapshot",
    "visit",
]
GARBAGE = (b"\xff\xfe", b"null", b'{"x": 1}', b'"x"', b"[[[[")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def sack(path: Path) -> Iterator[Haversack]:
    with haversack.open(
        path,
        embedder="none",
        config={
            "memory": {"compaction": {"min_turns_to_summarize": 2, "compaction_recency_window": 2}, "extraction": {}}
        },
    ) as opened:
        yield opened


@pytest.fixture
def filled(sack: Haversack) -> Namespace:
    """A namespace in which every kind of record was written by the verb that writes it."""
    ns, other = sack.namespace("n"), sack.namespace("other")
    other.remember("other tenant's boat")
    session = ns.session("s")
    for number in range(6):
        session.add("user" if number % 2 == 0 else "assistant", f"The boat {number} sails on Monday. " * 20)
    session.extract()
    session.compact()
    memory = ns.remember("boat facts matter", importance=0.9)
    ns.edit(memory.id, content="boat facts matter a lot")
    ns.vote(memory.id, "up")
    for _ in range(3):
        ns.context("boat", budget=40)
    ns.maintenance.flush()
    ns.recall("boat")
    ns.trimmed()
    ns.forget(ns.everything(kinds=["passage"])[0].id)
    ns.maintenance.set_policy({})
    ns.remember("gone by now", expires_at="2020-01-01", event_time="2019-01-01")
    ns.maintenance.lifecycle(execute=True)
    ns.maintenance.propose(memory.id, shared="other", author="a")
    ns.once("k", b"r", lambda: haversack.engine.receipts.Receipt(ids=("x",)))
    sack.visits.start("n")
    assert sack.keys.check(sack.keys.create("ops", scope="admin").secret) is not None
    sack.keys.flush()
    sack.learn("some-model", counted=10, reported=12)
    sack.namespace("gone").remember("x")
    sack.namespace("gone").maintenance.reset(execute=True, confirm="gone", snapshot=False)
    sack.audit.note(Deed(who="ops", did="remember", namespace="n"), now=True)
    sack.jobs.run("reembed", "n", lambda _: {}, asked_by="ops")
    sack.maintenance.snapshot()
    sack.maintenance.set_schedule(sack.maintenance.schedule())
    return ns


def spoil(path: Path, namespace: str, value: bytes, *extra: str) -> set[tuple[str, str]]:
    """Put the value under every key that there is, and under some that a verb would look for."""
    with closing(SqliteStore(path)) as store:
        spoiled = {
            (collection, key)
            for collection in (OWN if namespace else SPANNING)
            for key in (*extra, *(record.key for record in store.records(namespace, collection)))
        }
        records = tuple(Written(collection=collection, key=key, value=value) for collection, key in sorted(spoiled))
        store.apply(namespace, Batch(records=records))
        return spoiled


def session_verbs(session: Session) -> dict[str, Callable[[], object]]:
    return {
        "add": lambda: session.add("user", "one more"),
        "append": lambda: session.append([]),
        "compact": session.compact,
        "expand": lambda: session.expand("nothing"),
        "extend": lambda: session.extend([]),
        "extract": session.extract,
        "folds": session.folds,
        "id": lambda: session.id,
        "monitor": lambda: session.monitor,
        "preview": lambda: session.preview("boat", window=8000, output=100),
        "prime": session.prime,
        "prompt": lambda: session.prompt("boat", window=8000, output=100),
        "turns": session.turns,
        "unread": session.unread,
        "wait": session.wait,
    }


def merged(ns: Namespace) -> str:
    left, right = ns.remember("left is one thing"), ns.remember("on the right another")
    ns.merge([left.id, right.id])
    return left.id


def namespace_verbs(ns: Namespace, memory: Memory, folder: Path) -> dict[str, Callable[[], object]]:
    return {
        "bring_in": lambda: ns.bring_in(read_files([folder / "export.jsonl"])),
        "changes": ns.changes,
        "context": lambda: ns.context("boat"),
        "costs": ns.costs,
        "earlier": lambda: ns.earlier(memory.id),
        "edit": lambda: ns.edit(memory.id, tags=["x"]),
        "everything": ns.everything,
        "extract": ns.extract,
        "filed": lambda: ns.filed("x", 1),
        "fold": ns.fold,
        "folded": ns.folded,
        "forget": lambda: ns.forget(memory.id),
        "get": lambda: ns.get(memory.id),
        "get_many": lambda: ns.get_many([memory.id]),
        "knowledge": lambda: ns.knowledge.reach("boat"),
        "layout": ns.layout,
        "maintenance": lambda: ns.maintenance,
        "merge": lambda: merged(ns),
        "name": lambda: ns.name,
        "once": lambda: ns.once("k", b"r", haversack.engine.receipts.Receipt),
        "page": ns.page,
        "parts": lambda: ns.parts(memory.id),
        "index": ns.index,
        "recall": lambda: ns.recall("boat"),
        "reembed": ns.reembed,
        "remember": lambda: ns.remember("a new boat"),
        "remember_many": lambda: ns.remember_many(["and a newer boat"]),
        "restore": lambda: ns.restore(memory.id),
        "sequence": ns.sequence,
        "session": lambda: ns.session("s"),
        "sessions": ns.sessions,
        "stats": ns.stats,
        "stay_forgotten": lambda: ns.stay_forgotten([(Kind.FACT, "boat")]),
        "take_out": lambda: list(ns.take_out()),
        "timeline": ns.timeline,
        "trimmed": ns.trimmed,
        "unembedded": ns.unembedded,
        "unfold": lambda: ns.unfold(merged(ns)),
        "vote": lambda: ns.vote(memory.id, "up"),
        "votes": lambda: ns.votes(memory.id),
        "votes_by_signal": ns.votes_by_signal,
        "wait": ns.wait,
        "wake_up": ns.wake_up,
        "why": lambda: ns.why("boat", memory.id),
    }


def maintenance_verbs(care: NamespaceMaintenance, memory: Memory) -> dict[str, Callable[[], object]]:
    return {
        "decide": lambda: care.decide("nothing", accept=True, by="b"),
        "flush": care.flush,
        "foresee": lambda: care.foresee({}),
        "health": care.health,
        "lifecycle": lambda: care.lifecycle(execute=True),
        "policy": care.policy,
        "proposals": care.proposals,
        "propose": lambda: care.propose(memory.id, shared="third", author="a"),
        "recover": lambda: care.recover("nothing"),
        "reorganize": lambda: care.reorganize(execute=True),
        "reset": care.reset,
        "runs": care.runs,
        "set_policy": lambda: care.set_policy({}),
        "steps": lambda: care.steps("nothing"),
        "undo": lambda: care.undo("nothing"),
        "backup": lambda: list(care.backup()),
    }


def store_verbs(sack: Haversack) -> list[Callable[[], object]]:
    care = sack.maintenance
    return [
        care.health,
        care.keep_schedule,
        care.plan_snapshot,
        care.reconcile,
        care.runs,
        care.schedule,
        care.snapshot,
        care.snapshots,
        sack.keys.all,
        sack.keys.exist,
        sack.keys.flush,
        lambda: sack.keys.check("hvs_x_y"),
        lambda: list(sack.audit.read()),
        sack.jobs.all,
        lambda: sack.visits.of("n"),
        lambda: sack.visits.get("nothing"),
        lambda: sack.learn("some-model", counted=10, reported=12),
        sack.namespace("other").maintenance.proposals,
        lambda: sack.namespace("other").recall("boat"),
    ]


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def allowed(act: Callable[[], object]) -> None:
    """It answers, or says that there is nothing of that name."""
    try:
        act()
    except NotFoundError as error:
        assert "nothing" in str(error)  # noqa: PT017 - only what the test asked for by a made-up name


def test_every_kind_of_record_is_tried(filled: Namespace, path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        own, spanning = set(store.collections(filled.name)), set(store.collections(SYSTEM))
    assert set(OWN) - own == {"access", "moving", "cost", "segment"}
    assert set(SPANNING) - spanning == {"exchanged", "run_step"}
    assert (own - set(OWN), spanning - set(SPANNING)) == (set(), set())


def test_every_public_verb_is_tried(filled: Namespace, tmp_path: Path) -> None:
    memory = filled.everything()[0]
    assert namespace_verbs(filled, memory, tmp_path).keys() - {"name"} == public(Namespace)
    assert maintenance_verbs(filled.maintenance, memory).keys() == public(NamespaceMaintenance)
    assert session_verbs(filled.session("s")).keys() - {"id"} == public(Session)


@pytest.mark.parametrize("value", GARBAGE)
def test_no_verb_of_a_namespace_is_stopped_by_a_damaged_record(
    sack: Haversack, filled: Namespace, path: Path, value: bytes
) -> None:
    ns, memory = filled, filled.remember("the memory at hand", importance=0.8)
    (path.parent / "export.jsonl").write_bytes(b"".join(ns.take_out()))
    keys = ("lifecycle", "maintenance", "moving", "s", memory.id, "nothing")
    verbs = [
        *session_verbs(ns.session("s")).values(),
        *namespace_verbs(ns, memory, path.parent).values(),
        *maintenance_verbs(ns.maintenance, memory).values(),
        *store_verbs(sack),
    ]
    for act in verbs:
        spoil(path, "n", value, *keys)
        allowed(act)
    assert ns.forget(memory.id, hard=True).memories == (memory.id,)
    assert len(ns.forget(session="s", hard=True).turns) >= 6
    ns.forget(everything=True, hard=True)
    assert ns.stats().memories == {}


@pytest.mark.parametrize("value", GARBAGE)
def test_no_verb_is_stopped_by_a_damaged_record_of_the_whole_store(
    sack: Haversack, filled: Namespace, path: Path, value: bytes
) -> None:
    memory = filled.everything()[0]
    verbs = [*store_verbs(sack), *maintenance_verbs(filled.maintenance, memory).values()]
    for act in [*verbs, lambda: filled.forget(memory.id, hard=True), lambda: filled.forget(session="s", hard=True)]:
        spoil(path, SYSTEM, value, "nothing/asked", "nothing/decided", "snapshot", "last", "nothing")
        allowed(act)
    sack.namespace("other").maintenance.reset(execute=True, confirm="other", snapshot=False)


def test_the_doctor_tells_and_removes(sack: Haversack, filled: Namespace, path: Path) -> None:
    assert sack.maintenance.health().is_sound
    own = spoil(path, "n", b"\xff\xfe", "k")
    spanning = spoil(path, SYSTEM, b"\xff\xfe", "k/asked")
    seen = sack.maintenance.health()
    assert not seen.is_sound
    assert {fault.code for fault in seen.faults} == {"damaged-record"}
    own = {(collection, key) for collection, key in own if collection not in {"hidden", SEGMENT}}
    assert {(each.collection, each.key) for each in filled.maintenance.health().damaged} == own
    assert len(seen.faults) == len(own) + len(spanning)
    policy = next(fault for fault in seen.faults if "policy/lifecycle" in fault.what)
    assert "in namespace 'n' cannot be decoded (" in policy.what
    sack.maintenance.reconcile()
    left = {fault.what.split()[2].partition("/")[0] for fault in sack.maintenance.health().faults}
    assert left == {"key"}
    assert sack.keys.exist()


def corrupt(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE memories SET stage = 'actite' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET tags = '[' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET source = '{\"turns\": 7}' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET created_at = 9e18 WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET content = x'78' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET speaker = x'78' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET kind = x'78' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET stage = x'78' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET tags = x'5b5d' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET importance = '' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET importance = 9e999 WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET confidence = -1 WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET born = '' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET born = 9e30 WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET changed = '' WHERE namespace = 'n' AND changed > 1", "memory"),
        ("UPDATE memories SET changed = 9e30 WHERE namespace = 'n' AND changed > 1", "memory"),
        ("UPDATE memories SET access_count = 'x' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET accessed_at = 1.5 WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET pinned = 'x' WHERE namespace = 'n'", "memory"),
        ("UPDATE memories SET superseded_by = x'78' WHERE namespace = 'n'", "memory"),
        ("UPDATE sequences SET value = 'x' WHERE namespace = 'n'", "sequence"),
        ("UPDATE sessions SET turns = 'x' WHERE namespace = 'n'", "session"),
        ("UPDATE sessions SET next = 'x' WHERE namespace = 'n'", "session"),
        ("UPDATE turns SET key = x'78' WHERE namespace = 'n'", "turn"),
        ("UPDATE turns SET position = 'x' WHERE namespace = 'n'", "turn"),
        ("UPDATE turns SET at = 9e30 WHERE namespace = 'n'", "turn"),
        ("UPDATE turns SET message = '{' WHERE namespace = 'n'", "turn"),
        ("UPDATE turns SET message = '{\"role\": \"usher\"}' WHERE namespace = 'n'", "turn"),
        ("UPDATE sessions SET first_at = 'soon' WHERE namespace = 'n'", "session"),
    ],
)
def test_a_damaged_row_is_a_store_error_that_names_it(path: Path, statement: str, named: str) -> None:
    with haversack.open(path, embedder="none") as sack:
        ns = sack.namespace("n")
        turn = ns.session("s").add("user", "said")
        memory = ns.remember("boat", tags=["x"], source={"turns": [turn.id]})
        sack.namespace("other").remember("boat of another tenant")
    corrupt(path, statement)
    name = {"memory": memory.id, "turn": turn.id, "session": "s", "sequence": "n"}[named]
    with haversack.open(path, embedder="none") as sack:
        ns = sack.namespace("n")
        asked: list[Callable[[], Any]] = [
            lambda: ns.get(memory.id),
            lambda: ns.session("s").turns(),
            ns.sessions,
            ns.maintenance.lifecycle,
            lambda: ns.recall("boat"),
            lambda: ns.remember("boat"),
            lambda: ns.session("s").add("user", "more"),
            ns.fold,
            ns.everything,
            ns.maintenance.health,
            ns.stats,
            ns.changes,
            lambda: ns.forget(memory.id),
        ]
        refusals: list[str] = []
        for ask in asked:
            try:
                ask()
            except HaversackError as error:
                assert isinstance(error, StoreError)  # noqa: PT017 - nothing untyped passes, and nothing of another kind
                refusals.append(str(error))
        assert any(f"the row of {named} {name} is damaged" in told for told in refusals)
        assert [hit.content for hit in sack.namespace("other").recall("boat")] == ["boat of another tenant"]
        seen = sack.maintenance.health()
        assert "other" in {each.namespace for each in seen.namespaces}
        faults = [fault.what for fault in seen.faults if fault.code == "unreadable-row"]
        assert all("the row of " in what for what in faults)
        assert bool(faults) or named != "memory"


@pytest.mark.parametrize("value", ["''", "9e30", "-5"])
def test_the_doctor_tells_of_a_record_whose_value_is_none(path: Path, value: str) -> None:
    with haversack.open(path, embedder="none") as sack:
        sack.namespace("n").maintenance.set_policy({})
    corrupt(path, f"UPDATE records SET value = {value} WHERE collection = 'policy'")
    with haversack.open(path, embedder="none") as sack:
        assert [each.collection for each in sack.namespace("n").maintenance.health().damaged] == ["policy"]
        assert sack.namespace("n").maintenance.policy()
    corrupt(path, "UPDATE records SET key = x'78' WHERE collection = 'policy'")
    with (
        haversack.open(path, embedder="none") as sack,
        pytest.raises(StoreError, match="the row of record policy/"),
    ):
        sack.namespace("n").maintenance.health()


@pytest.mark.parametrize("value", ["''", "x'78'"])
def test_a_damaged_price_is_counted_anew(path: Path, value: str) -> None:
    with haversack.open(path, embedder="none") as sack:
        sack.namespace("n").remember("boat")
        whole = sack.namespace("n").context("boat", budget=100)
    corrupt(path, f"UPDATE prices SET tokens = {value}")
    with haversack.open(path, embedder="none") as sack:
        assert sack.namespace("n").context("boat", budget=100).text == whole.text


def test_the_doctor_names_a_row_that_cannot_be_read(path: Path) -> None:
    with haversack.open(path, embedder="none") as sack:
        memory = sack.namespace("n").remember("boat")
        sack.namespace("other").remember("tea")
    corrupt(path, "UPDATE memories SET kind = 'fakt' WHERE namespace = 'n'")
    with haversack.open(path, embedder="none") as sack:
        seen = sack.maintenance.health()
    assert [each.namespace for each in seen.namespaces] == ["other"]
    (fault,) = [fault for fault in seen.faults if fault.code == "unreadable-row"]
    assert fault.severe
    assert f"namespace 'n' cannot be read: the row of memory {memory.id} is damaged" in fault.what
