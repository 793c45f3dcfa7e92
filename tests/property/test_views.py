"""A view of an index stays what it was, whatever is changed behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.embed.codec import Quantised
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source, Stage
from haversack.recall.columns import NOWHERE, SCHEMA, WIDE, Flag
from haversack.recall.compact import compacted
from haversack.recall.index import Index
from haversack.recall.names import names_in
from haversack.recall.segments import dump
from haversack.store.port import Restaged

START = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = ["ferry", "late", "soup", "we", "rain?", "図書館"]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "word", "pin", "stage", "erase", "embed", "look", "look"]), st.integers(0, 19)
    ),
    max_size=40,
)


def memory(number: int) -> Memory:
    """One of a conversation in two sessions; some arrive after what was said later."""
    at = START + timedelta(hours=number)
    return Memory(
        id=make_id(at, number.to_bytes(10, "big")),
        kind=Kind.PASSAGE,
        content=f"{WORDS[number % 6]} {WORDS[number % 5]} {number}",
        created_at=at,
        event_time=at,
        speaker=("Ada", "user", f"guest {number}")[number % 3],
        entities=(WORDS[number % 4],),
        source=Source(session=(None, "s", "t")[number % 3]),
        born=1_000 - number if number % 2 else 1_000 + number,
    )


def vector(number: int) -> Quantised:
    words = np.full((number % 3, 1), number, np.uint8)
    return Quantised(number / 8, np.full(4, number, np.int8), np.full(2, number, np.uint8), words)


def shape(index: Index) -> dict[str, object]:
    """All that the index tells, in values of its own."""
    rows = index.columns.rows
    told: dict[str, object] = {name: getattr(index.columns, name).tolist() for name in (*SCHEMA, *WIDE)}
    for name, postings in (("words", index.words), ("facets", index.facets)):
        found = [run.keys.tolist() for run in postings.runs()]
        told[name] = [[part.tolist() for part in postings.find(key)] for keys in found for key in keys]
    signs, counts = index.signs.of(np.arange(rows))
    return told | {
        "ids": index.ids[:rows],
        "names": list(index.names),
        "said": index.names.said("we saw soup at the ferry, late"),
        "signs": (signs.tolist(), counts.tolist()),
        "speakers": index.speakers_named(frozenset(WORDS) | {"ada", "guest"}),
        "sessions": index.session_length[:],
        "sums": (index.present, index.total_length, index.total_size, index.in_roles, index.unembedded, index.upto),
        "dated": index.dated,
        "extent": [part.tolist() if isinstance(part, np.ndarray) else part for part in index.extent],
    }


def take(index: Index, living: dict[int, Memory], verb: str, which: int) -> None:
    """One change of what is held; what is not there is added."""
    if which not in living or verb == "add":
        living[which] = living.get(which) or memory(which)
        index.put([living[which]], {living[which].id: vector(which)} if which % 2 else {})
    elif verb == "erase":
        index.drop([living.pop(which).id])
    elif verb == "embed":
        index.embed({living[which].id: vector(which + 1)})
    elif verb == "stage":
        index.restage([Restaged(living[which].id, Stage.DELETED, 0.2)])
    else:
        field = {"content": living[which].content + " late"} if verb == "word" else {"pinned": True}
        living[which] = replace(living[which], **field)  # type: ignore[arg-type]
        index.put([living[which]], {})


@given(steps=STEPS)
@settings(deadline=None)
def test_a_view_stays_what_it_was(steps: list[tuple[str, int]]) -> None:
    index, living = Index(4, None, 1), dict[int, Memory]()
    held: list[tuple[Index, dict[str, object]]] = []
    for verb, which in steps:
        if verb == "look":
            view = index.view()
            held.append((view, shape(view)))
            assert held[-1][1] == shape(index)
        else:
            take(index, living, verb, which)
    assert [shape(view) for view, _ in held] == [told for _, told in held]


@given(steps=STEPS)
@settings(deadline=None)
def test_views_change_nothing_behind_them(steps: list[tuple[str, int]]) -> None:
    watched, alone = Index(4, None, 1), Index(4, None, 1)
    held: list[Index] = []
    living: tuple[dict[int, Memory], dict[int, Memory]] = ({}, {})
    for verb, which in steps:
        if verb == "look":
            held.append(watched.view())
        else:
            take(watched, living[0], verb, which)
            take(alone, living[1], verb, which)
    assert shape(watched) == shape(alone)


def by_id(index: Index) -> dict[str, dict[str, object]]:
    """What the index holds of each memory, with names in place of its own numbers."""
    columns, codes = index.columns, list(index.speakers)
    names: dict[str, Sequence[str]] = {"session": index.session_names, "speaker": codes}
    names |= dict.fromkeys(("previous", "following"), index.ids)
    told: dict[str, dict[str, object]] = {}
    present: list[int] = np.flatnonzero(columns.flags & np.uint16(Flag.PRESENT)).tolist()
    for row in present:
        held: dict[str, object] = {name: getattr(columns, name)[row].tolist() for name in (*SCHEMA, *WIDE)}
        held |= {name: None if held[name] == NOWHERE else known[held[name]] for name, known in names.items()}  # type: ignore[index]
        held["signs"] = index.signs.of(np.array([row]))[0].tolist()
        told[index.ids[row]] = held
    for name, postings in (("words", index.words), ("facets", index.facets)):
        for run in postings.runs():
            for key, row, count in zip(run.spread().tolist(), run.rows.tolist(), run.counts.tolist(), strict=True):
                if row in present:  # an id that was erased and came again has two rows
                    told[index.ids[row]][f"{name} {key}"] = count
    return told


def sums(index: Index) -> dict[str, object]:
    """What the index holds of all memories together."""
    used = index.extent.session_lengths
    lengths = {name: used[code] for name, code in index.sessions.items() if used[code]}
    tails = {
        name: index.ids[index.tails[code]] for name, code in index.sessions.items() if index.tails[code] != NOWHERE
    }
    return {
        "sums": (index.present, index.total_length, index.total_size, index.in_roles, index.unembedded, index.upto),
        "extent": [
            getattr(index.extent, name) for name in ("earliest", "pinned", "trusted", "session_mean", "session_count")
        ],
        "sessions": lengths,
        "tails": tails,
        "speakers": index.speakers_named(frozenset(WORDS) | {"ada", "guest"}),
    }


@given(steps=STEPS)
@settings(deadline=None)
def test_a_compacted_index_holds_the_same_and_nothing_of_what_is_gone(steps: list[tuple[str, int]]) -> None:
    index, living = Index(4, None, 1), dict[int, Memory]()
    for verb, which in steps:
        if verb != "look":
            take(index, living, verb, which)
    before = shape(index)
    made = compacted(index.view())
    assert shape(index) == before
    assert (made.gone, sorted(made.ids)) == (0, sorted(one.id for one in living.values()))
    assert by_id(made) == by_id(index)
    assert sums(made) == sums(index)
    assert set(made.session_names) == {one.source.session for one in living.values()} - {None}
    assert set(made.speakers) == {one.speaker for one in living.values()}
    assert set(made.names) == {name for one in living.values() for name in names_in(one.entities)}
    fresh = Index(4, None, 1)
    fresh.put(list(living.values()), {})
    for ours, wanted in ((made.words, fresh.words), (made.facets, fresh.facets)):
        assert {key for run in ours.runs() for key in run.keys.tolist()} == {
            key for run in wanted.runs() for key in run.keys.tolist()
        }
    assert dump(made)
