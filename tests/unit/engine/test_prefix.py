"""With `cached`, what a prompt begins with is what the one before began with: nothing moves without an event's name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from os.path import commonprefix
from statistics import mean

from haversack.assemble import Prompt
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.store.memory import MemoryStore

PLACES = ("Veere", "Goes", "Tholen", "Yerseke", "Zierikzee", "Bruinisse", "Colijnsplaat")


def knowing(ns: Namespace) -> Namespace:
    ns.remember_many(
        {"content": f"Note {n}: the harbour of {place} has {n} berths and a crane", "kind": kind}
        for n, place in enumerate(PLACES * 12)
        for kind in ("fact", "insight")
    )
    return ns


def conversation(ns: Namespace, rounds: int, question: str, layout: str) -> Iterator[Prompt]:
    session = ns.session(layout)
    for n in range(rounds):
        session.add("user", question.format(PLACES[n % len(PLACES)]))
        yield session.prompt(system="Be brief.", layout=layout, window=6000, output=500)
        session.add("assistant", f"Answer {n}. " + "There is room, and the crane lifts ten tons. " * 4)


def repeated(prompts: list[Prompt]) -> list[float]:
    """The part of each prompt's bytes that the next one repeats."""
    texts = [json.dumps(prompt.messages())[:-1] for prompt in prompts]
    return [len(commonprefix([one, two])) / len(one) for one, two in pairwise(texts)]  # noqa: RUF071 - no paths


def test_sixty_turns_repeat_nine_bytes_of_ten(ns: Namespace) -> None:
    prompts = list(conversation(knowing(ns), 60, "What of the harbour of {}?", "cached"))
    shares = repeated(prompts)
    assert mean(shares) >= 0.9
    assert all(share == 1 or prompt.events for share, prompt in zip(shares, prompts[1:], strict=True))
    assert mean(repeated(list(conversation(ns, 60, "What of the harbour of {}?", "attention")))) < 0.9


def test_a_session_with_nothing_new_keeps_its_prefix_whole(ns: Namespace) -> None:
    ns.remember("The harbour of Veere has two berths")
    prompts = list(conversation(ns, 20, "Is there a berth in Veere?", "cached"))
    assert {event for prompt in prompts[1:] for event in prompt.events} == set()
    assert set(repeated(prompts)) == {1.0}


def test_full_notes_are_left_alone_while_nothing_new_is_found(ns: Namespace) -> None:
    knowing(ns)
    session = ns.session("s")
    prompts = [session.prompt("What of Goes?", layout="cached", window=1200, output=100) for _ in range(30)]
    assert not any(prompt.events for prompt in prompts[1:])
    assert len({json.dumps(prompt.messages()) for prompt in prompts[10:]}) == 1
    other = session.prompt("Which harbour has 3 berths: Tholen?", layout="cached", window=1200, output=100)
    assert other.events == ("memory_renewed",)


def test_engines_that_take_turns_share_one_prefix(engine: Callable[..., Haversack], store: MemoryStore) -> None:
    one, two = (engine(store).namespace("n") for _ in range(2))
    knowing(one)
    prompts: list[Prompt] = []
    for n, ns in enumerate((one, two) * 5):
        talk = one.session("s")
        talk.add("user", f"What of the harbour of {PLACES[n % 7]}?")
        prompts.append(ns.session("s").prompt(layout="cached", window=6000, output=500))
        talk.add("assistant", f"Answer {n}")
    shares = repeated(prompts)
    assert all(share == 1 or prompt.events for share, prompt in zip(shares, prompts[1:], strict=True))
    assert mean(shares) >= 0.9


def test_a_note_of_an_erased_memory_is_shown_by_no_engine(engine: Callable[..., Haversack], store: MemoryStore) -> None:
    one, two = (engine(store).namespace("n") for _ in range(2))
    kept = one.remember("The harbour of Veere has two berths")
    for ns in (one, two):
        assert "two berths" in str(ns.session("s").prompt("What of Veere?", layout="cached", window=3000).messages())
    two.forget(kept.id, hard=True)
    for ns in (one, two):
        after = ns.session("s").prompt("What of Veere?", layout="cached", window=3000, output=100)
        assert "two berths" not in str(after.messages())
