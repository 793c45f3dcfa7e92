"""Compaction in the background: one run per session, awaited before the next prompt, and never in anybody's way.

The coordinator owns its threads: `close` cancels them and waits. They are daemons, so that Ctrl-C does not hang; a run
that dies with the process leaves the old view, because a run writes once, at its end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from haversack.compaction.compactor import Request
from haversack.compaction.monitor import ContextBudgetMonitor
from haversack.compaction.result import CompactionResult, Outcome
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.status import BudgetStatus
from haversack.llm.port import Cancel

__all__ = ["Coordinator", "Runs"]


class Runs(Protocol):
    """What does the work: a Compactor."""

    def run(self, request: Request, cancel: Cancel | None = None) -> CompactionResult:
        """One run."""
        ...


@dataclass(slots=True)
class _Flight:
    """A run in progress."""

    cancel: threading.Event = field(default_factory=threading.Event)
    landed: threading.Event = field(default_factory=threading.Event)
    result: CompactionResult = field(default_factory=CompactionResult)


class Coordinator:
    """Watches the sessions of one namespace and runs their compaction."""

    def __init__(
        self,
        compactor: Runs,
        config: CompactionConfig,
        report: Callable[[str, CompactionResult], None] = lambda _session, _result: None,
    ) -> None:
        """`report` hears of each run's end, in the run's thread."""
        self._compactor = compactor
        self._config = config
        self._report = report
        self._lock = threading.Lock()
        self._monitors: dict[str, ContextBudgetMonitor] = {}
        self._flights: dict[str, _Flight] = {}
        self._closed = False

    def monitor(self, session: str) -> ContextBudgetMonitor:
        """The session's monitor."""
        with self._lock:
            return self._monitors.setdefault(session, ContextBudgetMonitor(self._config))

    def after_turn(self, session: str, status: BudgetStatus) -> bool:
        """Take a reading and start a run when one is due; returns at once, with whether it started one."""
        monitor = self.monitor(session)
        monitor.record_turn(status)
        if not monitor.should_compact():
            return False
        target = int(self._config.target_utilization * status.available_budget)
        request = Request(
            session=session,
            to_free=max(1, status.total_tokens - target),
            available=max(0, status.available_budget),
            seconds=monitor.get_time_budget_ms() / 1000,
            reason=str(status.severity),
        )
        return self._start(request) is not None

    def before_prompt(self, session: str, seconds: float | None = None) -> CompactionResult | None:
        """Wait for a run in progress, at most `seconds` (or its time budget); None when there is none or it goes on."""
        with self._lock:
            flight = self._flights.get(session)
        if flight is None:
            return None
        limit = self.monitor(session).get_time_budget_ms() / 1000 if seconds is None else seconds
        return flight.result if flight.landed.wait(limit) else None

    def is_running(self, session: str) -> bool:
        """Whether a run of the session is in progress."""
        with self._lock:
            return session in self._flights

    def compact(self, request: Request) -> CompactionResult:
        """Run now and wait for the end; joins a run that is in progress. Ctrl-C cancels it."""
        flight = self._start(request)
        if flight is None:
            with self._lock:
                flight = self._flights.get(request.session)
            if flight is None:
                return CompactionResult(outcome=Outcome.REFUSED, reasons=("closed or just finished",))
        try:
            flight.landed.wait()
        except KeyboardInterrupt:
            flight.cancel.set()
            raise
        return flight.result

    def cancel(self, session: str) -> bool:
        """Tell a run in progress to stop; whether there was one."""
        with self._lock:
            flight = self._flights.get(session)
        if flight is not None:
            flight.cancel.set()
        return flight is not None

    def forget(self) -> None:
        """Drop what was seen of sessions without a run in progress; they begin anew, as after a restart."""
        with self._lock:
            self._monitors = {name: seen for name, seen in self._monitors.items() if name in self._flights}

    def close(self, seconds: float = 5.0) -> bool:
        """Cancel what runs, start nothing more, and wait; whether all has ended."""
        with self._lock:
            self._closed = True
            flights = list(self._flights.values())
        for flight in flights:
            flight.cancel.set()
        return all(flight.landed.wait(seconds) for flight in flights)

    def _start(self, request: Request) -> _Flight | None:
        with self._lock:
            if self._closed or request.session in self._flights:
                return None
            flight = self._flights[request.session] = _Flight()
            self._monitors.setdefault(request.session, ContextBudgetMonitor(self._config)).mark_compaction_started()
        name = f"haversack-compaction-{request.session}"
        threading.Thread(target=self._fly, args=(request, flight), name=name, daemon=True).start()
        return flight

    def _fly(self, request: Request, flight: _Flight) -> None:
        try:
            flight.result = self._compactor.run(request, flight.cancel)
        except Exception as error:  # noqa: BLE001 - the background loop: whatever failed is told in the result
            flight.result = CompactionResult(
                outcome=Outcome.FAILED, reasons=("failed",), errors=(f"{type(error).__name__}: {error}",)
            )
        with self._lock:
            self._monitors[request.session].mark_compaction_complete(flight.result)
        try:
            self._report(request.session, flight.result)
        finally:
            with self._lock:
                del self._flights[request.session]
            flight.landed.set()
