"""The plan of what lifecycle maintenance would change.

Law: preview and execution are the same value. A plan names every transition with its reason and touches nothing;
whoever carries it out makes those transitions and no others. Planning again afterwards, at the same `now`, gives
nothing. The stage that a memory reaches depends on its stored values and `now`, not on how often anybody looked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from haversack.lifecycle.decay import fading, strengths
from haversack.lifecycle.policy import TARGET, Action, Eviction, Policy, Transition, softly_deleted
from haversack.lifecycle.promote import promotable
from haversack.model.lives import KIND_CODES, NEVER, STAGE_CODES, Lives, lives_of
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.times import micros

__all__ = ["carried_out", "plan", "plan_pages"]

_DAY = 86_400_000_000
"""In microseconds."""
_LONGEST = 2.0**62
"""Microseconds that nothing is old."""
_NOTHING = -1
_ACTIONS = tuple(Action)
_CODES = {action: code for code, action in enumerate(_ACTIONS)}
_TARGETS = np.array([STAGE_CODES[TARGET[action]] if action in TARGET else _NOTHING for action in _ACTIONS])
_REASONS = ("retention", "expired", "ttl", "proven", "used_again", "decayed_retention", "faded")


def plan(memories: Iterable[Memory], policy: Policy, now: datetime) -> list[Transition]:
    """Every change that is due at `now`, in the order of the memories."""
    lives = lives_of(memories)
    return [transition for _, due in plan_pages(lambda: [lives], policy, now) for transition in due]


def plan_pages(
    pages: Callable[[], Iterable[Lives]], policy: Policy, now: datetime
) -> Iterator[tuple[Lives, list[Transition]]]:
    """The same page by page, for more memories than fit in hand: each page with what is due in it.

    `pages` is called once, or twice where the policy limits the namespace's size.
    """
    moment = micros(now)
    evicted: set[str] = (
        _evictions([_counted(page, policy, moment) for page in pages()], policy) if policy.is_limited else set[str]()
    )
    for page in pages():
        due = _judge(page, policy, moment)
        strong = strengths(page, moment, policy.decay)
        places = np.flatnonzero(due.action != _NOTHING).tolist()
        if evicted:
            places = sorted({*places, *(place for place, name in enumerate(page.ids) if name in evicted)})
        yield page, [_transition(page, due, strong, place, evicted) for place in places]


def carried_out(
    memories: Iterable[Memory], transitions: Sequence[Transition], now: datetime
) -> tuple[tuple[Memory, ...], tuple[str, ...]]:
    """The rows to write and the ids to erase, for exactly these transitions."""
    actions = {transition.memory: transition.action for transition in transitions}
    written = tuple(
        _after(memory, actions[memory.id], now)
        for memory in memories
        if memory.id in actions and actions[memory.id] is not Action.ERASE
    )
    return written, tuple(id_ for id_, action in actions.items() if action is Action.ERASE)


def _after(memory: Memory, action: Action, now: datetime) -> Memory:
    return softly_deleted(memory, now) if action is Action.DELETE else replace(memory, stage=TARGET[action])


@dataclass(frozen=True, slots=True)
class _Due:
    """What is due, without limits: a code of an action and of a reason for each memory, or _NOTHING."""

    action: NDArray[np.int64]
    reason: NDArray[np.int64]


def _judge(lives: Lives, policy: Policy, now: int) -> _Due:
    """The first rule that applies decides; what would not change anything is nothing."""
    deleted = lives.stage == STAGE_CODES[Stage.DELETED]
    expired = lives.expires_at <= now
    ended = _outlived(lives, policy, now)
    kept = _protected(lives, policy) | (lives.stage == STAGE_CODES[Stage.LONG_TERM])
    faded_at = fading(lives, policy.decay)
    over = (faded_at <= now) & (now - faded_at >= float(policy.decay.decayed_retention_days) * _DAY)
    rules = [
        (deleted & _retention_over(lives, policy, now), Action.ERASE, "retention"),
        (deleted, None, ""),
        (expired, Action.DELETE, "expired"),
        (ended, Action.DELETE, "ttl"),
        (kept, None, ""),
        (promotable(lives, now, policy.decay), Action.PROMOTE, "proven"),
        (faded_at > now, Action.REVIVE, "used_again"),
        (over, Action.DELETE, "decayed_retention"),
        (np.ones(len(lives), np.bool_), Action.DECAY, "faded"),
    ]
    action = np.full(len(lives), _NOTHING)
    reason = np.full(len(lives), _NOTHING)
    undecided = np.ones(len(lives), np.bool_)
    for applies, what, why in rules:
        chosen = undecided & applies
        undecided &= ~applies
        if what is not None:
            action[chosen], reason[chosen] = _CODES[what], _REASONS.index(why)
    action[_TARGETS[action] == lives.stage] = _NOTHING
    return _Due(action, reason)


def _transition(lives: Lives, due: _Due, strong: NDArray[np.float64], place: int, evicted: set[str]) -> Transition:
    name = lives.ids[place]
    if name in evicted:
        action, reason = Action.DELETE, "over_limit"
    else:
        action, reason = _ACTIONS[int(due.action[place])], _REASONS[int(due.reason[place])]
    return Transition(memory=name, action=action, reason=reason, strength=float(strong[place]))


def _protected(lives: Lives, policy: Policy) -> NDArray[np.bool_]:
    spared = np.array([kind in policy.protected for kind in Kind])
    return lives.pinned | lives.superseded | spared[lives.kind]


def _outlived(lives: Lives, policy: Policy, now: int) -> NDArray[np.bool_]:
    """Which are over by their kind's time to live."""
    spans = np.full(len(KIND_CODES), NEVER)
    for kind, days in policy.ttl_days.items():
        spans[KIND_CODES[kind]] = round(min(days * _DAY, _LONGEST))
    return ~lives.pinned & (now - lives.created_at >= spans[lives.kind])


