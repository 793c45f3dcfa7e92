"""Law of the chat: what was said is kept, whole or as far as it came, and every call of a tool has its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from haversack.chat.answer import take_turn
from haversack.chat.settings import ChatSettings
from haversack.chat.spending import FIELD
from haversack.chat.talk import Talk
from haversack.chat.tools import Result
from haversack.engine.settings import MemorySettings
from haversack.errors import HaversackError, ServiceError
from haversack.llm.port import Cancel, Reply, ServiceCancelled
from haversack.model.message import Message, Role, ToolCall

from .places import Setup, everywhere

WORDS = st.lists(st.text("ab \n", min_size=1, max_size=3), max_size=4)


@dataclass(frozen=True)
class Round:
    """What the model does once: pieces, calls, and where it breaks."""

    pieces: tuple[str, ...]
    calls: int
    breaks: bool


ROUNDS = st.lists(st.builds(Round, WORDS.map(tuple), st.integers(0, 2), st.booleans()), min_size=1, max_size=4)


@dataclass
class Stops:
    """Asks to stop at its so many-th look."""

    at: int
    looks: int = 0

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > self.at


@dataclass
class Model:
    rounds: list[Round]
    model: str = "gpt-4o"
    asked: int = 0
    said: list[str] = field(default_factory=list[str])

    def complete(self, *_: Any, **__: Any) -> Reply:
        raise NotImplementedError

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        assert messages[-1].role in {Role.USER, Role.TOOL}
        assert tools
        assert (max_tokens, timeout) == (500, None)
        now = self.rounds[min(self.asked, len(self.rounds) - 1)]
        self.asked += 1
        self.said.append("")
        for piece in now.pieces:
            if cancel is not None and cancel.is_set():
                raise ServiceCancelled("stopped")
            self.said[-1] += piece
            yield piece
        if now.breaks:
            raise ServiceError("broken")
        calls = tuple(ToolCall(id=f"c{self.asked}-{n}", name="tide", arguments="{}") for n in range(now.calls))
        yield Reply(text=self.said[-1], model=self.model, tool_calls=calls)


@dataclass
class Box:
    schemas: Sequence[Mapping[str, Any]] = ({"name": "tide", "parameters": {"type": "object"}},)
    problems: Sequence[str] = ()

    def call(self, name: str, arguments: str, cancel: Cancel) -> Result:
        if cancel.is_set():
            raise ServiceCancelled("stopped")
        return Result(text=f"{name} {arguments}")

    def close(self) -> None:
        pass


class Silence:
    as_json = False

    def text(self, words: str) -> None: ...
    def piece(self, words: str) -> None: ...
    def note(self, words: str) -> None: ...
    def heading(self, words: str) -> None: ...
    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "") -> None: ...
    def json(self, value: object) -> None: ...
    def bar(self, share: float) -> str:
        return str(share)


@everywhere
@example(rounds=[Round((), 2, breaks=False)], stop=0)
@example(rounds=[Round(("a", "b"), 2, breaks=False)], stop=1)
@given(rounds=ROUNDS, stop=st.integers(0, 6))
def test_nothing_that_was_said_is_lost_and_no_call_is_left_open(setup: Setup, rounds: list[Round], stop: int) -> None:
    memory = MemorySettings(context_window=4000, output_buffer=500)
    with setup.open(memory=memory) as sack:
        ns = sack.namespace("n")
        model = Model(rounds)
        talk = Talk(
            sack=sack,
            ns=ns,
            session=ns.session("s"),
            screen=Silence(),
            settings=ChatSettings(rounds=2),
            model="gpt-4o",
            memory=memory,
            service=model,
            tools=Box(),
        )
        whole = True
        try:
            take_turn(talk, "Well?", Stops(stop))
        except HaversackError:
            whole = False
        turns = talk.session.turns()
        assert turns[0].message.text == "Well?"
        answers = [turn for turn in turns if turn.message.role is Role.ASSISTANT]
        assert [turn.message.text for turn in answers if turn.message.text.strip()] == [
            words for words in model.said if words.strip()
        ]
        made = [call.id for turn in answers for call in turn.message.tool_calls]
        assert sorted(made) == sorted(
            turn.message.tool_call_id or "" for turn in turns if turn.message.role is Role.TOOL
        )
        assert len(answers) <= model.asked <= 3
        ended = [turn.metadata[FIELD]["ended"] for turn in answers if "ended" in turn.metadata[FIELD]]  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue, reportOptionalSubscript, reportOperatorIssue]
        assert not whole or not ended
        talk.service = None
        take_turn(talk, "Go on.", Stops(0))  # whatever happened, the conversation goes on from there
