"""Compaction for the engine: one compactor and one coordinator per namespace, and their place in the store."""

from __future__ import annotations

from haversack.compaction import CompactionConfig, CompactionResult
from haversack.compaction.compactor import Compactor, Request, message_price
from haversack.compaction.coordinator import Coordinator
from haversack.compaction.summarize import Summarizer
from haversack.compaction.view import load_view, view_write
from haversack.engine.core import Core
from haversack.engine.writing import completed
from haversack.errors import ConfigError, NotFoundError
from haversack.model.memory import Turn
from haversack.store.port import Batch

__all__ = ["compact", "coordinator_of", "expand"]

_WINDOW = 32_000
"""Tokens that a summary's share is taken of when no prompt has said how large its window is."""


def coordinator_of(core: Core, namespace: str) -> Coordinator:
    """What watches the namespace's sessions and runs their compaction."""
    config = core.memory.compaction or CompactionConfig()
    return core.runs.of(namespace, lambda: Coordinator(_compactor(core, namespace, config), config))


def compact(core: Core, namespace: str, session: str, *, to_free: int | None) -> CompactionResult:
    """Run now and wait. Raises ConfigError where compaction is switched off by an explicit `enabled: false`."""
    config = core.memory.compaction or CompactionConfig()
    if not config.enabled:
        raise ConfigError("compaction is switched off by memory.compaction.enabled: false")
    request = Request(
        session=session, to_free=to_free, available=_WINDOW, seconds=config.critical_max_duration_ms / 1000
    )
    return coordinator_of(core, namespace).compact(request)


def expand(core: Core, namespace: str, session: str, name: str, *, reopen: bool) -> list[Turn]:
    """The turns behind a summary's id, or the one turn of a turn's id, exactly as they were said.

    With `reopen` the summary stops standing for them: prompts show the turns again. Raises NotFoundError.
    """
    view, version = load_view(core.store, namespace, session)
    fold = next((each for each in view.folds if each.summary == name), None)
    if fold is None:
        return _turn_or_earlier(core, namespace, session, name)
    if reopen:
        core.store.apply(namespace, Batch(records=(view_write(view.opened(name), version),)))
    return core.store.turns(namespace, session, after=fold.start - 1, limit=fold.stop - fold.start)


def _turn_or_earlier(core: Core, namespace: str, session: str, name: str) -> list[Turn]:
    """A turn by its id, or what an earlier summary that was taken into a newer one stood for."""
    turns = core.store.turns_by_id(namespace, [name])
    if not turns:
        for summary in core.store.memories(namespace, [name]):
            turns = core.store.turns_by_id(namespace, summary.source.turns)
    if not turns or turns[0].session != session:
        raise NotFoundError(f"nothing in session {session!r} stands behind {name!r}")
    return turns


def _compactor(core: Core, namespace: str, config: CompactionConfig) -> Compactor:
    counter = core.counter(core.settings.model)
    chosen = None if config.llm_service is None else core.service(config.llm_service)
    return Compactor(
        store=core.store,
        namespace=namespace,
        summarizer=Summarizer.of(config, counter, chosen),
        config=config,
        clock=core.clock,
        price=message_price(counter),
        owner=core.entropy(8).hex(),
        prepare=lambda batch: completed(core, namespace, batch),
        entropy=core.entropy,
    )
