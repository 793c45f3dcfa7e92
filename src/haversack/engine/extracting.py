"""Extraction for the engine: one reader of turns per namespace, behind the conversation or when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from haversack.compaction.dedup import SUBJECT, Similar, lexical_similarity
from haversack.compaction.extraction.background import BackgroundExtraction
from haversack.compaction.extraction.extractor import Extracted, Extractor
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.embed.embedder import Embedder, Vectors
from haversack.embed.lapse import WordsAlone
from haversack.engine.admitting import STATEMENTS
from haversack.engine.aging import policy_of
from haversack.engine.core import Core
from haversack.engine.costing import metered
from haversack.engine.hiding import hidden_turns
from haversack.engine.writing import completed
from haversack.llm.cost import Purpose
from haversack.llm.port import Cancel
from haversack.model.memory import Memory
from haversack.model.query import Filter
from haversack.model.text import is_blank
from haversack.recall import View

__all__ = ["after_turns", "extract", "flush", "pending", "reader_of", "similarity", "wait"]

_CLOSEST = 5
_MOST = 100
_LEAST = 0.3


def reader_of(core: Core, namespace: str) -> BackgroundExtraction:
    """What reads the namespace's sessions."""
    config = core.memory.extraction or ExtractionConfig()
    return core.runs.extraction_of(
        namespace, lambda: BackgroundExtraction(_Reader(core=core, namespace=namespace), every=config.every)
    )


def after_turns(core: Core, namespace: str, session: str, count: int) -> None:
    """Note added turns; where extraction is configured, every few of them start it in the background."""
    if core.memory.extraction is not None and core.memory.extraction.enabled and count:
        reader_of(core, namespace).after_turns(session, count)


def extract(core: Core, namespace: str, session: str) -> Extracted:
    """Read what is pending now, after a run in progress."""
    return reader_of(core, namespace).flush(session)


def flush(core: Core, namespace: str, session: str) -> None:
    """Read what is pending where extraction is configured: before turns go behind a summary."""
    if core.memory.extraction is not None and core.memory.extraction.enabled:
        extract(core, namespace, session)


def pending(core: Core, namespace: str, session: str) -> int:
    """Turns that were not read yet."""
    return _extractor(core, namespace, session).pending(session)


def wait(core: Core, namespace: str, session: str | None, seconds: float) -> bool:
    """Wait for what is being read; whether that has ended."""
    return reader_of(core, namespace).wait(seconds, session)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads with the policy, the costs and the statements of the moment."""

    core: Core
    namespace: str

    def extract(self, session: str, cancel: Cancel | None = None) -> Extracted:
        return _extractor(self.core, self.namespace, session).extract(session, cancel)


def _extractor(core: Core, namespace: str, session: str) -> Extractor:
    config = core.memory.extraction or ExtractionConfig()
    name, known = config.llm_service, _Known(core=core, namespace=namespace)
    return Extractor(
        store=core.store,
        namespace=namespace,
        policy=policy_of(core, namespace),
        clock=core.clock,
        related=known.related,
        on_subject=known.on_subject,
        service=None if name is None else metered(core, namespace, session, name, Purpose.EXTRACTION),
        similar=similarity(core),
        prepare=lambda batch: completed(core, namespace, batch),
        entropy=core.entropy,
        hidden=partial(hidden_turns, core, namespace),
        seconds=config.max_seconds,
    )


@dataclass(slots=True, kw_only=True)
class _Known:
    """The live statements of a namespace, for one batch of turns after the other: each sees them at one moment."""

    core: Core
    namespace: str
    view: View | None = None

    def related(self, texts: Sequence[str]) -> list[Memory]:
        """Those likest to any of the texts, with which a batch begins; the likest first."""
        wanted = [text for text in texts if not is_blank(text)]
        now, chosen = self.core.clock(), Filter(kinds=STATEMENTS)
        likeness: dict[str, float] = {}
        found: dict[str, Memory] = {}
        vectors = _embedded(self.core, wanted)
        self.view = self.core.recall.view([self.namespace], vector=vectors[0] if vectors else None)
        for place, text in enumerate(wanted):
            vector = None if vectors is None else vectors[place]
            for one, score in self.view.nearest(text, vector, filter=chosen, now=now, top_k=_CLOSEST):
                if score >= _LEAST or vector is None:
                    likeness[one.id] = max(score, likeness.get(one.id, 0.0))
                    found[one.id] = one
        return [found[name] for name in sorted(likeness, key=lambda name: (-likeness[name], name))[:_MOST]]

    def on_subject(self, subject: str) -> list[Memory]:
        """Those on a subject, however they are worded."""
        same = Filter(kinds=STATEMENTS, where=((SUBJECT, subject),))
        view = self.view or self.core.recall.view([self.namespace])
        return [hit.memory for hit in view.listing(same, now=self.core.clock(), top_k=_MOST)]


def _embedded(core: Core, texts: Sequence[str]) -> Sequence[Vectors] | None:
    if core.embedder is None or not texts:
        return None
    with WordsAlone():
        return list(core.embedder.embed(texts))
    return None


def similarity(core: Core) -> Similar:
    """How alike texts are, by the embedder or by words."""
    return lexical_similarity if core.embedder is None else _cosines(core.embedder)


def _cosines(embedder: Embedder) -> Similar:
    def similar(text: str, others: Sequence[str]) -> Sequence[float]:
        if not others:
            return []
        with WordsAlone():
            mine, *theirs = embedder.embed([text, *others])
            return [float(mine @ other) for other in theirs]
        return lexical_similarity(text, others)

    return similar
