"""From valid actions to rows: evidence, tombstones, policy and what exists decide. Pure; lookups come in as values.

Law: one bad action neither undoes nor blocks the others, and an existing statement is never destroyed: it is dated.
A wish to delete that comes with a new statement becomes that statement's succession.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from haversack.compaction.dedup import SUBJECT, Relation, Similar, admit, lexical_similarity, succession
from haversack.compaction.extraction.action import Action, Event, Skipped
from haversack.lifecycle.policy import Policy
from haversack.llm.anchors import anchors, is_request, sentences
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, Source, Stage, Trust, Turn
from haversack.model.message import Role
from haversack.model.text import fingerprint_form

__all__ = ["Resolution", "Scene", "resolve"]

_CARRIED = 0.6
_ABOUT = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the actions are judged against."""

    session: str
    turns: Sequence[Turn]
    existing: Sequence[Memory]
    """Live statements that may be meant."""
    policy: Policy
    now: datetime
    new_id: Callable[[], str]
    similar: Similar = lexical_similarity
    tombstoned: Callable[[Sequence[str]], set[str]] = lambda _: set()
    """Which fingerprints were forgotten for good."""
    on_subject: Callable[[str], Sequence[Memory]] = lambda _: ()
    """Live statements on a subject, which need not look like the new one."""
    recalled: Sequence[str] = ()
    """Texts that were put into the prompt from memory: their repetition is no evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What to write and what not."""

    memories: tuple[Memory, ...]
    """Rows in the order to write; an id appears once."""
    added: tuple[str, ...]
    ended: tuple[str, ...]
    """Existing statements that are kept and dated."""
    skipped: tuple[Skipped, ...]


def resolve(actions: Sequence[tuple[int, Action]], scene: Scene) -> Resolution:
    """Carry the actions out against the scene, in order, each seeing what those before it did."""
    prints = {mark for _, action in actions for mark in _prints(action)}
    work = _Work(scene, scene.tombstoned(sorted(prints)) if prints else set())
    for index, action in actions:
        reason = work.carry_out(action)
        if reason is not None:
            work.skipped.append(Skipped(index=index, id=action.target or None, reason=reason))
    return Resolution(
        memories=tuple(work.rows.values()),
        added=tuple(work.added),
        ended=tuple(work.ended),
        skipped=tuple(work.skipped),
    )


def _prints(action: Action) -> list[str]:
    """The fingerprints under which its words may have been erased."""
    return [fingerprint(kind, words) for kind in Kind for words in (action.text, action.evidence)]


class _Work:
    """The state of one resolution."""

    def __init__(self, scene: Scene, forgotten: set[str]) -> None:
        self.scene = scene
        self.forgotten = forgotten
        """Fingerprints of what was erased for good."""
        self.known = {memory.id: memory for memory in scene.existing}
        self.rows: dict[str, Memory] = {}
        self.added: list[str] = []
        self.ended: list[str] = []
        self.skipped: list[Skipped] = []
        self.recalled = [fingerprint_form(text) for text in scene.recalled]
        self.said = [(turn, fingerprint_form(turn.message.text)) for turn in reversed(scene.turns)]
        """The newest turn first."""

    def carry_out(self, action: Action) -> str | None:
        """Do it; the reason when it cannot be done."""
        match action.event:
            case Event.ADD:
                return self._add(action)
            case Event.UPDATE:
                return self._replace(action)
            case Event.DELETE:
                return self._end(action)

    def _add(self, action: Action) -> str | None:
        made = self._make(action)
        if isinstance(made, str):
            return made
        for memory in self.scene.on_subject(str(made.metadata[SUBJECT])) if SUBJECT in made.metadata else ():
            self.known.setdefault(memory.id, memory)
        candidates = [memory for memory in self.known.values() if memory.stage is not Stage.DELETED]
        scores = self.scene.similar(made.content, [memory.content for memory in candidates])
        admitted = admit(made, candidates, scores, self.scene.policy.dedup)
        if admitted.relation is Relation.SAME:
            return "known already"
        self._write(admitted.memories)
        return None

    def _replace(self, action: Action) -> str | None:
        old = self.known.get(action.target)
        if old is None:
            return "unknown id"
        made = self._make(action if action.subject else replace(action, subject=str(old.metadata.get(SUBJECT, ""))))
        if isinstance(made, str):
            return made
        if fingerprint_form(made.content) == fingerprint_form(old.content):
            return "known already"
        self._write(succession(made, [old]))
        return None

    def _end(self, action: Action) -> str | None:
        old = self.known.get(action.target)
        if old is None:
            return "unknown id"
        said = self._statement_about(old, action.evidence)
        if said is None:
            ends = max(self.scene.turns[-1].at if self.scene.turns else self.scene.now, old.event_time)
            self._write((replace(old, valid_to=ends),))
            return None
        turn, line = said
        made = self._memory(Action(event=Event.ADD, kind=old.kind, text=line, evidence=line), turn)
        self._write(succession(made, [old]))
        return None

    def _write(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            if memory.id in self.known:
                self.ended.append(memory.id)
            else:
                self.added.append(memory.id)
            self.rows[memory.id] = self.known[memory.id] = memory

    def _make(self, action: Action) -> Memory | str:
        keep = self.scene.policy.keep
        if keep is not None and action.kind not in keep:
            return f"policy keeps no {action.kind}"
        turn = self._witness(action)
        if turn is None:
            return "no evidence"
        if not self.forgotten.isdisjoint(_prints(action)):
            return "forgotten for good"
        return self._memory(action, turn)

    def _memory(self, action: Action, turn: Turn) -> Memory:
        trust = Trust.CORRECTION if action.kind is Kind.CORRECTION else Trust.EXTRACTED
        metadata = {"evidence": action.evidence} if action.evidence else {}
        return Memory(
            id=self.scene.new_id(),
            kind=action.kind,
            content=action.text,
            created_at=self.scene.now,
            event_time=turn.at,
            importance=action.importance,
            confidence=1.0 if action.evidence else 0.7,
            trust=trust,
            entities=action.entities or tuple(sorted(anchors(action.text)))[:8],
            source=Source(session=self.scene.session, turns=(turn.id,)),
            metadata=metadata | ({SUBJECT: action.subject} if action.subject else {}),
        )

    def _witness(self, action: Action) -> Turn | None:
        """The turn that says it: its words hold the quoted evidence, or most of the statement's own words."""
        quoted = fingerprint_form(action.evidence)
        if quoted and any(quoted in text for text in self.recalled):
            return None
        for turn, said in self.said:
            if turn.message.role is not Role.SYSTEM and (quoted in said if quoted else _carries(action.text, said)):
                return turn
        return None

    def _statement_about(self, old: Memory, evidence: str) -> tuple[Turn, str] | None:
        """The newest sentence of a user that speaks of an ended statement and says something itself."""
        for turn in reversed(self.scene.turns):
            if turn.message.role is not Role.USER:
                continue
            lines = [line for line in sentences(turn.message.text) if not is_request(line)]
            if evidence and evidence in turn.message.text and evidence not in lines:
                lines.append(evidence)
            scores = self.scene.similar(old.content, lines)
            best = max(zip(scores, lines, strict=True), default=(0.0, ""))
            if best[0] >= _ABOUT and fingerprint_form(best[1]) != fingerprint_form(old.content):
                return turn, best[1]
        return None


def _carries(text: str, said: str) -> bool:
    words = [word for word in fingerprint_form(text).split() if len(word) > 3]  # noqa: PLR2004 - content words
    return bool(words) and sum(word.strip(".,") in said for word in words) >= _CARRIED * len(words)
