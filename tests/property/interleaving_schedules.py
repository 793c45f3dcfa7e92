"""All pairs of verbs: one is interrupted at each of its store calls by the other, then the laws are checked."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from haversack.compaction import CompactionResult
from haversack.compaction.result import Outcome
from haversack.engine.forgetting import Forgotten
from haversack.engine.haversack import Haversack
from haversack.errors import HaversackError
from haversack.store.memory import MemoryStore

from . import interleaving_laws as laws
from .interleaving_verbs import VERBS, Verb
from .interleaving_world import Base, Call, Interrupted, base, engine


@dataclass(frozen=True, kw_only=True)
class Played:
    """Two verbs, and what came of them."""

    picture: frozenset[str]
    failed: tuple[str, ...]
    """The names of the errors that the verbs ended with, if any, the first verb's first."""
    broken: tuple[str, ...]
    calls: tuple[Call, ...] = field(default=(), repr=False)
    """Of the first verb."""


@dataclass(slots=True)
class Hand:
    """One engine, and what its verb answered."""

    sack: Haversack
    store: Interrupted
    base: Base
    answer: object = None
    failed: str = ""
    done: bool = False

    def do(self, verb: Verb) -> None:
        self.done = True
        self.store.calls.clear()
        try:
            self.answer = verb.act(self.sack, self.base)
        except HaversackError as error:
            self.failed = type(error).__name__
        if isinstance(self.answer, CompactionResult) and self.answer.outcome in {Outcome.FAILED, Outcome.REFUSED}:
            self.failed = "ConflictError"


def _hand(store: MemoryStore, origin: Base, number: int) -> Hand:
    own = Interrupted(store)
    return Hand(engine(own, number), own, origin)


def play(first: Verb, second: Verb | None, at: int = 0, *, asks: bool = False, again: Verb | None = None) -> Played:
    """Run the first verb and let the second one act before its call number `at`; 0: only when it has ended.

    With `asks` the second engine holds its index before, and both are asked afterwards whether they answer alike. A
    third engine does `again`.
    """
    origin = base()
    store = origin.store.copy()
    hands = one, two = _hand(store, origin, 16), _hand(store, origin, 32)
    if asks:
        laws.warm(two.sack)
    if second is not None and at:
        one.store.before, one.store.at = (lambda: two.do(second)), at
    one.do(first)
    assert two.done or second is None or not at, "the first verb ended before its call was reached"
    calls, one.store.before = tuple(one.store.calls), None
    if second is not None and not at:
        two.do(second)
    broken = _differing(hands, store) if asks else ()
    one.sack.close()
    two.sack.close()
    if again is not None:
        third = _hand(store, origin, 48)
        third.do(again)
        third.sack.close()
    failed = tuple(hand.failed for hand in hands)
    gone = [hand.answer for hand in hands if isinstance(hand.answer, Forgotten) and hand.answer.hard]
    picture, wrong = _judged(store, gone, first.says if second is None else first.says | second.says)
    return Played(picture=picture, failed=failed, broken=(*broken, *wrong), calls=calls)


def _differing(hands: tuple[Hand, ...], store: MemoryStore) -> tuple[str, ...]:
    told = [laws.answers(hand.sack) for hand in hands]
    third = laws.answers(engine(Interrupted(store), 48))
    return tuple(
        f"engine {number} answers otherwise than a fresh one" for number, each in enumerate(told, 1) if each != third
    )


_JUDGED: dict[object, tuple[frozenset[str], tuple[str, ...]]] = {}


