"""Keys as the dakera client looks after them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter
from msgspec import UNSET
from pydantic import Field
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.keys import Key, Scope
from haversack.errors import InputError
from haversack.guard.refusal import Refused
from haversack.server.caller import AdminCaller
from haversack.server.dakera.shapes import AGENT_PREFIX, Answer, Loose, key_record
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.routes.keys import (
    KeyBody,
    KeyId,
    Patterns,
    change_rights,
    end_key,
    issue_key,
    key_of,
    keys_of,
    renew_key,
)
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/admin/keys")

_ONCE = "Save this key: it is not shown again."


class CreateBody(Loose):
    """A key to make."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    scope: Literal["read", "write", "admin", "super_admin"]
    namespaces: Patterns | None = None
    expires_in_days: Annotated[int, Field(ge=1, le=36_500)] | None = None


class DakeraKeyChanges(Loose):
    """What to change of a key."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    namespaces: Patterns | None = None


class DakeraRotateBody(Loose):
    """How long the old key goes on working."""

    grace_secs: Annotated[int, Field(ge=0, le=604_800)] = 0


@router.post("", response_model=Answer, responses=problems(409))
def create(caller: AdminCaller, body: CreateBody) -> Response:
    """Make a key; it is shown once."""
    expires = None if body.expires_in_days is None else (utc_now() + timedelta(days=body.expires_in_days)).isoformat()
    wanted = KeyBody(
        name=body.name,
        scope=Scope.ADMIN if body.scope == "super_admin" else Scope(body.scope),
        namespaces=_ours(body.namespaces),
        expires_at=expires,
    )
    issued = issue_key(caller, wanted)
    return answer({**_record(issued.key), "key": issued.secret, "warning": _ONCE})


@router.get("", response_model=Answer, responses=PROBLEMS)
def list_keys(caller: AdminCaller) -> Response:
    """Every key within the caller's rights."""
    found = [_record(key) for key in keys_of(caller)]
    return answer({"keys": list(found), "total": len(found)})


@router.get("/{key_id:label}", response_model=Answer, responses=PROBLEMS)
def get(caller: AdminCaller, key_id: KeyId) -> Response:
    """One key."""
    return answer(_record(key_of(caller, key_id)))


@router.delete("/{key_id:label}", response_model=Answer, responses=PROBLEMS)
def delete(caller: AdminCaller, key_id: KeyId) -> Response:
    """Remove a key from the list as well."""
    key_of(caller, key_id)
    caller.sack.keys.delete(key_id)
    caller.note("delete key", ids=[key_id], now=True)
    return answer({"success": True, "message": f"key {key_id} is deleted"})


@router.post("/{key_id:label}/deactivate", response_model=Answer, responses=PROBLEMS)
def deactivate(caller: AdminCaller, key_id: KeyId) -> Response:
    """From now on the key opens nothing."""
    end_key(caller, key_id)
    return answer({"success": True, "message": f"key {key_id} is deactivated"})


@router.patch("/{key_id:label}", response_model=Answer, responses=problems(409))
def update(caller: AdminCaller, key_id: KeyId, body: DakeraKeyChanges) -> Response:
    """Rename a key or give it other namespaces."""
    if not body.model_fields_set & {"name", "namespaces"}:
        raise Refused(400, "INVALID_REQUEST", "nothing to change: send name or namespaces")
    namespaces = _ours(body.namespaces) if "namespaces" in body.model_fields_set else UNSET
    return answer(_record(change_rights(caller, key_id, name=body.name, namespaces=namespaces)))


@router.post("/{key_id:label}/rotate", response_model=Answer, responses=problems(409))
def rotate(caller: AdminCaller, key_id: KeyId, body: DakeraRotateBody | None = None) -> Response:
    """A new key with the same rights in place of this one."""
    grace = body.grace_secs if body else 0
    issued = renew_key(caller, key_id, grace)
    old = _record(caller.sack.keys.get(key_id))
    return answer(
        {
            "new_key": issued.secret,
            "key_id": issued.key.id,
            "warning": _ONCE,
            "old_key_id": key_id,
            "old_key_expires_at": old["expires_at"] if grace else None,
        }
    )


@router.get("/{key_id:label}/usage", response_model=Answer, responses=PROBLEMS)
def usage(caller: AdminCaller, key_id: KeyId) -> Response:
    """How often a key was used."""
    key = key_of(caller, key_id)
    return answer({"key_id": key_id, "total_requests": key.uses, "last_used_at": _record(key)["last_used_at"]})


def _record(key: Key) -> Answer:
    return key_record(key, active=key.is_live(utc_now()))


def _ours(patterns: list[str] | None) -> list[str] | None:
    """Namespaces in our words: an agent's namespace is its name."""
    if patterns is not None and f"{AGENT_PREFIX}*" in patterns:
        raise InputError(f"namespaces: '{AGENT_PREFIX}*' would be every namespace here; for that leave namespaces out")
    return None if patterns is None else [pattern.removeprefix(AGENT_PREFIX) for pattern in patterns]
