"""A chat over the in-memory store, with a scripted service and a screen that keeps what it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from haversack.chat.lines import Chat
from haversack.chat.settings import ChatSettings
from haversack.chat.talk import Talk
from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.config import Config
from haversack.engine.settings import MemorySettings
from haversack.llm.cost import ModelPrice
from haversack.llm.settings import CostSettings
from haversack.testing.scripted import Line, ScriptedChat
from haversack.wiring import open_haversack


@dataclass
class Paper:
    """A screen in memory."""

    as_json: bool = False
    said: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    values: list[Any] = field(default_factory=list[Any])

    def text(self, words: str) -> None:
        self.said.append(words)

    def piece(self, words: str) -> None:
        self.said.append(words)

    def note(self, words: str) -> None:
        self.notes.append(words)

    def heading(self, words: str) -> None:
        self.said.append(words)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "nothing") -> None:
        body = [" ".join(map(str, row)) for row in rows]
        self.said += [" ".join(columns), *body] if body else [empty]

    def json(self, value: object) -> None:
        self.values.append(msgspec.json.decode(msgspec.json.encode(value, enc_hook=dict)))

    def bar(self, share: float) -> str:
        return f"{share:.0%}"

    @property
    def words(self) -> str:
        return "\n".join(self.said)


@dataclass
class Room:
    chat: Chat
    paper: Paper
    service: ScriptedChat | None

    @property
    def talk(self) -> Talk:
        return self.chat.talk

    def say(self, line: str) -> str:
        """Take one line; what was shown for it, notes apart."""
        self.paper.said.clear()
        self.paper.notes.clear()
        self.paper.values.clear()
        assert self.chat.take(line)
        return self.paper.words

    def turns(self) -> list[tuple[str, str]]:
        return [(str(turn.message.role), turn.message.text) for turn in self.talk.session.turns()]


OpenRoom = Callable[..., Room]


@pytest.fixture
def room() -> OpenRoom:
    def open_room(
        *lines: Line,
        settings: ChatSettings | None = None,
        compaction: CompactionConfig | None = None,
        extraction: ExtractionConfig | None = None,
        prices: Mapping[str, ModelPrice] | None = None,
        window: int = 4000,
        as_json: bool = False,
    ) -> Room:
        memory = MemorySettings(
            context_window=window,
            output_buffer=500,
            compaction=compaction,
            extraction=extraction,
            costs=CostSettings(prices=prices or {}),
        )
        sack = open_haversack(":memory:", embedder="none", config=Config(memory=memory))
        service = ScriptedChat(lines=lines) if lines else None
        paper = Paper(as_json=as_json)
        ns = sack.namespace("alice")
        talk = Talk(
            sack=sack,
            ns=ns,
            session=ns.session("s"),
            screen=paper,
            settings=settings or ChatSettings(system="Be brief."),
            model="gpt-4o",
            service=service,
            memory=memory,
        )
        return Room(Chat(talk=talk), paper, service)

    return open_room
