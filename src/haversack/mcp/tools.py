"""The tools: each parses its arguments, calls one verb of the engine and words the answer for a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from msgspec import UNSET

from haversack.assemble import Format
from haversack.engine.erasing import scope_to_forget
from haversack.engine.guarding import Suspicion, read_suspicions
from haversack.engine.keys import Scope
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import InputError, NotFoundError
from haversack.mcp import arguments as takes
from haversack.mcp.fence import LEAD, fence_history, fence_hits, fence_sessions, fence_turns
from haversack.model.memory import Source, Trust
from haversack.tokens import Counter, counter_for

__all__ = ["TOOLS", "Answer", "Packed", "Tool", "ToolOptions", "pack"]

_Arguments = TypeVar("_Arguments", bound=takes.Arguments)

_NOTHING = "Nothing remembered answers this within the budget.\n"
_LISTED = 20
"""Ids that the answer of `forget` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """What the operator decides for every call."""

    settings: Settings = field(default_factory=Settings)
    """Model and budget of a context whose call names none."""
    hold_back: tuple[str, ...] = ()
    """What looks like `instructions` or `secrets` reaches no model: contexts leave it out, lists show a blank entry."""

    @property
    def held(self) -> frozenset[Suspicion]:
        """The same, checked."""
        return read_suspicions(self.hold_back)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool says."""

    text: str
    """For the model."""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """For programs: ids, scores and counts, never words of memories."""
    memories: tuple[str, ...] = ()
    """Ids for the audit."""
    session: str | None = None
    destroys: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[_Arguments]):
    """One tool as it is offered."""

    name: str
    about: str
    takes: type[_Arguments]
    scope: Scope
    """What a key must allow; what writes is carried out in the order of arrival."""
    run: Callable[[Namespace, _Arguments, ToolOptions], Answer]
    destructive: bool = False
    takes_more: Callable[[Namespace, _Arguments], Scope] | None = None
    """The scope that these arguments take, where it can be more than `scope`."""


def _remember(ns: Namespace, said: takes.RememberArguments, _: ToolOptions) -> Answer:
    """Words that come from a model are trusted as such: `extracted`, whatever they claim."""
    if said.role is not UNSET:
        return _append(ns, said)
    details = takes.given(said, "kind", "importance", "tags", "event_time")
    if said.id is not UNSET:
        if said.supersedes is not UNSET or said.subject is not UNSET:
            raise InputError("id rewords a memory; supersedes and subject replace one: give one of them")
        memory = ns.edit(said.id, content=said.content, trust=Trust.EXTRACTED, **details)
        return Answer(text=f"changed {memory.id}\n", memories=(memory.id,))
    source = None if said.session is UNSET else Source(session=said.session)
    replaces = takes.given(said, "supersedes", "subject")
    memory = ns.remember(said.content, trust=Trust.EXTRACTED, source=source, **details, **replaces)
    return Answer(text=f"remembered {memory.id} ({memory.kind})\n", memories=(memory.id,))


def _append(ns: Namespace, said: takes.RememberArguments) -> Answer:
    if said.session is UNSET or said.role is UNSET:
        raise InputError("role appends a turn to a conversation: name it by session")
    at = None if said.event_time is UNSET else said.event_time
    turn = ns.session(said.session).add(said.role, said.content, at=at)
    return Answer(text=f"appended turn {turn.position}\n", session=said.session, facts={"position": turn.position})


def _recall(ns: Namespace, said: takes.RecallArguments, options: ToolOptions) -> Answer:
    hits = ns.recall(said.query, top_k=said.limit, **_filters(said))
    return Answer(
        text=fence_hits(hits, options.held),
        facts={
            "hits": [
                {"id": hit.id, "score": hit.score, "relevance": hit.relevance, "parts": dict(hit.parts)} for hit in hits
            ],
            "behind": hits.behind,
        },
        memories=tuple(hit.id for hit in hits),
    )


def _context(ns: Namespace, said: takes.ContextArguments, options: ToolOptions) -> Answer:
    shape = takes.given(said, "budget", "model")
    packed = pack(ns, said.query, options, **shape, **_filters(said))
    return Answer(text=packed.text, facts=packed.facts, memories=packed.memories)


def _why(ns: Namespace, said: takes.WhyArguments, options: ToolOptions) -> Answer:
    wanted = _shape(options, **takes.given(said, "budget", "model"))
    found = ns.why(said.query, said.id, **wanted.keywords)
    return Answer(text=f"{found}\n", memories=(said.id,))


def _scope_to_forget(ns: Namespace, said: takes.ForgetArguments) -> Scope:
    ids = () if said.ids is UNSET else tuple(said.ids)
    return scope_to_forget(
        ns,
        hard=said.hard and not said.undo,
        preview=not said.execute,
        ids=ids,
        conditions=takes.given(said, "session"),
    )


def _forget(ns: Namespace, said: takes.ForgetArguments, _: ToolOptions) -> Answer:
    ids = () if said.ids is UNSET else tuple(said.ids)
    if said.undo and not ids:
        raise InputError("undo brings softly forgotten memories back: name them by ids")
    if said.undo:
        back = tuple(memory.id for memory in ns.restore(ids))
        return Answer(text=f"brought back {len(back)} memories\n", memories=back)
    chosen = takes.given(said, "session")
    outcome = ns.forget(ids or None, hard=said.hard, preview=not said.execute, **chosen)
    gone = (*outcome.memories, *outcome.derived)
    lines = [str(outcome), *(f"  {one}" for one in gone[:_LISTED])]
    if len(gone) > _LISTED:
        lines.append(f"  and {len(gone) - _LISTED} more")
    if outcome.preview:
        lines.append("a preview: nothing was changed; execute=true does it")
    return Answer(
        text="\n".join(lines) + "\n",
        facts={
            "preview": outcome.preview,
            "memories": list(outcome.memories),
            "derived": list(outcome.derived),
            "turns": list(outcome.turns),
            "certificate": outcome.certificate,
            "scrubbed": outcome.scrubbed,
        },
        memories=gone,
        destroys=not outcome.preview,
    )


def _history(ns: Namespace, said: takes.HistoryArguments, options: ToolOptions) -> Answer:
    found = ns.knowledge.history(said.subject)
    return Answer(text=fence_history(found, options.held), memories=tuple(one.id for one in found))


def _sessions(ns: Namespace, said: takes.SessionsArguments, options: ToolOptions) -> Answer:
    if said.session is UNSET:
        return Answer(text=fence_sessions(ns.sessions()[: said.limit]))
    turns = ns.session(said.session).turns(after=said.after, limit=said.limit)
    if not turns:
        raise NotFoundError(f"no session {said.session!r} with turns behind {said.after}")
    return Answer(text=fence_turns(said.session, turns, options.held), session=said.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A context as a model gets it: with its fence and its lead, within the budget altogether."""

    text: str
    facts: Mapping[str, Any]
    memories: tuple[str, ...]


