"""Law: forgotten stays forgotten. What was exported before brings nothing back, in whatever format it comes again."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from haversack.engine.namespace import Namespace
from haversack.model.memory import Source
from haversack.transfer import read_files

from .places import Setup, everywhere

KINDS = st.sampled_from(["fact", "decision", "insight"])
SHAPES = st.lists(st.tuples(KINDS, st.integers(0, 30), st.booleans()), max_size=8)
AIMS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"everything": True}),
    st.fixed_dictionaries({"kinds": st.lists(KINDS | st.just("passage"), min_size=1, max_size=2)}),
    st.sampled_from([{"session": "s0"}, {"session": "chat"}, {"tags": ["even"]}, {"where": {"n": 3}}]),
)
CHATS: dict[str, dict[str, Any]] = {
    "openai": {"session_id": "chat", "messages": [{"role": "user", "content": f"chat{n} told"} for n in range(3)]},
    "sharegpt": {"id": "chat", "conversations": [{"from": "human", "value": f"chat{n} told"} for n in range(3)]},
    "memories": {"results": [{"id": f"m{n}", "memory": f"dump{n} told", "user_id": "u"} for n in range(3)]},
}
"""A file of another system, which was imported before anything was forgotten."""


def fill(ns: Namespace, shapes: list[tuple[str, int, bool]]) -> None:
    """Turns of two sessions, and memories each of which came from a turn, from an earlier memory, or from nothing."""
    turns = [ns.session(f"s{n % 2}").add("user", f"word{n} said", metadata={"n": n}) for n in range(6)]
    known: list[str] = []
    for number, (kind, parent, from_turn) in enumerate(shapes):
        turn = turns[parent % len(turns)]
        source = Source(session=turn.session, turns=(turn.id,)) if from_turn else Source()
        if known and not from_turn and parent % 2:
            source = Source(memories=(known[parent % len(known)],))
        tags = ["even"] if number % 2 == 0 else ["odd"]
        content = f"item{number} known"
        known.append(ns.remember(content, kind=kind, source=source, tags=tags, metadata={"n": number}).id)


def shown(ns: Namespace) -> tuple[object, ...]:
    """What a reader is shown, and what is stored."""
    turns = [(info, ns.session(info.id).turns()) for info in ns.sessions()]
    return turns, ns.everything(), ns.stats(), sorted(ns.take_out())


@everywhere
@given(
    shapes=SHAPES,
    aims=st.lists(st.tuples(AIMS, st.booleans()), min_size=1, max_size=3),
    form=st.sampled_from(sorted(CHATS)),
)
def test_an_import_brings_nothing_back(
    setup: Setup, shapes: list[tuple[str, int, bool]], aims: list[tuple[dict[str, Any], bool]], form: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, setup.open() as sack:
        ns = sack.namespace("mine")
        fill(ns, shapes)
        chat, own = Path(folder) / "log.json", Path(folder) / "own.jsonl"
        chat.write_text(json.dumps(CHATS[form]))
        landed = ns.bring_in(read_files([chat], format=form))
        assert (landed.turns + landed.memories, landed.bad) == (3, 0)
        own.write_bytes(b"".join(ns.take_out()))
        for aim, hard in aims:
            ns.forget(hard=hard, **aim)
        left = shown(ns)
        for path, name in ((own, "haversack"), (chat, form), (own, "haversack")):
            done = ns.bring_in(read_files([path], format=name))
            assert (done.turns, done.memories, done.records, done.bad) == (0, 0, 0, 0)
            assert shown(ns) == left
