"""Keys and the audit: what an admin looks after. Nobody hands out more rights than they have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Path, Query
from msgspec import UNSET, UnsetType
from pydantic import Field
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from haversack.engine.auditing import Deed
from haversack.engine.keys import Issued, Key, Scope
from haversack.errors import NotFoundError
from haversack.guard.refusal import Refused
from haversack.model.times import read_time
from haversack.server.caller import AdminCaller, Caller
from haversack.server.requests import Body, UntilQuery
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import DeedShape, IssuedShape, KeyShape, answer, deed_shape, key_shape

__all__ = [
    "KeyBody",
    "KeyId",
    "Patterns",
    "change_rights",
    "end_key",
    "issue_key",
    "key_of",
    "keys_of",
    "renew_key",
    "router",
]

router = APIRouter(route_class=StrictRoute, tags=["keys and audit"], prefix="/v1")

KeyId = Annotated[str, Path(min_length=1, max_length=64)]
Patterns = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=1000)]


class KeyBody(Body):
    """A key to make."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    scope: Annotated[Scope, Field(strict=False)] = Scope.READ
    namespaces: Patterns | None = None
    """Exact names, or `prefix*`; without it the key reaches every namespace."""
    expires_at: str | float | None = None


class KeyChanges(Body):
    """What to change of a key."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    namespaces: Patterns | None = None


class RotateBody(Body):
    """How long the old key goes on working."""

    grace_seconds: Annotated[int, Field(ge=0, le=604_800)] = 0


class Keys(TypedDict):
    """Keys by age."""

    keys: list[KeyShape]


class Deeds(TypedDict):
    """Entries of the audit, oldest first; ask for more with `cursor`."""

    deeds: list[DeedShape]
    next: str | None


class Pruned(TypedDict):
    """How many entries went."""

    removed: int


@router.post("/keys", response_model=IssuedShape, status_code=201, responses=problems(409))
def create_key(caller: AdminCaller, body: KeyBody) -> Response:
    """Make a key. The secret is in this answer and nowhere else."""
    return answer(_issued(issue_key(caller, body)), status=201)


@router.get("/keys", response_model=Keys, responses=PROBLEMS)
def list_keys(caller: AdminCaller) -> Response:
    """The keys within the caller's own namespaces."""
    return answer(Keys(keys=[key_shape(key) for key in keys_of(caller)]))


@router.get("/keys/{key_id:label}", response_model=KeyShape, responses=PROBLEMS)
def get_key(caller: AdminCaller, key_id: KeyId) -> Response:
    """One key."""
    return answer(key_shape(key_of(caller, key_id)))


@router.patch("/keys/{key_id:label}", response_model=KeyShape, responses=problems(409))
def change_key(caller: AdminCaller, key_id: KeyId, body: KeyChanges) -> Response:
    """Rename a key or give it other namespaces."""
    namespaces = body.namespaces if "namespaces" in body.model_fields_set else UNSET
    return answer(key_shape(change_rights(caller, key_id, name=body.name, namespaces=namespaces)))


@router.delete("/keys/{key_id:label}", response_model=KeyShape, responses=problems(409))
def revoke_key(caller: AdminCaller, key_id: KeyId, *, children: bool = False) -> Response:
    """From now on the key opens nothing, nor with `children` any key that it made."""
    return answer(key_shape(end_key(caller, key_id, children=children)))


@router.post("/keys/{key_id:label}/rotate", response_model=IssuedShape, status_code=201, responses=problems(409))
def rotate_key(caller: AdminCaller, key_id: KeyId, body: RotateBody) -> Response:
    """A new key in place of this one, which works for a grace period longer. It ends with the caller's key at last."""
    return answer(_issued(renew_key(caller, key_id, body.grace_seconds)), status=201)