def pack(ns: Namespace, query: str, options: ToolOptions, **asked: Any) -> Packed:
    """The best context for the question, with `budget`, `model` and filters as keywords."""
    wanted = _shape(options, budget=asked.pop("budget", None), model=asked.pop("model", None))
    found = ns.context(query, **wanted.keywords, **asked)
    text = LEAD + found.text if found.items else _NOTHING
    if not wanted.counter.fits(text, wanted.budget):
        text = found.text
    return Packed(
        text=text,
        facts={
            "tokens": wanted.counter.count(text),
            "budget": wanted.budget,
            "count": str(found.measure),
            "considered": len(found.verdicts),
            "behind": found.behind,
            "unanswered": found.unanswered,
            "kept": [{"id": row.memory_id, "section": row.section, "tokens": row.tokens} for row in found.kept],
        },
        memories=found.items,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A context as it is asked for; the lead's tokens are taken off before the engine packs."""

    budget: int
    counter: Counter
    keywords: Mapping[str, Any]


def _shape(options: ToolOptions, *, budget: int | None = None, model: str | None = None) -> _Shape:
    name = model or options.settings.model
    counter = counter_for(name)
    whole = options.settings.budget if budget is None else budget
    inner = max(0, whole - counter.count(LEAD))
    keywords = {"budget": inner, "model": name, "format": Format.XML, "hold_back": options.hold_back}
    return _Shape(budget=whole, counter=counter, keywords=keywords)


def _filters(said: takes.Question) -> dict[str, Any]:
    return takes.given(said, "kinds", "tags", "session", "since", "until")


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="remember",
        about="Keep something for later: a fact, preference, decision, lesson, or a turn of a conversation.",
        takes=takes.RememberArguments,
        scope=Scope.WRITE,
        run=_remember,
    ),
    Tool(
        name="recall",
        about="Find single memories, best first, with ids, relevance (0 to 1) and trust.",
        takes=takes.RecallArguments,
        scope=Scope.READ,
        run=_recall,
    ),
    Tool(
        name="context",
        about="Pack the memories that help most with a question into a token budget.",
        takes=takes.ContextArguments,
        scope=Scope.READ,
        run=_context,
    ),
    Tool(
        name="forget",
        about="Forget memories; a preview unless execute is true.",
        takes=takes.ForgetArguments,
        scope=Scope.WRITE,
        run=_forget,
        destructive=True,
        takes_more=_scope_to_forget,
    ),
    Tool(
        name="why",
        about="Explain why a memory is, or is not, in the context for a question.",
        takes=takes.WhyArguments,
        scope=Scope.READ,
        run=_why,
    ),
    Tool(
        name="history",
        about="What a subject was, is and will be.",
        takes=takes.HistoryArguments,
        scope=Scope.READ,
        run=_history,
    ),
    Tool(
        name="sessions",
        about="List conversations, newest first, or show the turns of one.",
        takes=takes.SessionsArguments,
        scope=Scope.READ,
        run=_sessions,
    ),
)
