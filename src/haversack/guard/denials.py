"""Who was refused what: a line in the log for every one, and for known keys entries in the audit, within bounds."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from starlette.types import Message, Send

from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.guard.pace import Buckets

__all__ = ["DENIED", "Answered", "Denial", "Denials"]

DENIED = frozenset({401, 403})
"""Statuses of answers that are denials."""
_LOG = logging.getLogger("haversack.denials")
_DAY = 86_400
_ENTRIES_A_DAY = 100
"""Of one key in the audit, evenly refilled, so that a campaign cannot fill the store; the log has all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """One refusal."""

    status: int
    address: str
    """Where the request came from."""
    route: str
    """The method and the route as it is declared, or the tool; never what the caller wrote."""
    key: Key | None = None
    code: str | None = None
    namespace: str | None = None
    """The one that the key does not reach."""
    request: str | None = None


class Answered:
    """A `send` that remembers the status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Pass it on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


class Denials:
    """The denials of one door."""

    def __init__(self, sack: Haversack) -> None:
        self._sack = sack
        self._entries = Buckets(_ENTRIES_A_DAY, seconds=_DAY)

    def note(self, denial: Denial) -> None:
        """Log it, and put it into the audit where a known key is refused."""
        key = denial.key
        fields = {
            "request": denial.request,
            "status": denial.status,
            "address": denial.address,
            "route": denial.route,
            "key": None if key is None else key.id,
            "code": denial.code,
            "namespace": denial.namespace,
        }
        _LOG.warning(
            "denied: %d %s from %s", denial.status, denial.route, denial.address or "nowhere", extra={"fields": fields}
        )
        if key is not None and self._entries.take(key.id, asyncio.get_running_loop().time()) >= 0:
            deed = Deed(who=key.id, did="denied", namespace=denial.namespace, request=denial.request)
            self._sack.audit.note(deed)
