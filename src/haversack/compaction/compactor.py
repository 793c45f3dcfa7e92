"""One compaction run of one session: clear, plan, summarise, land. All of it lands in one batch, or nothing does.

Law: whatever happens before the batch is applied (failure, cancellation, a kill), the old view stands.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from haversack.compaction.plan import Plan, clearable, plan_fold, units
from haversack.compaction.result import CompactionResult, Outcome
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.summarize import Refused, Summarizer, Summary
from haversack.compaction.view import Fold, View, load_view, pointer, render, stand_in, view_write
from haversack.errors import ConflictError
from haversack.llm.port import Cancel
from haversack.model.identity import ENTROPY_BYTES, ID_LENGTH, make_id
from haversack.model.memory import Kind, Memory, Source, Trust, Turn
from haversack.model.message import Message
from haversack.model.text import is_blank
from haversack.store import lease as leases
from haversack.store.port import Batch, Store
from haversack.tokens.counter import Counter
from haversack.wire.pairing import pair_turns

__all__ = ["Compactor", "Request", "lease_key", "message_price"]

_LEASE_MARGIN = 30.0
"""Seconds beyond the time budget until another process may take over."""
_FRAME = 4


def lease_key(session: str) -> str:
    """Under which a session is compacted by one at a time. A lease's record stays, so it does not hold the name."""
    return f"compaction:{hashlib.sha256(session.encode()).hexdigest()[:32]}"


def message_price(counter: Counter) -> Callable[[Sequence[Message]], list[int]]:
    """Prices by content, tool calls and a frame: enough to plan with where no exact framing is at hand."""

    def price(messages: Sequence[Message]) -> list[int]:
        calls = ["".join(f"{call.name}{call.arguments}" for call in message.tool_calls) for message in messages]
        words = counter.count_many([message.text for message in messages])
        return [text + made + _FRAME for text, made in zip(words, counter.count_many(calls), strict=True)]

    return price


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a run is asked to do."""

    session: str
    to_free: int | None = None
    """Tokens; None: all that is old."""
    available: int
    """Tokens that the prompt may take: the summary's limit is a share of it."""
    seconds: float
    """The time budget."""
    reason: str = "manual"


