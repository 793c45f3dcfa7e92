"""What each tool takes: one frozen value per tool, from which its JSON schema is made, so that the two cannot differ.

Every word of a schema is paid for in each model call, so descriptions are short and only one tool lists the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from haversack.errors import InputError, nearest
from haversack.model.memory import Kind

__all__ = [
    "Arguments",
    "ContextArguments",
    "ForgetArguments",
    "HistoryArguments",
    "RecallArguments",
    "RememberArguments",
    "SessionsArguments",
    "WhyArguments",
    "given",
    "read_arguments",
    "schema_of",
]

_Arguments = TypeVar("_Arguments", bound="Arguments")

_Text = str | UnsetType
_Texts = list[str] | UnsetType
_Budget = Annotated[int, Meta(ge=0, description="tokens at most")] | UnsetType
_Model = Annotated[str, Meta(description="whose tokens")] | UnsetType


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one call."""


class RememberArguments(Arguments, frozen=True, kw_only=True):
    """What to keep."""

    content: Annotated[str, Meta(description="one statement, or a turn's words")]
    kind: Kind | UnsetType = UNSET
    importance: Annotated[float, Meta(ge=0, le=1)] | UnsetType = UNSET
    tags: _Texts = UNSET
    event_time: Annotated[str, Meta(description="ISO 8601, when it happened")] | UnsetType = UNSET
    supersedes: Annotated[str, Meta(description="id of a memory that this replaces")] | UnsetType = UNSET
    subject: Annotated[str, Meta(description="as alice/city: ends what was said on it before")] | UnsetType = UNSET
    id: Annotated[str, Meta(description="reword this memory")] | UnsetType = UNSET
    session: Annotated[str, Meta(description="conversation it comes from")] | UnsetType = UNSET
    role: Annotated[Literal["user", "assistant"], Meta(description="with session: append a turn")] | UnsetType = UNSET


class Question(Arguments, frozen=True, kw_only=True):
    """A question and its filters."""

    query: str
    kinds: _Texts = UNSET
    tags: _Texts = UNSET
    session: _Text = UNSET
    since: Annotated[str, Meta(description="ISO 8601")] | UnsetType = UNSET
    until: Annotated[str, Meta(description="before, or through a date")] | UnsetType = UNSET


class RecallArguments(Question, frozen=True, kw_only=True):
    """What to look for."""

    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class ContextArguments(Question, frozen=True, kw_only=True):
    """What to pack."""

    budget: _Budget = UNSET
    model: _Model = UNSET


class WhyArguments(Arguments, frozen=True, kw_only=True):
    """Which memory to follow through which context."""

    query: str
    id: str
    budget: _Budget = UNSET
    model: _Model = UNSET


class ForgetArguments(Arguments, frozen=True, kw_only=True):
    """What to forget."""

    ids: _Texts = UNSET
    session: Annotated[str, Meta(description="instead of ids: all of this conversation")] | UnsetType = UNSET
    hard: Annotated[bool, Meta(description="erase for good")] = False
    execute: Annotated[bool, Meta(description="else only a preview")] = False
    undo: Annotated[bool, Meta(description="bring softly forgotten ids back")] = False


class HistoryArguments(Arguments, frozen=True, kw_only=True):
    """What to tell the history of."""

    subject: str


class SessionsArguments(Arguments, frozen=True, kw_only=True):
    """Which conversations, or which turns of one."""

    session: Annotated[str, Meta(description="show its turns")] | UnsetType = UNSET
    after: Annotated[int, Meta(ge=-1, description="turns behind this")] = -1
    limit: Annotated[int, Meta(ge=1, le=200)] = 20


def read_arguments(kind: type[_Arguments], arguments: Mapping[str, Any] | None) -> _Arguments:
    """Checked arguments; InputError says which one is wrong. A null counts as not given."""
    said = {name: value for name, value in (arguments or {}).items() if value is not None}
    for name in said:
        if name not in kind.__struct_fields__:
            raise InputError(f"unknown argument {name!r}: {nearest(name, kind.__struct_fields__)}")
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        raise InputError(f"the arguments do not fit: {error}") from None


def given(arguments: Arguments, *names: str) -> dict[str, Any]:
    """Those of the named arguments that the caller gave, as keywords."""
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not UNSET}


def schema_of(kind: type[Arguments]) -> dict[str, Any]:
    """The JSON schema, with nothing in it that a model does not need."""
    _, shapes = msgspec.json.schema_components([kind])
    whole = cast("dict[str, Any]", shapes[kind.__name__])
    properties = {name: _plain(schema, shapes) for name, schema in whole["properties"].items()}
    required = {"required": whole["required"]} if whole.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _plain(schema: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """One property; a closed choice stands in it instead of being pointed at."""
    said = {word: value for word, value in schema.items() if word not in {"$ref", "default"}}
    if "$ref" in schema:
        said |= {"type": "string", "enum": shapes[schema["$ref"].rpartition("/")[2]]["enum"]}
    return said