def _judged(
    store: MemoryStore, gone: Sequence[Forgotten], said: frozenset[str]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """The picture of a state and what is wrong with it, worked out once for equal states."""
    spaces = laws.held(store)
    key = (laws.mark(spaces, base()), tuple((one.memories, one.derived, one.turns) for one in gone), said)
    if key not in _JUDGED:
        broken = [
            *laws.words_that_came_back(spaces, gone, laws.origins(base()), said),
            *laws.broken_links(spaces),
            *laws.stale_numbers(spaces),
            *laws.miscounts(store, spaces),
            *laws.views(store),
        ]
        _JUDGED[key] = laws.picture(spaces, _names()), tuple(broken)
    return _JUDGED[key]


_LOST = frozenset({"ConflictError", "RefusedError", "BusyError"})
"""What a verb may raise that lost a race; it has done nothing then."""

_USES = " record access "
_ASKED = 24
"""In one of so many pairs of verbs the engines are asked, in one schedule: asking takes longer than all the rest."""


@cache
def alone(verb: Verb) -> Played:
    """The verb with nobody beside it."""
    return play(verb, None)


@cache
def in_turn(first: Verb, second: Verb) -> Played:
    """The second verb after the first."""
    return play(first, second)


def meets(first: Verb, second: Verb) -> bool:
    """Whether both touch one namespace; verbs that do not cannot notice each other."""
    one, two = ({call.namespace for call in alone(verb).calls} for verb in (first, second))
    return None in one | two or bool(one & two)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The second verb just before one call of the first."""

    at: int
    call: str
    played: Played
    is_same: bool
    """Whether it was not played, since nothing that the call reads was changed: it is the next schedule."""


def schedules(first: Verb, second: Verb, *, asks: bool = False) -> Iterator[Schedule]:
    """Every schedule, the last first. The engines are asked whether they answer alike in some of them, or in each.

    A call that reads the same whether the second verb has acted or not may come before it or after it.
    """
    calls = alone(first).calls
    chosen = zlib.crc32(f"{first.name}/{second.name}".encode()) % (_ASKED * len(calls)) + 1
    after: dict[object, MemoryStore] = {}
    played: Played | None = None
    for at, call in reversed(list(enumerate(calls, 1))):
        asked = asks or at == chosen
        is_same = played is not None and not asked and call.is_deaf_to(_after(call.before, second, after))
        if played is None or not is_same:
            played = play(first, second, at, asks=asked)
        yield Schedule(at, call.name, played, is_same)


def _after(state: MemoryStore | None, verb: Verb, known: dict[object, MemoryStore]) -> MemoryStore:
    """What a store holds when the verb has acted on it: worked out once between two writes of the first verb."""
    assert state is not None
    spaces = state._spaces  # pyright: ignore[reportPrivateUsage]
    key = tuple((name, id(space)) for name, space in sorted(spaces.items()))
    if key not in known:
        store = known[key] = state.copy()
        _hand(store, base(), 32).do(verb)
    return known[key]


def wrong_with(first: Verb, second: Verb, played: Played, at: int) -> list[str]:
    """What a schedule broke: a law, or the promise that it comes to one order of the two or the other.

    What the verbs break one after the other is no matter of schedules.
    """
    ahead, behind = in_turn(first, second), in_turn(second, first)
    found = [each for each in played.broken if each not in (*ahead.broken, *behind.broken)]
    allowed = [(ahead.picture, ahead.failed), (behind.picture, behind.failed[::-1])]
    if played.failed[0] in _LOST:
        allowed.append((alone(second).picture, (played.failed[0], alone(second).failed[0])))
    if played.failed[1] in _LOST:
        allowed.append((alone(first).picture, (alone(first).failed[0], played.failed[1])))
    if (played.picture, played.failed) in allowed:
        return found
    if first.steps and at:
        return found + (_lost_or_new(first, second, played.picture) and _left_over(first, second, at))
    nearest = min((each for each, _ in allowed), key=lambda each: len(each ^ played.picture))
    more, less = sorted(played.picture - nearest), sorted(nearest - played.picture)
    return [*found, f"no order of the two comes to this {played.failed}: more {more}, less {less}"]


def _left_over(first: Verb, second: Verb, at: int) -> list[str]:
    """What differs from both orders when the first verb was done once more, for what it had left to its next run."""
    state = play(first, second, at, again=first).picture
    return _lost_or_new(first, second, state, done_again(first, second), done_again(second, first, again=first))


def _lost_or_new(first: Verb, second: Verb, state: frozenset[str], *orders: frozenset[str]) -> list[str]:
    """Lines that no order has, and those that the second verb wrote and every order has, but the state has not.

    Uses are no matter: a reader answers from the moments of its calls.
    """
    orders = orders or (in_turn(first, second).picture, in_turn(second, first).picture)
    known = orders[0] | orders[1] | alone(first).picture | alone(second).picture | untouched()
    lost = (alone(second).picture - untouched()) & orders[0] & orders[1]
    differing = (("in no order", state - known), ("lost", lost - state))
    told = ((what, sorted(line for line in lines if _USES not in line)) for what, lines in differing)
    return [f"{what}: {lines}" for what, lines in told if lines]


@cache
def done_again(first: Verb, second: Verb, again: Verb | None = None) -> frozenset[str]:
    """The picture after both verbs and then the first, or another, once more."""
    return play(first, second, again=again or first).picture


@cache
def untouched() -> frozenset[str]:
    """The picture of the base state."""
    return laws.picture(laws.held(base().store), _names())


def _names() -> dict[str, str]:
    return {id_: f"<{name}>" for name, id_ in base().ids.items()}


@dataclass(slots=True)
class Tally:
    """What came of one verb, interrupted by all."""

    pairs: int = 0
    apart: int = 0
    """Pairs that touch no namespace both."""
    schedules: int = 0
    played: int = 0
    broken: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """By schedule."""


def tally(first: Verb, *, asks: bool = False) -> Tally:
    """Interrupt a verb by every verb, at each of its calls."""
    found = Tally()
    for second in VERBS:
        found.pairs += 1
        if not meets(first, second):
            found.apart += 1
            continue
        for each in schedules(first, second, asks=asks):
            found.schedules += 1
            found.played += not each.is_same
            if wrong := wrong_with(first, second, each.played, each.at):
                found.broken[f"{first.name} <- {second.name} before call {each.at}, {each.call}"] = wrong
    return found
