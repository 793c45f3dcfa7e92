from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from haversack.compaction import BudgetStatus, CompactionConfig, CompactionResult
from haversack.compaction.compactor import Request
from haversack.compaction.coordinator import Coordinator
from haversack.compaction.result import Outcome
from haversack.llm.port import Cancel

DONE = CompactionResult(target_met=True, tokens_before=100, tokens_after=40)


class Slow:
    """A run that goes on until it is let go or cancelled."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.begun = threading.Event()
        self.go = threading.Event()
        self.failure: Exception | None = None

    def run(self, request: Request, cancel: Cancel | None = None) -> CompactionResult:
        self.requests.append(request)
        self.begun.set()
        while not self.go.wait(0.005):
            if cancel is not None and cancel.is_set():
                return CompactionResult(outcome=Outcome.CANCELLED)
        if self.failure is not None:
            raise self.failure
        return DONE


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def coordinator(slow: Slow) -> Iterator[Coordinator]:
    made = Coordinator(slow, CompactionConfig())
    yield made
    slow.go.set()
    assert made.close()


def test_a_due_run_starts_behind_the_turn_and_is_awaited(coordinator: Coordinator, slow: Slow) -> None:
    assert not coordinator.after_turn("s", BudgetStatus.of(800, 1000))
    assert coordinator.before_prompt("s") is None
    assert coordinator.after_turn("s", BudgetStatus.of(900, 1000))
    assert coordinator.before_prompt("s", 0.01) is None
    slow.go.set()
    assert coordinator.before_prompt("s") in (DONE, None)
    assert slow.requests == [Request(session="s", to_free=200, available=1000, seconds=15, reason="warning")]


def test_turns_that_cross_the_trigger_meanwhile_start_no_second_run(coordinator: Coordinator, slow: Slow) -> None:
    started = [coordinator.after_turn("s", BudgetStatus.of(990, 1000)) for _ in range(3)]
    assert started == [True, False, False]
    assert coordinator.monitor("s").refusal() == "in progress"
    slow.go.set()


def test_sessions_do_not_wait_for_each_other(coordinator: Coordinator, slow: Slow) -> None:
    assert coordinator.after_turn("a", BudgetStatus.of(990, 1000))
    assert coordinator.after_turn("b", BudgetStatus.of(990, 1000))
    assert coordinator.before_prompt("c") is None


def test_a_manual_run_joins_one_in_progress(coordinator: Coordinator, slow: Slow) -> None:
    assert coordinator.after_turn("s", BudgetStatus.of(990, 1000))
    assert slow.begun.wait(5)
    results: list[CompactionResult] = []
    request = Request(session="s", available=1000, seconds=1)
    joining = threading.Thread(target=lambda: results.append(coordinator.compact(request)))
    joining.start()
    slow.go.set()
    joining.join(5)
    assert results[0] is DONE
    assert len(slow.requests) <= 2


def test_cancelling_stops_the_run_and_leaves_the_monitor_ready(coordinator: Coordinator, slow: Slow) -> None:
    assert coordinator.after_turn("s", BudgetStatus.of(990, 1000))
    assert coordinator.cancel("s")
    coordinator.before_prompt("s", 5)
    assert not coordinator.cancel("s")
    assert coordinator.monitor("s").should_compact()


def test_a_run_that_breaks_is_a_failed_result(coordinator: Coordinator, slow: Slow) -> None:
    slow.failure = OSError("disk")
    slow.go.set()
    result = coordinator.compact(Request(session="s", available=1000, seconds=1))
    assert (result.outcome, result.errors) == (Outcome.FAILED, ("OSError: disk",))


def test_after_closing_nothing_starts(slow: Slow) -> None:
    heard: list[tuple[str, CompactionResult]] = []
    coordinator = Coordinator(slow, CompactionConfig(), lambda session, result: heard.append((session, result)))
    assert coordinator.after_turn("s", BudgetStatus.of(990, 1000))
    assert coordinator.close()
    assert coordinator.compact(Request(session="t", available=1000, seconds=1)).outcome is Outcome.REFUSED
    assert [request.session for request in slow.requests] == ["s"]
