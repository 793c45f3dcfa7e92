"""Every public entrance for text, each as work on one text: what it does with it is timed, what precedes it is not."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import haversack
from haversack import Namespace, Session, Source
from haversack.assemble import Format
from haversack.assemble.prompt import SHAPES
from haversack.compaction.extraction.structured import parse
from haversack.compaction.guards import bare_words, inspect, read_material
from haversack.embed.static import StaticEmbedder
from haversack.engine.forgetting import derived_from
from haversack.engine.guarding import suspicions_of
from haversack.errors import HaversackError, nearest
from haversack.guard.body import shape_fault
from haversack.guard.settings import Limits
from haversack.mcp.fence import fence_hits, fence_turns
from haversack.model.text import label
from haversack.model.times import read_time
from haversack.recall.chunks import chunk
from haversack.scoring.temporal import spans
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch
from haversack.tokens import counter_for
from haversack.transfer import FORMATS, read_files
from haversack.wire import anthropic, openai, responses

__all__ = ["CROWDS", "ENTRANCES", "LEFT_OUT", "Bed", "Call", "Entrance", "bed"]

Call = Callable[[], object]
Entrance = Callable[["Bed", str], Call]
"""Makes ready for a text and returns the call that takes it."""

_QUERY = "when do we use the boat?"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ENCODINGS = ("cl100k_base", "o200k_base", "unknown-model")
_LIMITS = Limits()
_PROMPT = {"model": "gpt-4o", "window": 8_000, "output": 500}


class Bed:
    """A store in memory with a namespace for each call, and a folder for files."""

    def __init__(self, sack: haversack.Haversack, folder: Path) -> None:
        self._sack = sack
        self._folder = folder
        self._names = count()

    def namespace(self, *contents: str) -> Namespace:
        """Return a new namespace with these memories."""
        ns = self._sack.namespace(f"n{next(self._names)}")
        if contents:
            ns.remember_many(contents)
        return ns

    def session(self, *contents: str, role: str = "user") -> Session:
        """Return a session of a new namespace with these turns."""
        session = self.namespace().session("s")
        if contents:
            session.extend([{"role": role, "content": content} for content in contents])
        return session

    def file(self, name: str, content: str | bytes) -> Path:
        """Return a new file."""
        path = self._folder / f"{next(self._names)}{name}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        return path


@contextmanager
def bed() -> Generator[Bed]:
    """Provide a store without an embedder, whose own time is an entrance of its own."""
    with tempfile.TemporaryDirectory() as folder, haversack.open(":memory:", embedder="none") as sack:
        yield Bed(sack, Path(folder))


def _chatgpt(text: str) -> object:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": {"id": "a", "message": {"id": "a", **said}, "parent": "root", "children": []},
    }
    return [{"title": text, "id": "c", "mapping": nodes, "current_node": "a"}]


_FILES: Mapping[str, Callable[[str], object]] = {
    "chatgpt": _chatgpt,
    "claude": lambda text: [{"uuid": "c", "name": text, "chat_messages": [{"sender": "human", "text": text}]}],
    "sharegpt": lambda text: [{"conversations": [{"from": "human", "value": text}]}],
    "mcp-memory": lambda text: [{"type": "entity", "name": "Ann", "entityType": "person", "observations": [text]}],
    "gemini": lambda text: [{"role": "user", "parts": [{"text": text}]}],
    "langchain": lambda text: [{"type": "human", "data": {"content": text}}],
    "llamaindex": lambda text: [{"role": "user", "blocks": [{"block_type": "text", "text": text}]}],
    "responses": lambda text: [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}],
    "anthropic": lambda text: [{"role": "user", "content": [{"type": "text", "text": text}]}],
    "openai": lambda text: [{"role": "user", "content": text}],
    "memories": lambda text: [{"memory": text, "categories": [text[:100]]}],
}
"""What a file of each format looks like; documents are the text, and our own format is written by us."""


def _imported(name: str, place: Bed, text: str) -> Call:
    if name == "haversack":
        path = place.file(".jsonl", b"".join(place.namespace(text).take_out()))
    elif name in _FILES:
        path = place.file(".json", json.dumps(_FILES[name](text)))
    else:
        path = place.file(".md", text)
    ns = place.namespace()
    return lambda: ns.bring_in(read_files([path], format=name))


def _context(shape: dict[str, Any], place: Bed, text: str) -> Call:
    return partial(place.namespace(text, f"{text} boat").context, _QUERY, budget=4_000, **shape)


def _asked(verb: str, shape: dict[str, Any], place: Bed, text: str) -> Call:
    ns = place.namespace("We use the boat on Friday.", "The sea is cold.")
    return partial(getattr(ns, verb), text, **shape)


def _why(place: Bed, text: str) -> Call:
    ns = place.namespace(text)
    return partial(ns.why, text, ns.page().memories[0].id)


def _edited(place: Bed, text: str) -> Call:
    ns = place.namespace("We use the boat.")
    return partial(ns.edit, ns.page().memories[0].id, content=text)


def _corrected(place: Bed, text: str) -> Call:
    ns = place.namespace("We use the boat.")
    return partial(ns.knowledge.correct, ns.page().memories[0].id, text)


def _merged(place: Bed, text: str) -> Call:
    ns = place.namespace(text, "We use the boat.")
    return partial(ns.merge, [one.id for one in ns.page().memories], preview=True)


def _talk(text: str) -> list[str]:
    """Return turns of which the old ones hold the text."""
    return [text, *(f"Turn {number} is about the boat in the harbour." for number in range(20))]


def _prompted(verb: str, place: Bed, text: str) -> Call:
    return partial(getattr(place.session(*_talk(text)), verb), _QUERY, **_PROMPT)


def _called(place: Bed, text: str) -> Call:
    session = place.session()
    function = {"name": text[:64], "arguments": json.dumps({"text": text})}
    calls = [{"id": "c", "type": "function", "function": function}]
    turns: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    return partial(session.extend, turns)


def _loaded(shape: str, _: Bed, text: str) -> Call:
    picture = f"data:image/png;base64,{text}"
    match shape:
        case "openai":
            parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": picture}}]
            given, wire = [{"role": "user", "name": text[:64], "content": parts}], openai
        case "anthropic":
            given, wire = [{"role": "user", "content": [{"type": "text", "text": text}]}], anthropic
        case _:
            parts = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": picture}]
            given, wire = [{"type": "message", "role": "user", "content": parts}], responses
    return lambda: wire.dump(wire.load_all(given))


def _counted(encoding: str, _: Bed, text: str) -> Call:
    return partial(counter_for(encoding).count, text)


def _truncated(encoding: str, _: Bed, text: str) -> Call:
    return partial(counter_for(encoding).truncate, text, 1_000)


def _inspected(place: Bed, text: str) -> Call:
    turns = place.session(text, "ok").turns()
    return lambda: inspect(bare_words(text), read_material(turns))


def _refused(call: Callable[[], object]) -> None:
    """Carry out a call for which an error of ours is as good as an answer."""
    try:
        call()
    except HaversackError:
        return


def _parsed(read: Callable[[str], object], _: Bed, text: str) -> Call:
    return partial(_refused, partial(read, text))


ENTRANCES: dict[str, Entrance] = {
    "Namespace.remember": lambda place, text: partial(place.namespace("We use the boat.").remember, text),
    "Namespace.remember_many": lambda place, text: partial(place.namespace().remember_many, [text, f"{text}."]),
    "Namespace.remember passage": lambda place, text: partial(place.namespace().remember, text, kind="passage"),
    "Namespace.edit": _edited,
    "Namespace.merge": _merged,
    "Namespace.fold": lambda place, text: place.namespace(text, f"{text} the", f"{text} 2").fold,
    "Namespace.forget plan": lambda place, text: partial(
        place.namespace(text).forget, everything=True, hard=True, preview=True
    ),
    "Namespace.take_out": lambda place, text: partial(b"".join, place.namespace(text).take_out()),
    "Namespace.why": _why,
    "Namespace.recall": partial(_asked, "recall", {}),
    "Namespace.context query": partial(_asked, "context", {"budget": 1_000}),
    **{f"Namespace.context in {form}": partial(_context, {"format": form.value}) for form in Format},
    "Namespace.context hold_back": partial(_context, {"hold_back": ["instructions", "secrets"]}),
    **{f"Namespace.bring_in {name}": partial(_imported, name) for name in FORMATS},
    "Knowledge.correct": _corrected,
    "NamespaceMaintenance.reorganize": lambda place, text: place.namespace(text, f"{text} the").maintenance.reorganize,
    "Session.add": lambda place, text: partial(place.session().add, "user", text),
    "Session.extend": lambda place, text: partial(place.session().extend, [{"role": "assistant", "content": text}]),
    "Session.extend tools": _called,
    "Session.prompt": partial(_prompted, "prompt"),
    "Session.preview": partial(_prompted, "preview"),
    "Session.prompt query": lambda place, text: partial(
        place.session(*_talk("Hello")).prompt, text, **{**_PROMPT, "window": 200_000}
    ),
    "Session.prime": lambda place, text: partial(place.session(*_talk(text)).prime, **_PROMPT),
    "Session.compact": lambda place, text: place.session(*_talk(text), text).compact,
    "Session.extract": lambda place, text: place.session(text, f"I like {text}").extract,
    **{f"wire {shape}": partial(_loaded, shape) for shape in SHAPES},
    **{f"count {encoding}": partial(_counted, encoding) for encoding in _ENCODINGS},
    **{f"truncate {encoding}": partial(_truncated, encoding) for encoding in _ENCODINGS},
    "chunk": lambda _, text: partial(chunk, text, counter_for("o200k_base").count_many),
    "embed": lambda _, text: partial(StaticEmbedder().embed, [text]),
    "summary's guard": _inspected,
    "extraction's answer": partial(_parsed, parse),
    "suspicions": lambda _, text: partial(suspicions_of, text),
    "fence of hits": lambda place, text: partial(fence_hits, place.namespace(text).recall("boat")),
    "fence of turns": lambda place, text: partial(fence_turns, "s", place.session(text).turns()),
    "a body's shape": lambda _, text: partial(shape_fault, json.dumps([[{"a": text}]]).encode(), _LIMITS),
    "a broken body's shape": lambda _, text: partial(shape_fault, b"[" * 40 + text.encode("utf-8", "replace"), _LIMITS),
    "a time": partial(_parsed, lambda text: read_time(text, "at")),
    "times of a query": lambda _, text: partial(spans, text, _NOW, _NOW),
    "a label": partial(_parsed, lambda text: label(text, "name")),
    "a wrong word": lambda _, text: partial(nearest, text, ["markdown", "instructions"]),
    "a model's name": partial(_parsed, counter_for),
}
"""Those that begin with a class are public verbs; a word behind the verb tells which way through it."""


def _made_of_each_other(place: Bed, size: int) -> Call:
    """The youngest first: found by walking over all again and again, each walk would find one more."""
    first = place.namespace("The first.").page().memories[0]
    chain = [
        replace(first, id=f"m{number}", source=Source(memories=(f"m{number - 1}" if number else first.id,)))
        for number in reversed(range(size))
    ]
    store = MemoryStore()
    store.apply("n", Batch(memories=(first, *chain)))
    return partial(derived_from, store, "n", {first.id}, {first.id})


def _alike(size: int) -> list[str]:
    """Return statements of the same words in other orders, with a code each."""
    words = "boat sea house alarm green tea likes code valid harbour".split()  # noqa: SIM905
    return [" ".join(words[number % 10 :] + words[: number % 10]) + f" {number}" for number in range(size)]


CROWDS: dict[str, Callable[[Bed, int], Call]] = {
    "a hard forget of a chain": _made_of_each_other,
    "Namespace.fold of many": lambda place, size: place.namespace(*_alike(size)).fold,
    "NamespaceMaintenance.reorganize of many": lambda place, size: (
        place.namespace(*_alike(size)).maintenance.reorganize
    ),
    "Namespace.remember_many of many": lambda place, size: partial(place.namespace().remember_many, _alike(size)),
    "Session.extend of many": lambda place, size: partial(
        place.session().extend, [{"role": "user", "content": text} for text in _alike(size)]
    ),
    "Session.compact of many": lambda place, size: place.session(*_alike(size)).compact,
    "entities of a memory": lambda place, size: partial(
        place.namespace().remember, "x", entities=[f"e{number}" for number in range(size)]
    ),
}
"""Work on so many memories or turns."""

_BY_ID = "takes ids, flags or numbers"
_BY_LABEL = "takes ids, labels, numbers and times, which `label` and `read_time` check"
LEFT_OUT: dict[str, dict[str, str]] = {
    "Namespace": {
        **dict.fromkeys("get get_many parts restore earlier vote votes unfold wait".split(), _BY_ID),  # noqa: SIM905
        **dict.fromkeys("votes_by_signal sequence changes unembedded sessions stats folded".split(), _BY_ID),  # noqa: SIM905
        **dict.fromkeys("layout trimmed page timeline wake_up everything session costs".split(), _BY_LABEL),  # noqa: SIM905
        "filed": "compares whole values",
        "reembed": "embeds, as the entrance `embed` does",
        "index": "takes in what `remember` read",
        "once": "hashes bytes",
        "stay_forgotten": "takes statements that an import has checked",
        "extract": "does what Session.extract does, session by session",
    },
    "Session": {
        **dict.fromkeys("turns expand folds unread wait".split(), _BY_ID),  # noqa: SIM905
        "append": "is what `extend` calls",
    },
    "Knowledge": dict.fromkeys("history outcome practised relate reach".split(), _BY_LABEL),  # noqa: SIM905
    "NamespaceMaintenance": {
        **dict.fromkeys("lifecycle reset health flush runs steps recover undo proposals decide backup".split(), _BY_ID),  # noqa: SIM905
        **dict.fromkeys("policy set_policy foresee propose".split(), _BY_LABEL),  # noqa: SIM905
    },
}
"""Public verbs that are no entrance for text, with the reason."""
