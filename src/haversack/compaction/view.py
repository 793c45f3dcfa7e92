"""What of a session goes into the prompt: some turns stand behind summaries, some tool results as pointers.

Law: nothing is lost. A view only names positions; the turns themselves stay in the store. Folds never overlap, so no
summary stands for a turn that another one covers, and opening a fold gives its turns back as they were said. Whatever
is appended later stands verbatim until a view that names it lands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from haversack.errors import InputError, NotFoundError
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text
from haversack.model.pointers import tool_pointer
from haversack.store.port import Store, Written
from haversack.store.records import Collection

__all__ = [
    "COLLECTION",
    "VIEWS",
    "Fold",
    "Shown",
    "View",
    "load_view",
    "pointer",
    "render",
    "shown",
    "stand_in",
    "view_write",
]

COLLECTION = "view"
"""Records of views, by session id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A summary that stands for the turns at positions start..stop-1."""

    summary: str
    """Id of the summary memory."""
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One message of a session as its view shows it."""

    message: Message
    id: str
    """Of the turn, or of the summary that stands for several."""
    stands_for: int = 0
    """How many turns, for a summary; 0 for a turn itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The exceptions from verbatim, of one session."""

    session: str
    folds: tuple[Fold, ...] = ()
    """By position."""
    cleared: tuple[int, ...] = ()
    """Positions of tool results that stand as pointers, sorted."""

    def __post_init__(self) -> None:
        """Refuse folds that are empty, out of order or overlap."""
        end = 0
        for fold in self.folds:
            if not end <= fold.start < fold.stop:
                raise InputError(f"fold {fold.summary!r} ({fold.start}..{fold.stop}) is empty or overlaps another")
            end = fold.stop

    def fold_at(self, position: int) -> Fold | None:
        """The fold that stands for a turn."""
        return next((fold for fold in self.folds if fold.start <= position < fold.stop), None)

    def inside(self, start: int, stop: int) -> tuple[Fold, ...]:
        """Folds that lie in start..stop-1; InputError when one sticks out."""
        touched = tuple(fold for fold in self.folds if fold.start < stop and start < fold.stop)
        if any(fold.start < start or fold.stop > stop for fold in touched):
            raise InputError(f"positions {start}..{stop} cut through a fold")
        return touched

    def folded(self, fold: Fold) -> View:
        """With one more fold, which takes the place of those inside it."""
        replaced = self.inside(fold.start, fold.stop)
        kept = [old for old in self.folds if old not in replaced]
        return replace(self, folds=tuple(sorted([*kept, fold], key=lambda each: each.start)))

    def opened(self, summary: str) -> View:
        """Without the fold of this summary: its turns stand verbatim again, cleared results included."""
        fold = self.fold_of(summary)
        kept = tuple(position for position in self.cleared if not fold.start <= position < fold.stop)
        return replace(self, folds=tuple(old for old in self.folds if old is not fold), cleared=kept)

    def fold_of(self, summary: str) -> Fold:
        """The fold of this summary; NotFoundError when it stands for nothing."""
        for fold in self.folds:
            if fold.summary == summary:
                return fold
        raise NotFoundError(f"summary {summary!r} stands for no turns of session {self.session!r}")

    def with_cleared(self, positions: Sequence[int]) -> View:
        """With these tool results as pointers, too."""
        return replace(self, cleared=tuple(sorted({*self.cleared, *positions})))

    def encode(self) -> bytes:
        """JSON, as the store keeps it."""
        return msgspec.json.encode(self)


VIEWS = Collection(COLLECTION, View)


def load_view(store: Store, namespace: str, session: str) -> tuple[View, int]:
    """The session's view and its record's version (0 when everything stands verbatim)."""
    record = store.record(namespace, COLLECTION, session)
    return VIEWS.value_of(record) or View(session=session), 0 if record is None else record.version


def view_write(view: View, version: int) -> Written:
    """The record to write in place of the one with that version."""
    return Written(collection=COLLECTION, key=view.session, value=view.encode(), expected=version)


def render(view: View, turns: Sequence[Turn], summaries: Mapping[str, str]) -> list[Message]:
    """The session's messages as the view shows them; `summaries` holds the content of each fold's memory by its id.

    A fold whose summary is not there (erased) shows its turns instead.
    """
    return [each.message for each in shown(view, turns, summaries)]


def shown(view: View, turns: Sequence[Turn], summaries: Mapping[str, str]) -> Iterator[Shown]:
    """As `render`, with what each message stands for."""
    current: Fold | None = None
    hidden_calls: set[str] = set()
    for turn in turns:
        fold = view.fold_at(turn.position)
        if fold is not None and fold.summary in summaries:
            hidden_calls |= {call.id for call in turn.message.tool_calls}
            if fold is not current:
                words = stand_in(fold, summaries[fold.summary])
                yield Shown(message=words, id=fold.summary, stands_for=fold.stop - fold.start)
            current = fold
        else:
            hidden_calls -= {call.id for call in turn.message.tool_calls}
            message = pointer(turn) if turn.position in view.cleared else turn.message
            yield Shown(message=_late_result(message) if message.tool_call_id in hidden_calls else message, id=turn.id)


def stand_in(fold: Fold, content: str) -> Message:
    """The message that stands for a fold's turns."""
    return Message(
        role=Role.USER,
        parts=(
            Text(
                f"[Summary of earlier turns {fold.start + 1}-{fold.stop} of this conversation, kept in full; "
                f"to read them: expand {fold.summary}]\n{content}"
            ),
        ),
    )


def pointer(turn: Turn) -> Message:
    """The message that stands for a cleared tool result."""
    return tool_pointer(turn.message, turn.id)


def _late_result(message: Message) -> Message:
    """A tool result that came after its call went behind a summary: no provider takes it without the call."""
    return Message(role=Role.USER, parts=(Text("[Late result of an earlier tool call]"), *message.parts))