@dataclass(slots=True, kw_only=True)
class _Work:
    """The state of one run."""

    request: Request
    started_at: datetime
    begun: float
    view: View
    version: int
    turns: list[Turn]
    contents: dict[str, str]
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """Runs on one namespace."""

    store: Store
    namespace: str
    summarizer: Summarizer
    config: CompactionConfig
    clock: Callable[[], datetime]
    price: Callable[[Sequence[Message]], list[int]]
    owner: str
    """Names this process in leases."""
    prepare: Callable[[Batch], Batch] = field(default=lambda batch: batch)
    """Adds prices and vectors for the batch's memories."""
    flush: Callable[[str], None] = field(default=lambda _: None)
    """Finishes the pending extraction of a session."""
    entropy: Callable[[int], bytes] = secrets.token_bytes
    hidden: Callable[[], Collection[str]] = frozenset
    """Ids of turns that are softly forgotten: no summary repeats them."""

    def run(self, request: Request, cancel: Cancel | None = None) -> CompactionResult:
        """Compact one session. Never raises for what a model does; store failures pass through."""
        started_at, begun = self.clock(), time.monotonic()
        self.flush(request.session)
        lease = leases.acquire(
            self.store,
            self.namespace,
            lease_key(request.session),
            owner=self.owner,
            now=started_at,
            seconds=request.seconds + _LEASE_MARGIN,
        )
        if lease is None:
            refused = CompactionResult(outcome=Outcome.REFUSED, started_at=started_at, reasons=("already running",))
            return replace(refused, trigger_reason=request.reason)
        try:
            work = self._begin(request, started_at, begun)
            result = self._work(work, lease, cancel)
        finally:
            leases.release(self.store, self.namespace, lease)
        elapsed = (time.monotonic() - begun) * 1000
        return replace(result, completed_at=self.clock(), duration_ms=elapsed)

    def _begin(self, request: Request, started_at: datetime, begun: float) -> _Work:
        view, version = load_view(self.store, self.namespace, request.session)
        hidden = self.hidden()
        turns = [
            turn for turn in pair_turns(self.store.turns(self.namespace, request.session)) if turn.id not in hidden
        ]
        ids = [fold.summary for fold in view.folds]
        contents = {memory.id: memory.content for memory in self.store.memories(self.namespace, ids)}
        for erased in (id_ for id_ in ids if id_ not in contents):
            view = view.opened(erased)
        return _Work(
            request=request,
            started_at=started_at,
            begun=begun,
            view=view,
            version=version,
            turns=turns,
            contents=contents,
            before=sum(self.price(render(view, turns, contents))),
        )

    def _work(self, work: _Work, lease: leases.Lease, cancel: Cancel | None) -> CompactionResult:
        view, cleared, freed = self._clear(work)
        wanted = work.before if work.request.to_free is None else work.request.to_free
        fold_result = None
        if freed < wanted:
            try:
                fold_result = self._summarize(work, view, wanted - freed, cancel)
            except Refused as refused:
                return self._failed(work, refused)
        if cancel is not None and cancel.is_set():
            return self._report(work, Outcome.CANCELLED, reasons=("cancelled",))
        if fold_result is None and not cleared:
            return self._report(work, Outcome.SKIPPED, reasons=("nothing to compact",))
        return self._land(work, lease, view, cleared, fold_result)

    def _clear(self, work: _Work) -> tuple[View, int, int]:
        """The cheap tier: the view with old tool results as pointers, how many, and the tokens that frees."""
        if not self.config.clear_tool_results:
            return work.view, 0, 0
        wanted = work.before if work.request.to_free is None else work.request.to_free
        positions: list[int] = []
        freed = 0
        for turn, cost in clearable(work.turns, self._costs(work, work.view), work.view, self.config):
            if freed >= wanted:
                break
            saved = cost - self.price([pointer(turn)])[0]
            if saved > 0:
                positions.append(turn.position)
                freed += saved
        return work.view.with_cleared(positions), len(positions), freed

    def _summarize(
        self, work: _Work, view: View, to_free: int, cancel: Cancel | None
    ) -> tuple[Plan, Summary, Memory] | None:
        limit = max(1, int(work.request.available * self.config.max_summary_share))
        costs = self._costs(work, view)
        heading = self.price([stand_in(Fold(summary="0" * ID_LENGTH, start=0, stop=len(work.turns) + 1), "")])[0]
        allowance = min(limit, to_free // 2) + heading
        plan = plan_fold(work.turns, costs, view, to_free=to_free + allowance, config=self.config)
        if plan is None:
            return None
        taken_in = view.inside(plan.start, plan.stop)
        fresh = [
            work.turns[unit.first : unit.last + 1]
            for unit in units(work.turns, costs)
            if plan.first <= unit.first <= plan.last and view.fold_at(work.turns[unit.first].position) is None
        ]
        summary = self.summarizer.summarize(
            fresh,
            previous="\n".join(work.contents[fold.summary] for fold in taken_in),
            limit=limit,
            time_left=lambda: work.request.seconds - (time.monotonic() - work.begun),
            cancel=cancel,
        )
        return plan, summary, self._memory(work, view, plan, summary, list(chain.from_iterable(fresh)))

    def _memory(self, work: _Work, view: View, plan: Plan, summary: Summary, fresh: Sequence[Turn]) -> Memory:
        now = self.clock()
        last = fresh[summary.turns - 1]
        stop = plan.stop if summary.turns == len(fresh) else last.position + 1
        behind = [turn for turn in work.turns[plan.first : plan.last + 1] if turn.position < stop]
        return Memory(
            id=make_id(now, self.entropy(ENTROPY_BYTES)),
            kind=Kind.SUMMARY,
            content=summary.text,
            created_at=now,
            event_time=behind[-1].at,
            trust=Trust.EXTRACTED,
            source=Source(
                session=work.request.session,
                turns=tuple(turn.id for turn in behind),
                memories=tuple(fold.summary for fold in view.folds if plan.start <= fold.start and fold.stop <= stop),
            ),
            metadata={"first": plan.start, "last": stop - 1},
        )

    def _land(
        self,
        work: _Work,
        lease: leases.Lease,
        view: View,
        cleared: int,
        made: tuple[Plan, Summary, Memory] | None,
    ) -> CompactionResult:
        memories: tuple[Memory, ...] = ()
        contents = work.contents
        behind: tuple[str, ...] = ()
        seen: int | None = None
        if made is not None:
            plan, _, memory = made
            last = memory.metadata["last"]
            assert isinstance(last, int)  # noqa: S101 - written above
            fold = Fold(summary=memory.id, start=plan.start, stop=last + 1)
            old = self.store.memories(self.namespace, list(memory.source.memories))
            if len(old) < len(memory.source.memories):
                return self._report(work, Outcome.FAILED, reasons=("changed meanwhile",), errors=("a summary is gone",))
            if any(each.content != work.contents[each.id] for each in old):
                return self._report(work, Outcome.FAILED, reasons=("changed meanwhile",), errors=("a summary is new",))
            behind, seen = memory.source.turns, max((each.changed for each in old), default=None)
            ended = (replace(each, superseded_by=memory.id, valid_to=memory.created_at) for each in old)
            view, memories = view.folded(fold), (memory, *ended)
            contents = {**contents, memory.id: memory.content}
        after = sum(self.price(render(view, work.turns, contents)))
        if after >= work.before or (made is not None and is_blank(made[1].text)):
            return self._report(work, Outcome.FAILED, reasons=("not shorter",), errors=("the view did not shrink",))
        batch = Batch(
            memories=memories,
            records=(view_write(view, work.version), leases.releasing(lease)),
            seen=seen,
            made_of=behind,
        )
        try:
            self.store.apply(self.namespace, self.prepare(batch))
        except ConflictError as error:
            return self._report(work, Outcome.FAILED, reasons=("changed meanwhile",), errors=(str(error),))
        return self._success(work, after, cleared, made)

    def _success(
        self, work: _Work, after: int, cleared: int, made: tuple[Plan, Summary, Memory] | None
    ) -> CompactionResult:
        done = self._report(work, Outcome.DONE)
        asked = work.request.to_free
        is_met = asked is None or work.before - after >= asked
        reasons = [] if is_met else ["target not met"]
        if made is None:
            return replace(done, tokens_after=after, results_cleared=cleared, target_met=is_met, reasons=tuple(reasons))
        _, summary, memory = made
        if summary.left_out:
            reasons.append(f"left out {summary.left_out} details that the turns keep")
        return replace(
            done,
            tokens_after=after,
            results_cleared=cleared,
            turns_summarized=summary.turns,
            tokens_saved_from_summarization=work.before - after,
            target_met=is_met,
            time_budget_exhausted=summary.exhausted,
            summary=memory.id,
            reasons=tuple(reasons),
        )

    def _failed(self, work: _Work, refused: Refused) -> CompactionResult:
        cause = refused.cause
        outcome = Outcome.CANCELLED if cause.code == "cancelled" else Outcome.FAILED
        errors = (f"{cause.code}: {cause.detail}".rstrip(": "),) if outcome is Outcome.FAILED else ()
        result = self._report(work, outcome, reasons=(cause.code,), errors=errors)
        return replace(result, time_budget_exhausted=cause.code == "out of time")

    def _report(
        self, work: _Work, outcome: Outcome, *, reasons: tuple[str, ...] = (), errors: tuple[str, ...] = ()
    ) -> CompactionResult:
        return CompactionResult(
            outcome=outcome,
            started_at=work.started_at,
            tokens_before=work.before,
            tokens_after=work.before,
            tokens_target=work.request.to_free or 0,
            trigger_reason=work.request.reason,
            reasons=reasons,
            errors=errors,
        )

    def _costs(self, work: _Work, view: View) -> list[int]:
        """Each turn's price as it stands, were no summary there."""
        shown = [pointer(turn) if turn.position in view.cleared else turn.message for turn in work.turns]
        return self.price(shown)
