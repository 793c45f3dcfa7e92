"""The handed cases of compaction, by their ids."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from haversack.compaction import BudgetStatus, CompactionConfig, CompactionResult
from haversack.compaction.compactor import Compactor, Request
from haversack.compaction.coordinator import Coordinator
from haversack.compaction.plan import choose_oldest, units
from haversack.compaction.result import Outcome
from haversack.compaction.summarize import Summarizer
from haversack.compaction.view import load_view
from haversack.errors import ServiceTimeout
from haversack.llm.port import ChatService, ServiceCancelled
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch
from haversack.testing.scripted import Line, ScriptedChat
from haversack.testing.words import WordCounter

START = datetime(2026, 1, 1, tzinfo=UTC)
FAITHFUL = "Everything was said."


class House:
    """A store with one session, and a compactor over it."""

    def __init__(self, service: ChatService, config: CompactionConfig | None = None) -> None:
        self.store = MemoryStore()
        self.config = config or CompactionConfig()
        self.compactor = Compactor(
            store=self.store,
            namespace="n",
            summarizer=Summarizer.of(self.config, WordCounter(), service),
            config=self.config,
            clock=lambda: START + timedelta(days=1),
            price=self.price,
            owner="me",
        )

    def say(self, count: int, size: int, first: str = "user") -> None:
        order = ("user", "assistant") if first == "user" else ("assistant", "user")
        before = len(self.store.turns("n", "s"))
        turns = [
            Turn(
                id=f"t{place}",
                session="s",
                message=Message(role=Role(order[place % 2]), parts=(Text("word " * size),)),
                at=START + timedelta(minutes=place),
            )
            for place in range(before, before + count)
        ]
        self.store.apply("n", Batch(turns=tuple(turns)))

    @staticmethod
    def price(messages: Sequence[Message]) -> list[int]:
        return [len(message.text.split()) for message in messages]

    def status(self) -> BudgetStatus:
        return BudgetStatus.of(sum(self.price([turn.message for turn in self.store.turns("n", "s")])), 1000)

    def live_through(self, turns: int, size: int) -> list[CompactionResult]:
        """The trigger, then more user turns, each followed by what the coordinator decides."""
        results: list[CompactionResult] = []
        coordinator = Coordinator(self.compactor, self.config, lambda _, result: results.append(result))
        coordinator.after_turn("s", self.status())
        coordinator.before_prompt("s")
        for _ in range(turns):
            self.say(1, size)
            coordinator.after_turn("s", self.status())
            coordinator.before_prompt("s")
        assert coordinator.close()
        return results

    @property
    def rows(self) -> dict[str, int]:
        return {kind: count for kind, count in self.store.census("n").memories.items() if count}


def echo(messages: Sequence[Message]) -> str:
    return messages[-1].text


def echo_and_more(messages: Sequence[Message]) -> str:
    return messages[-1].text + " more" * 50


@pytest.mark.parametrize("summariser", [echo, echo_and_more, "word " * 790], ids=["echo", "longer", "790 words"])
def test_comp_01_a_summary_that_does_not_shrink(summariser: Line) -> None:
    service = ScriptedChat(lines=[summariser])
    house = House(service, CompactionConfig(compaction_threshold=0.8, target_utilization=0.4))
    house.say(10, 100)
    before = house.store.turns("n", "s")
    results = house.live_through(5, 10)
    assert all(result.outcome is Outcome.FAILED and not result.target_met for result in results)
    assert all(result.tokens_before == result.tokens_after >= 1000 for result in results)
    assert len(service.seen) <= 4  # two attempts at the trigger, two more when the cooldown of three turns is over
    assert house.store.turns("n", "s")[:10] == before
    assert (house.rows, load_view(house.store, "n", "s")[1]) == ({}, 0)


def test_comp_02a_one_run_at_a_time() -> None:
    go, begun = threading.Event(), threading.Event()

    def slow(_: Sequence[Message]) -> str:
        begun.set()
        assert go.wait(10)
        return FAITHFUL

    service = ScriptedChat(lines=[slow])
    house = House(service)
    house.say(12, 80)
    coordinator = Coordinator(house.compactor, house.config)
    started = []
    for _ in range(3):
        started.append(coordinator.after_turn("s", house.status()))
        assert begun.wait(10)
    elsewhere = house.compactor.run(Request(session="s", available=1000, seconds=5))
    assert (elsewhere.outcome, elsewhere.reasons) == (Outcome.REFUSED, ("already running",))
    go.set()
    assert coordinator.before_prompt("s", 10) is not None or not coordinator.cancel("s")
    assert coordinator.close()
    assert (started, len(service.seen), house.rows) == ([True, False, False], 1, {"summary": 1})


def test_comp_02b_a_run_that_frees_little_is_not_repeated_in_the_cooldown() -> None:
    def barely(messages: Sequence[Message]) -> str:
        return " ".join(messages[-1].text.split()[:-55])

    service = ScriptedChat(lines=[barely])
    config = CompactionConfig(
        cooldown_turns=6, max_summary_share=1.0, max_turns_per_summary=100, overage_bypasses_cooldown=True
    )
    house = House(service, config)
    house.say(14, 100)
    results: list[CompactionResult] = []
    coordinator = Coordinator(house.compactor, config, lambda _, result: results.append(result))
    for _ in range(6):
        coordinator.after_turn("s", house.status())
        coordinator.before_prompt("s")
    assert coordinator.monitor("s").cooldown_reason == "ineffective"
    assert coordinator.close()
    assert [(result.outcome, result.target_met) for result in results] == [(Outcome.DONE, False)]
    assert len(service.seen) == 1


def test_comp_02_old_summaries_are_folded_into_the_new_one() -> None:
    house = House(ScriptedChat(lines=[FAITHFUL]))
    for _ in range(4):
        house.say(10, 50)
        result = house.compactor.run(Request(session="s", available=1000, seconds=5))
        assert result.outcome is Outcome.DONE
    view, _ = load_view(house.store, "n", "s")
    assert [(fold.start, fold.stop) for fold in view.folds] == [(0, 36)]


@pytest.mark.parametrize(
    "summariser",
    [ServiceTimeout("slow"), "", "  \n", "<think>thirty messages of thought</think>", ServiceCancelled("stop")],
    ids=["timeout", "empty", "blank", "reasoning only", "cancelled"],
)
def test_comp_03_a_failing_summariser_keeps_the_history(summariser: Line) -> None:
    service = ScriptedChat(lines=[FAITHFUL, summariser])
    house = House(service)
    house.say(10, 10)
    first = house.compactor.run(Request(session="s", available=1000, seconds=5))
    house.say(30, 10)
    before = (house.store.turns("n", "s"), load_view(house.store, "n", "s"), house.rows)
    failed = house.compactor.run(Request(session="s", available=1000, seconds=5))
    assert failed.outcome in (Outcome.FAILED, Outcome.CANCELLED)
    assert failed.reasons
    assert (house.store.turns("n", "s"), load_view(house.store, "n", "s"), house.rows) == before
    (active,) = house.store.memories("n", [first.summary or ""])
    assert active.superseded_by is None
    service.lines = [FAITHFUL]
    assert house.compactor.run(Request(session="s", available=1000, seconds=5)).outcome is Outcome.DONE


def nothing(_: House) -> None:
    pass


def hi(house: House) -> None:
    house.say(1, 1)


def six(house: House) -> None:
    house.say(6, 10)


def only_a_summary(house: House) -> None:
    house.say(12, 10)
    assert house.compactor.run(Request(session="s", available=1000, seconds=5)).outcome is Outcome.DONE


@pytest.mark.parametrize("prepare", [nothing, hi, six, only_a_summary])
@pytest.mark.parametrize("to_free", [None, 1_000_000])
def test_comp_06_nothing_to_compact(prepare: Callable[[House], None], to_free: int | None) -> None:
    service = ScriptedChat(lines=[FAITHFUL])
    house = House(service, CompactionConfig(compaction_recency_window=6))
    prepare(house)
    calls, rows, view = len(service.seen), house.rows, load_view(house.store, "n", "s")
    result = house.compactor.run(Request(session="s", to_free=to_free, available=1000, seconds=5))
    assert (result.outcome, result.reasons) == (Outcome.SKIPPED, ("nothing to compact",))
    assert (len(service.seen), house.rows, load_view(house.store, "n", "s")) == (calls, rows, view)


def hundred(special: int = 10) -> tuple[list[Turn], list[int]]:
    sizes = [10] * 98 + [special, 10]
    roles = [Role.ASSISTANT if place % 2 == 0 else Role.USER for place in range(100)]
    turns = [
        Turn(id=str(place), session="s", message=Message(role=role), at=START, position=place)
        for place, role in enumerate(roles)
    ]
    return turns, sizes


def test_comp_08_fifteen_percent_of_a_hundred_equal_messages_is_fifteen() -> None:
    turns, sizes = hundred()
    chosen = choose_oldest(units(turns, sizes), 150)
    assert [unit.first for unit in chosen] == list(range(15))
    assert turns[15].message.role is Role.USER


def test_comp_08_eviction_is_measured_in_tokens() -> None:
    turns, sizes = hundred(special=900)
    to_free = round(0.15 * sum(sizes))
    chosen = choose_oldest(units(turns, sizes), to_free)
    assert sum(unit.tokens for unit in chosen) >= to_free
    assert chosen[-1].last < 98
