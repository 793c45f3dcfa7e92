"""Reading records: one that cannot be decoded counts as absent, so that damage stops no verb; `doctor` reports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from haversack.store.port import Record

__all__ = ["Collection"]

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Collection(Generic[_Value]):
    """The records of one name, and the type of their values."""

    name: str
    type: type[_Value]
    ending: str = ""
    """Of the keys: one name may stand for records of two types."""

    def value_of(self, record: Record | None) -> _Value | None:
        """Return the value; None where there is no record, or one that cannot be decoded."""
        try:
            return None if record is None else self.decode(record.value)
        except (ValueError, RecursionError):
            return None

    def values_of(self, records: Iterable[Record]) -> Iterator[_Value]:
        """Yield the values that can be decoded."""
        return (value for record in records if (value := self.value_of(record)) is not None)

    def decode(self, data: bytes) -> _Value:
        """Return the value; raise ValueError or RecursionError that says what is wrong."""
        try:
            return msgspec.json.decode(data, type=self.type)
        except msgspec.DecodeError as error:
            raise ValueError(str(error)) from None
