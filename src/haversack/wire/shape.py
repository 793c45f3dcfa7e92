"""Checked access to decoded JSON. Every error names the path of what is wrong, such as `messages[3].content`."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import TypeAlias, cast

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.model.text import clean

__all__ = ["Record", "as_items", "as_record", "as_text", "compact", "is_word", "optional_text", "refuse"]

Record: TypeAlias = dict[str, Json]


def as_record(value: object, path: str) -> Record:
    """The JSON object, or InputError."""
    if isinstance(value, dict):
        return cast("Record", value)
    raise refuse(value, path, "an object")


def as_items(value: object, path: str) -> list[Json]:
    """The JSON array (a tuple counts as one), or InputError."""
    if isinstance(value, list | tuple):
        return list(cast("list[Json]", value))
    raise refuse(value, path, "an array")


def as_text(value: object, path: str) -> str:
    """The string as it may be stored, or InputError."""
    if isinstance(value, str):
        return clean(value)
    raise refuse(value, path, "a string")


def optional_text(record: Record, key: str, path: str) -> str | None:
    """The string under `key`; None when it is absent, null or empty."""
    value = record.get(key)
    return None if value is None else as_text(value, f"{path}.{key}") or None


def is_word(value: Json, words: Container[str]) -> bool:
    """Whether the value is one of the words."""
    return isinstance(value, str) and value in words


def compact(value: Json) -> str:
    """JSON text without spaces, readable in every script; InputError when it is nested too deeply to be written."""
    try:
        return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise InputError("a value is nested too deeply") from None


def refuse(value: object, path: str, wanted: str) -> InputError:
    """The error for a value of the wrong shape."""
    found = "missing" if value is None else type(value).__name__
    return InputError(f"{path} must be {wanted}, not {found}")
