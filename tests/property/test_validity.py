"""The default reading is the reading as of now, whatever was told of what begins, ends and follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from .places import START, Setup, everywhere

DAYS = st.one_of(st.none(), st.integers(-9, 9))
STATEMENT = st.fixed_dictionaries(
    {
        "subject": st.sampled_from([None, "alice/city", "bob/city"]),
        "said": DAYS,
        "begins": DAYS,
        "lasts": st.one_of(st.none(), st.integers(1, 9)),
        "supersedes": st.one_of(st.none(), st.integers(0, 5)),
        "then": st.sampled_from(["", "", "", "correct", "merge", "fold", "forget"]),
    }
)


def day(number: int | None) -> object:
    return None if number is None else START + timedelta(days=number)


def told(number: int, one: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    begins, lasts, follows = one["begins"], one["lasts"], one["supersedes"]
    return {
        "content": f"Place {number} is the home",
        "event_time": day(one["said"]),
        "valid_from": day(begins),
        "valid_to": None if lasts is None else day((begins or 0) + lasts),
        **({"subject": one["subject"]} if one["subject"] else {}),
        **({"supersedes": ids[follows]} if follows is not None and follows < len(ids) else {}),
    }


def change(ns: Any, verb: str, ids: list[str]) -> None:
    if verb == "correct":
        ids.append(ns.knowledge.correct(ids[0], f"Home {len(ids)} it is").id)
    elif verb == "fold":
        ns.fold(preview=False)
    elif verb == "forget":
        ns.forget(ids[-1])
    elif verb == "merge":
        free = [one.id for one in ns.everything() if one.superseded_by is None and one.valid_to is None]
        if len(free) > 1:
            ids.append(ns.merge(free[:2]).id)


@everywhere
@settings(max_examples=100, deadline=None)
@given(statements=st.lists(STATEMENT, min_size=1, max_size=7))
def test_the_default_reading_is_the_reading_as_of_now(setup: Setup, statements: list[dict[str, Any]]) -> None:
    """Law: a read without `as_of` finds what a read as of now finds, in the index and in the rows."""
    with setup.open() as sack:
        ns: Any = sack.namespace()
        ids: list[str] = []
        for number, one in enumerate(statements):
            ids.append(ns.remember(**told(number, one, ids)).id)
            change(ns, one["then"], ids)
        now = START + timedelta(hours=1)
        live = {one.id for one in ns.everything()}
        assert live == {one.id for one in ns.everything(as_of=now)}
        assert live == {hit.id for hit in ns.recall("home place", top_k=100, now=now)}
        assert live == {hit.id for hit in ns.recall("home place", top_k=100, as_of=now)}
