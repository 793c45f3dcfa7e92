"""What a verb reads of a large namespace: rows that SQLite handed over, and steps of its machine, which tell scans."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.options import Options
from bench.table import Table
from haversack import Namespace
from haversack.engine.auditing import Deed
from haversack.engine.core import Core
from haversack.engine.costing import booking
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.llm.cost import Call, Purpose
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Kind, Memory, Source
from haversack.recall import Recall
from haversack.store.port import Batch
from haversack.store.sqlite.store import SqliteStore
from haversack.tokens import counter_for

__all__ = ["CALLS", "PAGE", "Reads", "Scene", "run", "scene"]

PAGE = 20
"""Memories on a page."""
_EVERY = 10
"""Steps of SQLite's machine between two calls of its progress handler."""
_AT_ONCE = 5_000
_START = datetime(2026, 3, 1, tzinfo=UTC)
_RARE = 25
"""Memories of the rare kind, tag and session, however large the namespace is."""
_TEXT = "\n\n".join(f"Paragraph {n} tells of harbour {n} and of all its berths. " * 12 for n in range(6))
_SIZES = (1_000, 10_000, 100_000)


@dataclass(slots=True)
class Reads:
    """What one connection read while it was watched."""

    rows: int = 0
    """Rows that statements returned."""
    steps: int = 0
    """Steps of SQLite's machine, without those that rebuild the file."""
    _rebuilding: bool = False

    def row(self, _cursor: object, row: tuple[object, ...]) -> tuple[object, ...]:
        """Count a row."""
        self.rows += 1
        return row

    def step(self) -> int:
        """Count some steps, and go on."""
        self.steps += 0 if self._rebuilding else _EVERY
        return 0

    def begin(self, statement: str) -> None:
        """Look whether a statement rebuilds the file: that takes all of it, by design."""
        if statement.startswith(("VACUUM", "PRAGMA wal_checkpoint")):
            self._rebuilding = statement == "VACUUM"