@router.get("/audit-log", response_model=Deeds, responses=PROBLEMS)
def list_audit(
    caller: AdminCaller,
    cursor: Annotated[str, Query(max_length=64)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    namespace: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    did: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    since: Annotated[str | None, Query(max_length=100)] = None,
    until: UntilQuery = None,
) -> Response:
    """Who did what to which memory when, in the caller's namespaces."""
    found = _deeds(caller, cursor, namespace=namespace, did=did, since=since, until=until)
    page = list(islice(found, limit + 1))
    more = len(page) > limit
    return answer(Deeds(deeds=page[:limit], next=page[limit - 1]["id"] if more else None))


@router.get(
    "/audit-log/lines",
    responses={**PROBLEMS, 200: {"description": "Lines of JSON", "content": {"application/x-ndjson": {}}}},
)
def export_audit(
    caller: AdminCaller,
    since: Annotated[str | None, Query(max_length=100)] = None,
    until: UntilQuery = None,
) -> Response:
    """The audit as lines of JSON, to keep elsewhere."""
    found = _deeds(caller, "", namespace=None, did=None, since=since, until=until)
    return StreamingResponse((json.dumps(deed) + "\n" for deed in found), media_type="application/x-ndjson")


@router.delete("/audit-log", response_model=Pruned, responses=PROBLEMS)
def prune_audit(caller: AdminCaller, before: Annotated[str, Query(min_length=1, max_length=100)]) -> Response:
    """Remove entries older than this, thirty days ago or more; that it was done is an entry too."""
    caller.reach_all()
    gone = caller.sack.audit.prune(read_time(before, "before"))
    caller.note("prune audit", count=gone, now=True)
    return answer(Pruned(removed=gone))


def issue_key(caller: Caller, body: KeyBody) -> Issued:
    """A key within the caller's own rights, that ends with the caller's key at the latest."""
    _check_may_make(caller)
    _check_rights(caller, body.scope, body.namespaces)
    issued = caller.sack.keys.create(
        body.name,
        scope=body.scope,
        namespaces=body.namespaces,
        expires_at=None if body.expires_at is None else read_time(body.expires_at, "expires_at"),
        maker=caller.key,
    )
    caller.note("create key", ids=[issued.key.id], now=True)
    return issued


def renew_key(caller: Caller, key_id: str, grace_seconds: int) -> Issued:
    """A new key in place of one within the caller's rights."""
    _check_may_make(caller)
    key_of(caller, key_id)
    issued = caller.sack.keys.rotate(key_id, grace=timedelta(seconds=grace_seconds), maker=caller.key)
    caller.note("rotate key", ids=[key_id, issued.key.id], now=True)
    return issued


def change_rights(caller: Caller, key_id: str, *, name: str | None, namespaces: list[str] | UnsetType | None) -> Key:
    """The key with another name or other namespaces: all of it, or nothing."""
    key = key_of(caller, key_id)
    if namespaces is not UNSET:
        _check_rights(caller, key.scope, namespaces)
    changed = caller.sack.keys.change(key_id, name=name, namespaces=namespaces)
    caller.note("change key", ids=[key_id], now=True)
    return changed


def end_key(caller: Caller, key_id: str, *, children: bool = False) -> Key:
    """The key, revoked."""
    key_of(caller, key_id)
    revoked = caller.sack.keys.revoke(key_id, children=children)
    caller.note("revoke key", ids=[key.id for key in revoked], now=True)
    return revoked[0]


def keys_of(caller: Caller) -> list[Key]:
    """The keys that the caller could have made."""
    return [key for key in caller.sack.keys.all() if caller.key.contains(key.scope, key.namespaces)]


def key_of(caller: Caller, key_id: str) -> Key:
    """One of them; any other does not exist for this caller."""
    key = caller.sack.keys.get(key_id)
    if not caller.key.contains(key.scope, key.namespaces):
        raise NotFoundError(f"no key {key_id!r}")
    return key


def _check_rights(caller: Caller, scope: Scope, namespaces: list[str] | None) -> None:
    """Refuse rights that the caller does not have."""
    if not caller.key.contains(scope, namespaces):
        raise Refused(403, "NAMESPACE_ACCESS_DENIED", "a key cannot be given more than your own key may do")


def _check_may_make(caller: Caller) -> None:
    if not caller.key.makes_keys:
        raise Refused(403, "INSUFFICIENT_SCOPE", "tokens make no keys here: use a key, or set server.tokens.make_keys")


def _issued(issued: Issued) -> IssuedShape:
    return IssuedShape(key=key_shape(issued.key), secret=issued.secret)


def _deeds(
    caller: Caller, cursor: str, *, namespace: str | None, did: str | None, since: str | None, until: str | None
) -> Iterator[DeedShape]:
    """Entries about namespaces that the caller reaches; those about keys are for callers who reach all."""
    found = caller.sack.audit.read(after=cursor, namespace=namespace, did=did, since=since, until=until)
    return (deed_shape(deed) for deed in found if _may_see(caller, deed))


def _may_see(caller: Caller, deed: Deed) -> bool:
    return caller.key.namespaces is None or (deed.namespace is not None and caller.key.reaches(deed.namespace))
