"""What memory work costs: each model call is a record of its namespace, and caps are checked before the next one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from haversack.engine.core import Core
from haversack.errors import StoreError
from haversack.llm.cost import Call, MeteredService, Purpose, check_caps
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.times import EPOCH
from haversack.store.port import Batch, Written
from haversack.store.records import Collection

__all__ = ["CALLS", "COLLECTION", "booking", "calls", "metered"]

COLLECTION = "cost"
"""Records by ids that sort by time. They hold no words, and they go with their namespace."""
CALLS = Collection(COLLECTION, Call)
_PAGE = 1_000


def metered(core: Core, namespace: str, session: str | None, name: str, purpose: Purpose) -> MeteredService:
    """The configured service of that name, with every call booked; CapReached where the namespace has spent enough."""
    inner = core.runs.service(name, core.service)
    return MeteredService(
        inner=inner,
        purpose=purpose,
        namespace=namespace,
        session=session,
        book=partial(_book, core),
        allow=partial(_allow, core, namespace),
        clock=core.clock,
        count=core.counter(inner.model).count,
        prices=core.memory.costs.prices,
    )


def calls(
    core: Core, namespace: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[Call]:
    """The calls at or after `since` and before `until`, oldest first."""
    after = make_id(since or EPOCH, bytes(ENTROPY_BYTES))
    while page := core.store.records(namespace, COLLECTION, after=after, limit=_PAGE):
        for call in CALLS.values_of(page):
            if until is not None and call.at >= until:
                return
            if since is None or call.at >= since:
                yield call
        after = page[-1].key


def booking(core: Core, call: Call) -> Written:
    """Return the record that books a call."""
    key = make_id(call.at, core.entropy(ENTROPY_BYTES))
    return Written(collection=COLLECTION, key=key, value=call.encode(), expected=0, session=call.session)


def _book(core: Core, call: Call) -> None:
    with suppress(StoreError):  # the answer is paid for: it is not thrown away because its price could not be kept
        core.store.apply(call.namespace, Batch(records=(booking(core, call),)))


def _allow(core: Core, namespace: str) -> None:
    caps = core.memory.costs.caps
    if caps.is_limited:
        now = core.clock()
        check_caps(calls(core, namespace, since=now - timedelta(hours=caps.period_hours)), caps, now)
