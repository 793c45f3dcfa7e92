"""Turns that a soft forget hides from every read: a record each, written and removed with the stage of its passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from haversack.engine.core import Core
from haversack.model.memory import Kind, Memory, SessionInfo, Turn
from haversack.store.port import HIDDEN, Written

__all__ = ["hidden_turns", "hiding", "showing", "shown_sessions", "shown_turns"]

_PAGE = 1_000


def hiding(memories: Iterable[Memory]) -> tuple[Written, ...]:
    """The records that hide the turns whose words these passages repeat."""
    return tuple(Written(collection=HIDDEN, key=turn, value=b"") for turn in _turns(memories))


def showing(memories: Iterable[Memory]) -> tuple[Written, ...]:
    """The records that show them again."""
    return tuple(Written(collection=HIDDEN, key=turn, value=None) for turn in _turns(memories))


def hidden_turns(core: Core, namespace: str) -> frozenset[str]:
    """Ids of all turns that are hidden."""
    found: set[str] = set()
    after, more = "", True
    while more:
        page = core.store.records(namespace, HIDDEN, after=after, limit=_PAGE)
        found.update(record.key for record in page)
        more = len(page) == _PAGE
        after = page[-1].key if page else after
    return frozenset(found)


def shown_turns(core: Core, namespace: str, session: str, *, after: int = -1, limit: int | None = None) -> list[Turn]:
    """Turns of a session behind position `after`, without those that are hidden: `limit` of them, if there are."""
    return core.store.turns(namespace, session, after=after, limit=limit, shown=True)


def shown_sessions(core: Core, namespace: str) -> list[SessionInfo]:
    """All sessions with turns that are shown, counted and dated by these, the newest first, then by id."""
    hidden = core.store.turns_by_id(namespace, list(hidden_turns(core, namespace)))
    touched = {turn.session for turn in hidden}
    infos = core.store.sessions(namespace)
    if not touched:
        return infos
    kept = (_counted(info.id, shown_turns(core, namespace, info.id)) if info.id in touched else info for info in infos)
    by_name = sorted((info for info in kept if info is not None), key=attrgetter("id"))
    return sorted(by_name, key=attrgetter("last_at"), reverse=True)


def _counted(session: str, turns: Sequence[Turn]) -> SessionInfo | None:
    times = [turn.at for turn in turns]
    return SessionInfo(id=session, turns=len(turns), first_at=min(times), last_at=max(times)) if times else None


def _turns(memories: Iterable[Memory]) -> list[str]:
    return list(dict.fromkeys(turn for one in memories if one.kind is Kind.PASSAGE for turn in one.source.turns))
