"""Messages with their times and session made into session entries whose turns are the same at every import.

A turn's key is a digest of what was said (role, content, calls) and how often the session said just that before. So a
log that repeats earlier messages in every run, and a file that is imported twice, add only what is new.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text
from haversack.model.times import Moment, read_time
from haversack.transfer.entries import Problem, SessionEntry, TurnDraft, Value
from haversack.wire.pairing import pair
from haversack.wire.shape import Record, compact

__all__ = ["Said", "SessionNames", "first_time", "make_session", "message_digest", "session_name", "short_digest"]

_TIME_KEYS = ("create_time", "created_at", "timestamp", "time", "date", "at", "ts", "createdAt", "sent_at")
_SESSION_KEYS = ("session_id", "conversation_id", "thread_id", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as a reader found it."""

    message: Message
    at: datetime | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])


def make_session(
    session: str,
    said: Sequence[Said],
    *,
    begun: datetime | None = None,
    ended: datetime | None = None,
    title: str | None = None,
    seen: Counter[str] | None = None,
) -> SessionEntry:
    """The entry, calls and results paired.

    A message without a time takes that of the message before it; at the start, the conversation's beginning, its
    first dated message, or its end. `seen` carries the count of equal messages on from earlier entries of one run.
    """
    seen = Counter() if seen is None else seen
    fallback = begun or next((one.at for one in said if one.at), None) or ended
    previous: datetime | None = None
    turns: list[TurnDraft] = []
    for one, message in zip(said, pair([one.message for one in said]), strict=True):
        at, origin = (one.at, None) if one.at else _guess(previous, fallback)
        previous = at or previous
        digest = message_digest(message)
        key = f"{digest}.{seen[digest]}"
        seen[digest] += 1
        metadata = one.metadata if origin is None else {**one.metadata, "time_from": origin}
        turns.append(TurnDraft(message=message, key=key, at=at, at_guess=origin is not None, metadata=metadata))
    return SessionEntry(session=session, turns=tuple(turns), title=title)


def message_digest(message: Message) -> str:
    """What was said, whatever ids and names it carries: 24 hexadecimal digits."""
    calls: list[Json] = [[call.name, call.arguments] for call in message.tool_calls]
    return short_digest(compact([message.role.value, [_essence(part) for part in message.parts], calls]), 24)


def short_digest(text: str, length: int) -> str:
    """The first hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]


def first_time(record: Record, value: Value, keys: Iterable[str] = _TIME_KEYS) -> tuple[datetime | None, list[Problem]]:
    """The first time that the record gives under one of the keys; an impossible one is passed over with a warning."""
    problems: list[Problem] = []
    for key in keys:
        given = record.get(key)
        if given is None or given == "":
            continue
        try:
            return read_time(cast("Moment", given), key), problems
        except InputError as error:
            problems.append(value.problem(f"{error}; read as unknown", warning=True))
    return None, problems


def session_name(record: Record, keys: Iterable[str] = _SESSION_KEYS) -> str | None:
    """The session's id where the record gives one."""
    for key in keys:
        name = record.get(key)
        if isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip():
            return str(name)
    return None


class SessionNames:
    """Names for conversations that have none, the same at every import.

    The name is the file's and a digest of the conversation's opening, up to its first user message. A conversation
    that begins with all messages of an earlier one is that one, grown.
    """

    def __init__(self) -> None:
        self._grown: dict[str, str] = {}
        """Digest of all messages of a conversation seen so far -> its name."""
        self._used: Counter[str] = Counter()

    def name(self, stem: str, messages: Sequence[Message]) -> str:
        """The conversation's name."""
        chain = list(_chain(messages))
        known = (self._grown[link] for link in reversed(chain) if link in self._grown)
        name = next(known, None) or self._new(stem, messages)
        if len(chain) > 1:  # one greeting alone makes no conversation the same as another
            self._grown[chain[-1]] = name
        return name

    def _new(self, stem: str, messages: Sequence[Message]) -> str:
        opening = next((n for n, message in enumerate(messages, 1) if message.role is Role.USER), len(messages))
        digests = "".join(message_digest(message) for message in messages[:opening])
        name = f"{stem}-{short_digest(digests, 8)}"
        self._used[name] += 1
        return name if self._used[name] == 1 else f"{name}-{self._used[name]}"


def _guess(previous: datetime | None, fallback: datetime | None) -> tuple[datetime | None, str]:
    if previous is not None:
        return previous, "previous"
    return (fallback, "conversation") if fallback is not None else (None, "import")


def _chain(messages: Sequence[Message]) -> Iterator[str]:
    link = ""
    for message in messages:
        link = short_digest(link + message_digest(message), 32)
        yield link


def _essence(part: Part) -> Json:
    match part:
        case Text():
            return part.text
        case Image():
            return ["image", part.url]
        case Opaque():
            return [part.kind, part.json]
