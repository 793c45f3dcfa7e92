"""The error tree: every failure a caller may meet, and nothing else.

HaversackError
├── InputError (ValueError)         what was asked makes no sense; fix the call
│   ├── ConfigError                 an unknown, misplaced or out-of-range setting
│   └── QueryError                  a query that expresses no topic
├── NotFoundError (LookupError)     an id, session, namespace or run that does not exist
├── BudgetError                     fixed and pinned parts alone exceed the budget; carries the ledger
├── ConflictError                   somebody else changed the record first; read again and retry
├── RefusedError                    a check stood in the way of maintenance; nothing was touched
├── StoreError                      the store cannot do it
│   ├── NotAStoreError              the file is something else, or damaged
│   ├── NewerStoreError             written by a newer program; upgrade Haversack
│   ├── ReadOnlyError               the store or its folder cannot be written
│   ├── NoSpaceError                the disk is full; earlier data is intact
│   └── BusyError                   another writer held the store for too long
│       └── CrowdedError            too much work is waiting already
├── ServiceError                    an embedding or chat service failed
│   └── ServiceTimeout              it did not answer in time
└── MissingExtraError               an optional package is needed; the message names the install command
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "BudgetError",
    "BusyError",
    "ConfigError",
    "ConflictError",
    "CrowdedError",
    "HaversackError",
    "InputError",
    "MissingExtraError",
    "NewerStoreError",
    "NoSpaceError",
    "NotAStoreError",
    "NotFoundError",
    "QueryError",
    "ReadOnlyError",
    "RefusedError",
    "ServiceError",
    "ServiceTimeout",
    "StoreError",
    "nearest",
    "outward",
]


class HaversackError(Exception):
    """Whatever Haversack raises on purpose is one of these."""


class InputError(HaversackError, ValueError):
    """The call's arguments make no sense; the message names the argument, its value and what is allowed."""


class ConfigError(InputError):
    """A setting is unknown, misplaced or out of range; the message names its full path."""


class QueryError(InputError):
    """The query is blank, so it expresses no topic."""


class NotFoundError(HaversackError, LookupError):
    """What the id or name stands for does not exist in this namespace."""


class BudgetError(HaversackError):
    """Pinned and fixed parts alone do not fit; `ledger` itemises them."""

    def __init__(self, message: str, ledger: object = None) -> None:
        super().__init__(message)
        self.ledger = ledger


class ConflictError(HaversackError):
    """A compare-and-set found another value than expected."""


class RefusedError(HaversackError):
    """A check before maintenance said no; `check` is its name, the message what helps. Nothing was touched."""

    def __init__(self, check: str, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check


class StoreError(HaversackError):
    """The store refused or failed; nothing was half done."""


class NotAStoreError(StoreError):
    """The file is not a Haversack store, or it is damaged."""


class NewerStoreError(StoreError):
    """The store's schema is newer than this program; the file was not touched."""


class ReadOnlyError(StoreError):
    """The store can be read but not written."""


class NoSpaceError(StoreError):
    """There is no room left; everything acknowledged before is intact."""


class BusyError(StoreError):
    """Another writer held the store longer than the busy time-out."""


class CrowdedError(BusyError):
    """Too much work is waiting on the job board already; the message says whose."""


class ServiceError(HaversackError):
    """A model service (embeddings or chat) failed or answered nonsense."""


class ServiceTimeout(ServiceError):  # noqa: N818 - named for what happened, like TimeoutError's kin in the field
    """A model service did not answer within its time-out."""


class MissingExtraError(HaversackError, ImportError):
    """An optional dependency is not installed; the message names the command that installs it."""


def nearest(wrong: str, known: Iterable[str]) -> str:
    """A phrase that names the closest known word, or lists the known ones: ready to end a message."""
    names = sorted(set(map(str, known)))
    close = get_close_matches(wrong.casefold(), names, n=1, cutoff=0.55)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


_OUTWARD: tuple[tuple[type[StoreError], str], ...] = (
    (NoSpaceError, "the store's disk is full; what was acknowledged is intact"),
    (ReadOnlyError, "the store can be read but not written"),
    (BusyError, "another writer holds the store for too long; try again"),
    (StoreError, "the store cannot do it now; the server's log says why"),
)


def outward(error: Exception) -> str:
    """Say it for a caller elsewhere, without the store's path, which is its operator's business."""
    if isinstance(error, StoreError) and not isinstance(error, CrowdedError):
        return next(words for kind, words in _OUTWARD if isinstance(error, kind))
    return str(error) or type(error).__name__
