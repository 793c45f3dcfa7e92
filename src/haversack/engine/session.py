"""A session: an append-only conversation, recallable turn by turn as it grows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Unpack, cast

from haversack.budget import check_tokens
from haversack.engine.arguments import checked
from haversack.engine.core import Core
from haversack.engine.draft import read_metadata, refuse_unknown
from haversack.errors import InputError
from haversack.lazy import lazy
from haversack.model.memory import Turn
from haversack.model.message import Message
from haversack.model.text import clean
from haversack.model.times import Moment, read_time
from haversack.store.port import Batch
from haversack.wire import openai

if TYPE_CHECKING:
    from haversack.assemble import Primed, Prompt
    from haversack.compaction import CompactionResult, ContextBudgetMonitor, view
    from haversack.compaction.extraction.extractor import Extracted
    from haversack.engine import compacting, extracting, hiding, passages, prompting, window, writing
else:
    compacting = lazy("haversack.engine.compacting")
    extracting = lazy("haversack.engine.extracting")
    hiding = lazy("haversack.engine.hiding")
    passages = lazy("haversack.engine.passages")
    prompting = lazy("haversack.engine.prompting")
    view = lazy("haversack.compaction.view")
    window = lazy("haversack.engine.window")
    writing = lazy("haversack.engine.writing")

__all__ = ["Session", "TurnDraft"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """A turn before the store gave it its place."""

    message: Message
    at: datetime | None = None
    metadata: Mapping[str, Any] | None = None
    key: str | None = None


@checked
class Session:
    """One conversation of a namespace. Turns are kept for good; only a hard forget removes one."""

    def __init__(self, core: Core, namespace: str, session: str) -> None:
        self._core = core
        self._namespace = namespace
        self.id = session

    def __repr__(self) -> str:
        return f"Session({self.id!r}, namespace={self._namespace!r})"

    def add(
        self,
        role: str,
        content: object = None,
        *,
        name: str | None = None,
        at: Moment | None = None,
        metadata: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Turn:
        """Append one turn and return it with its position; durable, and recallable as a passage, on return.

        `content` is a text or a list of content parts as chat APIs take them, and `fields` are their `tool_calls`,
        `tool_call_id` and the like. `at` is when it was said, now by default.
        """
        refuse_unknown(fields, openai.ASIDES, "field")
        message = {"role": role, "content": content, **({"name": name} if name else {}), **fields}
        return self.extend([{**message, "at": at, "metadata": metadata}])[0]

    def extend(self, messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
        """Append many messages in the shape of chat APIs, in one transaction; `at` and `metadata` are optional keys."""
        if isinstance(messages, Mapping) or not isinstance(messages, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"extend takes a list of messages, not {type(cast('object', messages)).__name__}")
        added = self.append([_draft(message, self._core.settings.zone) for message in messages])
        extracting.after_turns(self._core, self._namespace, self.id, len(added))
        return added

    def append(self, drafts: Sequence[TurnDraft]) -> list[Turn]:
        """Append checked turns with their passages in one transaction; those that the session already has are left out.

        A turn is known again by its `key`. Returns the turns that were added.
        """
        core = self._core
        now = core.clock()
        ids = core.new_ids(now)
        turns = tuple(_turn(draft, next(ids), self.id, now) for draft in drafts)
        if not turns:
            return []
        spoken = tuple(each for turn in turns for each in passages.passages_of_turn(core, turn, ids, now))
        return list(writing.write(core, self._namespace, Batch(turns=turns, memories=spoken)).turns)

    def prompt(self, query: str | None = None, **wanted: Unpack[window.PromptShape]) -> Prompt:
        """The whole message list for a model call: system, history, memories, tools and the query, in one window.

        Without a query the session's last user turn is it; only tool calls with their results may have followed it.
        The count of everything that is sent, by the model's own tokenizer and framing, never exceeds `window` less
        `output`. The query is not stored: `add` it when it is said.
        Raises BudgetError, with the ledger, when the fixed parts alone do not fit.
        """
        core = self._core
        built = prompting.prompt(core, self._namespace, self.id, self._window(query, wanted))
        if built.context is not None and wanted.get("now") is None:
            core.access.note(core, self._namespace, built.context.items, core.clock())
        return built

    def preview(self, query: str | None = None, **wanted: Unpack[window.PromptShape]) -> Prompt:
        """The prompt as `prompt` would make it now, for looking at: no compaction is awaited or started by it."""
        return prompting.preview(self._core, self._namespace, self.id, self._window(query, wanted))

    def prime(self, **wanted: Unpack[window.PromptShape]) -> Primed:
        """What to begin the session with: known facts, entities, insights, summaries, earlier sessions' last turns."""
        return prompting.primed(self._core, self._namespace, self.id, self._window(None, wanted))

    def compact(self, *, to_free: int | None = None) -> CompactionResult:
        """Put summaries in place of old turns in prompts, now; the turns stay stored, recallable and expandable.

        `to_free` is how many tokens to free; by default all that is old. Read the result's `outcome` and `reasons`.
        """
        if to_free is not None:
            check_tokens(to_free, "to_free")
        return compacting.compact(self._core, self._namespace, self.id, to_free=to_free)

    @property
    def monitor(self) -> ContextBudgetMonitor:
        """What watches how full its prompts are, where `memory.compaction` is set."""
        return compacting.coordinator_of(self._core, self._namespace).monitor(self.id)

    def extract(self) -> Extracted:
        """Read the turns that were not read yet for facts, preferences, decisions and the like, now.

        By the chat service of `memory.extraction`, or by rules. `errors` tell why turns are still unread.
        """
        return extracting.extract(self._core, self._namespace, self.id)

    def unread(self) -> int:
        """How many turns were not read yet."""
        return extracting.pending(self._core, self._namespace, self.id)

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait for what works on the session in the background; whether all of it has ended."""
        was_read = extracting.wait(self._core, self._namespace, self.id, seconds)
        coordinator = compacting.coordinator_of(self._core, self._namespace)
        coordinator.before_prompt(self.id, seconds)
        return was_read and not coordinator.is_running(self.id)

    def expand(self, name: str, *, reopen: bool = False) -> list[Turn]:
        """The turns that a summary (or a pointer to a cleared tool result) stands for, exactly as they were said.

        With `reopen` the summary stops standing for them: prompts show the turns again.
        """
        return compacting.expand(self._core, self._namespace, self.id, name, reopen=reopen)

    def _window(self, query: str | None, wanted: window.PromptShape) -> prompting.Window:
        return window.read_window(self._core, None if query is None else clean(query, "query"), wanted)

    def folds(self) -> tuple[view.Fold, ...]:
        """The spans of turns that summaries stand for in prompts, by position."""
        return view.load_view(self._core.store, self._namespace, self.id)[0].folds

    def turns(self, *, after: int = -1, limit: int | None = None) -> list[Turn]:
        """Turns behind position `after` (-1: from the start), in the order they were said.

        Those that are softly forgotten are left out until `restore`.
        """
        if limit is not None and limit < 0:
            raise InputError(f"limit={limit} must be 0 or more")
        return hiding.shown_turns(self._core, self._namespace, self.id, after=after, limit=limit)


def _turn(draft: TurnDraft, turn_id: str, session: str, now: datetime) -> Turn:
    return Turn(
        id=turn_id,
        session=session,
        message=draft.message,
        at=draft.at or now,
        metadata=read_metadata(draft.metadata),
        key=draft.key,
    )


def _draft(message: Mapping[str, Any], zone: tzinfo) -> TurnDraft:
    if not isinstance(message, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"a message must be a mapping with `role` and `content`, not {type(message).__name__}")
    at = message.get("at")
    return TurnDraft(
        message=openai.load({key: value for key, value in message.items() if key not in {"at", "metadata"}}),
        at=None if at is None else read_time(at, "at", zone),
        metadata=message.get("metadata"),
    )