def _retention_over(lives: Lives, policy: Policy, now: int) -> NDArray[np.bool_]:
    since = np.where(lives.deleted_at > 0, lives.deleted_at, lives.used_at)
    return (now > since) & (now - since >= float(policy.retention_days) * _DAY)


@dataclass(frozen=True, slots=True)
class _Counted:
    """What evictions need to know of the memories that count against the limits."""

    ids: list[str]
    order: list[NDArray[np.float64]]
    """By each of the policy's orders: what is lower leaves first."""
    characters: NDArray[np.int64]


def _counted(lives: Lives, policy: Policy, now: int) -> _Counted:
    """Those that stay otherwise and are not protected."""
    due = _judge(lives, policy, now)
    leaving = (lives.stage == STAGE_CODES[Stage.DELETED]) | (due.action == _CODES[Action.DELETE])
    places = np.flatnonzero(~leaving & ~_protected(lives, policy))
    ranks = {
        Eviction.WEAKEST: lambda: strengths(lives, now, policy.decay),
        Eviction.LEAST_IMPORTANT: lambda: lives.importance,
        Eviction.OLDEST: lambda: lives.created_at.astype(np.float64),
        Eviction.LEAST_USED: lambda: lives.uses.astype(np.float64),
    }
    return _Counted(
        ids=[lives.ids[place] for place in places.tolist()],
        order=[ranks[each]()[places] for each in policy.eviction],
        characters=lives.characters[places],
    )


def _evictions(pages: Sequence[_Counted], policy: Policy) -> set[str]:
    """The ids of those that have to leave, so that what stays is within the limits."""
    ids = [name for page in pages for name in page.ids]
    if not ids:
        return set()
    characters = np.concatenate([page.characters for page in pages])
    over_count = 0 if policy.max_memories is None else len(ids) - policy.max_memories
    over_characters = 0 if policy.max_characters is None else int(characters.sum()) - policy.max_characters
    if over_count <= 0 and over_characters <= 0:
        return set()
    keys = [np.concatenate([page.order[place] for page in pages]) for place in range(len(policy.eviction))]
    order = np.lexsort([np.array(ids), *reversed(keys)])
    leaving = max(0, over_count)
    if over_characters > 0:
        leaving = max(leaving, int(np.searchsorted(np.cumsum(characters[order]), over_characters)) + 1)
    return {ids[place] for place in order[:leaving].tolist()}