class WatchedStore(SqliteStore):
    """A store whose reading can be counted."""

    @contextmanager
    def counted(self) -> Generator[Reads]:
        """Count what the calling thread reads."""
        reads, connection = Reads(), self._connections.lease().connection
        connection.row_factory = reads.row
        connection.set_progress_handler(reads.step, _EVERY)
        connection.set_trace_callback(reads.begin)
        try:
            yield reads
        finally:
            connection.row_factory = None
            connection.set_progress_handler(None, 0)
            connection.set_trace_callback(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A namespace with many memories, used by every verb, and much bookkeeping beside it."""

    sack: Haversack
    store: WatchedStore
    ns: Namespace
    text: str
    """A long text that was edited."""
    fact: str
    """A statement of a session that has others."""
    lone: str
    """A statement with which its session ends."""


Ask = Callable[[Scene], int]
"""A call; how many rows it gave back."""


@contextmanager
def scene(path: Path, size: int) -> Generator[Scene]:
    """Lend a store with so many memories."""
    with closing(WatchedStore(path)) as store:
        core = _core(store)
        sack = Haversack(core)
        ns = sack.namespace("n")
        for start in range(0, size, _AT_ONCE):
            numbers = range(start, min(size, start + _AT_ONCE))
            store.apply("n", Batch(memories=tuple(_memory(number, size) for number in numbers)))
        _keep_books(sack, core, size)
        ns.session("talk").extend([{"role": "user", "content": f"message {number}"} for number in range(10)])
        text = ns.remember(_TEXT, kind="passage")
        ns.edit(text.id, content=f"{_TEXT} It is edited.")
        fact = ns.remember("the mill at Veere grinds barley", kind="fact", source={"session": "talk"})
        lone = ns.remember("the yard at Goes builds boats", kind="fact", source={"session": "alone"})
        ns.wake_up()
        yield Scene(sack=sack, store=store, ns=ns, text=text.id, fact=fact.id, lone=lone.id)


CALLS: dict[str, Ask] = {
    "wake_up": lambda at: len(at.ns.wake_up(top=PAGE)[0]),
    "page": lambda at: len(at.ns.page(limit=PAGE).memories),
    "page of a kind": lambda at: len(at.ns.page(limit=PAGE, kinds=["decision"]).memories),
    "page of a tag": lambda at: len(at.ns.page(limit=PAGE, tags=["rare"]).memories),
    "page of no such tag": lambda at: len(at.ns.page(limit=PAGE, tags=["unknown"]).memories),
    "page of a session": lambda at: len(at.ns.page(limit=PAGE, session="rare").memories),
    "parts after an edit": lambda at: len(at.ns.parts(at.text)),
    "audit of a namespace": lambda at: len(list(at.sack.audit.read(namespace="n"))),
    "jobs of a namespace": lambda at: len(at.sack.jobs.all(["n"])),
    "namespaces of a key": lambda at: len(at.sack.namespaces(["n", "other 4*"])),
    "forget softly": lambda at: len(at.ns.forget(at.lone).memories),
    "forget for good": lambda at: _forgotten(at, at.fact),
    "forget for good, with its session": lambda at: _forgotten(at, at.lone),
}
"""In the order in which one scene can bear them."""


def run(_: Options) -> Iterator[Table]:
    """Yield what each call reads of namespaces of growing sizes."""
    found: dict[str, list[tuple[int, Reads]]] = {name: [] for name in CALLS}
    for size in _SIZES:
        with tempfile.TemporaryDirectory() as folder, scene(Path(folder, "memory.db"), size) as at:
            for name, ask in CALLS.items():
                with at.store.counted() as reads:
                    given = ask(at)
                found[name].append((given, reads))
    yield Table(
        name="reads",
        title="Rows that a call gives back, and what SQLite read for it: rows, and thousands of its machine's steps",
        columns=("call", "gives", *(f"{what}, of {size:,}" for size in _SIZES for what in ("rows", "k steps"))),
        rows=tuple(
            (name, each[-1][0], *(cell for _, reads in each for cell in (reads.rows, reads.steps / 1_000)))
            for name, each in found.items()
        ),
        notes=("no embedder; the index of the namespace is warm; the rebuilding of the file is not counted",),
    )


def _core(store: SqliteStore) -> Core:
    looks, drawn = iter(range(10**9)), iter(range(1, 10**9))
    return Core(
        store=store,
        recall=Recall(store),
        embedder=None,
        settings=Settings(),
        clock=lambda: _START + timedelta(seconds=next(looks)),
        entropy=lambda size: (next(drawn) << 40).to_bytes(size, "big"),
        counter=counter_for,
    )


def _memory(number: int, size: int) -> Memory:
    at = _START - timedelta(minutes=size - number)
    rare = number % (size // _RARE) == 0
    return Memory(
        id=make_id(at, number.to_bytes(ENTROPY_BYTES, "big")),
        kind=Kind.DECISION if rare else Kind.FACT,
        content=f"the boat {number} lies at berth {number}",
        created_at=at,
        event_time=at,
        tags=("rare",) if rare else ("common",),
        source=Source(session="rare" if rare else f"session {number % (size // 10)}"),
    )


def _keep_books(sack: Haversack, core: Core, size: int) -> None:
    """Leave deeds, costs, jobs and visits, nearly all of them other namespaces' or another session's."""
    now = core.clock()
    for number in range(size // 4):
        name = "n" if number < _RARE else f"other {number % 50}"
        sack.audit.note(Deed(who="key", did="recall", namespace=name, session="rare"))
    sack.audit.flush()
    call = Call(
        at=now,
        purpose=Purpose.CHAT,
        model="m",
        namespace="n",
        session="rare",
        input_tokens=1,
        output_tokens=1,
        dollars=None,
    )
    core.store.apply("n", Batch(records=tuple(booking(core, call) for _ in range(size // 10))))
    for number in range(50):
        sack.jobs.run("import", f"other {number}", lambda _: {"problems": []}, asked_by="key")
        sack.visits.start(f"other {number}")


def _forgotten(at: Scene, name: str) -> int:
    done = at.ns.forget(name, hard=True)
    return len(done.memories) + len(done.derived) + len(done.turns)
