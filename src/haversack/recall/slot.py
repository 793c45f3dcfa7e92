"""One namespace's place on the shelf: its index, how far that is, and the memories read lately."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Event, Lock

from haversack.recall.index import Index
from haversack.recall.rows import Rows
from haversack.recall.view import IndexView

__all__ = ["Slot"]


@dataclass(slots=True)
class Slot:
    """One namespace's index and the memories read lately."""

    namespace: str
    index: Index
    rows: Rows
    turn: Lock = field(default_factory=Lock)
    """Whoever changes the index has it, for one page of changes at the most; whoever reads a view needs none."""
    shown: IndexView | None = None
    """The index after its last change; None while somebody changes it whom nobody has to wait for long."""
    whole: int = 0
    """The change number up to which nothing is missing; pages may have been taken in beyond it."""
    read: bool = False
    """Whether segments were looked for."""
    unsaved: int = 0
    """Rows taken in since the index was saved or loaded."""
    size: int = 0
    """Bytes of the index after its last change."""
    held: int = 0
    """Bytes that the shelf counts for the slot."""
    dropped: bool = False
    """Whether the shelf has it no more."""
    built: Event | None = None
    """Set once the builder is done; None while it has nothing to do here."""
    written: float = 0.0
    """When this process last wrote into the namespace, by `time.monotonic`."""
    saving: Future[None] | None = None

    def view(self) -> IndexView:
        """Return the index as it is now."""
        return self.shown or self.show()

    def show(self) -> IndexView:
        """Show the index as it is now."""
        self.size = self.index.nbytes
        self.shown = IndexView(namespace=self.namespace, index=self.index.view(), rows=self.rows)
        return self.shown

    def change(self, index: Index | None = None) -> Index:
        """Return the index to be changed, or another one in its place.

        It is no longer as it was shown. While the builder is at work, questions go on with what was shown; else that
        is dropped, so that nothing needs to be copied.
        """
        if self.built is None:
            self.shown = None
        self.index = index or self.index
        return self.index
