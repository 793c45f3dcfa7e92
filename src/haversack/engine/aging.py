"""Ageing for callers: a namespace's policy, its lifecycle runs, and proposals to share what it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, cast, get_type_hints

import msgspec

from haversack.engine import access
from haversack.engine.core import Core
from haversack.engine.hiding import hiding, showing
from haversack.errors import BusyError, ConfigError, ConflictError, InputError, NotFoundError, RefusedError, nearest
from haversack.lifecycle.plan import plan
from haversack.lifecycle.policy import TARGET, Action, Eviction, Policy
from haversack.lifecycle.proposals import Decided, Proposal, Proposed
from haversack.maintenance import sharing
from haversack.maintenance.ageing import Lifecycle, age
from haversack.maintenance.run import Desk, running
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.query import Filter
from haversack.store.port import Batch, Restage, Written
from haversack.store.records import Collection

__all__ = [
    "POLICIES",
    "POLICY",
    "POLICY_KEY",
    "desk_of",
    "foresee",
    "lifecycle",
    "policy_of",
    "promote_from",
    "read_policy",
    "set_policy",
]

POLICY = "policy"
"""The collection of a namespace's rules; it goes along when the namespace is exported."""
POLICY_KEY = "lifecycle"
POLICIES = Collection(POLICY, Policy)
_DEFAULTS = Policy()
_NO_MEMBER = re.compile(r"Invalid enum value '(.*?)'")
_MOST = 10_000
"""Memories of a session that are looked at when it is compacted."""


def desk_of(core: Core, namespace: str) -> Desk:
    """The namespace as maintenance works on it."""
    return Desk(
        store=core.store,
        namespace=namespace,
        clock=core.clock,
        new_id=lambda: next(core.new_ids(core.clock())),
        along=_turns_along,
    )


def policy_of(core: Core, namespace: str) -> Policy:
    """The rules in force: those that were set, or the defaults."""
    return POLICIES.value_of(core.store.record(namespace, POLICY, POLICY_KEY)) or _DEFAULTS


def set_policy(core: Core, namespace: str, policy: Policy | Mapping[str, Any]) -> Policy:
    """Set the rules: a Policy, or nested settings of which the others keep their defaults."""
    checked = _checked(policy)
    value = msgspec.json.encode(checked, enc_hook=_plain, order="deterministic")
    core.store.apply(namespace, Batch(records=(Written(collection=POLICY, key=POLICY_KEY, value=value),)))
    return checked


def foresee(core: Core, namespace: str, policy: Policy | Mapping[str, Any]) -> Lifecycle:
    """What a lifecycle run would do now under these rules; nothing is changed."""
    return age(desk_of(core, namespace), _checked(policy), execute=False)


def read_policy(settings: Mapping[str, Any]) -> Policy:
    """The policy that the settings describe; ConfigError names an unknown or impossible one."""
    _refuse_unknown(Policy, settings, "policy")
    try:
        return msgspec.convert(settings, Policy, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(f"policy: {error}{_known(str(error))}") from error


def lifecycle(core: Core, namespace: str, *, execute: bool, flush: bool) -> Lifecycle:
    """Bring memories to the stage that the policy and the present ask for; a preview unless told to execute.

    An executing run counts the uses that were noted before it looks; a preview only does with `flush`.
    """
    flushed = access.flush(core, namespace) if flush or execute else 0
    with core.recall.erasing(namespace) if execute else nullcontext():
        done = age(desk_of(core, namespace), policy_of(core, namespace), execute=execute)
        erased = [each.memory for each in done.transitions if execute and each.action == "erase"]
        access.drop(core, namespace, erased)
        if erased:
            core.erased(namespace)
    return replace(done, flushed=flushed)


def promote_from(core: Core, namespace: str, session: str) -> int:
    """Promote what came from a session and has proven itself by now, in a run of its own; how many.

    Uses that were noted are counted first. When other maintenance works on the namespace, it will see to them: then
    none.
    """
    with suppress(BusyError, ConflictError):  # then they count the next time
        access.flush(core, namespace)
    hits = core.recall.view([namespace]).listing(Filter(session=session), now=core.clock(), top_k=_MOST)
    rows = {hit.id: hit.memory for hit in hits}
    due = [
        each for each in plan(rows.values(), policy_of(core, namespace), core.clock()) if each.action is Action.PROMOTE
    ]
    if not due:
        return 0
    stages = [
        (Restage(each.memory, rows[each.memory].changed, TARGET[each.action]), rows[each.memory].stage) for each in due
    ]
    try:
        with running(desk_of(core, namespace), "promote") as journal:
            journal.step("promote", before={}, stages=stages)
    except (RefusedError, ConflictError):
        return 0
    return len(due)


def propose(core: Core, namespace: str, memory_id: str, *, shared: str, author: str) -> Proposal:
    """Ask that a memory be copied into a shared namespace."""
    now = core.clock()
    asked = Proposed(
        proposal=next(core.new_ids(now)), memory=memory_id, private=namespace, shared=shared, author=author, at=now
    )
    return sharing.propose(core.store, asked)


def decide(core: Core, shared: str, proposal_id: str, *, accepted: bool, by: str) -> tuple[Proposal, Memory | None]:
    """Accept or reject; an accepted memory is copied, with its provenance, and the copy is returned."""
    if proposal_id not in sharing.proposals(core.store, shared=shared):
        raise NotFoundError(f"no proposal {proposal_id!r} to namespace {shared!r}")
    now = core.clock()
    return sharing.decide(core.store, Decided(proposal=proposal_id, accepted=accepted, by=by, at=now), now)


def _checked(policy: Policy | Mapping[str, Any]) -> Policy:
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"policy must be a Policy or a mapping of settings, not {type(policy).__name__}")
    return read_policy(policy)


def _turns_along(before: Mapping[str, Memory], after: tuple[Memory, ...]) -> tuple[Written, ...]:
    """A passage that is softly deleted takes its turn out of prompts, and back when it returns."""
    old = {memory.id: before[memory.id].stage for memory in after if memory.id in before}
    gone = [one for one in after if one.stage is Stage.DELETED and old.get(one.id) is not Stage.DELETED]
    back = [one for one in after if one.stage is not Stage.DELETED and old.get(one.id) is Stage.DELETED]
    return hiding(gone) + showing(back)


def _refuse_unknown(kind: type, settings: Mapping[str, Any], path: str) -> None:
    hints = get_type_hints(kind)
    names = {item.name for item in fields(kind)}
    for name, value in settings.items():
        if name not in names:
            raise ConfigError(f"unknown setting {path}.{name}: {nearest(str(name), names)}")
        if is_dataclass(hints[name]) and isinstance(value, Mapping):
            _refuse_unknown(cast("type", hints[name]), cast("Mapping[str, Any]", value), f"{path}.{name}")


def _known(error: str) -> str:
    """What may have been meant by a word that is none of a setting's."""
    wrong = _NO_MEMBER.search(error)
    if wrong is None:
        return ""
    return f"; {nearest(wrong[1], list(Eviction if 'eviction' in error else Kind))}"


def _plain(value: object) -> object:
    if isinstance(value, MappingProxyType):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(type(value).__name__)
