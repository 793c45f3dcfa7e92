"""Compaction for the engine: one coordinator per namespace, and each run's place in the store."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from haversack.compaction import CompactionConfig, CompactionResult
from haversack.compaction.compactor import Compactor, Request
from haversack.compaction.coordinator import Coordinator
from haversack.compaction.dedup import hidden_behind, plan_dedup
from haversack.compaction.result import Outcome
from haversack.compaction.summarize import Summarizer
from haversack.compaction.view import load_view, view_write
from haversack.engine import extracting
from haversack.engine.aging import policy_of, promote_from
from haversack.engine.core import Core
from haversack.engine.costing import metered
from haversack.engine.hiding import hidden_turns, shown_turns
from haversack.engine.writing import completed
from haversack.errors import ConfigError, ConflictError, NotFoundError
from haversack.llm.cost import Purpose
from haversack.llm.port import Cancel
from haversack.model.memory import Kind, Turn, successors_of
from haversack.model.query import Filter
from haversack.store.port import Batch
from haversack.store.retry import persisting
from haversack.tokens.chat import count_each
from haversack.tokens.models import resolve

__all__ = ["compact", "coordinator_of", "expand"]

_WINDOW = 32_000
"""Tokens that a summary's share is taken of when neither a prompt, a setting nor the model says how many there are."""
_MOST_INSIGHTS = 10_000


def coordinator_of(core: Core, namespace: str) -> Coordinator:
    """What watches the namespace's sessions and runs their compaction."""
    config = core.memory.compaction or CompactionConfig()
    return core.runs.of(
        namespace, lambda: Coordinator(_Compaction(core=core, namespace=namespace, config=config), config)
    )


def compact(core: Core, namespace: str, session: str, *, to_free: int | None) -> CompactionResult:
    """Run now and wait. Raises ConfigError where compaction is switched off by an explicit `enabled: false`."""
    config = core.memory.compaction or CompactionConfig()
    if not config.enabled:
        raise ConfigError("compaction is switched off by memory.compaction.enabled: false")
    request = Request(
        session=session,
        to_free=to_free,
        available=_available(core, namespace, session),
        seconds=config.critical_max_duration_ms / 1000,
    )
    return coordinator_of(core, namespace).compact(request)


def expand(core: Core, namespace: str, session: str, name: str, *, reopen: bool) -> list[Turn]:
    """The turns behind a summary's id, or the one turn of a turn's id, exactly as they were said.

    With `reopen` the summary stops standing for them: prompts show the turns again. Raises NotFoundError.
    """
    return persisting(lambda: _expand(core, namespace, session, name, reopen=reopen))


def _expand(core: Core, namespace: str, session: str, name: str, *, reopen: bool) -> list[Turn]:
    view, version = load_view(core.store, namespace, session)
    fold = next((each for each in view.folds if each.summary == name), None)
    if fold is None:
        return _turn_or_earlier(core, namespace, session, name)
    if reopen:
        core.store.apply(namespace, Batch(records=(view_write(view.opened(name), version),)))
    behind = shown_turns(core, namespace, session, after=fold.start - 1, limit=fold.stop - fold.start)
    return [turn for turn in behind if turn.position < fold.stop]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compaction:
    """Runs on one namespace, each with the costs of its session.

    Afterwards insights are deduplicated, and what came from the session and has proven itself is promoted.
    """

    core: Core
    namespace: str
    config: CompactionConfig

    def run(self, request: Request, cancel: Cancel | None = None) -> CompactionResult:
        result = _compactor(self.core, self.namespace, request.session, self.config).run(request, cancel)
        if result.outcome is not Outcome.DONE:
            return result
        hidden = _dedup_insights(self.core, self.namespace, self.config) if self.config.insight_dedup_enabled else 0
        promoted = promote_from(self.core, self.namespace, request.session)
        return replace(result, insights_deduplicated=hidden, memories_promoted=promoted)


def _compactor(core: Core, namespace: str, session: str, config: CompactionConfig) -> Compactor:
    model = core.settings.model
    counter, family = core.counter(model), resolve(model).family
    name = config.llm_service
    service = None if name is None else metered(core, namespace, session, name, Purpose.COMPACTION)
    return Compactor(
        store=core.store,
        namespace=namespace,
        summarizer=Summarizer.of(config, counter, service),
        config=config,
        clock=core.clock,
        price=lambda messages: [cost.total for cost in count_each(counter, messages, family, model=model)],
        owner=core.entropy(8).hex(),
        prepare=lambda batch: completed(core, namespace, batch),
        flush=lambda session: extracting.flush(core, namespace, session),
        entropy=core.entropy,
        hidden=partial(hidden_turns, core, namespace),
    )


def _dedup_insights(core: Core, namespace: str, config: CompactionConfig) -> int:
    """Hide near duplicates among the newest insights behind what they repeat; how many."""
    insights_alone = Filter(kinds=frozenset({Kind.INSIGHT}))
    hits = core.recall.view([namespace]).listing(insights_alone, now=core.clock(), top_k=_MOST_INSIGHTS)
    if len(hits) <= 1:
        return 0
    policy = replace(
        policy_of(core, namespace).dedup,
        similarity=config.insight_similarity_threshold,
        check_newest=config.max_insights_to_check,
    )
    insights = {hit.id: hit.memory for hit in hits}
    merges = plan_dedup(insights.values(), extracting.similarity(core), policy)
    hidden = tuple(hidden_behind(insights[merge.hide], merge.keep) for merge in merges)
    if hidden:
        with suppress(ConflictError):  # somebody changed one of them: the next run looks again
            batch = Batch(memories=hidden, seen=max(row.changed for row in insights.values()))
            core.store.apply(namespace, replace(batch, made_of=successors_of(hidden)))
            return len(hidden)
    return 0


def _available(core: Core, namespace: str, session: str) -> int:
    """Tokens that the session's prompts may take: as the last one had, or as the settings or the model say."""
    noted = core.runs.available.get((namespace, session))
    if noted is not None:
        return noted
    window = core.memory.context_window or resolve(core.settings.model).window
    return _WINDOW if window is None else window - min(core.memory.output_buffer, window // 2)


def _turn_or_earlier(core: Core, namespace: str, session: str, name: str) -> list[Turn]:
    """A turn by its id, or what an earlier summary that was taken into a newer one stood for."""
    turns = core.store.turns_by_id(namespace, [name])
    if not turns:
        for summary in core.store.memories(namespace, [name]):
            turns = core.store.turns_by_id(namespace, summary.source.turns)
    hidden = hidden_turns(core, namespace)
    turns = [turn for turn in turns if turn.id not in hidden]
    if not turns or turns[0].session != session:
        raise NotFoundError(f"nothing in session {session!r} stands behind {name!r}")
    return turns
