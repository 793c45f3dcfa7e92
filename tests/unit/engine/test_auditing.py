from __future__ import annotations

from collections.abc import Callable

import pytest

from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.errors import BusyError
from haversack.store.memory import MemoryStore
from haversack.store.port import SYSTEM, Applied, Batch


class Refusing(MemoryStore):
    """Refuses the first write to the system's namespace."""

    refusals = 1

    def apply(self, namespace: str, batch: Batch) -> Applied:
        if namespace == SYSTEM and self.refusals:
            self.refusals -= 1
            raise BusyError("somebody else writes")
        return super().apply(namespace, batch)


def test_entries_that_could_not_be_written_wait_for_the_next_time(engine: Callable[..., Haversack]) -> None:
    audit = engine(Refusing()).audit
    audit.note(Deed(who="key1", did="remember", namespace="alice"))
    with pytest.raises(BusyError):
        audit.flush()
    audit.note(Deed(who="key1", did="forget", namespace="alice"))
    assert [deed.did for deed in audit.read()] == ["remember", "forget"]
