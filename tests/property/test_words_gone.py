"""Law: after a hard forget no word of what was erased is left: in no object of the process, in no file of the store.

Words are looked for in every object that Python's collector knows, in the engine that erases and in another one that
has read the same and makes one call afterwards. A buffer that forgets to register with the erasers is found here.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import haversack
from haversack import Namespace
from haversack.assemble import LAYOUTS
from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.receipts import Receipt

_PLANTED = ("xq", "zv")
"""Every planted word begins with these two joined: so no text of this file holds one."""


def word(name: str) -> str:
    return "".join((*_PLANTED, name))


def live(sack: Haversack) -> None:
    """Use what may keep words: speakers, entities, tags, fields, sessions, duplicates, edits, votes, jobs."""
    ns = sack.namespace("n")
    session = ns.session(word("session"))
    for number in range(12):
        session.add("user", f"The {word('crane')} number {number} lifts {word('barley')}.", name=word("Alice"))
        session.add("assistant", f"Crane {number} is {word('noted')}.")
    fact = ns.remember(
        f"{word('Alice')} lives in {word('Oslo')} now",
        kind="fact",
        subject=word("subject"),
        tags=[word("tag")],
        entities=[word("Entity")],
        metadata={word("field"): word("value")},
    )
    ns.remember(f"{word('Alice')} lives in {word('Rome')} now", kind="fact", subject=word("subject"))
    ns.remember(f"The {word('mill')} at Veere grinds the {word('oats')}.", kind="fact")
    ns.remember(f"The {word('mill')} at Veere grinds {word('oats')}!", kind="fact")
    ns.remember("\n\n".join(f"Paragraph {n} tells of {word('harbour')} {n}. " * 12 for n in range(6)), kind="passage")
    ns.edit(fact.id, content=f"{word('Alice')} lives in {word('Bergen')} now")
    ns.vote(fact.id, "up")
    ns.once(word("key"), b"", lambda: Receipt(ids=(fact.id,)))
    session.extract()
    session.compact()
    sack.audit.note(Deed(who="key", did="read", namespace="n", session=word("session")))
    sack.jobs.run("import", "n", lambda _: {"problems": [f"conversation {word('session')}"]}, asked_by="key")


def read(sack: Haversack) -> None:
    """Ask for what was kept, in every way."""
    ns, query = sack.namespace("n"), f"What does {word('Alice')} lift with the {word('crane')} in {word('Oslo')}?"
    for layout in LAYOUTS:
        ns.context(query, budget=200, layout=layout)
        ns.session(word("session")).prompt(query, layout=layout)
    for hit in ns.recall(query, tags=[word("tag")]) or ns.recall(query):
        ns.why(query, hit.id)
    ns.recall(f"{word('mill')} {word('oats')} {word('Entity')}", where={word("field"): word("value")})
    ns.fold()
    ns.wake_up()
    ns.timeline()


def by_ids(ns: Namespace) -> None:
    """Erase one after another, whatever is left."""
    while rows := ns.page(limit=1).memories or ns.folded():
        ns.forget(rows[0].id, hard=True)


ERASURES: dict[str, Callable[[Namespace], object]] = {
    "everything": lambda ns: ns.forget(everything=True, hard=True),
    "by ids": by_ids,
    "reset": lambda ns: Haversack(ns._core).maintenance.reset(["n"], execute=True, confirm="n", snapshot=False),
}


def holders() -> list[str]:
    """Where a planted word is left: the kind of what holds it, and the words around it."""
    planted, found, seen = word("").casefold(), list[str](), set[int]()
    gc.collect()
    for root in gc.get_objects():
        reached = [root]
        while reached:
            holder = reached.pop()
            for each in () if isinstance(holder, FrameType) or holder is found else gc.get_referents(holder):
                text = each if isinstance(each, str) else each.decode("latin-1") if isinstance(each, bytes) else ""
                if planted in text.casefold():
                    place = text.casefold().index(planted)
                    found.append(
                        f"{type(root).__name__}, {type(holder).__name__}: {text[max(0, place - 40) : place + 40]}"
                    )
                elif isinstance(each, dict | tuple | frozenset) and not gc.is_tracked(each) and id(each) not in seen:
                    seen.add(id(each))
                    reached.append(each)
    return sorted(set(found))


@contextmanager
def engines(path: Path) -> Generator[tuple[Haversack, Haversack]]:
    with haversack.open(str(path)) as one, haversack.open(str(path)) as other:
        yield one, other


@pytest.mark.parametrize("how", ERASURES)
def test_no_word_is_left_in_the_process_or_in_a_file(how: str, tmp_path: Path) -> None:
    with engines(tmp_path / "store.db") as (one, other):
        live(one)
        if how != "by ids":  # what a client says of a visit belongs to no memory
            one.visits.start("n", {word("field"): word("value")})
        read(one)
        read(other)
        other.audit.note(Deed(who="key", did="read", namespace="n", session=word("session")))
        assert holders()
        ERASURES[how](one.namespace("n"))
        other.namespace("n").recall("boats")
        assert holders() == []
        other.audit.flush()
        one.namespace("n").recall("boats")
        assert [path.name for path in tmp_path.rglob("*") if word("").encode() in path.read_bytes()] == []
