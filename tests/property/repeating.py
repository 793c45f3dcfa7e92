"""An engine over any store whose clock and ids repeat from run to run."""

from __future__ import annotations

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.model.times import from_micros
from haversack.recall import Recall
from haversack.store.port import Store
from haversack.tokens import counter_for


def open_over(store: Store) -> Haversack:
    """Open it without an embedder; each look at the clock and each id is the next."""
    drawn = iter(range(1, 100_000))
    return Haversack(
        Core(
            store=store,
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=lambda: from_micros((next(drawn) + 10**9) * 10**6),
            entropy=lambda size: next(drawn).to_bytes(size, "big"),
            counter=counter_for,
        )
    )
