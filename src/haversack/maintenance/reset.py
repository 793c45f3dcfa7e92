"""Resetting: erasing a whole namespace, or all of them, for good, after the caller typed its name.

Unlike `forget(everything=True, hard=True)` it leaves no tombstones and digests: what was exported before can be brought
in again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from haversack.errors import NotFoundError
from haversack.maintenance.checks import require_confirmation
from haversack.maintenance.run import Desk, running
from haversack.store.port import BYTES_WAIT, SYSTEM, Batch, Census, Erasure

__all__ = ["ResetDone", "reset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetDone:
    """What is gone, or with `preview` would be."""

    preview: bool
    namespaces: Mapping[str, Census] = field(default_factory=dict[str, Census])
    confirm: str
    """What the caller has to type."""
    snapshot: str | None = None
    """The snapshot that was taken before; it still holds everything."""
    run: str | None = None
    scrubbed: bool = True
    """False while erased bytes are left in a file, as in `Forgotten`."""

    def __str__(self) -> str:
        verb = "would erase" if self.preview else "erased"
        memories = sum(sum(each.memories.values()) + each.deleted for each in self.namespaces.values())
        turns = sum(each.turns for each in self.namespaces.values())
        waiting = "" if self.scrubbed else f"; {BYTES_WAIT}"
        return f"{verb} for good: {memories} memories and {turns} turns in {len(self.namespaces)} namespaces{waiting}"


def reset(
    desk: Desk,
    names: Sequence[str],
    expected: str,
    *,
    execute: bool,
    confirm: str | None = None,
    backup: Callable[[], str] | None = None,
    before: Callable[[str], None] = lambda _: None,
) -> ResetDone:
    """Erase these namespaces; `desk` is that of what spans namespaces, where the run is written down.

    `before` cleans that of the names of a namespace's sessions.
    """
    store = desk.store
    known = set(store.namespaces(names))
    if missing := [name for name in names if name not in known]:
        raise NotFoundError(f"no namespace {missing[0]!r} here")
    counts = {name: store.census(name) for name in names}
    if not execute:
        return ResetDone(preview=True, namespaces=counts, confirm=expected)
    require_confirmation(confirm, expected)
    with running(desk, "reset") as journal:
        taken = backup() if backup is not None else None
        if taken is not None:
            journal.note(backup=taken)
        for name in names:
            if name != SYSTEM:
                before(name)
                store.apply(name, Batch(erase=Erasure(everything=True, graves=False)))
        journal.count(namespaces=len(names))
        return ResetDone(preview=False, namespaces=counts, confirm=expected, snapshot=taken, run=journal.run.id)
