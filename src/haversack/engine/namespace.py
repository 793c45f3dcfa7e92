"""A namespace: the isolation boundary, and the verbs that people use on what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from haversack.assemble import Format
from haversack.budget import Budget, check_tokens
from haversack.engine import reading
from haversack.engine.arguments import checked, several
from haversack.engine.core import Core
from haversack.engine.draft import (
    Conditions,
    Details,
    read_choice,
    read_filter,
    read_ids,
    read_unit,
    read_weights,
    refuse_unknown,
)
from haversack.engine.reading import Hits, Request
from haversack.errors import InputError, NotFoundError
from haversack.lazy import lazy
from haversack.model.identity import fingerprint
from haversack.model.memory import Json, Kind, Memory, SessionInfo
from haversack.model.query import Filter
from haversack.model.text import clean, label, namespace_label
from haversack.model.times import Moment, read_range
from haversack.scoring.blend import Weights
from haversack.store.port import Census, Changes

if TYPE_CHECKING:
    from haversack.assemble import Context, Layout
    from haversack.compaction.extraction.extractor import Extracted
    from haversack.engine import (
        correcting,
        costing,
        editing,
        exporting,
        extracting,
        feedback,
        forgetting,
        guarding,
        hiding,
        importing,
        listing,
        maintaining,
        packing,
        receipts,
        remembering,
        tidying,
        trims,
        why,
    )
    from haversack.engine import session as conversation
    from haversack.llm.cost import Call
    from haversack.maintenance import texts
    from haversack.transfer.entries import Entry, Problem
else:
    conversation = lazy("haversack.engine.session")
    correcting = lazy("haversack.engine.correcting")
    costing = lazy("haversack.engine.costing")
    editing = lazy("haversack.engine.editing")
    exporting = lazy("haversack.engine.exporting")
    extracting = lazy("haversack.engine.extracting")
    feedback = lazy("haversack.engine.feedback")
    forgetting = lazy("haversack.engine.forgetting")
    guarding = lazy("haversack.engine.guarding")
    hiding = lazy("haversack.engine.hiding")
    importing = lazy("haversack.engine.importing")
    listing = lazy("haversack.engine.listing")
    maintaining = lazy("haversack.engine.maintaining")
    packing = lazy("haversack.engine.packing")
    receipts = lazy("haversack.engine.receipts")
    remembering = lazy("haversack.engine.remembering")
    texts = lazy("haversack.maintenance.texts")
    tidying = lazy("haversack.engine.tidying")
    trims = lazy("haversack.engine.trims")
    why = lazy("haversack.engine.why")

__all__ = ["Namespace"]


class Asking(TypedDict, total=False):
    """How a question may be asked, beside its filters."""

    now: Moment | None
    """The moment from which ages and relative dates count; the present by default."""
    namespaces: Sequence[str]
    """Others that the caller may read as well."""
    weights: str | Weights | Mapping[str, float]
    """How relevance, importance and recency count: `default`, `balanced` (.5, .3, .2 over 30 days), your own numbers
    in place of those of `balanced`, or `similarity` (nearest by meaning, as a plain vector store ranks)."""
    min_relevance: float | None
    """The least relevance (0 to 1) of what is wanted; by default all of a recall, and of a context what
    `memory.min_relevance` says."""


class Question(Asking, Conditions, total=False):
    """All keywords of a question."""


class Shape(Question, total=False):
    """All keywords of a context."""

    budget: int | Budget | None
    """Tokens that the text may take, everything included; the setting `engine.budget` by default.

    The shares of a Budget are those of the layout's sections, of `sections` when no layout is named.
    """
    model: str | None
    """Whose tokens: a model's or an encoding's name."""
    layout: str | Layout | None
    format: str | None
    """`markdown`, `xml`, `json` or `plain`."""
    hold_back: Iterable[str]
    """Memories that look like `instructions` to a model or like `secrets` stay out, with a verdict that says so.

    A heuristic of patterns in nine languages: a rephrased order passes, and talk about orders may stay out.
    """


@checked
class Namespace:
    """What one user, agent or tenant remembers. Nothing is read across it but from the namespaces that a call lists."""

    def __init__(self, core: Core, name: str) -> None:
        self._core = core
        self.name = name

    def __repr__(self) -> str:
        return f"Namespace({self.name!r})"

    def remember(
        self, content: str, *, supersedes: str | None = None, subject: str | None = None, **details: Unpack[Details]
    ) -> Memory:
        """Keep one thing; durable and recallable on return.

        A statement that is already remembered (same kind and speaker; case, spacing and Unicode form do not matter) is
        not stored twice: tags, entities, metadata and the like that are told this time are added to it (`earlier` shows
        what it was), and it is returned. Passages are kept each time. One that says the same in other words is kept
        hidden behind it (`superseded_by`; `unfold` undoes it), and one that announces a change ends what it changes.
        `subject` says what it is about, like `alice/city`: a newer statement on it ends the older one. `supersedes`
        names a memory that this one replaces. What is ended is kept, dated, and leaves recall; `as_of` still finds it.
        A long passage is kept in parts; the first is returned and stands for the whole text in every other verb.
        """
        return self.remember_many([{"content": content, "supersedes": supersedes, "subject": subject, **details}])[0]

    def remember_many(self, items: Iterable[str | Mapping[str, object]]) -> list[Memory]:
        """Keep many in one transaction: texts, or mappings with `content` and the keywords of `remember`.

        Of more than fifty at once, statements in other words are not looked for; `fold` finds them later.
        """
        return remembering.remember(self._core, self.name, items)

    def get(self, memory_id: str) -> Memory:
        """One memory by id; raises NotFoundError."""
        found = self._core.store.memories(self.name, [memory_id])
        if not found:
            raise NotFoundError(f"no memory {memory_id!r} in namespace {self.name!r}")
        return found[0]

    def get_many(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Those of these memories that exist, in the order asked."""
        return self._core.store.memories(self.name, list(memory_ids))

    def parts(self, memory_id: str) -> list[Memory]:
        """The memory, or where it stands for a long text all parts of that, in order: joined, their words are it."""
        return texts.text_of(self._core.store, self.name, self.get(memory_id))

    def filed(self, field: str, value: Json) -> list[Memory]:
        """All memories whose metadata field has that value, oldest first, also those that were forgotten or ended."""
        return self.get_many(self._core.recall.view([self.name]).filed(field, value))

    def recall(self, query: str, *, top_k: int | None = None, **question: Unpack[Question]) -> Hits:
        """The memories that answer the query, best first, each with its score (0 to 1) and the parts of it.

        A score says what ranks above what; `relevance` how likely a memory answers, whatever else was found.
        Keywords are the filters (`kinds`, `tags`, `session`, `since`, `until`, `where`, `as_of`) and `now`,
        `namespaces`, `weights`, `min_relevance`. A blank query raises QueryError.

        Shortly after a load the answer comes from what is indexed; its `behind` tells how many changes are not yet.
        """
        refuse_unknown(question, [*Question.__annotations__, "top_k"], "keyword")
        limit = self._core.settings.top_k if top_k is None else top_k
        found = reading.find(self._core, self._request(query, question), limit)
        self._note((hit.id for hit in found if hit.namespace == self.name), question)
        return found

    def context(self, query: str, **shape: Unpack[Shape]) -> Context:
        """The best context for the query that fits the budget, with its ledger and a verdict for every candidate.

        Keywords are those of `recall` and `budget`, `model`, `layout`, `format`. What is less relevant than
        `min_relevance` stays out, so the text may be empty (`unanswered`). The text counted by the model's own
        tokenizer never exceeds the budget. Raises BudgetError, with the ledger, when pinned memories alone do not fit.
        """
        request, wanted = self._shaped(query, shape)
        packed = packing.pack(self._core, request, wanted)
        self._note(packed.items, shape)
        return packed

    def index(self) -> None:
        """Wait until all that was written is indexed; questions otherwise begin a load's index without waiting."""
        self._core.recall.view([self.name])

    def layout(self, name: str | None = None) -> Layout:
        """A layout as the settings have it: give other weights or limits to its sections and hand it to a call."""
        return self._core.settings.layout_named(name)

    def why(self, query: str, memory_id: str, **shape: Unpack[Shape]) -> why.Explanation:
        """Where and why a memory left, or how it came in, when this context is packed."""
        request, wanted = self._shaped(query, shape)
        return why.explain(self._core, request, wanted, memory_id)

    def trimmed(self, *, least: int = 2) -> list[trims.Trimmed]:
        """Important memories that keep being left out for want of room, and the budget that would have carried them."""
        return trims.trimmed(self._core.trims, self._core.store, self.name, least)

    def forget(
        self,
        memory_id: str | Iterable[str] | None = None,
        *,
        hard: bool = False,
        preview: bool = False,
        everything: bool = False,
        **conditions: Unpack[Conditions],
    ) -> forgetting.Forgotten:
        """Forget by id, by filter or `everything`; returns the exact ids, with `preview` without doing it.

        Soft (default): hidden from every read until `restore`. Hard: gone from every file of the store, with the turn
        it was said in and what was derived from it, and the name of a session of which nothing is left. Digests stay,
        so that no import brings it back, also of `everything`; `maintenance.reset` is for beginning anew.
        """
        ids, chosen = read_ids(memory_id), read_filter(conditions, self._core.settings.zone)
        narrows = chosen != Filter()
        if sum((bool(ids), narrows, everything)) != 1:
            raise InputError("say what to forget: ids, or filters (kinds, tags, session, …), or everything=True")
        aim = forgetting.Aim(ids=ids, filter=chosen if narrows else None, everything=everything)
        if preview:
            return forgetting.plan(self._core, self.name, aim, hard=hard)
        return forgetting.forget(self._core, self.name, aim, hard=hard, now=self._core.clock())

    def restore(self, memory_id: str | Iterable[str]) -> list[Memory]:
        """Undo a soft forget."""
        return forgetting.restore(self._core, self.name, list(read_ids(memory_id)))

    def edit(self, memory_id: str, *, expected: int | None = None, **changes: object) -> Memory:
        """Change fields of a memory (the keywords of `remember`, and `content`); the earlier wording is kept.

        The first part of a long text stands for all of it: fields change in every part, and `content` is the new text.
        The words of a later part are its own.

        With `expected`, only if the memory is still at that change number. Raises ConflictError when somebody else
        was quicker.
        """
        return editing.edit(self._core, self.name, memory_id, changes, expected=expected)

    def earlier(self, memory_id: str) -> list[editing.Earlier]:
        """What a memory was before its edits, oldest first."""
        return editing.earlier(self._core, self.name, memory_id)

    def vote(self, memory_id: str, signal: str) -> feedback.Vote:
        """Say `up`, `down` or `flag` of a memory: its importance moves a little, and the vote is kept."""
        return feedback.vote(self._core, self.name, memory_id, signal)

    def votes_by_signal(self) -> dict[feedback.Signal, int]:
        """How many votes of each kind its memories have."""
        return feedback.votes_by_signal(self._core, self.name)

    def votes(self, memory_id: str) -> list[feedback.Vote]:
        """The votes on a memory, oldest first."""
        return feedback.votes(self._core, self.name, memory_id)

    def page(self, *, after: int = 0, limit: int = 100, **conditions: Unpack[Conditions]) -> listing.Page:
        """Memories in the order of their last change, page by page; `after` is the `next` of the page before."""
        return listing.page(
            self._core,
            self.name,
            read_filter(conditions, self._core.settings.zone),
            self._core.clock(),
            after=after,
            limit=limit,
        )

    def changes(self, after: int = 0) -> Changes:
        """What was written and erased behind this change number, as `page` counts them; for whoever follows along."""
        return self._core.store.changes(self.name, since=after, limit=1_000)

    def sequence(self) -> int:
        """The number of its latest change."""
        return self._core.store.sequence(self.name)

    def reembed(self, report: Callable[[int, int], None] = lambda _done, _total: None) -> dict[str, int]:
        """Embed what has no vector of the present embedder; returns how many were done. Safe to stop and repeat."""
        return listing.reembed(self._core, self.name, report)

    def unembedded(self) -> int:
        """How many memories lack a vector of the present embedder: questions find them by their words."""
        return listing.unembedded(self._core, self.name)

    def timeline(self, *, skip: int = 0, limit: int = 50, **conditions: Unpack[Conditions]) -> listing.Timeline:
        """Memories by the time when they were said or happened, newest first, and how many there are on each day."""
        chosen = read_filter(conditions, self._core.settings.zone)
        return listing.timeline(self._core, self.name, chosen, self._core.moment(None), skip=skip, limit=limit)

    def wake_up(self, *, top: int = 20, least: float = 0.0) -> tuple[list[Memory], int]:
        """The memories to begin a conversation with, by importance and age, and how many there are to choose from."""
        return listing.wake_up(self._core, self.name, self._core.clock(), top=top, least=least)

    def fold(self, *, threshold: float = 0.9, preview: bool = True) -> list[tidying.Duplicates]:
        """Fold near duplicates into the best of them; a preview unless told otherwise. `unfold` undoes it."""
        return tidying.fold(self._core, self.name, threshold=threshold, preview=preview)

    def merge(self, memory_ids: Iterable[str], *, preview: bool = False) -> Memory:
        """One memory with the words of all of these, which takes their place; `unfold` brings one back."""
        return tidying.merge(self._core, self.name, tuple(memory_ids), preview=preview)

    def folded(self) -> list[Memory]:
        """Memories that a fold, a merge or a successor took the place of, the newest first."""
        return self._core.store.superseded(self.name)

    def everything(self, **conditions: Unpack[Conditions]) -> list[Memory]:
        """All memories that pass the filters, the newest first."""
        found = listing.live(
            self._core, self.name, read_filter(conditions, self._core.settings.zone), self._core.clock()
        )
        return sorted(found, key=lambda memory: -memory.born)

    def unfold(self, memory_id: str) -> Memory:
        """Undo a fold or a merge for one memory."""
        return tidying.unfold(self._core, self.name, memory_id)

    def once(self, key: str, request: bytes, act: Callable[[], receipts.Receipt]) -> receipts.Once:
        """Carry out `act` unless it was done under this key before; then its receipt comes again."""
        return receipts.once(self._core, self.name, key, request, act)

    def bring_in(
        self,
        found: Iterable[Entry | Problem],
        *,
        strict: bool = False,
        may_administer: bool = True,
        watch: Callable[[importing.Imported], None] = lambda _: None,
    ) -> importing.Imported:
        """Store what `haversack.transfer.read_files` yields; what is there already is not added again.

        A memory in other words replaces the one of its id (`earlier` shows that); what was forgotten stays so. For a
        caller who may write but not administer give `may_administer=False`: no policy is set then, and no memory rises
        in trust. With `strict` the first bad record stops the import by InputError; what came before it stays. `watch`
        is called after each transaction with the counts so far.
        """
        return importing.bring_in(
            self._core, self.name, found, strict=strict, watch=watch, may_administer=may_administer
        )

    def stay_forgotten(self, said: Iterable[tuple[Kind, str]]) -> set[tuple[Kind, str]]:
        """Return those statements, by kind and words, that were forgotten for good here: imports leave them out."""
        marks = {each: fingerprint(*each) for each in said}
        gone = self._core.store.tombstoned(self.name, list(marks.values()))
        return {each for each, mark in marks.items() if mark in gone}

    def take_out(self) -> Iterator[bytes]:
        """Everything in it as lines of JSON; bringing them in elsewhere gives an equal namespace."""
        return exporting.take_out(self._core, self.name)

    def session(self, session_id: str) -> conversation.Session:
        """A conversation by its id, new or old."""
        return conversation.Session(self._core, self.name, label(session_id, "session"))

    def sessions(self) -> list[SessionInfo]:
        """All conversations, the most recent first, without what is softly forgotten of them."""
        return hiding.shown_sessions(self._core, self.name)

    def stats(self) -> Census:
        """Exact counts of what it holds."""
        return self._core.store.census(self.name)

    def extract(self) -> dict[str, Extracted]:
        """Read the unread turns of all sessions for facts and the like, oldest session first; by session, what it did.

        Sessions without unread turns are left out.
        """
        waiting = [each for each in map(self.session, (info.id for info in reversed(self.sessions()))) if each.unread()]
        return {each.id: each.extract() for each in waiting}

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for the turns that are being read in the background; whether all of it has ended."""
        return extracting.wait(self._core, self.name, None, seconds)

    def costs(self, *, since: Moment | None = None, until: Moment | None = None) -> list[Call]:
        """Every call of a model for memory work, oldest first: what for, which session, tokens, dollars."""
        start, end = read_range(since, until, self._core.settings.zone)
        return list(costing.calls(self._core, self.name, since=start, until=end))

    @property
    def knowledge(self) -> correcting.Knowledge:
        """Corrections, outcomes of decisions, records of procedures, relations and what they connect."""
        return correcting.Knowledge(self._core, self.name)

    @property
    def maintenance(self) -> maintaining.NamespaceMaintenance:
        """Policy, lifecycle, tidying, runs and proposals of this namespace."""
        return maintaining.NamespaceMaintenance(self._core, self.name)

    def _note(self, used: Iterable[str], asked: Asking) -> None:
        """Count a use of each memory; a question about another moment than the present uses nothing."""
        if asked.get("now") is None:
            self._core.access.note(self._core, self.name, used, self._core.clock())

    def _shaped(self, query: str, shape: Shape) -> tuple[Request, packing.Packing]:
        """Everything a context needs, checked: the question and how to pack its answer."""
        refuse_unknown(shape, Shape.__annotations__, "keyword")
        settings = self._core.settings
        question = dict(shape)
        layout, form = question.pop("layout", None), question.pop("format", None)
        model, budget = question.pop("model", None), question.pop("budget", None)
        suspicions = guarding.read_suspicions(cast("Iterable[str]", question.pop("hold_back", ())))
        counter = self._core.counter(settings.model if model is None else cast("str", model))
        if layout is None and isinstance(budget, Budget) and budget.shares:
            layout = "sections"
        chosen = settings.layout_named(cast("str | Layout | None", layout))
        wanted = packing.Packing(
            layout=chosen.sharing_as(cast("int | Budget | None", budget)),
            format=read_choice(Format, settings.format if form is None else cast("str", form), "format"),
            budget=_tokens(settings.budget if budget is None else budget),
            counter=counter,
            hold_back=suspicions,
            noted=question.get("now") is None,
        )
        return self._request(query, cast("Question", question)), wanted

    def _request(self, query: str, question: Question) -> Request:
        conditions = dict(question)
        now = cast("Moment | None", conditions.pop("now", None))
        others = cast("Sequence[str]", conditions.pop("namespaces", ()))
        weights = cast("str | Weights | Mapping[str, float]", conditions.pop("weights", "default"))
        moment = self._core.moment(now)
        least = cast("float | None", conditions.pop("min_relevance", None))
        return Request(
            namespaces=self._readable(others),
            query=clean(query, "query"),
            chosen=read_filter(cast("Conditions", conditions), moment.tzinfo or UTC),
            now=moment,
            weights=read_weights(weights),
            min_relevance=None if least is None else read_unit(least, "min_relevance"),
        )

    def _readable(self, others: Sequence[str]) -> tuple[str, ...]:
        if isinstance(others, str):
            raise InputError("namespaces must be a list of names, not one string")
        listed = several(others, "namespaces")
        return tuple(dict.fromkeys([self.name, *(namespace_label(name, "namespaces") for name in listed)]))


def _tokens(budget: object) -> int:
    return budget.resolve() if isinstance(budget, Budget) else check_tokens(budget)
